"""Polish for uncertain rows: the same worst case, with neurons farther from the rows than their radii ask."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stepnet.constructions.robust_neuron import robust_rows
from stepnet.model.activations.staircase import STEP
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.uncertainty.above import Above
from stepnet.uncertainty.hyperplanes import FREE, Hyperplanes
from stepnet.uncertainty.sets import Uncertainty

_MOST_ROWS = 5_000


def robustly_polished(problem: Problem, network: Network, should_stop: Callable[[], bool] = lambda: False) -> Network:
    """First-layer neurons moved as far as possible, in the dual norm, from the rows that need them stable.

    A row needs a neuron if it is surely right, and would no longer be if the neuron could switch. One linear program
    per neuron. Returns the network itself where the worst case would get worse.
    """
    architecture = problem.architecture
    can_move = architecture.activations[0] == STEP and architecture.threshold == "neuron" and problem.has_plain_steps
    if not can_move or problem.dataset.n_rows > _MOST_ROWS:
        return network
    assert isinstance(problem.uncertainty, Uncertainty)
    X, classes = problem.dataset.X.astype(np.float64), problem.dataset.y.astype(np.int64)
    rows, polished = robust_rows(problem), network
    for j in range(network.layers[0].width):
        if should_stop():
            break
        planes, above = Hyperplanes(polished, problem.uncertainty), Above(polished)
        sides = planes.stable_sides(X, problem.radii)
        loose = sides.copy()
        loose[:, j] = FREE
        is_safe = ~above.could_miss(*planes.levels(sides), classes)
        needs = is_safe & above.could_miss(*planes.levels(loose), classes)
        if not needs.any():
            continue
        found = rows.widest(np.flatnonzero(needs), np.where(sides[needs, j] == 1, 1.0, -1.0))
        if found is None or found[0] <= 0:
            continue
        candidate = polished.with_neuron(j, found[1])
        planes = Hyperplanes(candidate, problem.uncertainty)
        sides = planes.stable_sides(X, problem.radii)
        if not above.could_miss(*planes.levels(sides), classes)[is_safe].any():
            polished = candidate
    if problem.refuses(polished) or problem.evaluate(polished) > problem.evaluate(network):
        return network
    return polished
