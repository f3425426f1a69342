"""A restriction that looks at answers is kept by searches, and refused by all that could not keep it."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from stepnet import Ball, Search, StepClassifier
from stepnet.errors import InvalidInputError, NoNetworkError, NotAcceptedError
from stepnet.methods.base import Run
from stepnet.model.network import Layer, Network
from stepnet.problem.constraint import Restriction
from stepnet.runtime.limits import Budget
from toys import BEYOND_SEARCH

BRIEF = Search(moves=300, starts=3)
X, Y = np.arange(6.0)[:, None], np.array([0, 1, 0, 0, 1, 0])
SMALL, LARGE = (Network((Layer([[1.0]], [end]),)) for end in (0.5, 3.5))  # on from there


@dataclass(frozen=True)
class Spares(Restriction):
    """No row of a class is missed."""

    code: int
    asked: list[Network] = field(default_factory=list, compare=False)

    needs_rows = True

    def refuses(self, network, dataset):
        self.asked.append(network)
        missed = (dataset.y == self.code) & (network.predict(dataset.X) != self.code)
        return f"it misses a row of class {self.code}" if missed.any() else None


def one_neuron(*restrictions, **options):
    return StepClassifier(**{"hidden": (), "constraints": restrictions, "method": BRIEF, "random_state": 0} | options)


def test_a_network_that_breaks_it_is_none_of_the_problem():
    problem = one_neuron(Spares(1)).problem(X, Y)
    assert problem.evaluate(SMALL) == 3
    assert "misses a row of class 1" in problem.refuses(LARGE)
    with pytest.raises(InvalidInputError, match="misses a row of class 1"):
        problem.evaluate(LARGE)
    with pytest.raises(InvalidInputError, match="misses a row of class 1"):
        one_neuron(Spares(1)).fit(X, Y, start=LARGE)


def test_an_offer_that_breaks_it_counts_for_nothing():
    run = Run(one_neuron(Spares(1)).problem(X, Y), Budget())
    assert run.offer(LARGE) == np.inf
    assert run.network is None
    assert run.offer(SMALL) == 3
    run.reshape(lambda problem, network: LARGE)
    assert (run.network, run.loss) == (SMALL, 3)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_search_keeps_it(n_jobs):
    free = one_neuron().fit(X, Y).certificate_.loss
    kept = one_neuron(Spares(1), n_jobs=n_jobs).fit(X, Y)
    assert (kept.predict(X)[Y == 1] == 1).all()
    assert free == 2  # the rows of class 1, or all others but one of them
    assert kept.certificate_.loss == 3  # the best that one threshold can do
    assert kept.certificate_.bound <= 3
    assert kept.verify(X, Y)


def test_it_is_asked_where_the_loss_is_evaluated_and_nowhere_else():
    problem = one_neuron(Spares(1)).problem(X, Y)
    (spares,) = problem.constraints.restrictions
    assert not spares.asked
    Run(problem, Budget()).offer(SMALL)
    assert spares.asked == [SMALL]


@pytest.mark.parametrize("name", BEYOND_SEARCH)
def test_what_could_not_keep_it_refuses_it(name):
    with pytest.raises(NotAcceptedError, match=r"constraints.*'search'"):
        one_neuron(Spares(1), hidden=(1,), method=BEYOND_SEARCH[name]).fit(X, Y)


def test_uncertain_rows_and_votes_refuse_it():
    with pytest.raises(NotAcceptedError, match="no constraints where rows are uncertain"):
        one_neuron(Spares(1), uncertainty=Ball("linf", 0.1)).fit(X, Y)
    with pytest.raises(InvalidInputError, match="Spares does not work with output='one_vs_one'"):
        one_neuron(Spares(1)).fit(X, Y + (X[:, 0] == 3) * 2)


def test_where_no_network_keeps_it_none_is_given():
    with pytest.raises(NoNetworkError, match="loosen them"):
        one_neuron(Spares(1), Spares(0)).fit(X, Y)
