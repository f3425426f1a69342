"""Traps that made false or weak claims once: weights, scales, scopes and labels out of the ordinary."""

from dataclasses import replace

import numpy as np
import pytest

from conftest import XOR, make_problem, solve
from stepnet import Ball, Constraint, Exact, Raises, Staircase, StepAutoencoder, StepClassifier, StepRegressor
from stepnet.bounds.conflicts import conflict_bound
from stepnet.bounds.scope import ALL_NETWORKS, Scope
from stepnet.certificate.verify import verify
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.model.network import Layer, Network
from stepnet.solvers.backends.registry import BACKENDS

BIG = [4015, -16397, -1743, 25949, -6530, -5667, -8104, 24102, -3780, -3136]
BIG_LABELS = [1, 1, 0, 1, 0, 1, 0, 0, 1, 1]
BIG_WEIGHTS = [0.2, 0.1, 0.3, 0.3, 0.1, 0.1, 0.1, 0.2, 0.3, 0.2]


@pytest.mark.skipif(not BACKENDS["cpsat"].is_available(), reason="CP-SAT is not installed")
def test_integer_weights_on_large_integers_with_real_row_weights_are_solved_right():
    problem = make_problem(np.array(BIG)[:, None], BIG_LABELS, (), weights="ternary", sample_weight=BIG_WEIGHTS)
    certificate, _ = solve(problem, Exact(formulation="tight"))
    assert certificate.status == "OPTIMAL"
    assert certificate.loss == pytest.approx(0.6)
    assert certificate.claimed_by.startswith("CP-SAT")


@pytest.mark.parametrize("solver", ["highs", "scip", "gurobi"])
def test_float_solvers_refuse_large_integers(solver):
    if not BACKENDS[solver].is_available():
        pytest.skip("not installed")
    problem = make_problem(np.array(BIG)[:, None], BIG_LABELS, (), weights="ternary")
    with pytest.raises(NotAcceptedError, match="solver='cpsat'"):
        solve(problem, Exact(solver=solver, free_bounds=False))


def test_numbers_too_fine_for_a_grid_are_refused():
    problem = make_problem([[1e-310], [-1e-310], [2e-310]], [0, 1, 1], (), weights="ternary")
    with pytest.raises(NotAcceptedError, match="Round them first"):
        solve(problem, Exact(formulation="tight"))


@pytest.mark.parametrize("weights", [[0.5, 0.5, 0.5, 0.5, 1e6 + 0.1, 1e6 + 0.1], [1000, 1000, 1000, 1001, 3e9, 3e9]])
def test_heavy_rows_do_not_make_light_ones_negligible(weights):
    problem = make_problem([*XOR, [50, 50], [-50, -50]], [0, 1, 1, 0, 1, 0], (2,), sample_weight=weights)
    loss = problem.dataset.weights.min()
    assert not problem.accuracy.are_equal(loss, 0.0)


def test_a_cutoff_proves_no_more_than_it_says():
    real = make_problem([[0], [1]], [0, 1], sample_weight=[0.1, np.pi]).accuracy
    assert real.proven_by_cutoff(0.1) == real.next_below(0.1) < 0.1
    assert make_problem([[0], [1]], [0, 1]).accuracy.proven_by_cutoff(3.0) == 3.0


@pytest.mark.parametrize("size", [1e-15, 2.0**-30, 1e-7, 1.0, 1e9, 1e21])
@pytest.mark.parametrize("formulation", ["gates", "tight"])
def test_the_size_of_all_weights_does_not_matter(size, formulation):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(14, 2)), rng.integers(0, 2, 14)
    expected, _ = solve(make_problem(X, y, (1,)), Exact(formulation=formulation, search_share=0))
    problem = make_problem(X, y, (1,), sample_weight=np.full(14, size))
    certificate, _ = solve(problem, Exact(formulation=formulation, search_share=0))
    assert certificate.status == "OPTIMAL"
    assert certificate.loss == pytest.approx(expected.loss * size)


def test_solving_again_confirms_only_the_scope_it_proves():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.uniform(-1, 1, (20, 3)), rng.integers(0, 2, 20), (2,))
    gates = Exact(formulation="gates")
    certificate, result = solve(problem, gates)
    lie = replace(certificate, scope=ALL_NETWORKS)
    checks = verify(problem, result.network, lie, again=gates.solve(problem, result.network, time_limit=30)).checks
    assert checks[-1].holds is not True


def test_unknown_labels_are_not_verified():
    classifier = StepClassifier(hidden=(2,), method="prove", random_state=0).fit(XOR, ["neg", "pos", "pos", "neg"])
    with pytest.raises(InvalidInputError, match="'banana'"):
        classifier.verify(XOR, ["banana", "pos", "pos", "banana"])


def test_margins_are_rounded_up_in_words():
    assert str(Scope.of_margin(0.0001)) == "networks with margin >= 0.0001"
    assert str(Scope.of_margin(1.2345e-4)) == "networks with margin >= 0.000124"
    assert str(Scope.of_margin(0)) == "all networks"


