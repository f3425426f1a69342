"""Demand: a limit on errors for the rows of one data set, as inequalities, and its exact value for a network."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from stepnet.errors import ModelFileError
from stepnet.model.arithmetic import Bools
from stepnet.problem.error_limits.inequality import Inequality, Integers, times


@dataclass(frozen=True, eq=False)
class Share:
    """(top + Σ c_i e_i) / (bottom + Σ d_i e_i), in integers."""

    top: int
    rises: Integers  # c
    bottom: int
    bottom_rises: Integers  # d

    def value(self, wrong: Bools) -> Fraction | None:
        """With these rows misclassified; None if nothing is divided by nothing."""
        bottom = self.bottom + int(self.bottom_rises[wrong].sum())
        return Fraction(self.top + int(self.rises[wrong].sum()), bottom) if bottom else None

    def at_most(self, limit: Fraction) -> Inequality:
        """top + c·e <= P/Q (bottom + d·e)."""
        p, q = limit.numerator, limit.denominator
        return Inequality.of(times(q, self.rises) - times(p, self.bottom_rises), p * self.bottom - q * self.top)

    def at_least(self, limit: Fraction) -> Inequality:
        return self.negated.at_most(-limit)

    @property
    def negated(self) -> Share:
        return Share(-self.top, -self.rises, self.bottom, self.bottom_rises)

    def exceeds(self, other: Share, limit: Fraction) -> Inequality:
        """self - other <= P/Q, where both denominators are fixed."""
        a, b = self.bottom, other.bottom
        difference = times(b, self.rises) - times(a, other.rises)
        return Share(b * self.top - a * other.top, difference, a * b, np.zeros_like(difference)).at_most(limit)


@dataclass(frozen=True)
class Statement:
    """What a limit demands, and the exact value on the training rows.

    Attributes
    ----------
    name : str
        Such as "recall of malignant".
    relation : ">=" or "<="
    limit, value : Fraction
        The value is None where it is not defined, such as the precision of a class that is never answered.
    is_share : bool
        Whether both are shares rather than weights of rows.
    """

    name: str
    relation: str
    limit: Fraction
    value: Fraction | None
    is_share: bool = True

    @property
    def holds(self) -> bool:
        """What is not defined breaks no limit."""
        if self.value is None:
            return True
        return self.value >= self.limit if self.relation == ">=" else self.value <= self.limit

    def __str__(self) -> str:
        return f"{self.name} is {self.value_in_words}, {self.demanded}"

    @property
    def value_in_words(self) -> str:
        if self.value is None:
            return "not defined"
        if not self.is_share:
            return f"{self.value}" if self.value.denominator < 10**6 else f"{float(self.value):.6g}"
        return f"{self.value} = {in_percent(self.value)}"

    @property
    def demanded(self) -> str:
        limit = in_percent(self.limit) if self.is_share else f"{float(self.limit):.6g}"
        return f"{'at least' if self.relation == '>=' else 'at most'} {limit}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with fractions as text."""
        value = None if self.value is None else str(self.value)
        parts = {"name": self.name, "relation": self.relation, "limit": str(self.limit), "value": value}
        return parts | {"is_share": self.is_share}

    @classmethod
    def from_dict(cls, data: Any) -> Statement:
        try:
            value = None if data["value"] is None else Fraction(data["value"])
            is_share = data["is_share"]
            if data["relation"] not in (">=", "<=") or not isinstance(is_share, bool):
                raise ValueError(data["relation"])
            return cls(str(data["name"]), data["relation"], Fraction(data["limit"]), value, is_share)
        except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            raise ModelFileError(f"a limit in the certificate is damaged: {str(data)[:80]}") from error


def in_percent(share: Fraction) -> str:
    """To four digits."""
    return f"{100 * float(share):.4g} %"


@dataclass(frozen=True, eq=False)
class Demand:
    """A limit on errors for the rows of one data set.

    It limits one share, or with several the difference between the largest and the smallest of those that are defined.
    """

    name: str
    relation: str
    limit: Fraction
    shares: tuple[Share, ...]
    inequalities: tuple[Inequality, ...]
    is_share: bool = True

    @property
    def is_monotone(self) -> bool:
        """Whether one more row that is right never breaks it."""
        return all(one.is_monotone for one in self.inequalities)

    def holds(self, wrong: Bools) -> bool:
        """Whether these may be the misclassified rows."""
        return all(one.holds(wrong) for one in self.inequalities)

    def statement(self, wrong: Bools) -> Statement:
        """The exact value with these rows misclassified."""
        return Statement(self.name, self.relation, self.limit, self._value(wrong), self.is_share)

    def _value(self, wrong: Bools) -> Fraction | None:
        if len(self.shares) == 1:
            return self.shares[0].value(wrong)
        known = [value for share in self.shares if (value := share.value(wrong)) is not None]
        return max(known) - min(known)
