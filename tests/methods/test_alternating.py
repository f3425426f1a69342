"""Algorithm 1: its halves are programs without products, and the loss never rises."""

import numpy as np
import pytest

from conftest import CUBE, PARITY, XOR, make_problem, random_network, solve
from stepnet import Alternating, StepClassifier
from stepnet.errors import NotAcceptedError
from stepnet.formulations.halves import half
from stepnet.formulations.tight import Tight
from stepnet.search.polish.polish import centred


def test_each_half_frees_the_layers_of_its_parity_and_the_output():
    rng = np.random.default_rng(0)
    problem = make_problem(CUBE, PARITY, (2, 3))
    (encoding,) = Tight().encode(problem)
    point = encoding.start(random_network(rng, 3, (2, 3)))
    odd, even = half(encoding, point, odd=True), half(encoding, point, odd=False)
    for k in range(3):
        for columns in (encoding.weights[k], encoding.thresholds[k]):
            free_in_odd = (odd.upper[columns] > odd.lower[columns]).all()
            free_in_even = (even.upper[columns] > even.lower[columns]).all()
            assert (free_in_odd, free_in_even) == ((True, False) if k in (0, 2) else (False, True))
    assert (odd.upper[encoding.outputs[1]] == odd.lower[encoding.outputs[1]]).all()
    assert (even.upper[encoding.outputs[0]] == even.lower[encoding.outputs[0]]).all()
    assert (odd.upper[encoding.errors] > odd.lower[encoding.errors]).all()


@pytest.mark.parametrize("threshold", ["neuron", "layer", 0.0, 0.5])
@pytest.mark.parametrize("hidden", [(2,), (3,), (2, 2)])
@pytest.mark.parametrize("seed", range(2))
def test_the_loss_never_rises(hidden, threshold, seed):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng.normal(size=(12, 2)), rng.integers(0, 2, 12), hidden, threshold)
    start = centred(problem, random_network(rng, 2, hidden, threshold))
    certificate, result = solve(problem, Alternating(), start=start, time_limit=10, seed=seed)
    assert certificate.loss <= problem.evaluate(start)
    losses = [progress.loss for progress in result.trace]
    assert losses == sorted(losses, reverse=True)
    assert certificate.loss == problem.evaluate(result.network)


def test_good_starts_are_carried_to_the_optimum():
    best = min(solve(make_problem(XOR, [0, 1, 1, 0], (3,)), Alternating(), seed=s)[0].loss for s in range(5))
    assert best == 0


def test_the_paper_s_own_halves_are_verified_too():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(12, 2)), rng.integers(0, 2, 12), (3,), "layer")
    certificate, result = solve(problem, Alternating(formulation="paper"), time_limit=10)
    assert certificate.loss == problem.evaluate(result.network)
    assert result.claims


def test_ternary_weights_alternate_as_well():
    classifier = StepClassifier((3,), weights="ternary", method="alternating", time_limit=10, random_state=0)
    assert classifier.fit(XOR, [0, 1, 1, 0]).certificate_.loss <= 2


def test_programs_without_layers_are_refused():
    with pytest.raises(NotAcceptedError, match="formulation='tight'"):
        solve(make_problem(XOR, [0, 1, 1, 0], (2,)), Alternating(formulation="gates"))