def test_the_paper_s_scope_names_its_units():
    problem = make_problem([[1e6], [1e6 + 1], [1e6 + 2]], [0, 1, 0], (2,))
    certificate, _ = solve(problem, Exact(formulation="paper", search_share=0, free_bounds=False))
    assert certificate.scope.is_all or certificate.scope.in_data_units


def test_a_bound_on_a_program_with_unsafe_big_m_is_not_believed():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(8, 2)) + 1000, rng.integers(0, 2, 8), (1,), 0.0)
    certificate, _ = solve(problem, Exact(formulation="paper", search_share=0, free_bounds=False))
    assert certificate.bound == 0
    assert "too large to trust" in certificate.stop_reason
    small = make_problem(rng.normal(size=(8, 2)), rng.integers(0, 2, 8), (1,), 0.0)
    certificate, _ = solve(small, Exact(formulation="paper", search_share=0, free_bounds=False))
    assert certificate.stop_reason != "finished; big-M is too large to trust the bound"


def test_neurons_without_weights_are_tried_with_threshold_zero():
    X, y = [[-1]] * 5 + [[1]] * 5, [0, 0, 0, 1, 1] * 2
    certificate, _ = solve(make_problem(X, y, (1,), 0.0), Exact())
    assert certificate.loss == 4


def test_a_bound_for_all_networks_is_preferred_where_it_serves():
    X = [[-1.2e-4], [1.5e-4], [1.0]]
    certificate, _ = solve(make_problem(X, [0, 1, 1], (1,), 1.0), Exact(free_bounds=False))
    if certificate.loss == 0:
        assert certificate.scope.is_all


@pytest.mark.parametrize("scale", [1e170, 1e-170])
def test_margin_and_decision_survive_extreme_units(scale):
    X = np.array(XOR) * scale
    classifier = StepClassifier(hidden=(2,), method="prove", random_state=0, time_limit=20).fit(X, [0, 1, 1, 0])
    assert classifier.certificate_.loss == 0
    assert 0.05 * scale < classifier.certificate_.margin < 2 * scale
    network = Network((Layer([[2.0, -2.0]], [0.0]),))
    assert network.decision([[1.7e308, 1.7e308]])[0] > 0


def test_neurons_without_weights_cost_no_rationals():
    import time

    network = Network((Layer(np.zeros((25, 20)), np.zeros(25)), Layer(np.zeros((1, 25)), [0.0])))
    X = np.random.default_rng(0).normal(size=(20_000, 20))
    begin = time.perf_counter()
    assert network.predict(X).all()
    assert time.perf_counter() - begin < 3


@pytest.mark.slow
def test_the_linear_program_leaves_time_for_the_search():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (20_000, 5)) + rng.normal(size=(20_000, 5)) * 0.01
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    classifier = StepClassifier(hidden=(4,), method="prove", time_limit=12, random_state=0).fit(X, y)
    assert classifier.certificate_.loss < 5_000
    assert classifier.certificate_.runtime < 14


def test_large_integers_below_numbers_are_not_believed_by_floats():
    X = np.array([[3, 2], [2, 1], [1, 0], [0, 0], [0, 3], [2, 3], [2, 2]]) + 1e8
    y = [-0.7, -1.27, -0.62, 0.04, -2.33, -0.22, -1.25]
    for solver in ("highs", "scip"):
        if not BACKENDS[solver].is_available():
            continue
        method = Exact(solver=solver, search_share=0.0)
        model = StepRegressor((1,), weights="ternary", method=method, time_limit=10, random_state=0).fit(X, y)
        assert model.certificate_.bound <= 1.4065


def test_fractional_sides_of_integer_weights_are_rounded():
    X, y = [[-1, 2], [1, 2], [-1, 2], [2, 2], [1, 2]], [0, 1, 0, 1, 0]
    side = Constraint({(2, 0, 0): 1.0}, lower=0.5)
    for solver in ("highs", "cpsat"):
        if BACKENDS[solver].is_available():
            method = Exact(solver=solver, search_share=0.0)
            model = StepClassifier((1,), weights=("sign", "ternary"), constraints=[side], method=method).fit(X, y)
            assert (model.certificate_.loss, model.certificate_.status) == (1, "OPTIMAL")


def test_constant_columns_that_a_constraint_names_are_kept():
    X, y = np.array([[-2.0, 1], [-1, 1], [1, 1], [2, 1]]), [1, 1, 0, 0]
    heavier = Constraint({(1, 0, 0): 1.0, (1, 0, 1): -1.0}, lower=0.0)
    model = StepClassifier((), method="prove", constraints=[heavier], random_state=0).fit(X, y)
    assert model.certificate_.loss == 0


