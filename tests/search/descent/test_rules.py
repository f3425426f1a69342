"""Rules of a descent: the kernel and numpy make the same steps, and what is learned is a network of the problem."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from climbers import CASES, made
from stepnet import Ball, Constraint, Integers, Lowers, Raises, Staircase, StepClassifier
from stepnet.problem.dataset import Dataset
from stepnet.search.descent import descent, in_numpy
from stepnet.search.descent.descent import KERNELS, DescentOptions, accepts_descent, descend_network
from stepnet.search.descent.forward_in_numpy import look_ahead, pull_back
from stepnet.search.descent.kernel import L1, L2, LINF, Settings, descend
from stepnet.search.descent.layer_rule import layer_rules
from stepnet.search.descent.perturbations import norm_of
from stepnet.search.descent.targets import Targets

TAKEN = [name for name in CASES if accepts_descent(made(name))]
NORMS = {"l1": L1, "l2": L2, "linf": LINF}
QUIET = Settings(
    batch=0, n_steps=8, rate=0.02, noise_from=0.0, noise_to=0.0, decay=0.5, shrink=0.05, dropout=0.0, smoothing=0.05,
    jitter=0.0, averaged=0.5,
)  # fmt: skip


def begun(problem, seed=0):
    """The state of a descent before its first step, and its layers."""
    mean, scale = descent.mean_and_scale(problem.dataset.X, problem.dataset.weights)
    layers = layer_rules(problem, mean, scale, has_complements=False)
    targets = Targets.of(problem)
    return descent._training(problem, targets, layers, mean, scale, np.random.default_rng(seed)), layers


def quiet(problem, training):
    """Without noise, with all rows in every batch, and off the rows that hyperplanes begin on: no chance is left."""
    for offsets, n_steps in zip(training.b, training.steps[1:], strict=True):
        offsets[:n_steps] += 0.0123
    output = problem.architecture.output
    return training._replace(noise=np.zeros_like(training.noise)), QUIET._replace(
        batch=len(training.order),
        is_regression=output.gives_numbers,
        is_ordinal=output.n_thresholds > 1,
        has_rules=training.V is not training.W,
        norm=norm_of(problem),
    )


@pytest.mark.parametrize("ball", [None, *(Ball(norm, 0.1) for norm in NORMS)], ids=["", *NORMS])
@pytest.mark.parametrize("name", TAKEN)
def test_the_kernel_and_numpy_make_the_same_steps(name, ball):
    problem = made(name, uncertainty=ball)
    is_tied = ball is not None and ball.norm == "l1" and problem.architecture.has_integers  # which weight is largest
    if is_tied or not accepts_descent(problem):
        return
    assert KERNELS.is_done(100)
    ends = []
    for make_steps in (descend, in_numpy.descend):
        training, rules = quiet(problem, begun(problem)[0])
        assert training.noise.size > rules.batch
        assert make_steps(training, rules, 1, 9, 0) == 4
        ends.append(training)
    for part in ("W", "b", "weight_sums", "offset_sums"):
        np.testing.assert_allclose(*(getattr(end, part) for end in ends), atol=2e-4, err_msg=part)


@pytest.mark.parametrize("name", TAKEN)
def test_gradients_go_back_by_the_transpose_of_what_leads_ahead(name):
    training, _ = begun(made(name))
    if training.V is training.W:
        return
    rng, rules, widths, steps = np.random.default_rng(1), training.rules, training.widths, training.steps

    def ahead(W, b):
        V, B = np.zeros_like(training.V), np.zeros_like(training.B)
        look_ahead(rules, widths, steps, W, b, 0.0, V, B)
        return V, B

    gV, gB = rng.normal(size=training.V.shape), rng.normal(size=training.B.shape)
    parts = [gV[k, : steps[k + 1], : steps[k]] for k in range(len(gV))], [gB[k, : steps[k + 1]] for k in range(len(gB))]
    gW, gb = pull_back(rules, widths, steps, *parts)
    for k, gradient in enumerate(gW):
        for j, c in np.ndindex(gradient.shape):
            unit = np.zeros(training.W.shape)
            unit[k, j, c] = 1.0
            V, B = ahead(unit, np.zeros(training.b.shape))
            assert gradient[j, c] == pytest.approx((V * gV).sum() + (B * gB).sum(), rel=1e-4, abs=1e-4)
        if rules.offsets[k] == 0:
            np.testing.assert_allclose(gb[k], gB[k, : steps[k + 1]])


_weights = st.sampled_from(["real", "binary", "sign", "ternary", Integers(3), Integers(50)])


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 4), max_size=2),
    _weights,
    _weights,
    st.sampled_from(["step", "sign", Staircase((0, 1, 2)), Staircase((2, -1, 0), (-0.5, 1.0))]),
    st.sampled_from(["neuron", "layer", 0.0, 0.75]),
    st.sampled_from(["", "raises", "between", "few", "few in a layer"]),
    st.sampled_from(["two", "one_hot", "ordinal"]),
    st.booleans(),
)
def test_whatever_is_asked_for_the_network_is_one_of_the_problem(
    seed, hidden, first, last, activation, threshold, what, output, is_uncertain
):
    rng = np.random.default_rng(seed)
    threshold = "neuron" if isinstance(activation, Staircase) else threshold
    domains = (*(first for _ in hidden), last)
    X = rng.normal(size=(30, 3)) * 10.0 ** rng.integers(-3, 4, 3) + rng.normal(size=3)
    y = rng.integers(0, 2 if output == "two" else 3, 30)
    constraints = {"raises": (Raises(0), Lowers(1)), "between": Constraint({(1, 0, 0): 1.0, (1, 0, 2): -1}, lower=0)}
    classifier = StepClassifier(
        tuple(hidden),
        weights=domains,
        threshold=threshold,
        activation=activation,
        output="one_hot" if output == "two" else output,
        sparsity={"few": 4, "few in a layer": (3, *(None for _ in hidden))}.get(what),
        constraints=constraints.get(what),
        uncertainty=Ball("linf", 0.1) if is_uncertain else None,
    )
    try:
        problem = classifier.problem(X, y)
    except ValueError:  # such as Raises where no score can be raised
        return
    if not (answer := accepts_descent(problem)):
        assert answer.reason.startswith("descent ")
        return
    network = _learned(problem, seed)
    assert problem.refuses(network) is None


def _learned(problem, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descent, "_FEWEST_STEPS", 200)
        patch.setattr("stepnet.search.descent.layer_rule.warnings.warn", lambda *_, **__: None)
        return descend_network(problem, seed=seed, options=DescentOptions(epochs=1))


def test_whole_weights_are_those_of_the_data_whatever_its_units():
    """A weight of 2 on metres is not one on feet: the planted network is found in the units of the rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (500, 2)) * [1.0, 4.0]
    y = (X @ [2.0, -1.0] >= 3.0).astype(int)
    network = descend_network(StepClassifier((), weights=Integers(2)).problem(X, y), seed=0)
    np.testing.assert_array_equal(network.layers[0].weights, [[2.0, -1.0]])
    assert (network.predict(X) == y).mean() > 0.99


