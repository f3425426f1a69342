"""Grid: features as whole numbers on a grid that can be published."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from stepnet.errors import InvalidInputError
from stepnet.runtime.numbers import is_finite_number, is_integer
from stepnet.tables.operations import Floats, Operations, after

_DIGITS = 2  # of a step
_LARGEST = 2**31 - 1


@dataclass(eq=False, repr=False)
class Grid(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features as whole numbers: how many steps they are away from a center.

    ``round((x - center) / delta)``, at least ``-limit`` and at most ``limit``. Center and delta are short decimals, so
    that the grid can be printed beside the weights and used by hand. Whole weights, such as ``Integers(3)``, need not
    make up for the units of the table then, and the first layer of exported C has whole numbers only.

    Parameters
    ----------
    step : float, default=0.25
        The distance of neighbours on the grid, in standard deviations of the feature.
    limit : int, default=127
        The largest number in absolute value, from 1 to 2^31 - 1; 127 fits into a byte. Numbers beyond it become the
        limit.

    Attributes
    ----------
    delta_ : ndarray of shape (n_features,)
        The distance of neighbours in the units of each feature, with two significant digits; 1 where a feature is
        constant.
    center_ : ndarray of shape (n_features,)
        The mean of each feature, rounded to the last digit of its delta.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if ``X`` had them

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from stepnet import Grid, Integers, StepClassifier, datasets
    >>> X, y = datasets.load_breast_cancer_wisconsin(return_X_y=True)
    >>> grid = Grid().fit(X)
    >>> grid.center_[:3].tolist(), grid.delta_[:3].tolist()
    ([4.42, 3.13, 3.21], [0.7, 0.76, 0.74])
    >>> grid.transform(X)[0, :3].tolist()
    [1.0, -3.0, -3.0]
    >>> model = make_pipeline(Grid(), StepClassifier(hidden=(3,), weights=Integers(3), random_state=0)).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    step: float = 0.25
    limit: int = 127

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find the center and the step of every feature."""
        if not is_finite_number(self.step) or self.step <= 0:
            raise InvalidInputError(
                f"step={self.step!r} must be a positive number of standard deviations, such as 0.25."
            )
        if not is_integer(self.limit) or not 1 <= self.limit <= _LARGEST:
            raise InvalidInputError(f"limit={self.limit!r} must be an integer from 1 to 2^31 - 1, such as 127.")
        rows = validate_data(self, X, dtype=np.float64)
        wanted = np.where(rows.min(axis=0) < rows.max(axis=0), float(self.step) * rows.std(axis=0), 1.0)
        self.delta_ = np.array([_short(number) for number in wanted.tolist()])
        means = rows.mean(axis=0).tolist()
        self.center_ = np.array([_as_fine_as(*pair) for pair in zip(means, self.delta_.tolist(), strict=True)])
        return self

    @property
    def arithmetic(self) -> list[Operations]:
        """What each feature goes through, in order."""
        ends = (("round", 1.0), ("at_least", -float(self.limit)), ("at_most", float(self.limit)))
        pairs = zip(self.center_.tolist(), self.delta_.tolist(), strict=True)
        return [(("subtract", center), ("divide", delta), *ends) for center, delta in pairs]

    def transform(self, X: ArrayLike) -> Floats:
        """The rows on the grid."""
        check_is_fitted(self)
        return after(self.arithmetic, validate_data(self, X, reset=False, dtype=np.float64))

    def inverse_transform(self, X: ArrayLike) -> Floats:
        """The numbers in the middle of these places on the grid."""
        check_is_fitted(self)
        return np.asarray(check_array(X, dtype=np.float64) * self.delta_ + self.center_)


def _short(number: float) -> float:
    """With few significant digits; 1 where a double does not hold it."""
    short = float(f"{number:.{_DIGITS - 1}e}")
    return short if math.isfinite(short) and short > 0 else 1.0


def _as_fine_as(number: float, delta: float) -> float:
    """Rounded to the last significant digit of delta."""
    last_place = math.floor(math.log10(delta)) - _DIGITS + 1
    return float(round(number, -last_place)) + 0.0
