"""What the ensembles share: kinds of members, and a fit that adds them up to one network."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Self

from numpy.typing import ArrayLike

from stepnet.bounds.conflicts import conflict_bound
from stepnet.certificate.result import Result
from stepnet.constructions.discriminants import discriminant_network
from stepnet.errors import InvalidInputError
from stepnet.estimators.base import BaseStep, checked_n_jobs
from stepnet.estimators.committee import train_committee
from stepnet.estimators.members import Bits, Kind, Oblique, Trees
from stepnet.methods.learn import Learn
from stepnet.model.network import Network
from stepnet.model.sums import sum_of
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.runtime.numbers import is_integer
from stepnet.runtime.progress import Progress
from stepnet.runtime.view import showing
from stepnet.search.boosting.bins import Bins
from stepnet.search.boosting.boosting import BoostingOptions
from stepnet.search.descent.descent import DescentOptions

KINDS = ("oblique", "trees", "bits")
_EPOCHS, _FEWEST_STEPS = 50, 1_000
_OBLIQUE = (0.7, 0.02)  # strengths: one that generalises alone, one that needs the others
_BITS = 0.5
_MARGIN = 1.05  # of the time of the fit so far, when the search for a margin must end
_COMPARED = 5_000  # rows on which a hurried committee is compared with a rough network


@dataclass(kw_only=True, eq=False, repr=False)
class Ensemble(BaseStep):
    """An estimator whose network is the sum of members that were trained on different rows."""

    kinds: tuple[str, ...] = ("oblique", "trees")
    hidden: tuple[int, ...] = (50,)
    method: Any = None
    time_limit: float = 60.0
    n_jobs: int | None = 1
    random_state: Any = None
    verbose: int = 0
    on_interrupt: str = "raise"

    weights, threshold, gap = "real", "neuron", 0.0  # of every member
    activation = "step"
    sparsity = constraints = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the members and add them up."""
        with self._training() as budget:
            n_members, n_jobs, kinds = self._n_members(), checked_n_jobs(self.n_jobs), checked_kinds(self.kinds)
            learn = self._learn()
            problem = self._problem(X, y, sample_weight)
            with showing(budget.remaining) if self.verbose else nullcontext() as show:
                ways = [way for kind in kinds for way in _ways(kind, problem, learn)]
                self._sum_up(problem, ways, n_members, budget, n_jobs, show)
        return self

    def _sum_up(
        self,
        problem: Problem,
        ways: list[Kind],
        n_members: int,
        budget: Budget,
        n_jobs: int | None,
        show: Callable[[Progress], None] | None,
    ) -> None:
        members = train_committee(problem, ways, n_members, self._seed(), budget, n_jobs, show)
        network = sum_of(members, problem.architecture.output)
        if budget.stop_reason == "time" and (rough := _better(problem, network)) is not None:
            members, network = [rough], rough
        self.members_ = members
        sums = self._certified(problem, network)
        loss, bound = sums.evaluate(network), conflict_bound(sums, should_stop=budget.is_used_up)
        reason = "proven" if loss <= bound.value else budget.stop_reason or "finished"
        result = Result(network, loss, bound, reason, budget.elapsed, is_learned=True)
        self._keep(result, sums, budget.until(_MARGIN * budget.elapsed))  # one neuron seldom changes an answer

    def _certified(self, problem: Problem, network: Network) -> Problem:
        """What the network is evaluated by: its architecture follows from its members."""
        return Problem(problem.dataset, Architecture.of_network(network), problem.loss, uncertainty=problem.uncertainty)

    def _certified_problem(self, problem: Problem) -> Problem:
        return self._certified(problem, self.network_)

    def _n_members(self) -> int:
        number: Any = self.n_estimators
        if not is_integer(number) or number < 1:
            raise InvalidInputError(f"n_estimators={number!r} must be a positive integer, such as 5.")
        return int(number)

    def _learn(self) -> Learn | None:
        if self.method is not None and not isinstance(self.method, Learn):
            raise InvalidInputError(f"method={self.method!r} must be a Learn object, or None for the default.")
        return self.method


def checked_kinds(kinds: Any) -> tuple[str, ...]:
    chosen = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if not chosen or not set(chosen) <= set(KINDS) or len(set(chosen)) < len(chosen):
        raise InvalidInputError(f"kinds={kinds!r} must be one or more of {', '.join(map(repr, KINDS))}, each once.")
    return tuple(kind for kind in ("trees", "oblique", "bits") if kind in chosen)  # the fastest first


def _ways(kind: str, problem: Problem, learn: Learn | None) -> list[Kind]:
    """How members of a kind are trained; ``learn`` replaces the default of those that descend."""
    X = problem.dataset.X
    if kind == "trees":
        n_rows = int(problem.dataset.repetitions.sum())
        return [Trees(BoostingOptions.for_rows(n_rows, problem.architecture.n_outputs), Bins.of(X))]
    if kind == "bits":
        return [Bits.of(learn.options if learn else _brief(_BITS), X)]
    return [Oblique(learn.options)] if learn else [Oblique(_brief(strength)) for strength in _OBLIQUE]


def _brief(strength: float) -> DescentOptions:
    """Members of a sum may be rougher than a network that stands alone."""
    return DescentOptions(epochs=_EPOCHS, fewest=_FEWEST_STEPS, strength=strength)


def _better(problem: Problem, network: Network) -> Network | None:
    """Linear discriminants, if they have a smaller loss on the first rows than a committee that had too little time."""
    rough, dataset = discriminant_network(problem), problem.dataset
    if rough is None:
        return None
    first = Dataset(dataset.X[:_COMPARED], dataset.y[:_COMPARED], dataset.weights[:_COMPARED])
    return rough if problem.loss.evaluate(first, rough) < problem.loss.evaluate(first, network) else None
