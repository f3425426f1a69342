"""Room: what sparsity and the user's constraints leave to a neuron that moves along a line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Floats
from stepnet.problem.constraint import Row
from stepnet.problem.problem import Problem
from stepnet.search.local.climber import with_row
from stepnet.search.local.lines import FLAT

_GIVES_WAY = 0.3  # of the lines: a weight becomes zero, so that another may be non-zero
_PINNED = 0.7  # of the weights at a bound stay there


class Room:
    """Neuron j of layer k in a network of weights W."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.constraints, self.domains, self.rng = problem.constraints, problem.architecture.domains, rng
        self.rows: dict[tuple[int, int], list[Row]] = {}
        for row in problem.scaled_rows():
            for neuron in {(k, j) for (k, j, _), _ in row.terms}:
                self.rows.setdefault(neuron, []).append(row)

    def base(self, W: list[Floats], k: int, j: int) -> tuple[Floats, NDArray[np.bool_]]:
        """The weights where a line begins, and which of them may move along it.

        Where few weights may be non-zero, or they are integers, which move alone, one of them now and then becomes 0
        and gives way to another.
        """
        weights, room, domain = W[k][j], self.constraints.room(W, k), self.domains[k]
        is_free = np.isinf(room)
        if is_free and not domain.is_integer:
            return weights, np.ones(len(weights), dtype=bool)
        weights, support = weights.copy(), np.flatnonzero(weights)
        if len(support) and self.rng.random() < _GIVES_WAY and domain.contains(np.zeros(1)):
            weights[self.rng.choice(support)] = 0.0
            room += 1
        if is_free:
            return weights, np.ones(len(weights), dtype=bool)
        free = weights != 0
        idle = self.rng.permutation(np.flatnonzero(~free))
        free[idle[: self.rng.integers(int(min(room, len(idle))) + 1)]] = True
        return weights, free

    def allows(self, W: list[Floats], k: int, j: int, weights: Floats) -> bool:
        """Whether the constraints admit these weights of a neuron."""
        if not self.constraints.restrict_weights:
            return True
        W = [*W[:k], with_row(W[k], j, weights), *W[k + 1 :]]
        return self.constraints.room(W, k) >= 0 and all(row.holds(W) for row in self.rows.get((k, j), ()))

    def reach(self, W: list[Floats], k: int, j: int, direction: Floats) -> tuple[float, float]:
        """How far the weights of a neuron may go either way along a direction before a constraint ends it."""
        low, high = -np.inf, np.inf
        for row in self.rows.get((k, j), ()):
            slope = sum(c * direction[i] for (q, p, i), c in row.terms if (q, p) == (k, j))
            if abs(slope) > FLAT:
                ends = sorted((side - row.value(W)) / slope for side in (row.lower, row.upper))
                low, high = max(low, ends[0]), min(high, ends[1])
        return min(low, 0.0), max(high, 0.0)

    def pinned(self, W: list[Floats], k: int, j: int) -> NDArray[np.bool_]:
        """Some of the weights that lie at a bound of the user, so that a line need not end at once."""
        pinned = np.zeros(W[k].shape[1], dtype=bool)
        for row in self.rows.get((k, j), ()):
            if len(row.terms) == 1 and W[k][j, row.terms[0][0][2]] == 0:
                pinned[row.terms[0][0][2]] = self.rng.random() < _PINNED
        return pinned
