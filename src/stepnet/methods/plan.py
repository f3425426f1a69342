"""Plan: what a fit will do, and why; made once, before the work begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from stepnet.errors import YES, Answer, InvalidInputError
from stepnet.formulations.base import Formulation
from stepnet.formulations.registry import FORMULATIONS
from stepnet.problem.problem import Problem
from stepnet.provers.base import Prover
from stepnet.provers.registry import PROVERS
from stepnet.runtime.limits import Budget
from stepnet.runtime.memory import available

_MANY_ROWS = 5_000  # with more, the time is better spent on the search than on provers
_SECONDS, _BYTES = 5e-7, 500.0  # per entry of a program


@dataclass(frozen=True)
class Way:
    """A way to an exact answer: a prover over correct sets, or the programs of a formulation."""

    reason: str
    prover: Prover | None = None
    formulation: Formulation | None = None

    @property
    def name(self) -> str:
        return (self.prover or self.formulation).name  # type: ignore[union-attr]


@dataclass(frozen=True)
class Plan:
    """The stages of a fit, the ways to an exact answer, and what is ruled out.

    Attributes
    ----------
    title : str
        The problem in words.
    stages : tuple of str
        What is done before the ways, in order, in words.
    ways : tuple of Way
        The ways to an exact answer, in order.
    refused : tuple of (str, str)
        Ways that do not accept the problem, and why.
    search : Answer
        Whether the local search accepts the problem, or why not.
    entries : float
        The approximate number of entries of the largest program.
    """

    title: str
    stages: tuple[str, ...] = ()
    ways: tuple[Way, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    search: Answer = YES
    entries: float = 0.0

    @classmethod
    def of(cls, problem: Problem, *stages: str) -> Plan:
        """A plan with stages only."""
        dataset, architecture = problem.dataset, problem.architecture
        worst = ", in the worst case" if problem.is_uncertain else ""
        rows = f"{dataset.n_rows} distinct rows of {dataset.n_features} features"
        title = f"{rows}, hidden={architecture.hidden}, loss {problem.loss.name}{worst}"
        return cls(title, tuple(stages), entries=_entries(problem))

    def for_master(self, master: Problem) -> Plan:
        """The same ways for a master problem, whose programs grow with its points."""
        return replace(self, entries=_entries(master))

    def short_of(self, budget: Budget) -> str:
        """Which is less than twice what writing and passing on the largest program takes: time, memory or neither."""
        if self.entries * _SECONDS > budget.remaining / 2:
            return "time"
        return "memory" if self.entries * _BYTES > available() / 2 else ""

    def has_time(self, budget: Budget) -> bool:
        """Whether the remaining time and memory are ample for the first way."""
        return self.ways[0].prover is not None or not self.short_of(budget)

    def __str__(self) -> str:
        stages = [*self.stages, *(f"{way.name}: {way.reason}" for way in self.ways)]
        lines = [f"plan for {self.title}", *(f"  {number}. {stage}" for number, stage in enumerate(stages, start=1))]
        lines += [f"  not {name}: {reason}" for name, reason in self.refused]
        if any(way.formulation is not None for way in self.ways):
            lines.append(f"  the largest program has about {self.entries:.1g} entries")
        return "\n".join(lines)


def _entries(problem: Problem) -> float:
    m, widths = problem.dataset.n_rows, problem.architecture.widths
    entries = 2.0 * m * widths[0] * problem.dataset.n_features
    return entries + sum(12.0 * m * below * above for below, above in pairwise(widths))


Choice = tuple[tuple[Way, ...], tuple[tuple[str, str], ...]]  # ways, and what is refused


def ways_of(choice: object, problem: Problem, solver: str = "auto") -> Choice:
    """The ways that a user's choice means; none if the problem is refused. Each is asked once."""
    if choice == "auto":
        return _automatic(problem, solver)
    way = {**PROVERS, **FORMULATIONS}.get(choice) if isinstance(choice, str) else choice
    if isinstance(way, Prover):
        chosen, answer = Way("asked for", prover=way), way.accepts(problem)
    elif isinstance(way, Formulation):
        chosen, answer = Way("asked for", formulation=way), way.accepts(problem)
    else:
        names = ", ".join(map(repr, ["auto", *PROVERS, *FORMULATIONS]))
        raise InvalidInputError(f"formulation={choice!r} is not known; choose one of {names}.")
    return ((chosen,), ()) if answer else ((), ((way.name, answer.reason),))


def _automatic(problem: Problem, solver: str) -> Choice:
    """The provers that accept the problem, then a program; programs only if a solver is named or rows are many."""
    refused: dict[str, str] = {}
    ways: list[Way] = []
    if solver != "auto":
        why = f"solver={solver!r} solves programs"
    elif problem.dataset.n_rows > _MANY_ROWS:
        why = f"{problem.dataset.n_rows} rows are too many for correct sets"
    else:
        for name, prover in PROVERS.items():
            if answer := prover.accepts(problem):
                ways.append(Way(prover.reason(problem), prover=prover))
            else:
                refused[name] = answer.reason
        why = "correct sets left it open" if ways else refused[name].split(". ")[0]
    for name in ("gates", "tight"):
        if answer := FORMULATIONS[name].accepts(problem):
            ways.append(Way(why, formulation=FORMULATIONS[name]))
            break
        refused[name] = answer.reason
    return tuple(ways), tuple(refused.items())
