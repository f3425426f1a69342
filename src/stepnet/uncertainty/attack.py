"""Attacks on many rows: the smallest perturbation of each that changes its answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.model.network import Network
from stepnet.runtime.parallel import in_order
from stepnet.tables.operations import lines_of
from stepnet.tables.pipelines import cells_of, unpacked
from stepnet.uncertainty.adversary import Adversary, Attack
from stepnet.uncertainty.ball import Ball

_ROUNDINGS = 40  # steps, each twice the last, by which a point is moved on across a hyperplane


@dataclass(frozen=True)
class Attacks:
    """What an adversary can do to each row.

    Attributes
    ----------
    radii : ndarray of shape (n_rows,)
        No smaller perturbation changes the row's answer; infinite if none does, 0 if it is already wrong.
    sizes : ndarray of shape (n_rows,)
        Sizes of the perturbations found, nearly the radii; infinite where none was found.
    points : ndarray of shape (n_rows, n_features)
        Perturbed rows with another answer, each verified; NaN where none was found.
    are_complete : ndarray of bool
        False where the search reached its limit and the radius may be larger.
    """

    radii: Floats
    sizes: Floats
    points: Floats
    are_complete: Bools

    def certified(self, radius: float) -> float:
        """The share of rows that no perturbation up to this size gets wrong."""
        return float((self.radii > radius).mean())


def attack(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    norm: str = "linf",
    scale: Any = None,
    low: Any = None,
    high: Any = None,
    n_jobs: int | None = 1,
) -> Attacks:
    """The smallest perturbation of every row that changes the answer, computed exactly.

    Parameters
    ----------
    model : Network or fitted classifier, or a fitted Pipeline that ends with one
    X : array-like of shape (n_rows, n_features)
        Of a pipeline the rows that it takes; perturbations are then measured in the units of these rows, and points
        have text encoded, but not scaled.
    y : array-like of shape (n_rows,), optional
        True classes (codes, for a Network): rows that are already wrong have radius 0. Without them, the answers of
        the model count as true.
    norm : "l1", "l2" or "linf"
    scale, low, high
        As in :class:`~stepnet.uncertainty.ball.Ball`.
    n_jobs : int
        Processes; -1 for all cores.

    Examples
    --------
    >>> from stepnet import Layer, Network, attack
    >>> network = Network((Layer([[1.0, 1.0]], [1.0]), Layer([[1.0]], [0.5])))
    >>> attack(network, [[0.0, 0.0], [2.0, 2.0]]).radii.round(6).tolist()
    [0.5, 1.5]
    """
    if isinstance(model, Pipeline):
        estimator = unpacked(model)
        columns = getattr(estimator, "columns_", None)
        before = X if columns is None else columns.before_operations(cells_of(X), "X")
        return attack_before(estimator, before, y, norm=norm, scale=scale, low=low, high=high, n_jobs=n_jobs)
    network: Network = getattr(model, "network_", model)
    if not isinstance(network, Network):
        raise InvalidInputError(f"attack() needs a Network or a fitted estimator; got {type(model).__name__}.")
    if n_jobs == 0:
        raise InvalidInputError("n_jobs=0 must be a positive integer, or -1 for all cores.")
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"attack() needs rows of numbers: {error}.") from error
    if rows.ndim != 2 or rows.shape[1] != network.n_features or not np.isfinite(rows).all():
        raise InvalidInputError(f"attack() needs finite rows of {network.n_features} features; got shape {rows.shape}.")
    adversary = Adversary(network, Ball(norm, scale=scale, low=low, high=high))
    codes = network.predict(rows) if y is None else _codes(model, y, len(rows))
    # Equal rows of one class are attacked once.
    keys, where = np.unique(np.column_stack([rows, codes]), axis=0, return_inverse=True)
    n_parts = max(1, min(len(keys), 4 * int(effective_n_jobs(n_jobs)))) if n_jobs != 1 else 1
    parts = [(adversary, part) for part in np.array_split(keys, n_parts)]
    found = [one for part in in_order(_attack_rows, parts, n_jobs, prefer="processes") for one in part]
    chosen = [found[number] for number in where.ravel()]
    points = np.array([np.full(network.n_features, np.nan) if one.point is None else one.point for one in chosen])
    return Attacks(
        np.array([one.radius for one in chosen]),
        np.array([one.size for one in chosen]),
        points.reshape(len(rows), network.n_features),
        np.array([one.is_complete for one in chosen], dtype=bool),
    )


def attack_before(
    estimator: Any,
    before: ArrayLike,
    y: ArrayLike | None = None,
    *,
    norm: str = "linf",
    scale: Any = None,
    low: Any = None,
    high: Any = None,
    n_jobs: int | None = 1,
) -> Attacks:
    """As :func:`attack`, for rows, perturbations and points in the units that features have before they are scaled.

    The network itself is attacked, with perturbations scaled like the features: nothing is rounded but the units.
    """
    columns = getattr(estimator, "columns_", None)
    if columns is None or not columns.has_arithmetic:
        return attack(estimator, before, y, norm=norm, scale=scale, low=low, high=high, n_jobs=n_jobs)
    rows = np.asarray(before, dtype=np.float64)
    slopes, intercepts = lines_of(columns.arithmetic)
    sizes = slopes * (1.0 if scale is None else np.asarray(scale, dtype=np.float64))
    lowest, highest = (None if end is None else np.asarray(end) * slopes + intercepts for end in (low, high))
    after = columns.after_operations(rows)
    found = attack(estimator, after, y, norm=norm, scale=sizes, low=lowest, high=highest, n_jobs=n_jobs)
    codes = estimator.network_.predict(after) if y is None else _codes(estimator, y, len(rows))
    # A feature that was not perturbed keeps its number to the last bit.
    points = np.where(found.points == after, rows, (found.points - intercepts) / slopes)
    return replace(found, points=_across(estimator, rows, points, codes))


def _across(estimator: Any, rows: Floats, points: Floats, codes: Ints) -> Floats:
    """The points, moved on by rounding errors where these have brought the answer back."""
    network, columns, moved = estimator.network_, estimator.columns_, points.copy()
    for exponent in range(_ROUNDINGS):
        there = np.flatnonzero(np.isfinite(moved).all(axis=1))
        same = there[network.predict(columns.after_operations(moved[there])) == codes[there]] if len(there) else there
        same = same[(points[same] != rows[same]).any(axis=1)]
        if not len(same):
            return moved
        moved[same] = rows[same] + (points[same] - rows[same]) * (1 + 2.0 ** (exponent - 50))
    moved[same] = np.nan
    return moved


def certified_radius(
    model: Any,
    X: ArrayLike,
    *,
    norm: str = "linf",
    scale: Any = None,
    low: Any = None,
    high: Any = None,
    n_jobs: int | None = 1,
) -> Floats:
    """For every row the radius below which no perturbation changes its answer."""
    return attack(model, X, norm=norm, scale=scale, low=low, high=high, n_jobs=n_jobs).radii


def _attack_rows(adversary: Adversary, keys: Floats) -> list[Attack]:
    return [adversary.attack(key[:-1], int(key[-1])) for key in keys]


def _codes(model: Any, y: ArrayLike, n_rows: int) -> Ints:
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise InvalidInputError(f"y must have one class for each of the {n_rows} rows; got shape {labels.shape}.")
    classes = getattr(model, "classes_", None)
    if classes is None:
        if labels.dtype.kind not in "iub" and not (labels.dtype.kind == "f" and (labels == np.round(labels)).all()):
            raise InvalidInputError("the classes of a Network are the codes 0, 1, ...; give these as y.")
        return labels.astype(np.int64)
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise InvalidInputError(f"y has the label {labels[unknown][0]!r}, which is not one of {classes.tolist()}.")
    return np.searchsorted(classes, labels).astype(np.int64)
