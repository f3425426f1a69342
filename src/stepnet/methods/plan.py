"""Plan: what a fit will do, and why; made once, before the work begins."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

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
_SHARE = 0.8  # of the time, for a prover that is followed by others
_LONG, _TRIAL = 1.0, 0.25  # seconds of a prover that takes long; how much of them another one may try first
_FRONT = 0.15  # of the time, for a prover on the free problem before the program
_FRONT_SECONDS, _PER_ENTRY = 0.25, 5e-4  # at most so many, and per entry of the program: small ones are solved soon
_AGAIN = 0.2  # of the time, for the free problem after the program


@dataclass(frozen=True)
class Way:
    """A way to an exact answer: a prover over correct sets, or the programs of a formulation.

    Attributes
    ----------
    is_free : bool
        It works on the problem without its restrictions, whose bounds hold for the problem too.
    share : float
        Of the time that is left when it begins.
    seconds : float
        It may not take longer.
    n_programs : int
        Of its formulation.
    takes_turns : bool
        It works in turns with the others that do.
    """

    reason: str
    prover: Prover | None = None
    formulation: Formulation | None = None
    is_free: bool = False
    share: float = 1.0
    seconds: float = math.inf
    n_programs: int = 1
    takes_turns: bool = False

    @property
    def name(self) -> str:
        return (self.prover or self.formulation).name  # type: ignore[union-attr]

    @property
    def note(self) -> tuple[str, str]:
        """What is done, and why."""
        return f"{self.name}{' without the restrictions' * self.is_free}", self.reason

    def __str__(self) -> str:
        return ": ".join(self.note)


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
        """The same programs for a master problem; they grow with its points."""
        assert self.own is not None
        return replace(self, ways=(replace(self.own, share=1.0),), entries=_entries(master))

    @property
    def own(self) -> Way | None:
        """The first way that works on the problem itself; None if only that without its restrictions can be proven."""
        return next((way for way in self.ways if not way.is_free), None)

    def short_of(self, budget: Budget, way: Way | None = None) -> str:
        """Which is less than twice what writing and passing on the programs of a way takes: time, memory or neither."""
        way = way or self.own
        entries = self.entries * (0 if way is None else way.n_programs)
        if entries * _SECONDS > budget.remaining / 2:
            return "time"
        return "memory" if entries * _BYTES > available() / 2 else ""

    def leaves_time(self, budget: Budget) -> bool:
        """Whether a program was left out since there is too little time for it, and what there is can be used."""
        return any(way.formulation is not None and self.short_of(budget, way) == "time" for way in self.ways)

    def has_time(self, budget: Budget) -> bool:
        """Whether the remaining time and memory are ample for the first way on the problem itself."""
        return self.own is not None and (self.own.prover is not None or not self.short_of(budget))

    def __str__(self) -> str:
        stages = [*self.stages, *map(str, self.ways)]
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


def ways_of(choice: object, problem: Problem, solver: str = "auto", free: Problem | None = None) -> Choice:
    """The ways that a user's choice means; none if the problem is refused. Each is asked once.

    ``free`` is the problem without its restrictions, if it has any.
    """
    if choice == "auto":
        return _automatic(problem, solver, free)
    way = {**PROVERS, **FORMULATIONS}.get(choice) if isinstance(choice, str) else choice
    if isinstance(way, Prover):
        way.require()
        chosen, answer = Way("asked for", prover=way), way.accepts(problem)
    elif isinstance(way, Formulation):
        chosen, answer = Way("asked for", formulation=way), way.accepts(problem)
        chosen = replace(chosen, n_programs=way.n_programs(problem) if answer else 1)
    else:
        names = ", ".join(map(repr, ["auto", *PROVERS, *FORMULATIONS]))
        raise InvalidInputError(f"formulation={choice!r} is not known; choose one of {names}.")
    return ((chosen,), ()) if answer else ((), ((way.name, answer.reason),))


def _automatic(problem: Problem, solver: str, free: Problem | None) -> Choice:
    """The provers that accept the problem, then a program; programs only if a solver is named or rows are many.

    Provers that accept only the free problem come first as well, but not for long, and again after the program.
    """
    refused: dict[str, str] = {}
    provers: list[Prover] = []
    proven = free or problem
    if solver != "auto":
        why = f"solver={solver!r} solves programs"
    elif problem.dataset.n_rows > _MANY_ROWS:
        why = f"{problem.dataset.n_rows} rows are too many for correct sets"
    else:
        for name, prover in PROVERS.items():
            if answer := prover.accepts(proven):
                provers += [prover] * prover.is_promising(proven)
            elif prover.is_available():
                refused[name] = answer.reason
        why = "correct sets left it open" if provers else refused[name].split(". ")[0]
    if free is not None and any(prover.name == "one_neuron" for prover in provers):
        provers = [prover for prover in provers if prover.name != "sat"]  # its bounds of a single neuron are smaller
    ways = _of_provers(provers, proven)
    for name in ("gates", "tight"):
        if answer := FORMULATIONS[name].accepts(problem):
            program = Way(why, formulation=FORMULATIONS[name], n_programs=FORMULATIONS[name].n_programs(problem))
            ways = [*ways, program] if free is None else _around(program, ways, problem)
            break
        refused[name] = answer.reason
    else:
        ways = ways if free is None else _without_restrictions(ways)
    return tuple(ways), tuple(refused.items())


def _of_provers(provers: list[Prover], problem: Problem) -> list[Way]:
    """All of them: those that take a moment first; then one that resumes, in turns with others, if there is one.

    Without such a one they work one after the other; before one that takes long, the next may try whether it is easy.
    """
    if not any(prover.resumes for prover in provers):
        return _in_order(provers, problem)
    ordered = sorted(provers, key=lambda prover: (prover.seconds(problem) > _LONG, not prover.resumes))
    quick = [prover for prover in ordered if prover.seconds(problem) <= _LONG]
    slow = [prover for prover in ordered if prover not in quick]
    is_covered = any(prover.name == "one_neuron" for prover in slow)  # it proves more of one neuron than "sat"
    turns = [prover for prover in slow if prover.name != "sat" or not is_covered]
    rest = [prover for prover in slow if prover not in turns]
    return [
        *(Way(prover.reason(problem), prover=prover, share=_SHARE) for prover in quick),
        *(Way(prover.reason(problem), prover=prover, takes_turns=True) for prover in turns),
        *(Way(prover.reason(problem), prover=prover) for prover in rest),
    ]


def _in_order(provers: list[Prover], problem: Problem) -> list[Way]:
    ways = []
    for prover, later in zip_longest(provers, provers[1:]):
        seconds = prover.seconds(problem)
        if later is not None and _LONG < seconds < math.inf:
            ways.append(Way("perhaps it is easy", prover=later, seconds=_TRIAL * seconds))
        # A program rarely proves more than the last prover.
        ways.append(Way(prover.reason(problem), prover=prover, share=1.0 if later is None else _SHARE))
    return ways


def _without_restrictions(provers: list[Way]) -> list[Way]:
    return [replace(way, is_free=True, takes_turns=False) for way in provers]


def _around(program: Way, provers: list[Way], problem: Problem) -> list[Way]:
    """The free problem for a short time, then the program, then the free problem again.

    A program that is solved soon should not wait long.
    """
    if not provers:
        return [program]
    seconds = _FRONT_SECONDS + _PER_ENTRY * _entries(problem)
    provers = _without_restrictions(provers)
    first = [replace(way, share=_FRONT, seconds=min(way.seconds, seconds)) for way in provers]
    again = [replace(way, share=0.5) for way in provers[:-1] if way.prover is not None and way.prover.resumes]
    return [*first, replace(program, share=1.0 - _AGAIN), *again, provers[-1]]
