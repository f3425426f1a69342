"""Equal rows with different targets: no network can have all of them right."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stepnet.bounds.bound import Bound
from stepnet.bounds.overlaps import Cover, lightest_cover
from stepnet.model.arithmetic import Floats
from stepnet.problem.dataset import Dataset
from stepnet.problem.loss import RealLoss
from stepnet.problem.problem import Problem

_ROUNDING = 1e-12  # relative, of a sum of terms that are not negative


def heaviest_of_group(dataset: Dataset) -> NDArray[np.bool_]:
    """Of each group of equal rows those of the heaviest class (the lowest code among equals)."""
    weights: Floats = dataset.weights
    if dataset.radii is not None:  # rows of one class may then be equal and not merged
        _, number = np.unique(np.column_stack([dataset.group, dataset.y]), axis=0, return_inverse=True)
        weights = np.bincount(number.ravel(), weights).astype(np.float64)[number.ravel()]
    order = np.lexsort((dataset.y, -weights, dataset.group))
    first = order[np.r_[True, np.diff(dataset.group[order]) > 0]]
    return np.asarray(dataset.y == dataset.y[first][dataset.group])


def conflict_bound(problem: Problem, cover: Cover | None = None) -> Bound:
    """What every network of every architecture pays.

    Per group of equal rows all classes but the heaviest are wrong; numbers cost at least what their
    group's best constant does. Where rows may be moved, those that can be moved to one point are equal;
    ``cover`` is their lightest cover, where it is known.
    """
    dataset, loss = problem.dataset, problem.loss
    if problem.scenarios is not None:
        return Bound()
    if problem.is_uncertain and not isinstance(loss, RealLoss):
        value = max((cover or lightest_cover(problem)).value, conflict_bound(problem.nominal).value)
        if step := dataset.granularity:
            value = math.ceil(value / step - 1e-6) * step  # the cover of several classes may have halves
        return Bound(value, proof="free bound: rows of different classes that can be moved to one point")
    if not isinstance(loss, RealLoss):
        value = math.fsum(dataset.weights[~heaviest_of_group(dataset)])
        if not value:
            return Bound()
        return Bound(value, proof="free bound: equal rows of different classes")
    value = loss.cost_of_constants(dataset, dataset.group.astype(np.int64))
    value = max(0.0, value * (1 - _ROUNDING) - loss.excess(dataset))
    return Bound(value, proof="free bound: equal rows of different targets")
