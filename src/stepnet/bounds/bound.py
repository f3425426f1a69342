"""Bound: a loss that no network of a scope can beat, with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepnet.bounds.evidence import Evidence, Trivial, evidence_from_dict
from stepnet.bounds.scope import ALL_NETWORKS, Scope


@dataclass(frozen=True)
class Bound:
    """A lower bound on the loss, the networks it holds for, and its evidence."""

    value: float = 0.0
    scope: Scope = ALL_NETWORKS
    evidence: Evidence = Trivial()  # noqa: RUF009 - frozen

    def is_better_than(self, known: Bound) -> bool:
        """Whether it is larger, or equal for the same networks without relying on the claim of a solver."""
        relies_less = bool(known.evidence.claimed_by) and not self.evidence.claimed_by
        return self.value > known.value or (self.value == known.value and self.scope == known.scope and relies_less)

    def to_dict(self) -> dict[str, Any]:
        return {"value": self.value, "scope": self.scope.to_dict(), "evidence": self.evidence.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Bound:
        return cls(float(data["value"]), Scope.from_dict(data["scope"]), evidence_from_dict(data["evidence"]))
