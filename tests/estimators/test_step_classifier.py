"""StepClassifier behaves as scikit-learn's users expect, and refuses bad input with a way out."""

import pickle
import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import stepnet
from conftest import XOR
from stepnet import Ball, Exact, Integers, Prove, Search, Staircase, StepClassifier, StepEnsembleClassifier
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.model.calibration import Calibration

LABELS = ["even", "odd", "odd", "even"]


def quick(**changes):
    return StepClassifier(**{"hidden": (2,), "method": "prove", "time_limit": 5, "random_state": 0} | changes)


# Most end after some moves, not after some time: the checks fit twice and compare.
FEW = Search(moves=50, starts=1)
CHECKED = [
    quick(hidden=(), threshold="layer", method=FEW, time_limit=60),
    quick(output="one_hot", method=FEW, time_limit=60),
    StepClassifier(random_state=0),
]
# Learned: one for each kind of rule that descent keeps.
LEARNED = [
    StepClassifier((3,), random_state=0, **choices)
    for choices in (
        {"weights": ("binary", "real")},
        {"weights": "sign", "threshold": "layer", "output": "one_vs_one"},
        {"weights": ("ternary", "real"), "activation": "sign"},
        {"weights": Integers(3), "output": "one_hot"},
        {"threshold": "layer", "output": "one_hot"},
        {"activation": Staircase((0, 1, 2)), "output": "ordinal", "weights": "ternary"},
        {"sparsity": 3},
        {"uncertainty": Ball("l2", 0.01)},
    )
]
LONG = [
    quick(time_limit=60),
    quick(output="ordinal", weights="ternary", activation="sign", method=FEW, time_limit=60),
    quick(uncertainty=Ball("linf", 0.01), method=Search(moves=40, starts=1), time_limit=60),
]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_s_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([*LONG, *LEARNED])
def test_scikit_learn_s_checks_pass_for_longer_fits(estimator, check):
    check(estimator)


def test_the_weights_that_sparsity_grants_are_those_of_a_pair():
    rows, classes = load_iris(return_X_y=True)
    few = StepClassifier((3,), sparsity=3, random_state=0).fit(rows, classes)
    assert few._output == "one_vs_one"
    assert sum(np.count_nonzero(layer.weights) for layer in few.network_.layers[:2]) <= 3 * 3


def test_at_least_forty_checks_run_and_none_is_expected_to_fail():
    checks = list(estimator_checks_generator(quick(), legacy=True))
    assert len(checks) >= 40
    assert quick().__sklearn_tags__()._skip_test is False


@pytest.mark.parametrize("labels", [LABELS, [-1, 1, 1, -1], [False, True, True, False], [2.0, 7.0, 7.0, 2.0]])
def test_any_two_labels_come_back(labels):
    classifier = quick().fit(XOR, labels)
    assert classifier.predict(XOR).tolist() == labels
    assert classifier.score(XOR, labels) == 1
    assert classifier.certificate_.status == "OPTIMAL"
    assert ((classifier.decision_function(XOR) > 0) == (np.array(labels) == classifier.classes_[1])).all()


def test_sample_weights_decide_what_is_given_up():
    weights = [3, 2, 5, 4]
    classifier = quick(hidden=(1,)).fit(XOR, LABELS, weights)
    assert classifier.certificate_.loss == 2
    wrong = classifier.predict(XOR) != np.array(LABELS)
    assert wrong.tolist() == [False, True, False, False]


def test_works_in_pipelines_grid_searches_clones_and_pickles():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    y[:] = X[:, 0] > 0
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), quick(method=Exact())),
        {"stepclassifier__hidden": [(), (2,)], "stepclassifier__method__solver": ["highs", "auto"]},
        cv=2,
    ).fit(X, y)
    assert grid.best_score_ > 0.8
    best = grid.best_estimator_
    again = pickle.loads(pickle.dumps(best))
    assert (again.predict(X) == best.predict(X)).all()
    assert again[-1].certificate_ == best[-1].certificate_
    copy = clone(quick(weights=Integers(2), method=Prove(exact=Exact(solver="scip"))))
    assert copy.method.exact.solver == "scip"
    assert not hasattr(copy, "network_")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_takes_data_frames_and_keeps_their_names(library):
    frames = pytest.importorskip(library)
    X = frames.DataFrame({"rain": [0, 0, 1, 1], "sun": [0, 1, 0, 1]})
    classifier = quick().fit(X, frames.Series(LABELS))
    assert classifier.feature_names_in_.tolist() == ["rain", "sun"]
    assert classifier.predict(X).tolist() == LABELS
    assert "rain" in classifier.network_.summary(classifier.feature_names_in_)


