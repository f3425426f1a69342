"""Evidence: how a bound is known, one small class for each way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from stepnet.bounds.fields import checked_fields
from stepnet.errors import ModelFileError


@dataclass(frozen=True)
class Evidence(ABC):
    """How a bound is known; it prints itself and converts to and from plain data."""

    kind: ClassVar[str]

    @abstractmethod
    def __str__(self) -> str: ...

    @property
    def claimed_by(self) -> str:
        """The solver that claims the bound; empty if it can be recomputed without a solver."""
        return str(getattr(self, "solver", ""))

    @property
    def is_of_fewer_rows(self) -> bool:
        """Whether the bound was proven on some of the rows only."""
        return False

    def to_dict(self) -> dict[str, Any]:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        plain = {name: value.to_dict() if isinstance(value, Evidence) else value for name, value in values}
        return {"kind": self.kind, **plain}


@dataclass(frozen=True)
class Trivial(Evidence):
    """A loss is never negative."""

    kind = "trivial"

    def __str__(self) -> str:
        return "trivial bound 0"


@dataclass(frozen=True)
class Conflicts(Evidence):
    """Rows that are equal, or that perturbations can make equal, differ in their ``targets``: classes or numbers."""

    targets: str = "classes"
    is_perturbed: bool = False

    kind = "conflicts"

    def __str__(self) -> str:
        rows = "rows that perturbations can make equal" if self.is_perturbed else "equal rows"
        return f"conflicts: {rows} with different {self.targets}"


@dataclass(frozen=True)
class Refutations(Evidence):
    """A SAT solver refuted every output gate, from subsystems of rows that no neuron gets right together."""

    subsystems: int
    gates: int
    solver: str
    resolution: float = 0.0  # smaller differences between losses were ignored

    kind = "refutations"

    def __str__(self) -> str:
        close = f", up to differences of {self.resolution:.3g} in the loss" if self.resolution else ""
        return (
            f"correct sets: {counted(self.gates, 'output gate')} refuted with "
            f"{counted(self.subsystems, 'infeasible subsystem')} checked in rational arithmetic{close}"
        )


@dataclass(frozen=True)
class SetCover(Evidence):
    """A set cover over subsystems of rows that no neuron gets right together."""

    subsystems: int
    solver: str
    is_relaxed: bool = False

    kind = "set cover"

    def __str__(self) -> str:
        what = "the linear relaxation of a set cover" if self.is_relaxed else "a set cover"
        subsystems = counted(self.subsystems, "infeasible subsystem")
        return f"correct sets: {what} over {subsystems} checked in rational arithmetic"


@dataclass(frozen=True)
class Enumeration(Evidence):
    """All sets of rows that a neuron can get right, in all combinations."""

    hyperplanes: int
    candidates: int
    gates: int

    kind = "enumeration"

    def __str__(self) -> str:
        return (
            f"correct sets: {counted(self.candidates, 'candidate set')} of {self.hyperplanes} hyperplanes enumerated "
            f"exhaustively for {counted(self.gates, 'output gate')}"
        )

    @property
    def claimed_by(self) -> str:
        return "stepnet's enumeration"


@dataclass(frozen=True)
class ScorecardBoxes(Evidence):
    """Branch and bound over the cut points of scorecards, for all points and thresholds with different answers.

    ``gates`` is their number, or 0 if any function of the rules is allowed, which is a relaxation.
    """

    boxes: int
    gates: int

    kind = "scorecards"

    def __str__(self) -> str:
        boxes = f"{counted(self.boxes, 'box')[:-1]}es" if self.boxes != 1 else "1 box"
        what = f"{counted(self.gates, 'choice')} of points and threshold" if self.gates else "any function of the rules"
        return f"all cut points in {boxes}, divided for {what}"

    @property
    def claimed_by(self) -> str:
        return "stepnet's enumeration"


@dataclass(frozen=True)
class OfCones(Evidence):
    """Branch and bound over cones of neurons, or pairs of them, in floats with proven bounds on their errors."""

    cones: int

    kind = "cones"

    def __str__(self) -> str:
        return f"branch and bound over {counted(self.cones, 'cone')} of neurons, with bounds on all rounding"

    @property
    def claimed_by(self) -> str:
        return "stepnet's branch and bound"


@dataclass(frozen=True)
class BranchAndBound(Evidence):
    """A solver's bound on the programs of a formulation."""

    formulation: str
    programs: int
    solver: str

    kind = "branch and bound"

    def __str__(self) -> str:
        return f"branch and bound on {self.formulation}" + f" ({self.programs} programs)" * (self.programs > 1)


