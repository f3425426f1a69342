"""Prover of scorecards: the smallest loss of all scorecards of a form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import ScorecardBoxes
from stepnet.errors import YES, Answer
from stepnet.problem.problem import Problem
from stepnet.provers.base import Host
from stepnet.scores.boxes import ANY, Boxes, divide, push
from stepnet.scores.card import Card
from stepnet.scores.cuts import CutPoints
from stepnet.scores.form import Form
from stepnet.scores.ranks import Ranks, Table
from stepnet.scores.totals import MOST_RULES, Gates, Total, for_kernels, totals_of
from stepnet.scores.units import Units

_AT_ONCE = 100_000_000  # operations between two looks at the clock
_FEWEST_RELAXED = 4  # rules: with fewer the exact bound comes as soon
_FIRST_BOXES, _MOST_BOXES = 2**16, 2**22


def accepts_proof(form: Form) -> Answer:
    if form.n_rules <= MOST_RULES:
        return YES
    return Answer(
        f"method='prove' accepts up to {MOST_RULES} rules; got n_rules={form.n_rules}. Use method='search' or 'learn'."
    )


class Offered(Protocol):
    """Evaluates a card, keeps it if it is better, and returns its exact loss."""

    card: Card

    def __call__(self, card: Card) -> float: ...


@dataclass
class ScoreProver:
    """Divides boxes of scorecards until none can hold a better one."""

    form: Form
    cut_points: CutPoints

    def work(self, host: Host, offer: Offered) -> None:
        """Raise the bound of the host until it meets the loss, or nothing is left to try."""
        problem, ranks = host.problem, Ranks.of(host.problem.dataset)
        units = Units.of(problem, host.loss)
        if units is None:
            return
        work = Work(_table(ranks, problem, units), totals_of(self.form), self.form.rules_per_feature)
        work.begin()
        most = units.most_below(host.loss)
        while True:
            step = work.go_on(np.full(len(work.totals), most, dtype=np.int64))
            if step.found is not None:
                offer(self._card(ranks, work.totals, step.found))
                most = min(step.loss - 1, units.most_below(host.loss))
            is_done = step.bound < 0
            self._raise(host, units, work, most + 1 if is_done else min(step.bound, most + 1))
            if is_done or step.is_full or host.is_over:
                return

    def relax(self, host: Host, should_stop: Callable[[], bool]) -> None:
        """Raise the bound to the least loss of any function of as many rules, as far as that comes in time.

        There are as many boxes as choices of features, not of literals, points and thresholds: for many rules this
        bound comes sooner than the exact one.
        """
        problem, ranks = host.problem, Ranks.of(host.problem.dataset)
        units = Units.of(problem, host.loss)
        if units is None or self.form.n_rules < _FEWEST_RELAXED:
            return
        table = ranks.relaxed(np.asarray(problem.dataset.y == 1), units.weights)
        work = Work(table, [Total((1,) * self.form.n_rules, ANY)], self.form.rules_per_feature)
        work.begin()
        most = units.most_below(host.loss)
        while not should_stop():
            step = work.go_on(np.full(1, most, dtype=np.int64))
            least = step.loss if step.found is not None else (most + 1 if step.bound < 0 else step.bound)
            self._raise(host, units, work, min(least, most + 1))
            if step.found is not None or step.bound < 0 or step.is_full or host.is_over:
                return

    def smaller(self, host: Host, offer: Offered, should_stop: Callable[[], bool]) -> None:
        """Look for a card of the same loss with fewer rules, or else smaller points."""
        problem, ranks = host.problem, Ranks.of(host.problem.dataset)
        units = Units.of(problem, problem.dataset.total_weight)
        if units is None or not units.is_exact:
            return
        table, most = _table(ranks, problem, units), units.up_to(host.loss)
        totals = [one for one in totals_of(self.form) if one.rank < offer.card.rank]
        while totals:
            work = Work(table, totals, self.form.rules_per_feature)
            work.begin()
            step = _Step(0, -1, None, False)
            while step.found is None:
                if should_stop() or step.bound < 0 or step.is_full:
                    return
                step = work.go_on(np.full(len(totals), most, dtype=np.int64))
            offer(self._card(ranks, totals, step.found))
            totals = [one for one in totals if one.rank < totals[int(step.found[0])].rank]

    def _raise(self, host: Host, units: Units, work: Work, least: int) -> None:
        bound = min(host.loss, units.loss(least))
        n_gates = 0 if work.totals[0].threshold == ANY else len(work.totals)
        host.raise_bound(Bound(bound, self.form.scope, ScorecardBoxes(work.n_boxes, n_gates)))

    def _card(self, ranks: Ranks, totals: list[Total], found: NDArray[np.int64]) -> Card:
        total = totals[found[0]]
        places = zip(found[1::2].tolist(), found[2::2].tolist(), total.points, strict=False)
        return Card(tuple(ranks.rule(*place, self.cut_points) for place in places), total.threshold).sorted()


def _table(ranks: Ranks, problem: Problem, units: Units) -> Table:
    return ranks.table(np.asarray(problem.dataset.y == 1), units.weights)


@dataclass(frozen=True)
class _Step:
    bound: int  # -1 if no box is left
    loss: int
    found: NDArray[np.int64] | None
    is_full: bool


class Work:
    """The open boxes of a proof."""

    def __init__(self, table: Table, totals: list[Total], per_feature: int) -> None:
        self.table, self.totals, self.per_feature = table, totals, per_feature
        self.gates: Gates = for_kernels(totals)
        self._count = np.zeros(1, dtype=np.int64)

    @property
    def n_boxes(self) -> int:
        """That were looked at so far."""
        return len(self.totals) + int(self._count[0])

    def begin(self) -> None:
        """One box per gate."""
        n_rules = self.gates.points.shape[1]
        self.boxes, self.size = Boxes.empty(max(_FIRST_BOXES, 4 * len(self.totals)), n_rules), 0
        nothing, zeros = np.full(max(1, n_rules - 1), -1), np.zeros(max(1, n_rules - 1), np.int64)
        for gate in range(len(self.totals)):
            self.size = push(self.boxes, self.size, 0, gate, 0, nothing, zeros, zeros)

    def go_on(self, limits: NDArray[np.int64]) -> _Step:
        """Divide boxes for a while; ``limits`` are the largest losses of interest, by gate."""
        found = np.full(2 * self.gates.points.shape[1] + 1, -1, dtype=np.int64)
        self.size, bound, loss, is_full = divide(
            self.table, self.gates, limits, self.per_feature, self.boxes, self.size, found, self._count, _AT_ONCE
        )
        if is_full and len(self.boxes.keys) < _MOST_BOXES:
            self.boxes, is_full = self.boxes.grown(2 * len(self.boxes.keys)), False
        return _Step(int(bound), int(loss), found if loss >= 0 else None, bool(is_full))
