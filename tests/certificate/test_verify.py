"""Verify: true certificates pass, tampered ones do not."""

from dataclasses import replace

import numpy as np
import pytest

from conftest import make_problem, solve
from stepnet.bounds.evidence import Stated
from stepnet.certificate.verify import verify
from stepnet.errors import InvalidInputError
from stepnet.methods.exact import Exact
from stepnet.methods.learn import Learn
from stepnet.model.network import Layer, Network


@pytest.fixture(scope="module")
def proven():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.uniform(-1, 1, (20, 3)), rng.integers(0, 2, 20), (2,))
    certificate, result = solve(problem, Exact(formulation="gates"))
    return problem, result.network, certificate


def test_a_true_certificate_passes_and_says_what_is_claimed(proven):
    verification = verify(*proven)
    assert verification
    assert [check.holds for check in verification.checks] == [True, True, None]
    assert "claimed by HiGHS" in str(verification)


def test_a_solver_s_bound_can_be_proven_again(proven):
    verification = verify(*proven, again=Exact(formulation="tight").solve(*proven[:2], time_limit=60))
    assert [check.holds for check in verification.checks] == [True, True, True]


def test_a_wrong_loss_a_wrong_gap_and_an_invented_bound_are_false(proven):
    problem, network, certificate = proven
    assert not verify(problem, network, replace(certificate, loss=0.0))
    assert not verify(problem, network, replace(certificate, gap=0.5))
    assert not verify(problem, network, replace(certificate, status="FEASIBLE"))
    assert not verify(problem, network, replace(certificate, evidence=Stated("made up")))


def test_how_a_network_was_trained_is_not_recomputed_but_whether_it_is_optimal_is(proven):
    problem, network, certificate = proven
    assert not verify(problem, network, replace(certificate, status="LEARNED"))  # loss and bound meet
    learned, result = solve(problem, Learn())
    assert learned.status == "LEARNED"
    verification = verify(problem, result.network, learned)
    assert verification
    assert "true   LEARNED: the loss is above the bound" in str(verification)
    assert verify(problem, result.network, replace(learned, status="FEASIBLE"))
    assert not verify(problem, result.network, replace(learned, status="OPTIMAL"))
    assert not verify(problem, result.network, replace(learned, gap=0.5))


@pytest.mark.slow
def test_a_bound_above_the_optimum_is_refuted(proven):
    problem, _, certificate = proven
    worse = Network((Layer(np.zeros((2, 3)), [0, 0]), Layer([[0, 0]], [0])))
    loss = problem.evaluate(worse)
    lie = replace(certificate, loss=loss, bound=loss)
    assert verify(problem, worse, lie)  # not decided without solving again
    assert not verify(problem, worse, lie, again=Exact().solve(problem, worse, time_limit=30))


def test_a_changed_network_is_noticed(proven):
    problem, network, certificate = proven
    other = Network((network.layers[0], Layer(-network.layers[1].weights, network.layers[1].thresholds)))
    assert not verify(problem, other, certificate)


def test_other_data_are_an_error(proven):
    problem, network, certificate = proven
    other = make_problem(problem.dataset.X + 1, problem.dataset.y, (2,))
    with pytest.raises(InvalidInputError, match="not the data of the certificate"):
        verify(other, network, certificate)


def test_a_proof_over_correct_sets_is_repeated_for_all_networks():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.uniform(-1, 1, (20, 3)), rng.integers(0, 2, 20), (2,))
    certificate, result = solve(problem, Exact(formulation="sat"))
    assert (str(certificate.scope), certificate.claimed_by) == ("all networks", "CaDiCaL 1.9.5")
    checks = verify(
        problem, result.network, certificate, again=Exact().solve(problem, result.network, time_limit=60)
    ).checks
    assert [check.holds for check in checks] == [True, True, True]
    checks = verify(
        problem,
        result.network,
        certificate,
        again=Exact(formulation="gates").solve(problem, result.network, time_limit=60),
    ).checks
    assert checks[-1].holds is None  # a program proves less