def test_has_an_html_repr():
    assert "StepClassifier" in quick()._repr_html_()
    assert repr(quick(method=Exact(solver="scip"))).count("scip") == 1


def test_fit_writes_no_parameter():
    classifier = quick(method="prove")
    before = dict(classifier.get_params(deep=False))
    classifier.fit(XOR, LABELS)
    assert classifier.get_params(deep=False) == before


def test_same_random_state_same_network():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 3)), rng.integers(0, 2, 25)
    one, two = (quick(time_limit=60).fit(X, y) for _ in range(2))
    assert one.certificate_.stop_reason == "proven"
    assert one.network_ == two.network_


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 3)), rng.integers(0, 2, 25)
    order = rng.permutation(25)
    assert quick(time_limit=60).fit(X, y).network_ == quick(time_limit=60).fit(X[order], y[order]).network_


def test_a_start_and_a_callback_are_used():
    first = quick().fit(XOR, LABELS)
    seen = []
    second = quick(method=Exact(search_share=0)).fit(XOR, LABELS, start=first.network_, on_incumbent=seen.append)
    assert second.certificate_.loss == 0
    assert seen[0].loss == 0
    assert seen[0].network == first.network_


def test_the_certificate_can_be_verified():
    classifier = quick(hidden=(1,)).fit(XOR, LABELS)
    assert classifier.verify(XOR, LABELS)
    assert all(check.holds for check in classifier.verify(XOR, LABELS, resolve=True).checks)
    with pytest.raises(InvalidInputError, match="not the data of the certificate"):
        classifier.verify(XOR, [*LABELS[1:], "odd"])


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 3])
def test_the_time_limit_is_kept(limit):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 8)), rng.integers(0, 2, 600)
    begin = time.perf_counter()
    classifier = quick(hidden=(5, 5), time_limit=limit).fit(X, y)
    assert time.perf_counter() - begin < limit + 2.5  # generous: test machines are busy
    assert classifier.certificate_.stop_reason in ("time", "program too large for the time")


BAD_ROWS = {
    "NaN": (np.array([[np.nan, 0], [1, 1]]), [0, 1], "NaN"),
    "infinity": (np.array([[np.inf, 0], [1, 1]]), [0, 1], "infinity"),
    "strings": (np.array([["a", "b"], ["c", "d"]]), [0, 1], "convert"),
    "one class": (np.array([[0, 0], [1, 1]]), [1, 1], "one class"),
    "no rows": (np.zeros((0, 2)), [], "minimum of 1"),
    "no columns": (np.zeros((3, 0)), [0, 1, 0], "minimum of 1"),
    "real targets": (np.eye(3), [0.1, 0.2, 0.7], "continuous"),
    "different lengths": (np.eye(3), [0, 1], "inconsistent"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows_get_a_clear_error(name):
    X, y, message = BAD_ROWS[name]
    with pytest.raises(ValueError, match=message):
        quick().fit(X, y)


def test_sparse_rows_get_a_clear_error():
    with pytest.raises(TypeError, match="dense"):
        quick().fit(sparse.csr_matrix(XOR), LABELS)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"hidden": (0,)}, InvalidInputError, "positive integers"),
        ({"hidden": (-3,)}, InvalidInputError, "positive integers"),
        ({"threshold": "none"}, InvalidInputError, "'neuron', 'layer'"),
        ({"weights": "quaternary"}, InvalidInputError, "'sign', 'ternary'"),
        ({"method": "guess"}, InvalidInputError, "'prove'"),
        ({"method": Exact(solver="cplex")}, InvalidInputError, "'highs'"),
        ({"method": Exact(formulation="loose")}, InvalidInputError, "'tight'"),
        ({"hidden": (2, 2), "method": Exact(formulation="gates")}, NotAcceptedError, "Use formulation='tight'"),
        ({"time_limit": 0}, InvalidInputError, "positive number of seconds"),
        ({"time_limit": "long"}, InvalidInputError, "positive number of seconds"),
        ({"gap": 2}, InvalidInputError, "from 0 to 1"),
        ({"n_jobs": 0}, InvalidInputError, "-1 for all cores"),
    ],
)
def test_bad_parameters_get_a_clear_error(parameters, error, message):
    with pytest.raises(error, match=message):
        quick(**parameters).fit(XOR, LABELS)


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        quick().fit(XOR, LABELS, [1, 1, -1, 1])


def test_bad_solvers_are_noticed_even_if_no_solver_is_needed():
    with pytest.raises(InvalidInputError, match="'highs'"):
        quick(method=Exact(solver="cplex")).fit([[0], [1]], [0, 1])


