"""hidden="auto": the smallest width that does as well on held-out rows as the best one."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from stepnet.errors import InvalidInputError
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Callback, Progress
from stepnet.runtime.view import showing

WIDTHS: tuple[tuple[int, ...], ...] = ((), (2,), (5,), (10,), (25,), (50,), (100,))
_FOLDS = 5
_SHARE = 0.5  # of the time; the rest is for the fit itself
_MOST_ROWS = 20_000  # of so many, one standard error is a fraction of a point


@dataclass(frozen=True)
class HeldOut:
    """How a width did on rows that its networks were not trained on."""

    hidden: tuple[int, ...]
    loss: float
    standard_error: float

    def __str__(self) -> str:
        return f"hidden={self.hidden}: held-out loss {self.loss:.4g} ± {self.standard_error:.2g} per row"


def choose_hidden(
    estimator: Any, rows: Any, y: Any, weights: Any, radii: Any, budget: Budget, on_fold: Callback | None = None
) -> tuple[tuple[int, ...], tuple[HeldOut, ...]]:
    """The width to train with, and how each did.

    Folds are added while they fit into half of the time; with little time it is one split. The choice is the smallest
    width whose loss is within one standard error of the best, the error being that of their difference row by row.
    """
    seed, end = estimator._seed(), budget.elapsed + _SHARE * budget.remaining
    splits = _splits(y, seed, estimator.__sklearn_tags__().estimator_type == "classifier")
    losses: dict[tuple[int, ...], list[NDArray[np.float64]]] = {hidden: [] for hidden in WIDTHS}
    row_weights: list[NDArray[np.float64]] = []
    with showing(budget.remaining) if estimator.verbose else nullcontext() as show:
        for number, (train, test) in enumerate(splits):
            begin = budget.elapsed
            fold = _Fold(estimator, seed, rows, y, weights, radii, train, test)
            stage = f"choosing the width, fold {number + 1} of {len(splits)}"
            for callback in filter(None, (show, on_fold)):
                if callback(Progress(begin, math.inf, 0.0, 1.0, stage, share=number / len(splits))):
                    budget.stop("callback")
            found = _losses_of(fold, list(losses), budget, end)
            if budget.is_used_up() and number:
                break  # only whole folds are compared
            losses = {hidden: [*losses[hidden], one] for hidden, one in found.items()}
            row_weights.append(fold.test_weights)
            if budget.is_used_up() or 2 * budget.elapsed - begin > end:
                break
    if not row_weights:
        return WIDTHS[1], ()
    return _smallest_good(
        {hidden: np.concatenate(parts) for hidden, parts in losses.items()}, np.concatenate(row_weights)
    )


@dataclass(frozen=True)
class _Fold:
    estimator: Any
    seed: int
    rows: Any
    y: Any
    weights: Any
    radii: Any
    train: NDArray[np.int64]
    test: NDArray[np.int64]

    @property
    def test_weights(self) -> NDArray[np.float64]:
        weights = self.estimator._all_weights(self.y, self.weights)
        return np.ones(len(self.test)) if weights is None else np.asarray(weights[self.test], dtype=float)

    def losses(self, hidden: tuple[int, ...], budget: Budget) -> NDArray[np.float64]:
        """Of the held-out rows."""
        twin, part = copy.copy(self.estimator), self.train
        twin.hidden, twin.random_state, twin.verbose = hidden, self.seed, 0
        weights, radii = (None if one is None else one[part] for one in (self.weights, self.radii))
        twin._solve(twin._problem_from(self.rows[part], self.y[part], weights, radii), budget, None)
        return np.asarray(twin._row_losses(self.rows[self.test], self.y[self.test]), dtype=float)


def _losses_of(
    fold: _Fold, widths: Sequence[tuple[int, ...]], budget: Budget, end: float
) -> dict[tuple[int, ...], NDArray[np.float64]]:
    """By width, each within a fair share of the time; widths that the other parameters do not admit are left out."""
    found: dict[tuple[int, ...], NDArray[np.float64]] = {}
    refusal: InvalidInputError | None = None
    for place, hidden in enumerate(widths):
        if found and budget.is_used_up():
            break
        share = (end - budget.elapsed) / (len(widths) - place)
        part = budget.until(budget.elapsed + max(share, 0.0)) if math.isfinite(end) else budget
        try:
            found[hidden] = fold.losses(hidden, part)
        except InvalidInputError as error:
            refusal = refusal or error
    if refusal is not None and not found:
        raise refusal
    return found


def _splits(y: Any, seed: int, are_classes: bool) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Folds of the rows, or of a sample if they are many; none if there are too few rows."""
    chosen = np.arange(len(y))
    if len(y) > _MOST_ROWS:
        chosen = np.sort(np.random.default_rng(seed).choice(len(y), _MOST_ROWS, replace=False))
    most = int(np.unique(y[chosen], return_counts=True)[1].max()) if are_classes else len(chosen)
    if (n_folds := min(_FOLDS, most)) < 2:
        return []
    kind = StratifiedKFold if are_classes else KFold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer rows than folds
        folds = list(kind(n_folds, shuffle=True, random_state=seed).split(chosen, y[chosen] if are_classes else None))
    return [(chosen[train], chosen[test]) for train, test in folds]


def _smallest_good(
    losses: dict[tuple[int, ...], NDArray[np.float64]], weights: NDArray[np.float64]
) -> tuple[tuple[int, ...], tuple[HeldOut, ...]]:
    """By the one-standard-error rule; widths come in ascending order."""
    table = tuple(HeldOut(hidden, *mean_and_error(one, weights)) for hidden, one in losses.items())
    best = min(table, key=lambda one: one.loss)
    for one in table:
        worse, error = mean_and_error(losses[one.hidden] - losses[best.hidden], weights)
        if worse <= error:
            return one.hidden, table
    return best.hidden, table


def mean_and_error(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    shares = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))
    mean = float(shares @ values)
    return mean, float(np.sqrt(np.sum((shares * (values - mean)) ** 2)))
