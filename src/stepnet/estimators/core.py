"""Core: exact methods on rows that are read block by block.

A method works on a core of some rows. Its network is evaluated on all rows, and some of those that it gets wrong join
the core, until the loss on all rows meets the bound, or the time is over. A bound of the core is one of all rows: more
rows never make a network cheaper. So a network without errors on 10⁷ rows is found by a close look at some thousands.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import Subset
from stepnet.bounds.row_groups import Groups
from stepnet.certificate.result import Result
from stepnet.certificate.tally import Tally
from stepnet.estimators.large import Passes
from stepnet.methods.registry import method_of
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.reservoir import Reservoir
from stepnet.tables.rows import Piece

FIRST = 2_000  # rows of the core
_MORE = 1_000  # that join it at a time
_MOST = 50_000
_ROUNDS = 4  # equal shares of the time that is left, for the first of them


class Found(NamedTuple):
    """The best network so far, and what is known of it on all rows."""

    problem: Problem
    tally: Tally
    groups: Groups
    bound: Bound
    result: Result


def solved_on_core(estimator: Any, problem: Problem, passes: Passes, sample: Piece, seconds: float, seed: int) -> Found:
    """The best network on all rows, with the larger of the bounds of the core and of conflicting rows."""
    method, budget = method_of(estimator.method), passes.budget.lasting(seconds)
    X, y, weights = sample.X, sample.y, np.ones(len(sample.X)) if sample.weights is None else sample.weights
    best: Found | None = None
    network: Network | None = None
    while True:
        problem = replace(
            problem, dataset=Dataset.from_rows(*_arrays(estimator._piece_dataset(Piece(X, y, weights, "", 0))))
        )
        run = Run(problem, budget.lasting(budget.remaining / _ROUNDS), 1, seed, method.plan(problem))
        is_start = network is not None and problem.refuses(network) is None
        method.work(run, network if is_start else None)
        result = run.result()
        network, wrong = result.network, Reservoir(_MORE, seed)
        tally = Tally(network, problem)
        groups, free = passes.tally(tally, estimator._piece_dataset, _collector(estimator, network, wrong))
        bound = _of_all(result.bound, free)
        if best is None or tally.whole_loss < best.tally.whole_loss:
            best = Found(problem, tally, groups, bound, result)
        best = best._replace(bound=max(best.bound, bound, key=lambda one: one.value))
        passes.tell(f"loss {best.tally.whole_loss:g} of all rows, bound {best.bound.value:g}", at_once=True)
        is_met = best.tally.accuracy.are_equal(best.tally.whole_loss, best.bound.value)
        is_same = tally.whole_loss <= result.loss  # no row outside the core is wrong
        if is_met or is_same or budget.is_used_up() or len(X) >= _MOST:
            reason = "proven" if is_met else budget.stop_reason or "finished"
            return best._replace(result=replace(best.result, stop_reason=reason, loss=best.tally.whole_loss))
        more = wrong.taken()
        X, y = np.concatenate([X, more[0]]), np.concatenate([y, more[1]])
        weights = np.concatenate([weights, np.ones(len(more[0])) if more[2] is None else more[2]])


def _arrays(dataset: Dataset) -> tuple[Any, Any, Any]:
    return dataset.X, dataset.y, dataset.weights


def _collector(estimator: Any, network: Network, wrong: Reservoir) -> Any:
    """Keeps some of the rows that a network gets wrong."""

    def collect(piece: Piece) -> None:
        piece = piece.counted
        is_wrong = estimator.classes_[network.predict(piece.X)] != piece.y
        if is_wrong.any():
            wrong.add(piece.X[is_wrong], piece.y[is_wrong], None if piece.weights is None else piece.weights[is_wrong])

    return collect


def _of_all(bound: Bound, free: Bound) -> Bound:
    """The larger of the bound of the core, as one of all rows, and that of conflicting rows."""
    if bound.value <= free.value:
        return free
    scope = bound.scope if bound.scope.is_all else bound.scope.of_earlier_rows()
    return Bound(bound.value, scope, Subset.of(bound.evidence))
