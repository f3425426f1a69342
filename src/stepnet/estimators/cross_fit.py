"""Cross-fitting: values of rows by networks that were not trained on them, from which probabilities are fitted."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from stepnet.errors import StepnetError
from stepnet.methods.search import Search
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.runtime.limits import Budget

FOLDS = 5
_FEWEST_ROWS, _FEWEST_OF_A_CLASS = 50, 2 * FOLDS
_SHARE, _SECONDS = 0.3, 1.0  # of the time of the fit so far, or so many seconds
_REST = 0.5  # of the time that is left: the result must be verified, too
_MOVES = 300


@dataclass(frozen=True)
class HeldOutValues:
    """Values in units of their size on the training rows of their network, codes of classes and weights of the rows."""

    values: Floats
    codes: NDArray[Any]
    weights: Floats


def held_out_values(estimator: Any, dataset: Dataset, budget: Budget, *, is_learned: bool) -> HeldOutValues | None:
    """From networks that are trained without a fifth of the rows each; None if rows or time are too few.

    They are found by a short search, unless they are learned.
    """
    counts = np.bincount(dataset.y)
    if dataset.n_rows < _FEWEST_ROWS or counts[counts > 0].min() < _FEWEST_OF_A_CLASS or budget.is_used_up():
        return None
    seconds = min(max(_SECONDS, _SHARE * budget.elapsed), _REST * budget.remaining)
    part = budget.until(budget.elapsed + seconds)
    twin = copy.copy(estimator)
    twin.probability, twin.class_weight, twin.verbose, twin.n_jobs, twin.random_state = None, None, 0, 1, 0
    if not is_learned:
        twin.method = Search(moves=_MOVES, starts=1)
    found = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(dataset.X, dataset.y):
        if part.is_used_up():
            break
        radii = None if dataset.radii is None else dataset.radii[train]
        own = copy.copy(twin)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                y = own.classes_[dataset.y[train]]
                own._solve(own._problem_from(dataset.X[train], y, dataset.weights[train], radii), part, None)
        except StepnetError:
            return None
        found.append((own.network_.decision(dataset.X[test]) / unit_of(own.network_, dataset.X[train]), test))
    if not found:
        return None
    rows = np.concatenate([test for _, test in found])
    return HeldOutValues(np.concatenate([values for values, _ in found]), dataset.y[rows], dataset.weights[rows])


def unit_of(network: Network, X: Floats) -> float:
    """The size of the values of a network: their root mean square."""
    size = float(np.sqrt(np.mean(np.square(network.decision(X)))))
    return size if np.isfinite(size) and size > 0 else 1.0
