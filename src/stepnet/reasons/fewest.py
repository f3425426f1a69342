"""Fewest: the change of the fewest features, or of the cheapest set of them, that gives a wanted answer.

Sets of features are tried in the order of their costs. For each of them a branch and bound finds a point or proves that
there is none, so that the first set with a point is the cheapest; of its points the nearest in ℓ1 is taken. Where that
ends at its limit, all points of a set are tried if they are integers, and not many.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from stepnet.model.arithmetic import Floats, Ints
from stepnet.reasons.demand import Demand
from stepnet.reasons.nearest import Found, Nearest
from stepnet.reasons.units import Model

_MOST_SETS, _MOST_NODES, _MOST_POINTS = 20_000, 2_000, 50_000


def fewest(model: Model, demand: Demand, row: Floats, wanted: Ints) -> Found:
    """Of one row, for which the demand is."""
    features = np.flatnonzero(demand.low < demand.high)
    near = replace(demand, norm="l1")
    # If no point is found among all changes, no set has one.
    first = Nearest(model, near, row, wanted).run(any_point=True)
    if first.point is None and first.is_complete and math.isinf(first.bound):
        return Found(None, math.inf, math.inf, True)
    unresolved, best, is_complete = math.inf, first.point, True
    price = math.inf if best is None else demand.price(row, best)
    for number, (cost, chosen) in enumerate(_in_order(demand.costs, features)):
        if number >= _MOST_SETS:
            return Found(best, price, min(unresolved, cost, price), False)
        if cost > price:
            break
        part = replace(near, low=_only(chosen, demand.low, row), high=_only(chosen, demand.high, row))
        found = Nearest(model, part, row, wanted, _MOST_NODES).run()
        if found.point is None and not math.isinf(found.bound):
            found = _of_all_points(model, part, row, wanted, chosen) or found
        if found.point is not None:
            best, price = found.point, demand.price(row, found.point)
            break
        if not (found.is_complete and math.isinf(found.bound)):
            unresolved, is_complete = min(unresolved, cost), is_complete and found.is_complete
    return Found(best, price, min(unresolved, price), is_complete)


def _of_all_points(model: Model, demand: Demand, row: Floats, wanted: Ints, chosen: Ints) -> Found | None:
    """By trying all points of a set; None if they are too many, or numbers."""
    low, high = np.ceil(demand.low[chosen]), np.floor(demand.high[chosen])
    if not demand.is_integer[chosen].all() or not np.prod(high - low + 1) <= _MOST_POINTS:
        return None
    axes = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(chosen))
    points = np.repeat(row[None], len(grid), axis=0)
    points[:, chosen] = grid
    points = points[np.isin(model.answers(points), wanted)]
    if not len(points):
        return Found(None, math.inf, math.inf, True)
    prices = (np.abs(points - row) * demand.costs).sum(axis=1)
    return Found(points[prices.argmin()], float(prices.min()), float(prices.min()), True)


def _only(chosen: Ints, ends: Floats, row: Floats) -> Floats:
    """The ends of the chosen features; the others stay."""
    kept = row.copy()
    kept[chosen] = ends[chosen]
    return kept


def _in_order(costs: Floats, features: Ints) -> Iterator[tuple[float, Ints]]:
    """All sets of the features, the cheapest first."""
    order = features[np.argsort(costs[features], kind="stable")]
    prices = costs[order].tolist()
    heap: list[tuple[float, tuple[int, ...]]] = [(prices[0], (0,))] if len(order) else []
    while heap:
        cost, places = heapq.heappop(heap)
        yield cost, order[list(places)]
        after = places[-1] + 1
        if after < len(order):
            heapq.heappush(heap, (cost + prices[after], (*places, after)))
            heapq.heappush(heap, (cost - prices[after - 1] + prices[after], (*places[:-1], after)))
