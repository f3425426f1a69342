"""Integer weights of one neuron: a tabu search whose moves are all priced, each with its best threshold.

A move gives one weight another value, or drops one feature and gives another one a weight. The best move is made even
if the loss rises, and the weights it has changed rest for some moves. After moves in vain some features are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stepnet.model.arithmetic import Bools, Floats, Ints
from stepnet.search.neuron.prices import Prices

_WORK = 10_000_000  # sums that are priced in one look around
_STALLED = 30  # moves in vain before features are dropped


class Moves(NamedTuple):
    """Possible moves: which weight becomes 0 (-1: none), which one gets which value, and the loss after it."""

    dropped: Ints
    feature: Ints
    value: Floats
    loss: Floats


class IntegerNeuron:
    """Integer weights under way: which values each may have (features × values), and how many may be non-zero."""

    def __init__(
        self,
        prices: Prices,
        values: Floats,
        allowed: Bools,
        most: float,
        rng: np.random.Generator,
        admits: Callable[[Floats], bool] = lambda weights: True,
    ) -> None:
        self.prices, self.values, self.allowed, self.most = prices, values, allowed, most
        self.rng, self.admits = rng, admits
        self.flat = 1e-9 * float(np.abs(prices.gains).sum())
        zero = np.flatnonzero(values == 0)
        self.may_rest = allowed[:, zero[0]] if len(zero) else np.zeros(len(allowed), dtype=bool)

    def moves(self, weights: Floats) -> Moves:
        """All moves from these weights, or a sample of them where that would take long."""
        used, idle = np.flatnonzero(weights), np.flatnonzero(weights == 0)
        idle, sums = self._sample(idle, len(used)), self.prices.sums(weights)
        found = []
        for feature in used.tolist():
            without = sums - weights[feature] * self.prices.columns[feature]
            found.append(self._priced(without, -1, np.array([feature]), weights[feature]))
            if self.may_rest[feature] and len(idle):
                found.append(self._priced(without, feature, idle, 0.0))
        if len(used) < self.most and len(idle):
            found.append(self._priced(sums, -1, idle, 0.0))
        if not found:
            return Moves(np.zeros(0, int), np.zeros(0, int), np.zeros(0), np.zeros(0))
        return Moves(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _sample(self, idle: Ints, n_used: int) -> Ints:
        most = int(_WORK // (len(self.prices.gains) * len(self.values) * max(1, n_used)))
        return idle if len(idle) <= most else self.rng.choice(idle, max(1, most), replace=False)

    def _priced(self, sums: Floats, dropped: int, features: Ints, now: float) -> Moves:
        """The moves of features that have no weight in these sums, to other values than they have now."""
        losses = self.prices.with_weight(sums, features, self.values)
        feature, value = np.nonzero(self.allowed[features] & (self.values != now))
        return Moves(np.full(len(feature), dropped), features[feature], self.values[value], losses[feature, value])

    def search(
        self,
        weights: Floats,
        patience: int,
        should_stop: Callable[[], bool],
        on_better: Callable[[Floats], bool],
    ) -> None:
        """Search from these weights until ``patience`` moves are in vain, or ``on_better`` says that it is enough."""
        best, found, loss = np.inf, weights, self.loss(weights)
        rests, number, in_vain = np.zeros(len(weights), dtype=np.int64), 0, 0
        while True:
            if loss < best - self.flat:
                best, found, in_vain = loss, weights, 0
                if on_better(weights):
                    return
            moves = self.moves(weights)
            if in_vain >= patience or should_stop() or not len(moves.loss):
                return
            number, in_vain = number + 1, in_vain + 1
            is_stalled = in_vain % _STALLED == 0
            chosen = None if is_stalled else self._choose(weights, moves, rests >= number, best)
            if chosen is None:
                weights = self._shaken(found)
                loss, rests[:] = self.loss(weights), 0
            else:
                before, weights, loss = weights, _after(weights, moves, chosen), float(moves.loss[chosen])
                longest = 3 + np.count_nonzero(weights) // 2
                rests[weights != before] = number + self.rng.integers(1, longest)

    def best_neighbour(self, weights: Floats) -> Floats | None:
        """The weights after the best move that is admitted, if there is one."""
        moves = self.moves(weights)
        chosen = self._choose(weights, moves, np.zeros(len(weights), dtype=bool), np.inf)
        return None if chosen is None else _after(weights, moves, chosen)

    def loss(self, weights: Floats) -> float:
        return float(self.prices.losses(self.prices.sums(weights)[None])[0])

    def _choose(self, weights: Floats, moves: Moves, resting: Bools, best: float) -> int | None:
        """The best move that the constraints admit and that changes no resting weight, unless it beats the best."""
        is_resting = resting[moves.feature] | (resting[moves.dropped] & (moves.dropped >= 0))
        losses = np.where(is_resting & (moves.loss >= best - self.flat), np.inf, moves.loss)
        order = np.lexsort((self.rng.random(len(losses)), np.round(losses / self.flat) if self.flat else losses))
        for chosen in order[:100].tolist():
            if losses[chosen] == np.inf:
                return None
            if self.admits(_after(weights, moves, chosen)):
                return int(chosen)
        return None

    def _shaken(self, weights: Floats) -> Floats:
        """Without about half of the features; weights that must not be 0 get any value. As they are if not admitted."""
        used = np.flatnonzero(weights)
        shaken = weights.copy()
        for feature in self.rng.permutation(used)[: (len(used) + 1) // 2]:
            shaken[feature] = 0.0 if self.may_rest[feature] else self.rng.choice(self.values[self.allowed[feature]])
        return shaken if self.admits(shaken) else weights


def _after(weights: Floats, moves: Moves, chosen: int) -> Floats:
    result = weights.copy()
    if moves.dropped[chosen] >= 0:
        result[moves.dropped[chosen]] = 0.0
    result[moves.feature[chosen]] = moves.value[chosen]
    return result
