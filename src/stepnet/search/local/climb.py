"""The loop around a climber: moves, ways out of local optima, and looks at the clock and at exact losses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.local.climber import Climber
from stepnet.search.local.general import GeneralClimber
from stepnet.search.local.looks import RARELY, Looks
from stepnet.search.local.robust import RobustClimber

_MOVES_PER_LOOK = 10  # at the clock
_FIRST_LOOK = 0.5  # seconds before an evaluation that takes long: what begins at random is not worth it


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

    Networks are compared by exact losses, or by the climber's where these are bounds that take long to evaluate.
    """
    kind: type[Climber] = RobustClimber if problem.is_uncertain else GeneralClimber
    climber = kind(problem, np.random.default_rng(seed), budget, None if start is None else problem.scale(start))
    wait, pause = (_FIRST_LOOK, RARELY) if climber.is_bound else (0.0, 0.0)
    looks = Looks(offer or problem.price, budget, target + climber.flat, pause, wait)
    least, found, in_vain, stalled = np.inf, None, 0, 0
    while in_vain < patience and not (in_vain % _MOVES_PER_LOOK == 0 and budget.stop_reason):
        stalled = 0 if climber.move() else stalled + 1
        in_vain += 1
        if climber.loss < least - climber.flat and climber.is_admitted:
            network = problem.restore(climber.network())
            if not problem.constraints.need_rows or problem.price(network) < np.inf:  # what is not admitted is no gain
                least, in_vain, found = climber.loss, 0, network
        if found is not None and looks.look(least, found):
            break
        if stalled > climber.patience:
            stalled = 0
            climber.leave()
    return found if climber.is_bound else looks.network
