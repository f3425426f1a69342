"""Search of scorecards: the fewest errors on the training rows, by exchanging one rule at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepnet.scores.card import Card
from stepnet.scores.cuts import CutPoints
from stepnet.scores.form import Form
from stepnet.scores.moves import best_rule
from stepnet.scores.ranks import Ranks, Table
from stepnet.scores.totals import simplest

KICKS = 100  # without a better scorecard
Rules = NDArray[np.int64]  # literal, cut and points by rule


@dataclass
class ScoreSearch:
    """The best of all rules in place of each rule in turn, until none is better; then half of them are dropped."""

    form: Form
    cut_points: CutPoints
    ranks: Ranks
    table: Table
    seed: int = 0
    kicks: int | None = KICKS

    def work(
        self, starts: Iterable[Card], offer: Callable[[Card], float], should_stop: Callable[[], bool]
    ) -> tuple[int, Card]:
        """Offer better and better cards; the loss of the best, in units, and the card."""
        rng, best, card = np.random.default_rng(self.seed), 2**62, Card((), 0)
        begin = [np.zeros((self.form.n_rules, 3), dtype=np.int64), *map(self._rules, starts)]
        current, n_kicks = begin[0], -len(begin)
        while not should_stop() and (self.kicks is None or n_kicks < self.kicks):
            is_start = n_kicks < 0
            rules = begin[n_kicks + len(begin)] if is_start else _kicked(current, rng)
            rules, threshold, loss = self._descend(rules, should_stop)
            n_kicks += 1
            if loss < best or (loss == best and _size(rules) < _size(current)):
                n_kicks = min(n_kicks, 0) if loss < best else n_kicks
                best, current, card = loss, rules, self._card(rules, threshold)
                offer(card)
                if best == 0:
                    break
        return best, card

    def _descend(self, rules: Rules, should_stop: Callable[[], bool]) -> tuple[Rules, int, int]:
        """Exchange rules one after the other while the loss falls."""
        rules, best, threshold, n_rules = rules.copy(), 2**62, 0, len(rules)
        unchanged, j = 0, 0
        order = np.argsort(rules[:, 2], kind="stable")  # empty places first
        while unchanged < n_rules and not (should_stop() and best < 2**62):
            found = np.zeros(4, dtype=np.int64)
            given = (self.form.points, self.form.rules_per_feature)
            loss = int(best_rule(self.table, rules, int(order[j % n_rules]), *given, best, found))
            if loss < best:
                rules[order[j % n_rules]], threshold, best = found[:3], int(found[3]), loss
                unchanged = 0
            else:
                unchanged += 1
            j += 1
        return rules, threshold, best

    def _rules(self, card: Card) -> Rules:
        rules = np.zeros((self.form.n_rules, 3), dtype=np.int64)
        for j, place in enumerate(self.ranks.places(card)[: self.form.n_rules]):
            rules[j] = place
        return rules

    def _card(self, rules: Rules, threshold: int) -> Card:
        places = [(int(literal), int(cut), int(points)) for literal, cut, points in rules if points]
        used = [self.ranks.rule(literal, cut, points, self.cut_points) for literal, cut, points in places]
        return simplest(Card(tuple(used), threshold), self.form).sorted()


def _kicked(rules: Rules, rng: np.random.Generator) -> Rules:
    """Without about half of the rules."""
    rules = rules.copy()
    n_dropped = min(len(rules), int(rng.integers(1, -(-len(rules) // 2) + 2)))
    rules[rng.permutation(len(rules))[:n_dropped], 2] = 0
    return rules


def _size(rules: Rules) -> tuple[int, int]:
    return int((rules[:, 2] > 0).sum()), int(rules[:, 2].sum())
