"""The loop around a climber: moves, ways out of local optima, and looks at the clock and at exact losses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stepnet.constructions.random_network import random_scaled_network
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.local.general import GeneralClimber
from stepnet.search.local.robust import RobustClimber

_MOVES_PER_LOOK = 10  # at the clock
_FIRST_LOOK = 0.5  # seconds before an evaluation that takes long: what begins at random is not worth it
_PAUSE = 3.0  # times as long as such an evaluation takes, until the next


def climb_once(
    problem: Problem,
    seed: list[int],
    budget: Budget,
    target: float,
    patience: int,
    offer: Callable[[Network], float] | None = None,
    start: Network | None = None,
) -> Network | None:
    """The best network from one start, random unless given; ``patience`` moves in vain end the search.

    Networks are compared by exact losses, or by bounds where the climber gives these; then some are evaluated now
    and then, in order to see whether the target is met.
    """
    rng, rows = np.random.default_rng(seed), problem.scaling.apply(problem.dataset.X)
    begin = random_scaled_network(problem, rows, rng) if start is None else problem.scale(start)
    climber = (RobustClimber if problem.is_uncertain else GeneralClimber)(problem, rows, begin, rng, budget)
    wait, pause = (_FIRST_LOOK, _PAUSE) if climber.is_bound else (0.0, 0.0)
    next_look = budget.elapsed + wait
    evaluate, found, best_network = offer or problem.evaluate, None, None
    least, evaluated, best, in_vain, stalled = np.inf, np.inf, np.inf, 0, 0
    while in_vain < patience and not (in_vain % _MOVES_PER_LOOK == 0 and budget.stop_reason):
        stalled = 0 if climber.move() else stalled + 1
        in_vain += 1
        if climber.loss < least - climber.flat:
            least, in_vain, found = climber.loss, 0, problem.restore(climber.network())
        is_due = least <= target + climber.flat or budget.elapsed >= next_look
        if found is not None and least < evaluated and is_due:
            evaluated, begin_look = least, budget.elapsed
            loss = evaluate(found)
            if loss < best:
                best, best_network = loss, found
            next_look = budget.elapsed + pause * (budget.elapsed - begin_look)
            if best <= target + climber.flat:
                break
        if stalled > climber.patience:
            stalled = 0
            climber.leave()
    return found if climber.is_bound else best_network
