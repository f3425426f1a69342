"""One neuron: optima of brute force, for all networks and any weights of rows."""

import numpy as np
import pytest

import brute_force
from conftest import make_problem, solve
from stepnet.errors import NotAcceptedError
from stepnet.methods.begin import begin
from stepnet.methods.exact import Exact
from stepnet.methods.run import Run
from stepnet.provers.one_neuron import OneNeuron
from stepnet.runtime.limits import Budget

ALONE = Exact(formulation="one_neuron", free_bounds=False, search_share=0)


@pytest.mark.parametrize("hidden", [(1,), ()])
@pytest.mark.parametrize("seed", range(12))
def test_it_proves_the_optimum_of_brute_force(seed, hidden):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 4)), int(rng.integers(4, 11))
    X = rng.normal(size=(m, n)) if seed % 2 else rng.integers(-1, 2, (m, n)).astype(float)
    weights = [None, rng.integers(1, 4, m).astype(float), rng.choice([0.25, 0.5, 0.75], m)][seed % 3]
    problem = make_problem(X, rng.permutation(np.arange(m) % 2), hidden, sample_weight=weights)
    certificate, _ = solve(problem, ALONE, time_limit=30)
    data = problem.dataset
    best = brute_force.best_loss(data.X, data.y, (1,), "neuron", data.weights)
    assert (certificate.status, str(certificate.scope)) == ("OPTIMAL", "all networks")
    assert certificate.loss == pytest.approx(best)
    assert best == 0 or certificate.evidence.kind == "set cover"


def test_the_time_limit_leaves_a_bound_that_holds():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(150, 6)), rng.integers(0, 2, 150), (1,))
    run = Run(problem, Budget(2.0))
    begin(run, None, separate=False)
    OneNeuron().work(run, run.offer)
    assert run.budget.elapsed < 3.5
    assert 0 < run.bound.value <= run.loss


def test_two_neurons_are_referred_to_sat():
    with pytest.raises(NotAcceptedError, match="formulation='sat'"):
        solve(make_problem([[0.0], [1.0]], [0, 1], (2,)), ALONE)


def test_a_row_that_is_all_but_weightless_does_not_vanish():
    problem = make_problem([[0.0], [1.0], [2.0]], [0, 1, 0], (1,), sample_weight=[0.123, 0.77, 1e-8])
    certificate, _ = solve(problem, ALONE)
    assert (certificate.status, certificate.loss, str(certificate.scope)) == ("OPTIMAL", 1e-8, "all networks")
    assert certificate.bound == pytest.approx(1e-8, rel=1e-6)