@dataclass(frozen=True)
class _OfAnother(Evidence):
    """A bound that follows from the bound of another problem."""

    inner: Evidence

    @property
    def claimed_by(self) -> str:
        return self.inner.claimed_by

    @property
    def is_of_fewer_rows(self) -> bool:
        return self.inner.is_of_fewer_rows


@dataclass(frozen=True)
class OfMasters(_OfAnother):
    """The bound of a master problem with finitely many perturbed rows, which is a relaxation."""

    kind = "generation"

    def __str__(self) -> str:
        return f"column-and-constraint generation, {self.inner}"


@dataclass(frozen=True)
class OfFreeProblem(_OfAnother):
    """The bound of the rows as they are and of all real weights and thresholds: others have no smaller loss."""

    fewer_networks: bool = True  # the problem restricts weights or thresholds
    perturbed_rows: bool = False  # its loss is that of the worst case

    kind = "free problem"

    def __str__(self) -> str:
        parts = {"with fewer networks": self.fewer_networks, "with perturbed rows": self.perturbed_rows}
        return f"{self.inner}, which holds {' and '.join(what for what, is_so in parts.items() if is_so)} too"


@dataclass(frozen=True)
class Subset(_OfAnother):
    """The bound of fewer rows, which came earlier."""

    kind = "subset"

    def __str__(self) -> str:
        return f"the earlier rows alone cost as much: {self.inner}"

    @property
    def is_of_fewer_rows(self) -> bool:
        return True

    @classmethod
    def of(cls, evidence: Evidence) -> Evidence:
        return evidence if evidence.is_of_fewer_rows else cls(evidence)


@dataclass(frozen=True)
class CarriedOver(_OfAnother):
    """The bound of an earlier run, whose checkpoint was resumed."""

    kind = "carried over"

    def __str__(self) -> str:
        return f"carried over from an earlier run: {self.inner}"

    @property
    def claimed_by(self) -> str:
        return self.inner.claimed_by or "an earlier run"

    @classmethod
    def of(cls, evidence: Evidence) -> Evidence:
        return evidence if isinstance(evidence, cls) else cls(evidence)


@dataclass(frozen=True)
class Stated(Evidence):
    """Evidence in words, from a file of an earlier version."""

    text: str
    solver: str = ""

    kind = "stated"

    def __str__(self) -> str:
        return self.text


_KINDS: dict[str, type[Evidence]] = {
    one.kind: one
    for one in (
        Trivial, Conflicts, Refutations, SetCover, Enumeration, OfCones, ScorecardBoxes, BranchAndBound, OfMasters,
        OfFreeProblem, Subset, CarriedOver, Stated,
    )
}  # fmt: skip


def evidence_from_dict(data: Any) -> Evidence:
    """The inverse of :meth:`Evidence.to_dict`."""
    what = "the evidence of a bound"
    kind = _KINDS.get(str(data.get("kind"))) if isinstance(data, dict) else None
    if kind is None:
        raise ModelFileError(f"{what} is damaged: {str(data)[:80]}")
    values = checked_fields(kind, {name: value for name, value in data.items() if name != "kind"}, what)
    return kind(**{name: evidence_from_dict(value) if name == "inner" else value for name, value in values.items()})


def counted(number: int, noun: str) -> str:
    """For example "1 row" or "2 rows"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
