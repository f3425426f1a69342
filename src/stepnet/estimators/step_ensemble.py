"""StepEnsembleClassifier: learned step networks that vote, as one deeper step network."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from stepnet.errors import InvalidInputError, NoNetworkError
from stepnet.estimators.base import checked_n_jobs
from stepnet.estimators.classifier import BaseStepClassifier, vote_problem, vote_result
from stepnet.estimators.pairs import pair_problems, require_votes, train_pair
from stepnet.methods.base import Method
from stepnet.methods.learn import Learn, descends
from stepnet.model.network import Network
from stepnet.model.votes import majority, pairwise_votes
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.runtime.numbers import is_integer
from stepnet.runtime.parallel import in_order
from stepnet.runtime.progress import Progress
from stepnet.runtime.view import showing
from stepnet.search.descent.descent import descend_network


@dataclass(eq=False, repr=False)
class StepEnsembleClassifier(BaseStepClassifier):
    """Several learned step networks vote; the vote is itself a step network with one more layer.

    More than two classes are predicted by votes on every pair of them, with ``n_estimators`` networks per pair.

    Parameters
    ----------
    n_estimators : int, default=9
        Networks that vote; with an odd number there are no ties.
    hidden : tuple of int, default=(25,)
        Hidden widths of each member.
    method : Learn or None, default=None
        How members are trained; None is ``Learn(strength=0.7)``: members of a vote need less regularisation.
        With ``uncertainty``, any method object.
    uncertainty : Ball, Polyhedron or None, default=None
        How far rows may be perturbed. Members are then trained for the worst case, each on rows drawn at random,
        and the certificate states the worst case of the vote.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of rows by their class.
    time_limit : float, default=60
        Seconds for the whole fit.
    n_jobs : int, default=1
        Members trained in parallel; -1 for all cores, None for what joblib is configured for, such as a
        Dask cluster. The networks do not depend on it.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        1 shows progress on standard error.
    on_interrupt : "raise" or "keep", default="raise"
        What Ctrl-C does once the vote of the members so far is kept; see :class:`StepClassifier`.

    Attributes
    ----------
    network_ : Network
        The vote as one network.
    members_ : list of Network
    certificate_ : Certificate
        Of the vote; its bound needs no solver and holds for every classifier.
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if ``X`` had them
    """

    n_estimators: int = 9
    _: KW_ONLY
    hidden: tuple[int, ...] = (25,)
    method: Method | None = None
    uncertainty: Any = None
    class_weight: Any = None
    time_limit: float = 60.0
    n_jobs: int | None = 1
    random_state: Any = None
    verbose: int = 0
    on_interrupt: str = "raise"

    weights, threshold, gap = "real", "neuron", 0.0  # of every member
    activation, output, loss = "step", "one_vs_one", "misclassified"
    sparsity = constraints = None

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, radius: ArrayLike | None = None
    ) -> Self:
        """Train the members and join them; ``radius`` as for :meth:`StepClassifier.fit`."""
        n_jobs = checked_n_jobs(self.n_jobs)
        if not is_integer(self.n_estimators) or self.n_estimators < 1:
            raise InvalidInputError(f"n_estimators={self.n_estimators!r} must be a positive integer, such as 9.")
        method = self._checked_method()
        with self._training() as budget:
            problem = self._problem(X, y, sample_weight, radius)
            seed, n_classes = self._seed(), len(self.classes_)
            parts = [problem] if n_classes == 2 else pair_problems(problem, n_classes)
            method.plan(parts[0])
            if n_classes > 2:
                require_votes(problem, n_classes, self.n_estimators)
            with showing(budget.remaining) if self.verbose else nullcontext() as show:
                self.members_ = _train_members(parts, int(self.n_estimators), method, seed, budget, n_jobs, show)
                network = majority(self.members_) if n_classes == 2 else pairwise_votes(self.members_, n_classes)
                votes = vote_problem(problem, network)
                self._keep(vote_result(votes, network, budget, is_learned=descends(method, problem)), votes)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The share of the votes for each class."""
        rows = self._new_rows(X)
        if len(self.classes_) == 2:
            share = self.network_.levels(rows)[-2].mean(axis=1)
            return np.column_stack([1 - share, share])
        votes = self.network_.decision(rows)
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))

    def _certified_problem(self, problem: Problem) -> Problem:
        return vote_problem(problem, self.network_)

    def _checked_method(self) -> Method:
        is_uncertain = self.uncertainty is not None
        method: Any = self.method or Learn(strength=0.7)
        if not isinstance(method, Method if is_uncertain else Learn):
            kind = "method object such as Prove()" if is_uncertain else "Learn object"
            raise InvalidInputError(f"method={method!r} must be a {kind}, or None for the default.")
        return method


def _train_members(
    problems: list[Problem],
    n_members: int,
    method: Method,
    seed: int,
    budget: Budget,
    n_jobs: int | None,
    show: Callable[[Progress], None] | None,
) -> list[Network]:
    """Rounds of one network per problem; an interrupt or the time limit keeps the rounds that are complete."""
    jobs, total = max(1, int(effective_n_jobs(n_jobs))), n_members * len(problems)
    seeds = [[seed, *place] for place in np.ndindex((n_members, len(problems)) if len(problems) > 1 else (n_members,))]
    arguments = [
        (problem, own, method, budget, min(1.0, jobs / (total - place)))
        for place, (problem, own) in enumerate(zip(problems * n_members, seeds, strict=True))
    ]
    members: list[Network] = []
    for member in in_order(train_member, arguments, n_jobs):
        members.append(member)
        if show is not None:
            show(
                Progress.of_parts(budget.elapsed, len(members), total, "members", is_learned=isinstance(method, Learn))
            )
        if budget.stop_reason and len(members) % len(problems) == 0:
            break
    if not members:
        raise NoNetworkError("no member was trained within the time limit; raise time_limit.")
    return members


def train_member(problem: Problem, seed: list[int], method: Method, budget: Budget, share: float) -> Network:
    """One member; runs in any thread or process, or on any machine."""
    if isinstance(method, Learn) and descends(method, problem):
        should_stop = partial(getattr, budget, "stop_reason")
        with budget.catching_interrupts("keep"):  # another process gets the Ctrl-C of the terminal too
            return descend_network(problem, seed=seed, options=method.options, should_stop=should_stop)
    return train_pair(_bootstrapped(problem, seed), method, seed[0] + seed[1], budget, share).network


def _bootstrapped(problem: Problem, seed: list[int]) -> Problem:
    """The problem on a bootstrap of its rows; a row that is drawn twice weighs twice as much."""
    dataset = problem.dataset
    drawn = np.random.default_rng(seed).multinomial(dataset.n_rows, np.full(dataset.n_rows, 1 / dataset.n_rows))
    if len(np.unique(dataset.y[drawn > 0])) < len(np.unique(dataset.y)):
        return problem
    weighted = Dataset.from_rows(dataset.X, dataset.y, dataset.weights * drawn, dataset.radii)
    return replace(problem, dataset=weighted)
