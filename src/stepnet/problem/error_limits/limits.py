"""Limits on errors that a user demands: Recall, Precision, FalsePositiveRate, FalsePositives and Parity.

Each is linear in e_i, which is 1 if row i is misclassified. With the weight W of the rows of the positive class, TP of
those that are right, FN of the others, and FP of the other rows that are answered with the positive class:

    recall >= p                 FN <= (1 - p) W
    precision >= p              TP >= p (TP + FP),  or  p FP + (1 - p) FN <= (1 - p) W
    false positive rate <= p    FP <= p (weight of the other rows)
    parity                      share of one group - share of another <= within,  for any two groups

Getting one more row right never breaks the first three. Parity it may break.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any, ClassVar

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools
from stepnet.problem.constraint import Restriction
from stepnet.problem.error_limits.counted import CountedRows
from stepnet.problem.error_limits.demand import Demand, Share
from stepnet.problem.error_limits.inequality import times
from stepnet.runtime.numbers import is_finite_number

_OF = ("recall", "false_positive_rate", "selection_rate")


class ErrorLimit(Restriction):
    """A limit on errors of the training rows."""

    needs_rows = True
    counts_errors = True
    measure: ClassVar[str]

    @abstractmethod
    def demand(self, rows: CountedRows) -> Demand:
        """The limit for these rows; raises if it does not fit them."""


class _OneClass(ErrorLimit):
    """A limit on one share of the rows, about a positive class."""

    positive: Any
    relation: ClassVar[str]
    limit_name: ClassVar[str]
    for_two: ClassVar[bool] = True
    is_share: ClassVar[bool] = True

    def __post_init__(self) -> None:
        limit = getattr(self, self.limit_name)
        if not _is_number(limit) or not 0 <= limit <= (1 if self.is_share else np.inf):
            kind = "a number from 0 to 1, such as 0.95" if self.is_share else "a non-negative number, such as 20"
            raise InvalidInputError(f"{self!r}: {self.limit_name} must be {kind}.")

    def demand(self, rows: CountedRows) -> Demand:
        if self.for_two and len(rows.classes) != 2:
            raise InvalidInputError(f"{self!r} is for two classes; got {len(rows.classes)}. Recall takes any number.")
        code = rows.code_of(self.positive, repr(self))
        is_positive, is_counted = rows.y == code, rows.places >= 0
        share, limit = self.share(rows, is_positive & is_counted, ~is_positive & is_counted), self.limit
        if not share.bottom:
            raise InvalidInputError(f"{self!r}: no row counts for it.")
        inequality = share.at_least(limit) if self.relation == ">=" else share.at_most(limit)
        title = f"{self.measure} of {rows.classes[code]}"
        return Demand(title, self.relation, limit, (share,), (inequality,), self.is_share)

    @property
    def limit(self) -> Fraction:
        return as_written(getattr(self, self.limit_name))

    @staticmethod
    @abstractmethod
    def share(rows: CountedRows, positive: Bools, others: Bools) -> Share:
        """Of the rows of the positive class and the others."""


@dataclass(frozen=True)
class Recall(_OneClass):
    """At least this share of the rows of a class is answered correctly (sensitivity, true positive rate).

    Parameters
    ----------
    positive : class
        None is the second of two classes, ``classes_[1]``.
    at_least : float or Fraction
        From 0 to 1, as written: 0.95 is 19/20.

    Examples
    --------
    >>> from stepnet import Recall, StepClassifier
    >>> X, y = [[0], [1], [2], [3]], ["ill", "well", "ill", "well"]
    >>> limit = Recall("ill", at_least=1)
    >>> clf = StepClassifier(hidden=(1,), constraints=[limit], method="prove", random_state=0).fit(X, y)
    >>> print(clf.certificate_.limits[0])
    recall of ill is 1 = 100 %, at least 100 %
    """

    positive: Any = None
    at_least: Any = None

    measure = "recall"
    relation = ">="
    limit_name = "at_least"
    for_two = False

    @staticmethod
    def share(rows: CountedRows, positive: Bools, others: Bools) -> Share:
        right = rows.merged(np.where(positive, rows.integers, 0))
        return Share(rows.total(positive), -right, rows.total(positive), np.zeros_like(right))


@dataclass(frozen=True)
class Precision(_OneClass):
    """At least this share of the rows that are answered with a class belongs to it; with none, it is met.

    Parameters
    ----------
    positive : class
        None is the second of two classes, ``classes_[1]``.
    at_least : float or Fraction
        From 0 to 1, as written.
    """

    positive: Any = None
    at_least: Any = None

    measure = "precision"
    relation = ">="
    limit_name = "at_least"

    @staticmethod
    def share(rows: CountedRows, positive: Bools, others: Bools) -> Share:
        right, wrong = (rows.merged(np.where(which, rows.integers, 0)) for which in (positive, others))
        return Share(rows.total(positive), -right, rows.total(positive), wrong - right)


@dataclass(frozen=True)
class FalsePositiveRate(_OneClass):
    """At most this share of the other rows is answered with a class (false alarms; 1 - specificity).

    Parameters
    ----------
    positive : class
        None is the second of two classes, ``classes_[1]``.
    at_most : float or Fraction
        From 0 to 1, as written.
    """

    positive: Any = None
    at_most: Any = None

    measure = "false positive rate"
    relation = "<="
    limit_name = "at_most"

    @staticmethod
    def share(rows: CountedRows, positive: Bools, others: Bools) -> Share:
        wrong = rows.merged(np.where(others, rows.integers, 0))
        return Share(0, wrong, rows.total(others), np.zeros_like(wrong))


@dataclass(frozen=True)
class FalsePositives(_OneClass):
    """At most this weight of other rows, their number if each weighs 1, is answered with a class.

    Parameters
    ----------
    positive : class
        None is the second of two classes, ``classes_[1]``.
    at_most : float or Fraction
        As written.
    """

    positive: Any = None
    at_most: Any = None

    measure = "number of false positives"
    relation = "<="
    limit_name = "at_most"
    is_share = False

    @staticmethod
    def share(rows: CountedRows, positive: Bools, others: Bools) -> Share:
        wrong, unit = rows.merged(np.where(others, rows.integers, 0)), rows.unit
        return Share(0, times(unit.numerator, wrong), unit.denominator, np.zeros_like(wrong))


@dataclass(frozen=True)
class Parity(ErrorLimit):
    """Groups of rows differ by at most so much in a share of answers.

    Parameters
    ----------
    by : str, int or array-like
        The groups: the name or number of a column of ``X``, or one entry per row that is fitted.
    of : "recall", "false_positive_rate" or "selection_rate"
        What is compared: the share of the positive class that is found, the share of the other rows that is answered
        with it, or the share of all rows that is answered with it. Groups without such rows are not compared.
    within : float or Fraction
        The largest difference between two groups, from 0 to 1, as written.
    positive : class
        None is the second of two classes, ``classes_[1]``.

    Examples
    --------
    >>> from stepnet import Parity
    >>> Parity(by=["f", "m", "f"], of="recall", within=0.03)
    Parity(by=<3 rows>, of='recall', within=0.03)
    """

    by: Any
    of: str = "recall"
    within: Any = None
    positive: Any = None

    measure = "difference"

    def __post_init__(self) -> None:
        if not isinstance(self.by, str | int | np.integer):
            if not isinstance(self.by, Iterable):
                raise InvalidInputError(f"Parity: by={self.by!r} must be a column of X or have one entry per row.")
            object.__setattr__(self, "by", tuple(np.asarray(self.by).ravel().tolist()))  # can be compared and hashed
        if self.of not in _OF:
            way_out = "; the precision of a group is not linear in its errors" * (self.of == "precision")
            raise InvalidInputError(f"Parity: of={self.of!r} must be one of {', '.join(_OF)}{way_out}.")
        if not _is_number(self.within) or not 0 <= self.within <= 1:
            raise InvalidInputError(f"{self!r}: within must be a number from 0 to 1, such as 0.05.")

    def __repr__(self) -> str:
        by = f"<{len(self.by)} rows>" if isinstance(self.by, tuple) else repr(self.by)
        positive = "" if self.positive is None else f", positive={self.positive!r}"
        return f"Parity(by={by}, of={self.of!r}, within={self.within!r}{positive})"

    def demand(self, rows: CountedRows) -> Demand:
        if len(rows.classes) != 2:
            raise InvalidInputError(f"{self!r} is for two classes; got {len(rows.classes)}.")
        code, within = rows.code_of(self.positive, repr(self)), as_written(self.within)
        by = int(self.by) if isinstance(self.by, np.integer) else self.by
        is_positive, is_counted = rows.y == code, rows.places >= 0
        shares = [self._share(rows, group & is_counted, is_positive) for group in rows.groups(by, repr(self)).values()]
        shares = [share for share in shares if share.bottom]
        if len(shares) < 2:
            raise InvalidInputError(f"{self!r}: fewer than two groups have rows that count for it.")
        inequalities = tuple(one.exceeds(other, within) for one, other in permutations(shares, 2))
        groups = "given groups" if isinstance(by, tuple) else f"column {by}" if isinstance(by, int) else by
        title = f"difference in {self.of.replace('_', ' ')} of {rows.classes[code]} by {groups}"
        return Demand(title, "<=", within, tuple(shares), inequalities)

    def _share(self, rows: CountedRows, group: Bools, is_positive: Bools) -> Share:
        if self.of == "recall":
            return Recall.share(rows, group & is_positive, group & ~is_positive)
        if self.of == "false_positive_rate":
            return FalsePositiveRate.share(rows, group & is_positive, group & ~is_positive)
        rises = rows.merged(np.where(group, np.where(is_positive, -rows.integers, rows.integers), 0))
        return Share(rows.total(group & is_positive), rises, rows.total(group), np.zeros_like(rises))


def as_written(number: Any) -> Fraction:
    """The number that a user wrote: 0.9 is 9/10, not the float next to it."""
    return number if isinstance(number, Fraction) else Fraction(repr(float(number)))


def _is_number(value: Any) -> bool:
    return isinstance(value, Fraction) or is_finite_number(value)
