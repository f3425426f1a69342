"""CountedRows: the rows that limits on errors count, as they were given, and what becomes of them in a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools, Ints, quantum
from stepnet.problem.error_limits.inequality import FITS, Integers

_MOST_GROUPS = 50


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows before equal ones are merged.

    Attributes
    ----------
    X : array (rows × features)
    y : array
        Their classes, as codes.
    classes : sequence
        The class of every code.
    weights : array or None
        What each row counts; factors on classes are no part of it.
    places : array of int
        The number of each row in the merged data set; -1 for rows that are left out.
    n_merged : int
        The number of rows of the merged data set.
    feature_names : sequence of str or None
    """

    X: NDArray[Any]
    y: Ints
    classes: Sequence[Any] | NDArray[Any]
    weights: NDArray[np.float64] | None
    places: Ints
    n_merged: int
    feature_names: Sequence[str] | None = None

    @cached_property
    def unit(self) -> Fraction:
        """The weight that integers count in."""
        return Fraction(1) if self.weights is None else Fraction(2) ** quantum(self.weights)

    @cached_property
    def integers(self) -> Integers:
        """The weights of the rows in units, exactly; 0 for rows that are left out."""
        if self.weights is None:
            return (self.places >= 0).astype(np.int64)
        kept = self.places >= 0
        with np.errstate(over="ignore"):
            units = np.ldexp(np.where(kept, self.weights, 0.0), -quantum(self.weights))
        if units.sum() < FITS:
            return units.astype(np.int64)
        exact = [int(Fraction(weight) / self.unit) for weight in self.weights.tolist()]
        return np.where(kept, np.array(exact, dtype=object), 0)

    def total(self, rows: Bools) -> int:
        """The weight of some rows, in units."""
        return int(self.integers[rows].sum())

    def merged(self, values: Integers) -> Integers:
        """Integers of the rows, added up for each row of the merged data set."""
        result = np.zeros(self.n_merged, dtype=values.dtype)
        kept = self.places >= 0
        np.add.at(result, self.places[kept], values[kept])
        return result

    def code_of(self, label: Any, title: str) -> int:
        """The code of a class; None is the second of two."""
        known = [one.item() if isinstance(one, np.generic) else one for one in self.classes]
        if label is None:
            if len(known) != 2:
                raise InvalidInputError(f"{title} needs the name of a class; they are {known}.")
            return 1
        for found in ([one == label for one in known], [str(one) == str(label) for one in known]):
            if sum(found) == 1:
                return found.index(True)
        raise InvalidInputError(f"{title}: there is no class {label!r}; the classes are {known}.")

    def groups(self, by: Any, title: str) -> dict[str, Bools]:
        """The rows of each group, by its name: from a column of the rows, or one entry per row."""
        values = self._column(by, title) if isinstance(by, str | int) else np.array(by, dtype=object)
        if len(values) != len(self.y):
            raise InvalidInputError(
                f"{title}: by has {len(values)} entries, but there are {len(self.y)} rows. Give one entry per row that "
                f"is fitted; where rows are split, as in cross-validation, give the name of a column of X."
            )
        names = np.array([str(value) for value in values.tolist()])
        found = sorted(set(names[self.places >= 0].tolist()))
        if not 2 <= len(found) <= _MOST_GROUPS:
            raise InvalidInputError(f"{title}: by gives {len(found)} groups; it must give 2 to {_MOST_GROUPS}.")
        return {name: names == name for name in found}

    def _column(self, by: str | int, title: str) -> NDArray[Any]:
        names = [] if self.feature_names is None else [str(name) for name in self.feature_names]
        if isinstance(by, str) and by in names:
            return np.asarray(self.X[:, names.index(by)])
        if isinstance(by, int) and 0 <= by < self.X.shape[1]:
            return np.asarray(self.X[:, by])
        known = f", or one of {', '.join(names)}" if names else ""
        raise InvalidInputError(
            f"{title}: there is no column {by!r}; give a number from 0 to {self.X.shape[1] - 1}{known}, or an array "
            f"with one entry per row."
        )