def test_a_warning_names_units_that_whole_weights_cannot_make_up_for():
    X = np.random.default_rng(0).normal(size=(50, 2)) * [1.0, 1000.0]
    for weights, n_warnings in ((Integers(3), 1), ("ternary", 1), (Integers(500), 0), (("real", "ternary"), 0)):
        problem = StepClassifier((2,), weights=weights).problem(X, X[:, 0] > 0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            descend_network(problem, seed=0, options=DescentOptions(epochs=1))
        assert sum("-fold in scale" in str(one.message) for one in caught) == n_warnings


def test_the_weights_that_stay_are_those_that_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8))
    y = (X[:, 2] - X[:, 5] > 0).astype(int)
    for hidden, limit in (((), 2), ((1,), 3), ((1,), (2, None))):
        problem = StepClassifier(hidden, sparsity=limit).problem(X, y)
        network = descend_network(problem, seed=0)
        assert network.used_features == (2, 5)
        assert (network.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize("hidden", [(), (3,), (3, 2)])
@pytest.mark.parametrize("norm", NORMS)
def test_what_a_small_move_spoils_is_not_relied_on(norm, hidden):
    """The first feature tells the classes apart by a hair, the second by far, with some errors."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    far = np.where(rng.random(400) < 0.05, 1 - y, y)
    X = np.column_stack([0.05 * y + rng.uniform(0, 0.02, 400), 2.0 * far + rng.uniform(0, 0.5, 400)])
    problem = StepClassifier(hidden, uncertainty=Ball(norm, 0.3)).problem(X, y)
    careful, careless = (descend_network(one, seed=0) for one in (problem, problem.nominal))
    assert problem.evaluate(careful) <= 0.1 * len(X)
    assert problem.evaluate(careless) >= 0.5 * len(X)


def test_rows_have_radii_of_their_own():
    X = np.linspace(-1, 1, 201)[:, None]
    problem = StepClassifier((), uncertainty=Ball("linf", 0.1)).problem(X, X[:, 0] > 0.0)
    data = problem.dataset
    radii = np.where(data.y == 1, 0.0, 0.4)
    for own, side in ((radii, 1.0), (0.4 - radii, -1.0)):
        dataset = Dataset(data.X, data.y, data.weights, own)
        layer = descend_network(replace(problem, dataset=dataset), seed=0).layers[0]
        assert side * float(layer.thresholds[0] / layer.weights[0, 0]) > 0.1