def test_a_constraint_is_measured_by_its_own_weights():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]])
    y = 1e6 * (X[:, 0] > 0.5) - 0.3 * (X[:, 1] > 0.5)
    sides = [Constraint({(2, 0, j): 1.0}, lower=0.5) for j in (0, 1)]
    model = StepRegressor(
        (2,), method="prove", constraints=[*sides, Raises(0), Raises(1)], time_limit=10, random_state=0
    ).fit(X, y)
    assert (model.network_.layers[1].weights >= 0.5 - 1e-8).all()


@pytest.mark.parametrize(
    "options",
    [{"activation": Staircase((1.0, 0.0))}, {"output": "one_hot"}, {"output": "one_vs_one"}],
)
def test_a_direction_is_promised_only_where_it_holds(options):
    X, y = np.arange(6.0)[:, None], [2, 2, 1, 1, 0, 0]
    labels = y if "output" in options else [1, 1, 1, 0, 0, 0]
    with pytest.raises(InvalidInputError, match="ordinal"):
        StepClassifier((2,), constraints=[Raises(0)], **options).fit(X, labels)
    ordinal = StepClassifier((2,), constraints=[Raises(0)], output="ordinal", method="prove", time_limit=1).fit(X, y)
    assert (np.diff(ordinal.predict(X)) >= 0).all()


def test_constraints_that_could_be_used_up_are_refused():
    X = np.arange(6.0)[:, None]
    with pytest.raises(InvalidInputError, match="list or tuple"):
        StepClassifier((1,), constraints=map(Raises, [0])).fit(X, X[:, 0] < 2.5)


def test_votes_of_hinges_count_errors():
    X, y = [[0.0], [0.0], [0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1, 0, 1, 2]
    model = StepClassifier((1,), method="prove", loss="hinge", time_limit=5, random_state=0).fit(X, y)
    assert model.certificate_.bound == 1
    assert model.verify(X, y)


def test_light_groups_do_not_drown():
    X, y, w = [[0.0], [1], [1], [2], [2], [3], [3]], [0.0, 0, 5, 0, 5, 0, 5], [1e17, 2, 1, 2, 1, 2, 1]
    assert conflict_bound(StepRegressor((2,), loss="absolute").problem(X, y, w)).value <= 15
    assert conflict_bound(StepRegressor((2,), loss="absolute").problem(X, y, [1, *w[1:]])).value == pytest.approx(15)


@pytest.mark.parametrize("scale", [1e-170, 1e160])
def test_numbers_whose_squares_leave_the_floats_are_refused(scale):
    with pytest.raises(InvalidInputError, match="rescale"):
        StepRegressor((1,)).fit([[0.0], [1.0]], [scale, 2 * scale])


def test_the_fewest_weights_never_cost_a_proven_network():
    X = np.round(np.random.default_rng(0).normal(size=(10, 2)) * 4)
    y = (X.sum(axis=1) > 0).astype(int)
    y[0] ^= 1
    options = {"weights": "ternary", "sparsity": "fewest", "random_state": 0}
    if BACKENDS["cpsat"].is_available():
        model = StepClassifier((1,), method=Exact(solver="cpsat"), **options).fit(X, y)
        assert model.certificate_.weights_bound == model.certificate_.n_weights
    large = StepClassifier((1,), method=Exact(), **options).fit(X * 4096 + 1, y)
    assert large.certificate_.status == "OPTIMAL"


def test_an_error_leaves_the_estimator_as_it_was():
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 1, 1, 1, 1])
    model = StepClassifier((1,), method="prove", random_state=0).fit(X, y)
    model.set_params(method="alternating", uncertainty=Ball("linf", 0.1))
    with pytest.raises(NotAcceptedError):
        model.fit(X, np.array(["a", "b"])[1 - y])
    assert model.predict(X).tolist() == y.tolist()
    coder = StepAutoencoder(2, random_state=0).fit(np.hstack([X, X]))
    coder.set_params(hidden=(3,), time_limit=-1)
    with pytest.raises(InvalidInputError):
        coder.partial_fit(np.hstack([X, X]))
    assert coder.transform(np.hstack([X, X])).shape == (8, 2)


@pytest.mark.parametrize("lightness", [1e-8, 1e-7, 1e-6])
def test_light_rows_next_to_a_heavy_one_make_no_false_bound(lightness):
    """Costs below a solver's tolerance count for nothing with it; on a line the optimum is one of few splits."""
    rng, m = np.random.default_rng(3), 200
    X = np.append(np.arange(m), m + 10.0)[:, None]
    y = np.append(rng.integers(0, 2, m), 1)
    weights = np.append(rng.uniform(0.5, 1.5, m) * lightness, 1.0)
    splits = [np.arange(m + 1) >= k for k in range(m + 2)]
    best = min(weights[on != (y == code)].sum() for on in splits for code in (0, 1))
    certificate, _ = solve(make_problem(X, y, (1,), sample_weight=weights), Exact(search_share=0), time_limit=2)
    assert certificate.bound <= best * (1 + 1e-9)
