"""Search under limits on errors: the fast search with other row weights, the best threshold, then the general search.

Heavier rows make a limit easier to meet, by factors that are drawn anew for every start but the first; what this finds
is the start of the general one, which lowers violations first and the loss next.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from stepnet.constructions.moved_threshold import with_limits_met
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.local.climb import climb_once

_SHARE = 0.5  # of the time, for the fast search
_FACTORS = -1.5, 1.5  # powers of ten
_MOVES = 2_000  # of the general search in vain; it is much slower


def accepts_limited(problem: Problem) -> bool:
    """Whether only limits on errors keep the fast search from accepting the problem."""
    return bool(problem.constraints.demands) and problem.without_limits.is_plain


def limited_once(
    problem: Problem,
    seed: list[int],
    budget: Budget,
    target: float,
    patience: int,
    offer: Callable[[Network], float] | None = None,
    start: Network | None = None,
    *,
    search_once: Callable[..., Network | None],
) -> Network | None:
    """The best network from one start; ``patience`` moves in vain end each of the searches."""
    price: Callable[[Network], float] = offer or problem.price
    if start is None:
        left = budget.remaining
        part = budget.until(budget.elapsed + _SHARE * left if math.isfinite(left) else math.inf)
        rng, is_first = np.random.default_rng(seed), seed[-1] == 0  # limits may cost nothing
        start = search_once(
            problem.without_limits if is_first else _reweighted(problem, rng), seed, part, 0.0, patience
        )
    moved = None if start is None else with_limits_met(problem, start)
    if moved is not None and price(moved) <= target:
        return moved
    found = climb_once(problem, seed, budget, target, min(patience, _MOVES), offer, moved or start)
    known = [one for one in (moved, found) if one is not None]
    return min(known, key=problem.price, default=None)


def _reweighted(problem: Problem, rng: np.random.Generator) -> Problem:
    """Without limits on errors; their rows are heavier by random factors."""
    data, plain = problem.dataset, problem.without_limits
    weights: Any = data.weights.copy()
    typical = float(weights[weights > 0].mean())
    for one in problem.constraints.inequalities:
        rates = np.maximum(one.scaled(1.0)[0], 0.0)
        if rates.any():
            weights += typical * 10.0 ** rng.uniform(*_FACTORS) * rates / rates[rates > 0].mean()
    return Problem(Dataset(data.X, data.y, weights), plain.architecture, plain.loss)


def limited(search_once: Callable[..., Network | None]) -> Callable[..., Network | None]:
    """The search under limits, with the fast search that it begins with."""
    return partial(limited_once, search_once=search_once)
