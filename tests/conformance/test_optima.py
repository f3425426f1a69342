"""Every formulation on every solver that takes it finds the known optimum; brute force agrees."""

import numpy as np
import pytest

from brute_force import best_loss, rational_loss
from conftest import INSTANCES, make_problem, solve
from stepnet.errors import SolverError
from stepnet.formulations.paper import Paper
from stepnet.formulations.registry import FORMULATIONS
from stepnet.methods.exact import Exact
from stepnet.solvers.backends.registry import BACKENDS

AVAILABLE = [name for name, backend in BACKENDS.items() if backend.is_available()]
FORMS = {**FORMULATIONS, "paper, two-sided": Paper(two_sided=True)}
TRUE_FORMS = [name for name in FORMS if name != "paper"]


@pytest.mark.parametrize("solver", AVAILABLE)
@pytest.mark.parametrize("name", FORMS)
def test_known_optima(instance, name, solver):
    problem, formulation = instance.problem(), FORMS[name]
    if not formulation.accepts(problem):
        pytest.skip("not accepted")
    encoding = formulation.encode(problem)[0]
    if not BACKENDS[solver].accepts(encoding.model):
        pytest.skip("not accepted by the solver")
    exact = Exact(formulation=formulation, solver=solver, free_bounds=False, search_share=0)
    try:
        certificate, result = solve(problem, exact)
    except SolverError as error:
        if solver == "gurobi" and "licence" in str(error):
            pytest.skip(str(error))
        raise
    layers = [(layer.weights, layer.thresholds) for layer in result.network.layers]
    assert certificate.loss == rational_loss(layers, instance.X, instance.y, instance.sample_weight)
    assert instance.optimum <= certificate.loss
    assert certificate.bound <= instance.optimum or not certificate.scope.is_all
    if name != "paper":
        assert certificate.loss == certificate.bound == instance.optimum
        assert all(claim.is_true for claim in result.claims)


@pytest.mark.parametrize("instance", [i for i in INSTANCES if i.weights == "real"], ids=lambda i: i.name)
def test_brute_force_finds_the_known_optima(instance):
    X = np.asarray(instance.X, dtype=float)
    rows = X - X.mean(axis=0) if instance.threshold == "neuron" else X
    assert best_loss(rows, instance.y, instance.hidden, instance.threshold, instance.sample_weight) == instance.optimum


@pytest.mark.slow
@pytest.mark.parametrize("threshold", ["neuron", "layer", 0.0, 1.0])
@pytest.mark.parametrize(
    ("hidden", "m"), [((), 10), ((1,), 9), ((2,), 8), pytest.param((2, 2), 6, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_exact_equals_brute_force_on_random_rows(seed, hidden, m, threshold):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (m, 2)).astype(float), rng.integers(0, 2, m)
    optimum = best_loss(X / 4, y, hidden, threshold, margin=1e-4 if threshold == 0.0 else 1e-7)
    certificate, _ = solve(make_problem(X, y, hidden, threshold), Exact(formulation="tight"))
    assert certificate.status == "OPTIMAL"
    assert certificate.loss == optimum