@pytest.mark.parametrize("output", ["one_vs_one", "one_hot", "ordinal"])
def test_several_classes_are_proven_saved_and_verified(output, tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    classifier = StepClassifier((5,), output=output, method="prove", random_state=0, time_limit=30).fit(X, names)
    certificate = classifier.certificate_
    assert (certificate.loss, certificate.status) == (0, "OPTIMAL")
    assert (classifier.predict(X) == names).all()
    assert classifier.decision_function(X).shape == (150, 3)
    assert (classifier.classes_[classifier.decision_function(X).argmax(axis=1)] == names).all()
    stepnet.save(classifier, tmp_path / "m.json")
    again = stepnet.load(tmp_path / "m.json")
    assert again.network_ == classifier.network_
    assert (again.predict(X) == names).all()
    assert again.verify(X, names)


def test_the_vote_of_pairs_is_the_votes_counted_and_does_not_depend_on_jobs():
    X, y = load_iris(return_X_y=True)
    one = StepClassifier((2,), output="one_vs_one", random_state=0).fit(X, y)
    two = StepClassifier((2,), output="one_vs_one", random_state=0, n_jobs=2).fit(X, y)
    assert one.network_ == two.network_
    bits = one.network_.levels(X)[-2]
    votes = np.zeros((len(X), 3))
    for number, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        votes[:, b] += bits[:, number]
        votes[:, a] += 1 - bits[:, number]
    assert (votes.argmax(axis=1) == one.predict(X)).all()
    assert (votes == one.decision_function(X)).all()


def test_class_weights_are_row_weights():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    by_class = quick(class_weight={0: 3, 1: 1}, method="search", time_limit=1).problem(X, y)
    by_row = quick().problem(X, y, np.where(y == 0, 3.0, 1.0))
    assert by_class.dataset.fingerprint == by_row.dataset.fingerprint
    balanced = quick(class_weight="balanced").problem(X[:30], y[:30]).dataset
    totals = [balanced.weights[balanced.y == code].sum() for code in (0, 1)]
    assert totals[0] == pytest.approx(totals[1])
    with pytest.raises(InvalidInputError, match="'balanced' or a dictionary"):
        quick(class_weight="heavy").fit(X, y)
    with pytest.raises(InvalidInputError, match="non-negative"):
        quick(class_weight={0: -1, 1: 1}).fit(X, y)


def test_pairs_are_told_as_they_are_done(capsys):
    X, y = np.arange(8.0)[:, None], list("abcdabcd")
    seen = []
    StepClassifier(hidden=(1,), method="prove", random_state=0, verbose=1).fit(X, y, on_incumbent=seen.append)
    assert [(one.stage, one.share) for one in seen[:2]] == [
        ("1 of 6 pairs", 1 / 6),
        ("2 of 6 pairs", 2 / 6),
    ]
    assert len(seen) == 6
    assert "loss -  bound -  gap -  (6 of 6 pairs, 100% done)" in capsys.readouterr().err
    classifier = StepClassifier(hidden=(1,), method="prove", random_state=0).fit(
        X, y, on_incumbent=lambda progress: True
    )
    assert classifier.certificate_.stop_reason == "callback"


@pytest.mark.parametrize("kind", [int, float, np.uint8])
@pytest.mark.parametrize("estimator", [StepClassifier((1,), time_limit=1), StepEnsembleClassifier(1, hidden=(1,))])
def test_many_numbers_as_classes_get_a_warning_before_the_work(estimator, kind):
    X, y = np.arange(42.0)[:, None], np.arange(42) % 21
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=r"21 different numbers.*use StepRegressor"):
            estimator.fit(X, y.astype(kind))
    assert not hasattr(estimator, "network_")


def test_many_words_and_few_numbers_as_classes_are_nothing_special():
    X, y = np.arange(42.0)[:, None], np.arange(42) % 21
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        StepClassifier((1,), output="one_hot", random_state=0).fit(X, [f"class {code}" for code in y])
        StepClassifier((1,), output="one_hot", random_state=0).fit(X, y % 20)


def test_an_ensemble_of_several_classes_votes_on_every_pair():
    X, y = load_iris(return_X_y=True)
    ensemble = StepEnsembleClassifier(3, hidden=(4,), random_state=0).fit(X, y)
    assert len(ensemble.members_) == 9
    assert ensemble.score(X, y) > 0.93
    assert np.allclose(ensemble.predict_proba(X).sum(axis=1), 1)
    assert (ensemble.predict_proba(X).argmax(axis=1) == ensemble.predict(X)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"output": "softmax"}, "'one_hot'"),
        ({"activation": "relu"}, "Staircase"),
        ({"activation": Staircase((0, 1, 2)), "threshold": "layer"}, "its own thresholds"),
        ({"weights": ("real", "ternary", "real")}, "one entry per layer"),
    ],
)
def test_wrong_combinations_say_what_would_do(parameters, message):
    with pytest.raises(ValueError, match=message):
        quick(**parameters).fit(np.round(np.random.default_rng(0).normal(size=(30, 3))), np.arange(30) % 3)


