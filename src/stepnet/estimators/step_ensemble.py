"""StepEnsembleClassifier: learned step networks that vote, as one deeper step network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from stepnet.bounds.conflicts import conflict_bound
from stepnet.certify import certify
from stepnet.checks import is_integer
from stepnet.errors import InvalidInputError, NoNetworkError, NotAcceptedError
from stepnet.estimators.base import FLOATS, BaseStepClassifier, checked_n_jobs
from stepnet.limits import Budget
from stepnet.methods.learn import Learn
from stepnet.network import Network, majority
from stepnet.parallel import in_order
from stepnet.problem.architecture import Architecture
from stepnet.problem.problem import Problem
from stepnet.result import Bound, Result
from stepnet.search.descent import DescentOptions, accepts_descent, descend_network


class StepEnsembleClassifier(BaseStepClassifier):
    """Several learned step networks vote; the vote is itself a step network with one more layer.

    Parameters
    ----------
    n_estimators : int, default=9
        Networks that vote; odd numbers have no ties.
    hidden : tuple of int, default=(25,)
        Hidden widths of each member.
    method : Learn or None, default=None
        How members are trained; None is ``Learn(strength=0.5)``: among several, each may be
        regularised less.
    time_limit : float, default=60
        Seconds for the whole fit.
    n_jobs : int, default=1
        Members trained at once; -1 for all cores, None for what joblib is configured for, such as a
        Dask cluster. The networks do not depend on it.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    network_ : Network
        The vote as one network.
    members_ : list of Network
    certificate_ : Certificate
        Of the vote; its bound is the free bound, which holds for every classifier.
    classes_ : ndarray of shape (2,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if ``X`` had them
    """

    def __init__(
        self,
        n_estimators: int = 9,
        *,
        hidden: tuple[int, ...] = (25,),
        method: Learn | None = None,
        time_limit: float = 60.0,
        n_jobs: int | None = 1,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.hidden = hidden
        self.method = method
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    weights, threshold, gap = "real", "neuron", 0.0  # of every member

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> StepEnsembleClassifier:
        """Train the members and join them."""
        budget, n_jobs = self._budget(), checked_n_jobs(self.n_jobs)
        if not is_integer(self.n_estimators) or self.n_estimators < 1:
            raise InvalidInputError(f"n_estimators={self.n_estimators!r} must be a positive integer, such as 9.")
        method = Learn(strength=0.5) if self.method is None else self.method
        if not isinstance(method, Learn):
            raise InvalidInputError(f"method={method!r} must be a Learn object, or None for the default.")
        problem = self._problem(X, y, sample_weight)
        answer = accepts_descent(problem)
        if not answer:
            raise NotAcceptedError(answer.reason)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.members_ = _train_members(problem, self.n_estimators, method.options, seed, budget, n_jobs)
        self.network_ = majority(self.members_)
        vote = self._certified_problem(problem)
        loss = vote.evaluate(self.network_)
        bound = Bound(conflict_bound(problem.dataset), proof="free bound: equal rows of different classes")
        reason = "proven" if loss <= bound.value else budget.stop_reason or "finished"
        self.result_ = Result(self.network_, loss, bound, reason, budget.elapsed)
        self.certificate_ = certify(vote, self.result_)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The share of the votes for each class."""
        check_is_fitted(self)
        votes = self.network_.levels(validate_data(self, X, reset=False, dtype=FLOATS))[-2]
        share = votes.mean(axis=1)
        return np.column_stack([1 - share, share])

    def _certified_problem(self, problem: Problem) -> Problem:
        hidden = self.network_.widths[:-1]
        return Problem(problem.dataset, Architecture.of(problem.dataset.n_features, hidden, "neuron", "real"))


def _train_members(
    problem: Problem, n_members: int, options: DescentOptions, seed: int, budget: Budget, n_jobs: int | None
) -> list[Network]:
    """Members with seeds of their own; an interrupt or the time limit ends with those there are."""
    arguments = [(problem, [seed, number], options, budget) for number in range(n_members)]
    members: list[Network] = []
    with budget.catching_interrupts():
        for member in in_order(train_member, arguments, n_jobs):
            members.append(member)
            if budget.stop_reason:
                break
    if not members:
        raise NoNetworkError("no member was trained within the time limit; give more time.")
    return members


def train_member(problem: Problem, seed: list[int], options: DescentOptions, budget: Budget) -> Network:
    """One member; runs in any thread, process or machine."""
    return descend_network(problem, seed=seed, options=options, should_stop=lambda: budget.stop_reason is not None)
