"""Exact bounds on a share that was observed in independent rows."""

from __future__ import annotations

from scipy.special import betaincinv

from stepnet.errors import InvalidInputError
from stepnet.runtime.numbers import is_finite_number


def clopper_pearson(count: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of all probabilities under which ``count`` of ``total`` is no outlier; both ends together.

    Each end is missed with probability (1 - confidence) / 2 at most, whatever the true share is.
    """
    rest = (1 - checked_confidence(confidence)) / 2
    low = 0.0 if count == 0 else float(betaincinv(count, total - count + 1, rest))
    high = 1.0 if count == total else float(betaincinv(count + 1, total - count, 1 - rest))
    return low, high


def at_most(count: int, total: int, confidence: float = 0.95) -> float:
    """The largest share under which so few are no outlier: the one-sided bound from above."""
    checked_confidence(confidence)
    return 1.0 if count >= total else float(betaincinv(count + 1, total - count, confidence))


def at_least(count: int, total: int, confidence: float = 0.95) -> float:
    """The smallest share under which so many are no outlier: the one-sided bound from below."""
    return 1.0 - at_most(total - count, total, confidence)


def checked_confidence(confidence: object) -> float:
    if is_finite_number(confidence) and 0 < confidence < 1:
        return float(confidence)
    raise InvalidInputError(f"confidence={confidence!r} must be a number between 0 and 1, such as 0.95.")