def test_staircases_learn_three_levels_with_one_neuron():
    X, y = np.arange(9.0)[:, None], [0, 0, 0, 1, 1, 1, 0, 0, 0]
    classifier = quick(hidden=(1,), activation=Staircase((0, 1, 0)), method=Exact()).fit(X, y)
    assert (classifier.certificate_.loss, classifier.certificate_.status) == (0, "OPTIMAL")
    assert classifier.network_.layers[0].thresholds.shape == (1, 2)
    assert "from" in classifier.network_.summary()


@pytest.mark.parametrize(
    "parameters", [{}, {"method": "prove", "hidden": (2,)}, {"activation": "sign"}, {"hidden": ()}]
)
def test_probabilities_of_two_classes_agree_with_the_answers(parameters):
    X, y = make_classification(200, 4, flip_y=0.2, random_state=0)
    classifier = StepClassifier(random_state=0, time_limit=2, **parameters).fit(X, y)
    probabilities = classifier.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert (classifier.classes_[probabilities.argmax(axis=1)] == classifier.predict(X)).all()
    assert ((probabilities[:, 1] > 0.5) == (classifier.decision_function(X) > 0)).all()
    np.testing.assert_allclose(np.exp(classifier.predict_log_proba(X)), probabilities, atol=1e-12)
    assert log_loss(y, probabilities) < log_loss(y, np.full(len(y), y.mean()))


@pytest.mark.parametrize("output", ["one_vs_one", "one_hot", "ordinal"])
def test_probabilities_of_several_classes_agree_with_the_answers(output):
    X, y = load_iris(return_X_y=True)
    classifier = StepClassifier((3,), output=output, random_state=0, time_limit=5).fit(X, y)
    probabilities = classifier.predict_proba(X)
    assert probabilities.shape == (150, 3)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert (probabilities.argmax(axis=1) == classifier.predict(X)).all()
    assert log_loss(y, probabilities) < 0.7


def test_a_moved_threshold_leaves_the_probabilities():
    X, y = make_classification(200, 4, flip_y=0.2, random_state=0)
    classifier = StepClassifier((5,), random_state=0).fit(X, y)
    moved = classifier.with_threshold(1.0, X, y)
    np.testing.assert_allclose(moved.predict_proba(X), classifier.predict_proba(X), atol=1e-9)
    assert (moved.predict(X) == 1).sum() < (classifier.predict(X) == 1).sum()


def test_several_classes_are_learned_with_one_output_each_and_proven_by_pairs():
    X, y = load_iris(return_X_y=True)
    learned = StepClassifier((5,), random_state=0).fit(X, y)
    assert learned.network_.widths == (8, 3)  # five neurons for every two classes
    assert learned.network_.layers[-1].activation.name == "argmax"
    assert learned.verify(X, y)
    exact = StepClassifier((5,), output="one_hot", random_state=0).fit(X, y)
    assert exact.network_.widths == (5, 3)
    searched = StepClassifier((1,), method=FEW, random_state=0).fit(X, y)
    pairs = StepClassifier((1,), method=FEW, output="one_vs_one", random_state=0).fit(X, y)
    assert searched.network_ == pairs.network_
    assert StepClassifier((5,), random_state=0).fit(X, y == 1).network_.widths == (5, 1)


def test_a_learned_model_of_several_classes_comes_back(tmp_path):
    X, y = load_iris(return_X_y=True)
    learned = StepClassifier((5,), random_state=0).fit(X, y)
    stepnet.save(learned, tmp_path / "model.json")
    again = stepnet.load(tmp_path / "model.json")
    assert again.verify(X, y)
    assert (again.predict_proba(X) == learned.predict_proba(X)).all()


def test_learned_networks_are_not_too_sure_of_new_rows():
    X, y = make_classification(900, 10, flip_y=0.3, random_state=0)
    classifier = StepClassifier(random_state=0).fit(X[:300], y[:300])
    at_its_word = Calibration.fitted(classifier.decision_function(X[:300]), y[:300], np.ones(300))
    assert classifier.calibration_.slope < at_its_word.slope
    values = classifier.decision_function(X[300:])
    assert log_loss(y[300:], classifier.predict_proba(X[300:])) < log_loss(y[300:], at_its_word.probabilities(values))
