"""A network whose output threshold is moved so that limits on errors hold, with the least loss.

With everything else fixed, moving the threshold past the values of the output changes answers one by one. What each
place costs, and which limits hold there, are sums over the rows in the order of these values.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import InvalidInputError
from stepnet.model.activations.staircase import STEP
from stepnet.model.network import Network
from stepnet.problem.error_limits.inequality import Integers
from stepnet.problem.problem import Problem


def can_move(problem: Problem) -> bool:
    """Whether networks have one output bit with a threshold of its own."""
    architecture = problem.architecture
    return architecture.output == STEP and architecture.n_outputs == 1 and architecture.threshold == "neuron"


def with_limits_met(problem: Problem, network: Network) -> Network | None:
    """The network with the best threshold that meets the limits on errors; None if no threshold does."""
    if not can_move(problem):
        return None
    data = problem.dataset
    values = network.decision(data.X)
    order = np.argsort(values, kind="stable")
    ordered, is_on = values[order], data.y[order] == 1
    is_place = np.r_[True, ordered[1:] != ordered[:-1], True]  # the first k rows are off
    for one in problem.constraints.inequalities:
        is_place &= np.asarray(_totals(one.coefficients[order], is_on) <= one.most, dtype=bool)
    places = np.flatnonzero(is_place)
    if not len(places):
        return None
    losses = _totals(data.weights[order], is_on)[places]
    now = int((values <= 0).sum())
    place = int(places[np.lexsort((np.abs(places - now), losses))[0]])
    try:
        moved = network.with_higher_output(_threshold(ordered, place), data.X) if place != now else network
    except InvalidInputError:  # decisions that differ by rounding only
        return None
    return moved if math.isfinite(problem.price(moved)) else None


def _totals(costs: Integers, is_on: NDArray[np.bool_]) -> Integers:
    """What the wrong rows cost if the first k are off, for every k."""
    missed, alarms = np.where(is_on, costs, 0), np.where(is_on, 0, costs)
    totals: Integers = np.r_[0, np.cumsum(missed)] + alarms.sum() - np.r_[0, np.cumsum(alarms)]
    return totals


def _threshold(ordered: NDArray[np.float64], place: int) -> float:
    """Between the values of the last row that is off and the first that is on."""
    reach = 1.0 + float(ordered[-1] - ordered[0])
    if place == 0:
        return float(ordered[0]) - reach
    if place == len(ordered):
        return float(ordered[-1]) + reach
    below, above = float(ordered[place - 1]), float(ordered[place])
    middle = below / 2 + above / 2
    return middle if below < middle else above
