"""StepEnsembleClassifier: learned step networks that vote, as one deeper step network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from stepnet.errors import InvalidInputError
from stepnet.estimators.base import checked_n_jobs
from stepnet.estimators.classifier import BaseStepClassifier, vote_problem, vote_result
from stepnet.estimators.pairs import Pairs, require_votes, train_pair
from stepnet.methods.base import Method
from stepnet.methods.learn import Learn, better, descends
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
            if n_classes > 2:
                require_votes(problem, n_classes, self.n_estimators)
            parts = _Whole(problem) if n_classes == 2 else Pairs(problem, n_classes)
            method.plan(parts.part(0))
            with showing(budget.remaining) if self.verbose else nullcontext() as show:
                self.members_ = _train_members(parts, int(self.n_estimators), method, seed, budget, n_jobs, show)
                network = majority(self.members_) if n_classes == 2 else pairwise_votes(self.members_, n_classes)
                votes = vote_problem(problem, network)
                self._keep(vote_result(votes, network, budget, is_learned=descends(method, problem)), votes, budget)
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


class _Whole(Pairs):
    """Two classes: the only pair is the problem itself."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, 2)

    def part(self, number: int) -> Problem:
        return self.problem


def _train_members(
    parts: Pairs,
    n_members: int,
    method: Method,
    seed: int,
    budget: Budget,
    n_jobs: int | None,
    show: Callable[[Progress], None] | None,
) -> list[Network]:
    """Rounds of one network per pair; an interrupt or the time limit keeps the rounds that are complete.

    If the first round is not, rough networks complete it.
    """
    jobs, total = max(1, int(effective_n_jobs(n_jobs))), n_members * len(parts)
    members: list[Network] = []
    is_learned = descends(method, parts.problem)

    def tasks() -> Iterator[tuple[Any, ...]]:
        for place in range(total):
            turn, number = divmod(place, len(parts))
            own = [seed, turn, number] if len(parts) > 1 else [seed, turn]
            reserve = parts.seconds_to_evaluate(members)
            if budget.is_used_up() or budget.remaining <= reserve:
                return
            # Few rounds of well learned members are better than many; searches and proofs take all they are given.
            left = len(parts) - number if is_learned else total - place
            yield parts.part(number), own, method, budget.until(budget.time_limit - reserve), min(1.0, jobs / left)

    for member in in_order(train_member, tasks(), n_jobs):
        members.append(member)
        if show is not None:
            show(Progress.of_parts(budget.elapsed, len(members), total, "members", is_learned=is_learned))
        if budget.is_used_up():
            break
    if len(members) < total:
        budget.stop("time")
    if len(members) < len(parts):
        members += [parts.rough_network(number) for number in range(len(members), len(parts))]
    return members[: len(members) // len(parts) * len(parts)]


def train_member(problem: Problem, seed: list[int], method: Method, budget: Budget, share: float) -> Network:
    """One member; runs in any thread or process, or on any machine."""
    if isinstance(method, Learn) and descends(method, problem):
        part = budget.until(budget.elapsed + share * budget.remaining)
        hurries: list[bool] = []
        with budget.catching_interrupts("keep"):  # another process gets the Ctrl-C of the terminal too
            network = descend_network(
                problem,
                seed=seed,
                options=method.options,
                should_stop=part.is_used_up,
                seconds=part.remaining,
                on_hurry=lambda: hurries.append(True),
            )
        return better(problem, network) if hurries else network
    return train_pair(_bootstrapped(problem, seed), method, seed[0] + seed[1], budget, share).network


def _bootstrapped(problem: Problem, seed: list[int]) -> Problem:
    """The problem on a bootstrap of its rows; a row that is drawn twice weighs twice as much."""
    dataset = problem.dataset
    drawn = np.random.default_rng(seed).multinomial(dataset.n_rows, np.full(dataset.n_rows, 1 / dataset.n_rows))
    if len(np.unique(dataset.y[drawn > 0])) < len(np.unique(dataset.y)):
        return problem
    weighted = Dataset.from_rows(dataset.X, dataset.y, dataset.weights * drawn, dataset.radii)
    return replace(problem, dataset=weighted)
