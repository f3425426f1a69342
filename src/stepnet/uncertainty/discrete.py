"""Attacks on rows whose features move by whole steps.

Sizes are whole numbers of units, so the smallest perturbation is found by deciding one number after the other. What no
move within k units can change is settled by intervals; few moves are all tried; a search of single moves finds attacks.
What is left is a program of whole numbers for CP-SAT (:mod:`stepnet.uncertainty.counting`): its points are verified by
an exact forward pass, and where its word is needed for a radius, the attack says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats, Ints, exact_dot
from stepnet.model.network import Network
from stepnet.uncertainty.adversary import Attack
from stepnet.uncertainty.ball import Ball
from stepnet.uncertainty.cells import Cells
from stepnet.uncertainty.circuit import Circuit
from stepnet.uncertainty.counting import Counting
from stepnet.uncertainty.hyperplanes import Sides
from stepnet.uncertainty.lattice import Lattice

_CHUNK = 1 << 12
_DOUBT = 2.0**-50
_FARTHEST = 1 << 40  # units
_SAMPLES, _ROUNDS = 256, 12


class DiscreteAdversary:
    """Attacks on one network with moves by whole steps; the radius of the ball is ignored."""

    def __init__(self, network: Network, ball: Ball) -> None:
        if network.layers[-1].activation.gives_numbers:
            raise InvalidInputError("an attack changes a class; the outputs of this network are numbers.")
        if not network.layers[0].activation.has_levels:
            raise InvalidInputError(
                "an attack needs a step layer below the outputs; this network has none. Use hidden=(1,) or more."
            )
        ball.require(network.n_features)
        self.network, self.ball, self.circuit = network, ball, Circuit(network)

    def attack(
        self,
        row: Floats,
        code: int | None = None,
        radius: float | None = None,
        should_stop: Callable[[], bool] = lambda: False,
        *,
        hints: Sequence[Floats] = (),
        most_nodes: int | None = None,
    ) -> Attack:
        """As for balls of real numbers; ``most_nodes=0`` leaves out what takes long, hints are not used."""
        answer = int(self.network.predict(row[None])[0])
        if code is not None and code != answer:
            return Attack(0.0, row.copy(), 0.0)
        search = _Search(self, row, answer, radius)
        search.bound()
        if not search.is_closed:
            search.sample()
        if not search.is_closed:
            search.enumerate(should_stop)
        if not search.is_closed and most_nodes != 0:
            search.count(should_stop)
        return search.attack()


class _Search:
    """One row: no move of less than ``least`` units changes the answer, ``best`` is the smallest found that does."""

    def __init__(self, adversary: DiscreteAdversary, row: Floats, answer: int, radius: float | None) -> None:
        self.adversary, self.row, self.answer = adversary, row, answer
        self.circuit, self.lattice = adversary.circuit, Lattice(adversary.ball, row)
        first = self.circuit.hidden[0]
        self.W = np.repeat(first.weights, first.activation.n_thresholds, axis=0)
        self.T = first.thresholds.ravel()
        self.now = self._sides(row)
        self.wanted = None if radius is None else self.lattice.units_below(radius)
        self.limit = min(self.lattice.most_units, _FARTHEST)
        self.least: float = 1
        self.best: float = np.inf
        self.point: Floats | None = None
        self.claimed_by = ""

    def _sides(self, row: Floats) -> Sides:
        levels = self.adversary.network.levels(row[None])[0][0]
        n_thresholds = len(self.T) // len(levels)
        return np.asarray(levels[:, None] > np.arange(n_thresholds), dtype=np.int8).ravel()

    @property
    def is_closed(self) -> bool:
        if self.wanted is not None:
            return self.least > self.wanted or self.best <= self.wanted
        return self.least >= self.best or np.isinf(self.least)

    @property
    def most(self) -> float:
        """The largest number of units that is still of interest."""
        return min(self.best - 1, np.inf if self.wanted is None else self.wanted)

    def attack(self) -> Attack:
        size_of = self.lattice.size_of
        radius = np.inf if np.isinf(self.least) else size_of(int(min(self.least, self.best)))
        size = size_of(int(self.best)) if self.point is not None else np.inf
        return Attack(radius, self.point, size, self.is_closed, self.claimed_by)

    # From below.

    def ranges(self, k: int) -> tuple[Sides, Sides]:
        """The ranges of all bits within k units."""
        up, down = self.lattice.reach(self.W, k)
        values = self.W @ self.row - self.T
        doubt = _DOUBT * len(self.row) * (np.abs(self.W) @ np.abs(self.row) + np.abs(self.T) + up + down)
        is_loose = np.where(self.now == 1, values - down < doubt, values + up >= -doubt)
        for j in np.flatnonzero(is_loose & (self.now == 1) & (values - down >= -doubt)).tolist():
            is_loose[j] = not self._stays(j, float(down[j]))
        low = np.where(is_loose, 0, self.now).astype(np.int8)
        high = np.where(is_loose, 1, self.now).astype(np.int8)
        n_above = self.circuit.n_bits - len(low)
        ends = np.append(low, np.zeros(n_above, np.int8)), np.append(high, np.ones(n_above, np.int8))
        lows, highs, _ = self.circuit.ranges(ends[0][None], ends[1][None])
        return lows[0], highs[0]

    def _stays(self, j: int, down: float) -> bool:
        """Whether a neuron that rows on a grid bring exactly to its threshold stays on."""
        is_whole = all(
            (one == np.round(one)).all() for one in (self.W[j], self.row, self.lattice.steps, self.lattice.costs)
        )
        return bool(is_whole and self.lattice.norm != "l2" and exact_dot(self.row, self.W[j]) - down >= self.T[j])

    def could(self, k: int) -> bool:
        low, high = self.ranges(k)
        return bool(self.circuit.could_miss(low[None], high[None], self.answer)[0])

    def bound(self) -> None:
        """By intervals: the smallest number of units that could change the answer."""
        yes = 1
        while not self.could(yes):
            if yes >= self.limit:
                self.least = np.inf
                return
            yes *= 2
        no = yes // 2
        while yes - no > 1:
            middle = (no + yes) // 2
            no, yes = (no, middle) if self.could(middle) else (middle, yes)
        self.least = yes

    # From above.

    def offer(self, moves: Ints) -> None:
        """Take the smallest of these moves that changes the answer."""
        moves = moves[self.lattice.allows(moves)]
        points = self.lattice.points(moves)
        if not len(points):
            return
        hits = np.flatnonzero(self.adversary.network.predict(points) != self.answer)
        if len(hits):
            units = self.lattice.units(moves[hits])
            chosen = hits[int(units.argmin())]
            if units.min() < self.best:
                self.best, self.point = int(units.min()), points[chosen]

    def sample(self) -> None:
        """Random moves of growing size, then the same with features put back one by one."""
        rng = np.random.default_rng(0)
        k = int(self.least)
        for _ in range(_ROUNDS):
            if k > self.most:
                break
            low, high = self.lattice.limits(k)
            useful = np.flatnonzero((low < high) & self._touches(k))
            moves = np.zeros((_SAMPLES, len(self.row)), dtype=np.int64)
            drawn = rng.random((_SAMPLES, len(useful)))
            moves[:, useful] = np.where(drawn < 0.5, low[useful], high[useful])
            moves[rng.random(moves.shape) < rng.random((_SAMPLES, 1))] = 0
            moves = moves[self.lattice.units(moves) <= min(self.most, k)] if self.lattice.norm != "linf" else moves
            self.offer(np.vstack([moves, self._towards(k, low, high)]))
            if np.isfinite(self.best):
                break
            k *= 2
        if self.point is not None:
            self._shrink()

    def _touches(self, k: int) -> np.ndarray:
        """Features on which a bit in reach depends."""
        low, high = self.ranges(k)
        loose = low[: len(self.T)] < high[: len(self.T)]
        return np.asarray((self.W[loose] != 0).any(axis=0))

    def _towards(self, k: int, low: Ints, high: Ints) -> Ints:
        """Moves that help one rival most if bits were numbers: against the sum of the weights that lead to it."""
        moves = []
        for rival in self.circuit.rivals(self.answer) or []:
            pull = rival.coefficients
            for sums in reversed(self.circuit.sums):
                pull = np.asarray(sums.matrix.T @ pull)
            gains = pull @ self.W
            best = np.where(gains > 0, high, np.where(gains < 0, low, 0))
            order = np.argsort(-np.abs(gains * self.lattice.steps * best), kind="stable")
            for n_moved in np.unique(np.geomspace(1, len(order), 12).astype(int)):
                move = np.zeros(len(self.row), dtype=np.int64)
                move[order[:n_moved]] = best[order[:n_moved]]
                if self.lattice.units(move[None])[0] <= k:
                    moves.append(move)
        return np.array(moves, dtype=np.int64).reshape(-1, len(self.row))

    def _shrink(self) -> None:
        """Put features back, or one step back, as long as the answer stays changed."""
        assert self.point is not None
        moves = np.round((self.point - self.row) / self.lattice.steps).astype(np.int64)
        for _ in range(_ROUNDS):
            moved = np.flatnonzero(moves)
            tries = np.repeat(moves[None], 2 * len(moved), axis=0)
            every = np.arange(len(moved))
            tries[every, moved] = 0
            tries[len(moved) + every, moved] -= np.sign(moves[moved])
            before = self.best
            self.offer(tries)
            if self.best == before or self.point is None:
                return
            moves = np.round((self.point - self.row) / self.lattice.steps).astype(np.int64)

    # Both.

    def enumerate(self, should_stop: Callable[[], bool]) -> None:
        """Try all moves of one more unit after the other, as long as they are few."""
        while not self.is_closed:
            k = int(self.least)
            low, high = (end[: len(self.T)] for end in self.ranges(k))
            cells = Cells(self.circuit, self.lattice, self.W, self.now, np.flatnonzero(low < high), k)
            if not cells.are_few:
                return
            for first in range(0, cells.n_all, _CHUNK):
                if should_stop():
                    return
                numbers = np.arange(first, min(first + _CHUNK, cells.n_all))
                if cells.above is not None:
                    numbers = numbers[cells.answers(numbers) != self.answer]
                moves = cells.moves(numbers)
                self.offer(moves[self.lattice.units(moves) <= k])
                if self.best <= k:
                    break
            self.least = k if self.best <= k else k + 1 if k < self.limit else np.inf

    def count(self, should_stop: Callable[[], bool]) -> None:
        """What is left, as a program of whole numbers."""
        counting = Counting.available()
        if counting is None:
            return
        k = int(self.least)
        while not self.is_closed and not should_stop():
            # In ℓ∞ a radius is decided at a time: its program is much smaller. Elsewhere the size is minimised.
            most = k if self.lattice.norm == "linf" else int(min(self.most, self.limit))
            low, high = self.lattice.limits(most)
            program = counting(self.circuit, self.lattice, self.W, self.T, self.ranges(most), most, self.answer)
            found = program.solve(low, high, k, should_stop)
            if found.moves is not None:
                before = self.best
                self.offer(found.moves[None])
                if self.best == before:
                    return  # rounding: the point does not do what the program says
            if found.least > self.least:
                is_none = found.least > self.limit and np.isinf(self.best)
                self.least, self.claimed_by = np.inf if is_none else min(found.least, self.best), program.title
            if found.least <= k and found.moves is None:
                return
            k = int(min(self.least, self.limit))
