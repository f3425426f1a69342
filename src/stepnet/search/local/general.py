"""Local search for any problem: one neuron at a time, by an exact line search over its levels.

With everything else fixed, what a row costs depends on the level of the neuron alone: a table of rows × levels. Along a
direction the row passes from level to level at known steps, so the loss is piecewise constant: sort the steps, add the
differences up, take the best interval, or for integer weights the best of the steps that stay in the domain. For
outputs that are compared (argmax) the neuron has two levels per row: behind the best of the others, and before it.

Losses that read the outputs' values leave the last layer to a convex problem, solved after each change. For squared
errors and the layer below it, the line search even sees the loss after that.

The compiled kernels do the same for steps, one output bit and real weights, much faster.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepnet.constructions.last_layer import best_last_layer
from stepnet.constructions.random_network import random_scaled_network
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.local.climber import Climber, with_row
from stepnet.search.local.lines import (
    Events,
    LeastSquares,
    Line,
    at_levels,
    best_interval,
    best_place,
    by_table,
    events_along,
    threshold_events,
)
from stepnet.search.local.room import Room
from stepnet.search.neuron.integers import IntegerNeuron
from stepnet.search.neuron.prices import Prices

_SHARED = 0.1  # of the moves, where a layer shares an integer threshold
_ALONE = 0.3  # of the moves of a neuron with several thresholds: one of them alone
_LOOKS = 0.3  # of the moves of integer weights: a look at all weights of the neuron
_HINTS = 0.5  # of the lines, where the loss after least squares is only a hint
_REMEMBERED = 2_000  # last layers
_HUGE = 1e6  # weights do not grow beyond this

_Proposal = tuple[float, Floats, Floats]  # the loss that a line promises, weights and thresholds there


class _Neuron(NamedTuple):
    """A neuron where a line begins: what it is, where the rows lie, and what they cost."""

    layer: int
    number: int
    weights: Floats
    free: NDArray[np.bool_]  # which of the weights may move
    values: Floats  # of the rows
    levels: NDArray[np.int64]  # of the rows
    thresholds: Floats  # between the levels: rows × L
    costs: Floats  # rows × levels
    follow: Callable[[Events], Line]  # the loss along a line


class GeneralClimber(Climber):
    """For any loss, activation, domain and constraint."""

    patience = 60
    is_bound = False

    def __init__(self, problem: Problem, rng: np.random.Generator, budget: Budget, start: Network | None) -> None:
        super().__init__(problem, rng, budget, start)
        self.room = Room(problem, rng)
        self.is_least_squares = self.real is not None and self.real.is_least_squares
        for k, (kind, domain) in enumerate(zip(self.kinds, self.domains, strict=True)):
            if domain.is_integer and not kind.is_compared:
                if not self._learns_integers(k):
                    self.given[k] = self.T[k]
                self.T[k] = np.ceil(self.T[k]) - 0.5  # the same, and no sum of integers meets it
        widths = self.architecture.widths if self.real is None else self.architecture.hidden
        self.neurons = [(k, j) for k, width in enumerate(widths) for j in range(width)]
        self.last_layers: dict[bytes, tuple[Floats, Floats]] = {}  # by the signals below: few rows meet them again
        self.signals = [self.rows] * (len(self.W) + 1)
        self.update(0)

    def update(self, k: int) -> None:
        self.signals[k:] = self._forward(k, self.signals[k])
        if self.real is not None:
            weights, intercepts = self._best_last_layer(self.signals[-2])
            self.W[-1], self.T[-1] = weights, -intercepts[:, None]
            self.signals[-1] = self.signals[-2] @ weights.T
        self.measure()

    def row_costs(self) -> Floats:
        return self._costs_of(self.signals[-1])

    def leave(self) -> None:
        if self.real is None:
            self.make_failing_rows_heavier()
            return
        k, j = self.neurons[self.rng.integers(len(self.neurons))]
        weights = random_scaled_network(self.problem, self.rows, self.rng).layers[k].weights[j]
        if self.room.allows(self.W, k, j, weights):
            self.W[k] = with_row(self.W[k], j, weights)
        if self.learns(k):
            # Through a row as this neuron sees it, which is not how the other network's does.
            values = self.signals[k] @ self.W[k][j]
            chosen = np.sort(values[self.rng.integers(len(values), size=self.T[k].shape[1])])
            self.T[k] = with_row(self.T[k], j, np.ceil(chosen) - 0.5 if self.domains[k].is_integer else chosen)
        self.update(k)

    def move(self) -> bool:
        k, j = self.neurons[self.rng.integers(len(self.neurons))]
        is_shared = self.domains[k].is_integer and not self.kinds[k].is_compared and self._shares_threshold(k)
        if is_shared and self.rng.random() < _SHARED:
            return self.change(k, self.W[k], self.T[k] + self.rng.choice([-2.0, -1.0, 1.0, 2.0]))
        thresholds, errors = self._levels_and_errors(k, j)
        costs = self.penalties[:, None] * errors
        levels = ((self.signals[k] @ self.W[k][j])[:, None] >= thresholds).sum(axis=1)
        now = float(at_levels(costs, levels).sum())
        follow: Callable[[Events], Line] = partial(by_table, costs=costs)
        if self.limits:
            wrong = at_levels(errors, levels) > 0
            # A look at all integer weights adds up row prices, which compare with nothing; the change is checked.
            now = np.inf if self.domains[k].is_integer else now + self.limits.total(wrong)
            follow = partial(self.limits.along, costs=costs, wrong=(errors > 0).astype(np.float64))
            costs = costs + self.limits.row_prices(wrong)[:, None] * (errors > 0)
        if self._asks_least_squares(k):
            now, follow = self.loss if self.is_least_squares else np.inf, self._least_squares(k, j).along
        weights, free = self.room.base(self.W, k, j)
        values = self.signals[k] @ weights
        levels = (values[:, None] >= thresholds).sum(axis=1)
        neuron = _Neuron(k, j, weights, free, values, levels, thresholds, costs, follow)
        proposal = self._integer_proposal(neuron) if self.domains[k].is_integer else self._real_proposal(neuron)
        if proposal is None or proposal[0] > now + self.flat or not self.room.allows(self.W, k, j, proposal[1]):
            return False
        return self.change(k, with_row(self.W[k], j, proposal[1]), with_row(self.T[k], j, proposal[2]))

    # What rows cost.

    def _forward(self, k: int, signals: Floats) -> list[Floats]:
        """Inputs of layer k and of those above it, and last the values of the output layer."""
        result = [signals]
        for W, T, kind in zip(self.W[k:-1], self.T[k:-1], self.kinds[k:-1], strict=True):
            levels = ((result[-1] @ W.T)[:, :, None] >= T).sum(axis=2)
            result.append(np.array(kind.values)[levels])
        return [*result, result[-1] @ self.W[-1].T]

    def _costs_of(self, values: Floats) -> Floats:
        """What each row costs, from the values of the output layer."""
        if self.answered is not None:
            return self.answered.answer_costs(self.kinds[-1].answers(values, self.T[-1]), self.y)
        assert self.real is not None
        return np.asarray(self.real.costs(values - self.T[-1][:, 0], self.y).sum(axis=1))

    def _levels_and_errors(self, k: int, j: int) -> tuple[Floats, Floats]:
        """The thresholds between the levels of a neuron (rows × L) and what each row costs at every level."""
        if k == len(self.W) - 1:
            assert self.answered is not None  # the others leave the last layer to a convex problem
            at, answers = self.kinds[k].switches(self.signals[-1], self.T[k], j)
            return at, np.asarray(self.answered.answer_costs(answers, self.y[:, None]))
        costs, signals = [], self.signals[k + 1].copy()
        for value in self.kinds[k].values:
            signals[:, j] = value
            costs.append(self._costs_of(self._forward(k + 1, signals)[-1]))
        return np.broadcast_to(self.T[k][j], (len(self.rows), len(costs) - 1)), np.column_stack(costs)

    def _best_last_layer(self, signals: Floats) -> tuple[Floats, Floats]:
        key = hashlib.blake2b(signals.tobytes(), digest_size=16).digest()
        if key not in self.last_layers:
            if len(self.last_layers) >= _REMEMBERED:
                self.last_layers.clear()
            self.last_layers[key] = best_last_layer(self.problem, signals, self.budget)
        return self.last_layers[key]

    def _asks_least_squares(self, k: int) -> bool:
        """Whether a line shows the loss after least squares; for other losses a hint that is asked now and then."""
        if self.real is None or k < len(self.W) - 2:
            return False
        return self.is_least_squares or self.rng.random() < _HINTS

    def _least_squares(self, k: int, j: int) -> LeastSquares:
        assert self.real is not None
        others, targets = np.delete(self.signals[k + 1], j, axis=1), self.real.targets(self.y)
        values, intercept = np.array(self.kinds[k].values), self.architecture.intercept
        return LeastSquares(others, targets, self.row_weights, values, ridge=self.real.ridge, intercept=intercept)

    # Where a neuron could move.

    def _real_proposal(self, neuron: _Neuron) -> _Proposal | None:
        """The best step along a direction, or of one threshold alone."""
        k, j, own = neuron.layer, neuron.number, self.T[neuron.layer][neuron.number]
        if len(own) > 1 and self.kinds[k].thresholds is None and self.rng.random() < _ALONE:
            number = int(self.rng.integers(len(own)))
            line = neuron.follow(threshold_events(neuron.values, neuron.levels, neuron.thresholds, number))
            found = best_interval(*line, self.rng, self.flat, *_between_neighbours(own, number))
            return found and (found[0], neuron.weights, own + found[1] * np.eye(1, len(own), number)[0])
        dw, dt = self._direction(neuron)
        dw = np.where(neuron.free & ~self.room.pinned(self.W, k, j), dw, 0.0)
        offsets, slopes = neuron.values[:, None] - neuron.thresholds, self.signals[k] @ dw - dt
        line = neuron.follow(events_along(offsets, slopes))
        found = best_interval(*line, self.rng, self.flat, *self.room.reach(self.W, k, j, dw))
        if found is None:
            return None
        weights, own = neuron.weights + found[1] * dw, own + found[1] * dt
        if max(np.abs(weights).max(), np.abs(own).max()) > _HUGE:
            return None
        return found[0], *self.rescaled(k, weights, own)

    def _direction(self, neuron: _Neuron) -> tuple[Floats, float]:
        """Towards a wrong row with the nearest right ones held in place, one coordinate, or at random."""
        n, kind, learns = len(neuron.weights), self.rng.random(), self.learns(neuron.layer)
        if kind < 0.5 and (edge := self._edge(neuron)) is not None:
            return edge
        if kind < 0.7:
            position = int(self.rng.integers(n + 1))
            if position < n or learns:
                return np.eye(1, n, position)[0], float(position == n)
        return self.random_direction(neuron.layer)

    def _edge(self, neuron: _Neuron) -> tuple[Floats, float] | None:
        """Towards a row that could cost less, along an edge of the neuron's cell; None if there is no such row."""
        costs, learns = neuron.costs, self.learns(neuron.layer)
        now, best = at_levels(costs, neuron.levels), costs.min(axis=1)
        wrong = np.flatnonzero(now > best)
        right = np.flatnonzero((now <= best) & (costs.max(axis=1) > best))
        if not len(wrong):
            return None
        row = wrong[self._which(now[wrong] - best[wrong])]
        vectors = np.column_stack([self.signals[neuron.layer], np.full(len(costs), -1.0 if learns else 0.0)])
        n_held = min(len(right), 1 + int(self.rng.integers(max(1, len(neuron.weights) - (not learns)))))
        towards: Floats = vectors[row]
        if n_held:
            distances = np.abs(neuron.values[right, None] - neuron.thresholds[right]).min(axis=1)
            held = right[np.argpartition(distances, n_held - 1)[:n_held]]
            basis = np.linalg.qr(vectors[held].T)[0]
            towards = towards - basis @ (basis.T @ towards)
        return towards[:-1], float(towards[-1])

    def _which(self, gains: Floats) -> int:
        """One of the rows that could cost less: any, or where costs are numbers one with much to gain."""
        if self.real is None:
            return int(self.rng.integers(len(gains)))
        return int(self.rng.choice(len(gains), p=gains / gains.sum()))

    # Integer weights.

    def _learns_integers(self, k: int) -> bool:
        """Whether thresholds of integer weights are learned, by each neuron or by the layer."""
        return self.kinds[k].thresholds is None and self.architecture.fixed_threshold is None

    def _shares_threshold(self, k: int) -> bool:
        return self.architecture.threshold == "layer" and len(self.W[k]) > 1

    def _integer_proposal(self, neuron: _Neuron) -> _Proposal | None:
        """One weight over its whole domain, or one threshold over all places; now and then all weights."""
        k, j, n = neuron.layer, neuron.number, len(neuron.weights)
        if self.rng.random() < _LOOKS and self.real is None and self._has_one_step(k):
            return self._look_around(neuron)
        position = int(self.rng.integers(n + self._learns_integers(k)))
        if position == n:
            return self._integer_threshold(neuron)
        if not neuron.free[position]:
            return None
        line = neuron.follow(events_along(neuron.values[:, None] - neuron.thresholds, self.signals[k][:, position]))
        places = self.domains[k].values - neuron.weights[position]
        reached, step = best_place(*line, places, self.rng, self.flat)
        return reached, neuron.weights + step * np.eye(1, n, position)[0], self.T[k][j]

    def _has_one_step(self, k: int) -> bool:
        return self.kinds[k].has_levels and self.kinds[k].n_thresholds == 1 and not self._shares_threshold(k)

    def _look_around(self, neuron: _Neuron) -> _Proposal | None:
        """The best change of one weight or exchange of two inputs, with the best threshold for it."""
        k, j, domain = neuron.layer, neuron.number, self.domains[neuron.layer]
        now, own = self.W[k][j], self.T[k][j]
        gains = neuron.costs[:, 0] - neuron.costs[:, 1]
        fixed = None if self._learns_integers(k) else float(own[0])
        prices = Prices(np.ascontiguousarray(self.signals[k].T), gains, fixed)
        most = np.count_nonzero(now) + self.problem.constraints.room(self.W, k)
        allowed = np.ones((len(now), len(domain.values)), dtype=bool)
        around = IntegerNeuron(prices, domain.values, allowed, most, self.rng, partial(self.room.allows, self.W, k, j))
        weights = around.best_neighbour(now)
        if weights is None:
            return None
        loss, threshold = prices.threshold(prices.sums(weights))
        places = own if fixed is not None else np.array([np.ceil(threshold) - 0.5])
        return float(neuron.costs.min(axis=1).sum()) + loss, weights, places

    def _integer_threshold(self, neuron: _Neuron) -> _Proposal | None:
        """One threshold of the neuron shifted by an integer, unless other neurons share it."""
        own = self.T[neuron.layer][neuron.number]
        if self._shares_threshold(neuron.layer):
            return None
        number = int(self.rng.integers(len(own)))
        steps, losses = neuron.follow(threshold_events(neuron.values, neuron.levels, neuron.thresholds, number))
        if not len(steps):
            return None
        low, high = _between_neighbours(own, number)
        places = np.unique(np.concatenate([np.floor(steps), np.ceil(steps), [0.0]]))
        places = places[(places >= low) & (places <= high)]
        reached, shift = best_place(steps, losses, places, self.rng, self.flat)
        return reached, neuron.weights, own + shift * np.eye(1, len(own), number)[0]


def _between_neighbours(own: Floats, number: int) -> tuple[float, float]:
    """How far one of a neuron's thresholds may move before it meets its neighbours."""
    low, high = np.concatenate([[-np.inf], own, [np.inf]])[[number, number + 2]] - own[number]
    return float(low), float(high)
