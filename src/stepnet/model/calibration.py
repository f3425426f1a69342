"""Calibration: from the values of a network's output to probabilities of classes.

One value per row gives P(class 1) = sigmoid(slope · value + offset). Several values per row, one per class, give
P = softmax(slope · values + offsets). Where the offsets are 0, the most probable class is the one that is predicted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import log_expit, log_softmax, xlogy
from sklearn.isotonic import IsotonicRegression

from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.model.arithmetic import Floats

_LEAST_SLOPE = 1e-6  # of values with root mean square 1: a larger value is never less probable
_JUST_MORE = float(np.nextafter(0.5, 1.0))


@dataclass(frozen=True)
class Calibration:
    """How values become probabilities.

    Attributes
    ----------
    slope : float
        Positive; the larger, the closer the probabilities are to 0 and 1.
    offsets : tuple of float
        One for a single value per row; otherwise one per class. 0 keeps the answers.
    """

    slope: float
    offsets: tuple[float, ...] = (0.0,)

    def __post_init__(self) -> None:
        numbers = (self.slope, *self.offsets)
        if not all(isinstance(one, int | float) and math.isfinite(one) for one in numbers) or self.slope <= 0:
            raise InvalidInputError(
                f"a calibration needs a positive slope and finite offsets; got {self.slope!r} and {self.offsets!r}."
            )

    @property
    def keeps_answers(self) -> bool:
        """Whether the most probable class is the one with the largest value."""
        return not any(self.offsets)

    def log_probabilities(self, values: ArrayLike) -> Floats:
        """Rows × classes, from one value per row or from rows × classes values."""
        scores = self._scores(np.asarray(values, dtype=np.float64))
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return np.asarray(log_softmax(scores, axis=1))

    def probabilities(self, values: ArrayLike) -> Floats:
        """Rows × classes, each row with the sum 1."""
        values = np.asarray(values, dtype=np.float64)
        shares = np.exp(self.log_probabilities(values))
        shares /= shares.sum(axis=1, keepdims=True)
        if values.ndim == 1 and self.keeps_answers:  # also where a value is too small to be seen beside 1/2
            shares[:, 1] = np.where(values > 0, np.maximum(shares[:, 1], _JUST_MORE), np.minimum(shares[:, 1], 0.5))
            shares[:, 0] = 1.0 - shares[:, 1]
        return np.asarray(shares)

    def moved(self, by: float) -> Calibration:
        """The same probabilities for values that are all smaller by so much."""
        return Calibration(self.slope, tuple(offset + self.slope * by for offset in self.offsets))

    def _scores(self, values: Floats) -> Floats:
        n_values = 1 if values.ndim == 1 else values.shape[1]
        if n_values != len(self.offsets):
            raise InvalidInputError(f"the calibration is for {len(self.offsets)} values per row; got {n_values}.")
        with np.errstate(over="ignore"):
            scores = self.slope * values + (self.offsets[0] if values.ndim == 1 else np.array(self.offsets))
        return np.nan_to_num(scores)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"slope": self.slope, "offsets": list(self.offsets)}

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        try:
            return cls(float(data["slope"]), tuple(map(float, data["offsets"])))
        except (KeyError, TypeError, ValueError, InvalidInputError) as error:
            raise ModelFileError(f"the calibration in the file is damaged ({error})") from error

    @classmethod
    def fitted(
        cls,
        values: ArrayLike,
        codes: ArrayLike,
        weights: ArrayLike,
        *,
        with_offsets: bool = False,
        doubt: float = 1.0,
    ) -> Self:
        """The slope, and if wanted the offsets, with the smallest log loss on rows of known classes.

        A row counts for its class by (n + doubt) / (n + 2 · doubt) only, where n is the weight of the class: so the
        slope stays finite where the values tell all classes apart.
        """
        values, weights = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        unit = float(np.sqrt(np.average(np.square(values), axis=0, weights=weights).mean()))
        unit = unit if math.isfinite(unit) and unit > 0 else 1.0
        n_classes = 2 if values.ndim == 1 else values.shape[1]
        scaled, shares = values / unit, _shares(np.asarray(codes), n_classes, weights, doubt)
        n_offsets = (1 if values.ndim == 1 else values.shape[1]) if with_offsets else 0
        begin = np.concatenate([[1.0], np.zeros(n_offsets)])
        ends = [(_LEAST_SLOPE, None)] + [(None, None)] * n_offsets
        found = minimize(_loss, begin, (scaled, shares, weights / weights.sum()), "L-BFGS-B", jac=True, bounds=ends).x
        slope, offsets = float(found[0]) / unit, found[1:]
        if not with_offsets:
            return cls(slope, (0.0,) * (1 if values.ndim == 1 else values.shape[1]))
        return cls(slope, tuple((offsets - (offsets.mean() if values.ndim > 1 else 0.0)).tolist()))


@dataclass(frozen=True)
class Isotonic:
    """Probabilities of two classes that rise with the value, without a given shape: between ``values`` on a line.

    Attributes
    ----------
    values, shares : tuple of float
        In rising order, and the probability of class 1 at each.
    """

    values: tuple[float, ...]
    shares: tuple[float, ...]

    offsets = (0.0,)  # as of a calibration of one value per row that keeps the answers
    keeps_answers = True

    def __post_init__(self) -> None:
        numbers = np.array([self.values, self.shares], dtype=np.float64)
        is_rising = numbers.shape[1] > 0 and bool((np.diff(numbers, axis=1) >= 0).all())
        if not (is_rising and np.isfinite(numbers).all() and numbers[1, 0] > 0 and numbers[1, -1] < 1):
            raise InvalidInputError("an isotonic calibration needs rising values and shares between 0 and 1.")

    def probabilities(self, values: ArrayLike) -> Floats:
        """Rows × 2, each row with the sum 1."""
        values = np.asarray(values, dtype=np.float64)
        on = np.interp(values, self.values, self.shares)
        on = np.where(values > 0, np.maximum(on, _JUST_MORE), np.minimum(on, 0.5))
        return np.column_stack([1.0 - on, on])

    def log_probabilities(self, values: ArrayLike) -> Floats:
        """Rows × 2."""
        return np.asarray(np.log(self.probabilities(values)))

    def moved(self, by: float) -> Isotonic:
        """The same probabilities for values that are all smaller by so much."""
        return Isotonic(tuple(one - by for one in self.values), self.shares)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"values": list(self.values), "shares": list(self.shares)}

    @classmethod
    def fitted(cls, values: ArrayLike, codes: ArrayLike, weights: ArrayLike) -> Self:
        """The rising probabilities with the least squared error, drawn away from 0 and 1 by one row."""
        weights = np.asarray(weights, dtype=np.float64)
        model = IsotonicRegression(out_of_bounds="clip")
        model.fit(np.asarray(values, dtype=np.float64), np.asarray(codes, dtype=np.float64), sample_weight=weights)
        least = 1.0 / (len(weights) + 2.0)
        shares = model.y_thresholds_.clip(least, 1.0 - least)
        return cls(tuple(map(float, model.X_thresholds_)), tuple(map(float, shares)))


def calibration_from(data: Any) -> Calibration | Isotonic:
    """The inverse of ``to_dict`` of both kinds."""
    if not isinstance(data, dict) or "shares" not in data:
        return Calibration.from_dict(data)
    try:
        return Isotonic(tuple(map(float, data["values"])), tuple(map(float, data["shares"])))
    except (KeyError, TypeError, ValueError, InvalidInputError) as error:
        raise ModelFileError(f"the calibration in the file is damaged ({error})") from error


def _shares(codes: NDArray[Any], n_classes: int, weights: Floats, doubt: float) -> Floats:
    """Rows × classes: how much of each row counts for each class."""
    of_class = np.bincount(codes, weights, minlength=n_classes)
    rest = doubt / (of_class + 2.0 * doubt)
    shares = np.repeat((rest / max(n_classes - 1, 1))[codes][:, None], n_classes, axis=1)
    shares[np.arange(len(codes)), codes] = 1.0 - rest[codes]
    return shares


def _loss(parameters: Floats, values: Floats, shares: Floats, weights: Floats) -> tuple[float, Floats]:
    """The log loss less its smallest possible value, and its gradient."""
    slope, offsets = parameters[0], parameters[1:]
    is_single = values.ndim == 1
    scores = slope * values + (offsets if len(offsets) else 0.0)
    logs = np.column_stack([log_expit(-scores), log_expit(scores)]) if is_single else log_softmax(scores, axis=1)
    residuals = (np.exp(logs) - shares) * weights[:, None]
    loss = float(weights @ (xlogy(shares, shares) - shares * logs).sum(axis=1))
    residuals = residuals[:, 1] if is_single else residuals
    slopes = np.atleast_1d(residuals.sum(axis=0)) if len(offsets) else np.zeros(0)
    return loss, np.concatenate([[float((residuals * values).sum())], slopes])
