"""Attacks on many rows: the smallest perturbation of each that changes its answer, enclosed from both sides."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.model.network import Network
from stepnet.runtime.limits import Budget
from stepnet.runtime.numbers import is_finite_number
from stepnet.runtime.view import showing
from stepnet.tables.operations import lines_of
from stepnet.tables.pipelines import cells_of, unpacked
from stepnet.uncertainty.adversary import Adversary, Attack
from stepnet.uncertainty.ball import Ball
from stepnet.uncertainty.discrete import DiscreteAdversary
from stepnet.uncertainty.rows import attack_rows

_ROUNDINGS = 40  # steps, each twice the last, by which a point is moved on across a hyperplane


@dataclass(frozen=True)
class Attacks:
    """What an adversary can do to each row: the smallest perturbation lies between ``radii`` and ``sizes``.

    Attributes
    ----------
    radii : ndarray of shape (n_rows,)
        No smaller perturbation changes the row's answer, proven; infinite if none does, 0 if it is already wrong.
    sizes : ndarray of shape (n_rows,)
        Sizes of the smallest perturbations found; infinite where none was found.
    points : ndarray of shape (n_rows, n_features)
        Perturbed rows with another answer, each verified; NaN where none was found.
    are_complete : ndarray of bool
        Whether radius and size meet, up to a relative 1e-6 (and 1e-11 of the row's largest feature, where floats end);
        with ``radius=``, whether that radius is decided. False where a limit ended the search.
    claimed_by : tuple of str
        For each row the solver whose word the radius rests on; empty where it is proven without one.
    stop_reason : str or None
        "time" or "interrupted" if that ended it; None if every row was searched to its end.
    """

    radii: Floats
    sizes: Floats
    points: Floats
    are_complete: Bools
    claimed_by: tuple[str, ...] = ()
    stop_reason: str | None = None

    def certified(self, radius: float) -> float:
        """The share of rows for which it is proven that no perturbation up to this size gets them wrong."""
        return _share(self.radii > radius)

    def broken(self, radius: float) -> float:
        """The share of rows that a perturbation found, up to this size, gets wrong; the rest up to 1 is not known."""
        return _share(self.sizes <= radius)

    def __str__(self) -> str:
        n_rows, n_complete = len(self.radii), int(self.are_complete.sum())
        lines = [f"{n_rows} rows, {n_complete} of them decided"]
        if n_complete < n_rows:
            why = {"time": "the time limit", "interrupted": "an interrupt"}.get(
                self.stop_reason or "", "the node limit"
            )
            apart = ~self.are_complete
            lines.append(f"{n_rows - n_complete} stopped by {why}, with intervals such as {self._interval(apart)}")
        return "\n".join(lines)

    def _interval(self, which: Bools) -> str:
        """That of the median radius among the chosen rows."""
        rows = np.flatnonzero(which)
        row = rows[np.argsort(self.radii[rows], kind="stable")[len(rows) // 2]]
        return f"[{self.radii[row]:.4g}, {self.sizes[row]:.4g}]"


def _share(rows: Bools) -> float:
    return float(rows.mean()) if len(rows) else 0.0


def attack(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    norm: str = "linf",
    scale: Any = None,
    low: Any = None,
    high: Any = None,
    integer: bool = False,
    step: Any = None,
    groups: Any = None,
    radius: float | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = 1,
    verbose: int = 0,
) -> Attacks:
    """The smallest perturbation of every row that changes the answer: exact, or an interval where time runs out.

    Every row first gets a radius from bounds and a perturbation from quick searches, both within milliseconds; then
    branch and bound closes the interval between them. A limit and Ctrl-C end that, and what is known is returned.

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
        With ``integer`` or ``step`` also ``"l0"``, the number of features that move.
    scale, low, high, integer, step, groups
        As in :class:`~stepnet.uncertainty.ball.Ball`.
    radius : float, optional
        Only decide whether a perturbation up to this size changes the answer, which is easier: ``certified(radius)``
        and ``broken(radius)`` then count the rows for which it does not and does.
    time_limit : float, optional
        Seconds for all rows, shared evenly among those that are not finished. Default: none.
    n_jobs : int
        Processes; -1 for all cores.
    verbose : int
        1 shows a progress bar (lines, if standard error is not a terminal).

    Examples
    --------
    >>> from stepnet import Layer, Network, attack
    >>> network = Network((Layer([[1.0, 1.0]], [1.0]), Layer([[1.0]], [0.5])))
    >>> found = attack(network, [[0.0, 0.0], [2.0, 2.0]])
    >>> found.radii.round(6).tolist()
    [0.5, 1.5]
    >>> attack(network, [[0.0, 0.0], [2.0, 2.0]], radius=1.0).certified(1.0)
    0.5
    """
    options: dict[str, Any] = {"radius": radius, "time_limit": time_limit, "n_jobs": n_jobs, "verbose": verbose}
    if isinstance(model, Pipeline):
        estimator = unpacked(model)
        columns = getattr(estimator, "columns_", None)
        before = X if columns is None else columns.before_operations(cells_of(X), "X")
        moves: dict[str, Any] = {"integer": integer, "step": step, "groups": groups}
        return attack_before(estimator, before, y, norm=norm, scale=scale, low=low, high=high, **moves, **options)
    network: Network = getattr(model, "network_", model)
    if not isinstance(network, Network):
        raise InvalidInputError(f"attack() needs a Network or a fitted estimator; got {type(model).__name__}.")
    rows = _rows(X, network)
    budget = _budget(n_jobs, time_limit, radius)
    ball = Ball(norm, scale=scale, low=low, high=high, integer=integer, step=step, groups=groups)
    adversary = DiscreteAdversary(network, ball) if ball.is_discrete else Adversary(network, ball)
    codes = network.predict(rows) if y is None else _codes(model, y, len(rows))
    # Equal rows of one class are attacked once.
    keys, where = np.unique(np.column_stack([rows, codes]), axis=0, return_inverse=True)
    shown = showing(budget.time_limit, f"attacking {len(keys)} rows") if verbose else nullcontext(lambda progress: None)
    with budget.catching_interrupts("keep"), shown as show:
        found, stop_reason = attack_rows(adversary, keys, radius, budget, n_jobs, show)
    return _attacks(found, where.ravel(), network.n_features, stop_reason)


def _attacks(found: list[Attack], where: Ints, n_features: int, stop_reason: str | None) -> Attacks:
    chosen = [found[number] for number in where]
    points = np.array([np.full(n_features, np.nan) if one.point is None else one.point for one in chosen])
    are_complete = np.array([one.is_complete for one in chosen], dtype=bool)
    return Attacks(
        np.array([one.radius for one in chosen]),
        np.array([one.size for one in chosen]),
        points.reshape(len(where), n_features),
        are_complete,
        tuple(one.claimed_by for one in chosen),
        None if are_complete.all() else stop_reason,
    )


def _rows(X: ArrayLike, network: Network) -> Floats:
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"attack() needs rows of numbers: {error}.") from error
    if rows.ndim != 2 or rows.shape[1] != network.n_features or not np.isfinite(rows).all():
        raise InvalidInputError(f"attack() needs finite rows of {network.n_features} features; got shape {rows.shape}.")
    return rows


def _budget(n_jobs: int | None, time_limit: float | None, radius: float | None) -> Budget:
    if n_jobs == 0:
        raise InvalidInputError("n_jobs=0 must be a positive integer, or -1 for all cores.")
    if time_limit is not None and not (is_finite_number(time_limit) and time_limit > 0):
        raise InvalidInputError(
            f"time_limit={time_limit!r} must be a positive number of seconds, or None for no limit."
        )
    if radius is not None and not (is_finite_number(radius) and radius >= 0):
        raise InvalidInputError(f"radius={radius!r} must be a finite number that is not negative, or None.")
    return Budget(np.inf if time_limit is None else float(time_limit))


def attack_before(
    estimator: Any,
    before: ArrayLike,
    y: ArrayLike | None = None,
    *,
    scale: Any = None,
    low: Any = None,
    high: Any = None,
    step: Any = None,
    integer: bool = False,
    groups: Any = None,
    **options: Any,
) -> Attacks:
    """As :func:`attack`, for rows, perturbations and points in the units that features have before they are scaled.

    The network itself is attacked, with perturbations scaled like the features: nothing is rounded but the units.
    """
    columns = getattr(estimator, "columns_", None)
    if columns is None or not columns.has_arithmetic:
        options |= {"step": step, "integer": integer, "groups": groups}
        return attack(estimator, before, y, scale=scale, low=low, high=high, **options)
    if integer or step is not None:
        raise InvalidInputError(
            "features of this model are scaled, so whole steps of them are not whole any more. Attack a model of the "
            "features as they are."
        )
    rows = np.asarray(before, dtype=np.float64)
    slopes, intercepts = lines_of(columns.arithmetic)
    sizes = slopes * (1.0 if scale is None else np.asarray(scale, dtype=np.float64))
    lowest, highest = (None if end is None else np.asarray(end) * slopes + intercepts for end in (low, high))
    after = columns.after_operations(rows)
    found = attack(estimator, after, y, scale=sizes, low=lowest, high=highest, **options)
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


def certified_radius(model: Any, X: ArrayLike, **options: Any) -> Floats:
    """For every row the radius below which no perturbation changes its answer; options are those of :func:`attack`."""
    return attack(model, X, **options).radii


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
    order = np.argsort(classes)  # those of a file may come in any order
    return order[np.searchsorted(classes, labels, sorter=order)].astype(np.int64)
