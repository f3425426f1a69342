"""Axes to draw on."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from stepnet.errors import InvalidInputError, MissingExtraError
from stepnet.tables.pipelines import unpacked


def axes(ax: Any, size: tuple[float, float] = (6.4, 4.0)) -> tuple[Any, Any]:
    """The figure and the axes: those that are given, or new ones."""
    if ax is not None:
        return ax.figure, ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError(f"plots need {error.name}. Install it with: pip install 'stepnet[report]'") from error
    return plt.subplots(figsize=size, layout="constrained")


def fitted(estimator: Any, attribute: str) -> Any:
    """The stepnet estimator, or the last step of a pipeline, with an attribute that a fit leaves."""
    known = unpacked(estimator) if isinstance(estimator, BaseEstimator) else estimator
    if not hasattr(known, attribute):
        raise InvalidInputError(f"{type(estimator).__name__} is not a fitted stepnet estimator; call fit first.")
    return known
