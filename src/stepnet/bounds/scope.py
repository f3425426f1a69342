"""Scope: the networks of an architecture that a bound holds for."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from stepnet.bounds.fields import checked_fields
from stepnet.errors import ModelFileError


@dataclass(frozen=True)
class Scope:
    """All networks, or those with a margin, with a bounded last layer, or both.

    Attributes
    ----------
    margin : float
        Neurons keep this distance from every row, with rows, weights and thresholds scaled to [-1, 1]; 0 if that is
        not required.
    in_data_units : bool
        The margin is measured in the units of the data instead.
    of_thresholds : bool
        Thresholds also keep the margin from 0.
    at_perturbed_rows : bool
        The margin is also kept from the perturbed rows of the proof.
    on_earlier_rows : bool
        The conditions concern fewer rows, which came earlier.
    largest_weight : float or None
        Of the last layer.
    stated : str
        The scope in words, from a file of an earlier version.
    form : str
        The networks of a narrower form than the architecture's, in words, such as scorecards; empty for none.
    """

    margin: float = 0.0
    in_data_units: bool = False
    of_thresholds: bool = False
    at_perturbed_rows: bool = False
    on_earlier_rows: bool = False
    largest_weight: float | None = None
    stated: str = ""
    form: str = ""

    @classmethod
    def of_margin(
        cls,
        margin: float,
        *,
        in_data_units: bool = False,
        of_thresholds: bool = False,
        largest_weight: float | None = None,
    ) -> Scope:
        """With the margin rounded up and the largest weight down, so that no more is claimed than was proven."""
        return cls(
            _three_digits(margin, math.ceil),
            in_data_units=bool(margin) and in_data_units,
            of_thresholds=bool(margin) and of_thresholds,
            largest_weight=None if largest_weight is None else _three_digits(largest_weight, math.floor),
        )

    @property
    def is_all(self) -> bool:
        """Whether it is all networks of the architecture."""
        return self == ALL_NETWORKS

    def with_perturbed_rows(self) -> Scope:
        """The scope of a bound for finitely many perturbations, turned into one for the whole set."""
        return replace(self, at_perturbed_rows=True) if self.margin else self

    def of_earlier_rows(self) -> Scope:
        """The scope of a bound for some rows, turned into one for more rows."""
        return self if self.is_all else replace(self, on_earlier_rows=True)

    def covers(self, other: Scope) -> bool:
        """Whether every network of the other scope is in this one."""
        if self.is_all or self == other:
            return True
        same_terms = replace(self, margin=0.0, largest_weight=None) == replace(other, margin=0.0, largest_weight=None)
        limit = math.inf if self.largest_weight is None else self.largest_weight
        others = math.inf if other.largest_weight is None else other.largest_weight
        return same_terms and not self.stated and self.margin <= other.margin and limit >= others

    def __str__(self) -> str:
        if self.stated:
            return self.stated
        words = self.form or "all networks"
        if self.margin:
            words = f"networks with margin{' and |threshold|' * self.of_thresholds} >= {self.margin:.3g}"
            words += " in the units of the data" * self.in_data_units
        if self.largest_weight is not None:
            words += f" {'and' if self.margin else 'with'} last-layer weights up to {self.largest_weight:.3g}"
        words += ", perturbed rows included" * self.at_perturbed_rows
        return words + " on the earlier rows" * self.on_earlier_rows

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the fields that differ from the scope of all networks."""
        return {name: value for name, value in asdict(self).items() if value != getattr(ALL_NETWORKS, name)}

    @classmethod
    def from_dict(cls, data: Any) -> Scope:
        found = cls(**checked_fields(cls, asdict(ALL_NETWORKS) | data if isinstance(data, dict) else data, "a scope"))
        if not (0 <= found.margin < math.inf and 0 <= (found.largest_weight or 0.0) < math.inf):
            raise ModelFileError(f"a scope is damaged: {str(data)[:80]}")
        return found


ALL_NETWORKS = Scope()


def _three_digits(value: float, rounded: Any) -> float:
    if not value:
        return 0.0
    digits = 2 - math.floor(math.log10(value))
    return float(f"{rounded(round(value * 10.0**digits, 6)) / 10.0**digits:.3g}")
