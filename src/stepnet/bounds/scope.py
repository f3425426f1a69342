"""Scope: which networks of an architecture a bound speaks of."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from stepnet.errors import ModelFileError


@dataclass(frozen=True)
class Scope:
    """All networks, or those with a margin, with a bounded last layer, or both.

    Attributes
    ----------
    margin : float
        Neurons keep this distance from every row, where rows, weights and thresholds are scaled to [-1, 1]; 0 for
        networks without such a condition.
    in_data_units : bool
        The margin is measured in the units of the data instead.
    of_thresholds : bool
        Thresholds keep the margin from 0, too.
    at_perturbed_rows : bool
        The margin is kept from the perturbed rows of the proof, too.
    on_earlier_rows : bool
        The conditions are those of fewer rows, which came earlier.
    largest_weight : float or None
        Of the last layer.
    stated : str
        The words of a file, where they are not understood.
    """

    margin: float = 0.0
    in_data_units: bool = False
    of_thresholds: bool = False
    at_perturbed_rows: bool = False
    on_earlier_rows: bool = False
    largest_weight: float | None = None
    stated: str = ""

    @classmethod
    def of_margin(
        cls,
        margin: float,
        *,
        in_data_units: bool = False,
        of_thresholds: bool = False,
        largest_weight: float | None = None,
    ) -> Scope:
        """The margin rounded up and the largest weight rounded down, so that no more is claimed than proven."""
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
        """The scope of a bound for some perturbed rows, as one for a whole set of perturbations."""
        return replace(self, at_perturbed_rows=True) if self.margin else self

    def of_earlier_rows(self) -> Scope:
        """The scope of a bound for some rows, as one for more rows."""
        return self if self.is_all else replace(self, on_earlier_rows=True)

    def covers(self, other: Scope) -> bool:
        """Whether every network of the other scope is one of this."""
        if self.is_all or self == other:
            return True
        same_terms = replace(self, margin=0.0, largest_weight=None) == replace(other, margin=0.0, largest_weight=None)
        limit = math.inf if self.largest_weight is None else self.largest_weight
        others = math.inf if other.largest_weight is None else other.largest_weight
        return same_terms and not self.stated and self.margin <= other.margin and limit >= others

    def __str__(self) -> str:
        if self.stated:
            return self.stated
        words = "all networks"
        if self.margin:
            words = f"networks with margin{' and |threshold|' * self.of_thresholds} >= {self.margin:.3g}"
            words += " in the units of the data" * self.in_data_units
        if self.largest_weight is not None:
            words += f" {'and' if self.margin else 'with'} last-layer weights up to {self.largest_weight:.3g}"
        words += ", perturbed rows included" * self.at_perturbed_rows
        return words + " on the earlier rows" * self.on_earlier_rows

    def to_dict(self) -> dict[str, Any]:
        """For JSON: what differs from all networks."""
        return {name: value for name, value in asdict(self).items() if value != getattr(ALL_NETWORKS, name)}

    @classmethod
    def from_dict(cls, data: Any) -> Scope:
        kinds = {field.name: str(field.type) for field in fields(cls)}
        if not isinstance(data, dict) or not set(data) <= set(kinds):
            raise ModelFileError(f"a scope is damaged: {str(data)[:80]}")
        for name, value in data.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
            is_right = {"bool": isinstance(value, bool), "str": isinstance(value, str)}.get(kinds[name], is_number)
            if not is_right:
                raise ModelFileError(f"a scope is damaged: {name} is {value!r}")
        return cls(**data)


ALL_NETWORKS = Scope()


def _three_digits(value: float, rounded: Any) -> float:
    if not value:
        return 0.0
    digits = 2 - math.floor(math.log10(value))
    return float(f"{rounded(round(value * 10.0**digits, 6)) / 10.0**digits:.3g}")
