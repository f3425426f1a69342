"""Evidence: how a bound is known, one small class for each way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from stepnet.errors import ModelFileError


@dataclass(frozen=True)
class Evidence(ABC):
    """How a bound is known. It prints itself, goes to JSON and comes back."""

    kind: ClassVar[str]

    @abstractmethod
    def __str__(self) -> str: ...

    @property
    def claimed_by(self) -> str:
        """The solver whose word the bound is; empty if anyone can recompute it without one."""
        return ""

    @property
    def is_of_fewer_rows(self) -> bool:
        """Whether the bound was proven for some of the rows."""
        return False

    def to_dict(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {name: value.to_dict() if isinstance(value, Evidence) else value for name, value in values.items()}
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
    """A SAT solver refuted every output gate, given subsystems of rows that no neuron gets right together."""

    subsystems: int
    gates: int
    solver: str
    resolution: float = 0.0  # losses that are closer were not told apart

    kind = "refutations"

    def __str__(self) -> str:
        close = f", losses within {self.resolution:.3g} not told apart" if self.resolution else ""
        return (
            f"correct sets: {_count(self.gates, 'output gate')} refuted with "
            f"{_count(self.subsystems, 'infeasible subsystem')} checked in rational arithmetic{close}"
        )

    @property
    def claimed_by(self) -> str:
        return self.solver


@dataclass(frozen=True)
class SetCover(Evidence):
    """A program whose sets are subsystems of rows that no neuron gets right together."""

    subsystems: int
    solver: str
    is_relaxed: bool = False

    kind = "set cover"

    def __str__(self) -> str:
        what = "the linear relaxation of a set cover" if self.is_relaxed else "a set cover"
        subsystems = _count(self.subsystems, "infeasible subsystem")
        return f"correct sets: {what} over {subsystems} checked in rational arithmetic"

    @property
    def claimed_by(self) -> str:
        return self.solver


@dataclass(frozen=True)
class Enumeration(Evidence):
    """All sets of rows that a neuron can get right, combined in all ways."""

    hyperplanes: int
    candidates: int
    gates: int

    kind = "enumeration"

    def __str__(self) -> str:
        return (
            f"correct sets: {_count(self.candidates, 'candidate set')} of {self.hyperplanes} hyperplanes enumerated "
            f"exhaustively for {_count(self.gates, 'output gate')}"
        )

    @property
    def claimed_by(self) -> str:
        return "stepnet's enumeration"


@dataclass(frozen=True)
class BranchAndBound(Evidence):
    """A solver closed the programs of a formulation, or got so far with them."""

    formulation: str
    programs: int
    solver: str

    kind = "branch and bound"

    def __str__(self) -> str:
        return f"branch and bound on {self.formulation}" + f" ({self.programs} programs)" * (self.programs > 1)

    @property
    def claimed_by(self) -> str:
        return self.solver


@dataclass(frozen=True)
class _OfAnother(Evidence):
    """A bound that is known from the bound of another problem."""

    inner: Evidence

    @property
    def claimed_by(self) -> str:
        return self.inner.claimed_by

    @property
    def is_of_fewer_rows(self) -> bool:
        return self.inner.is_of_fewer_rows


@dataclass(frozen=True)
class OfMasters(_OfAnother):
    """A master problem with finitely many perturbed rows is a relaxation."""

    kind = "generation"

    def __str__(self) -> str:
        return f"column-and-constraint generation, {self.inner}"


@dataclass(frozen=True)
class Subset(_OfAnother):
    """Fewer rows, which came earlier, cost as much alone."""

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
    """An earlier run, whose checkpoint was resumed, had it."""

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
    """The words of a file, where they are not understood."""

    text: str
    solver: str = ""

    kind = "stated"

    def __str__(self) -> str:
        return self.text

    @property
    def claimed_by(self) -> str:
        return self.solver


_KINDS: dict[str, type[Evidence]] = {
    one.kind: one
    for one in (
        Trivial, Conflicts, Refutations, SetCover, Enumeration, BranchAndBound, OfMasters, Subset, CarriedOver, Stated
    )
}  # fmt: skip
_TYPES: dict[str, type | tuple[type, ...]] = {"int": int, "float": (int, float), "str": str, "bool": bool}


def evidence_from_dict(data: Any) -> Evidence:
    """Of what :meth:`Evidence.to_dict` gave; raises ModelFileError where it is damaged."""
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str) or data["kind"] not in _KINDS:
        raise ModelFileError(f"the evidence of a bound is damaged: {str(data)[:80]}")
    kind, values = _KINDS[data["kind"]], {name: value for name, value in data.items() if name != "kind"}
    wanted = {field.name: str(field.type) for field in fields(kind)}
    if set(values) != set(wanted):
        raise ModelFileError(f"the evidence of a bound is damaged: {kind.kind} has {sorted(values)}")
    for name, type_name in wanted.items():
        if type_name == "Evidence":
            values[name] = evidence_from_dict(values[name])
        elif not isinstance(values[name], _TYPES[type_name]) or (
            isinstance(values[name], bool) and type_name != "bool"
        ):
            raise ModelFileError(f"the evidence of a bound is damaged: {name} is {values[name]!r}")
    return kind(**values)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
