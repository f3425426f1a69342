"""Local search for any problem: one neuron at a time, by an exact line search over its levels.

With everything else fixed, what a row costs depends on the level of the neuron alone: a table of
rows × levels. Along a direction the row passes from level to level at known steps, so the loss is
piecewise constant: sort the steps, add the differences up, take the best interval, or for integer
weights the best of the steps that stay in the domain. For outputs that are compared (argmax) the
neuron has two levels a row: behind the best of the others, and before it.

Losses that read the outputs' values leave the last layer to a convex problem, solved after each gain.
For squared errors and the layer below it, the line search even sees the loss after that.

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
from stepnet.model.network import Layer, Network
from stepnet.problem.constraint import Row
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.local.lines import (
    FLAT,
    Events,
    LeastSquares,
    Line,
    best_interval,
    best_place,
    by_table,
    events_along,
    threshold_events,
)

_PATIENCE = 60  # moves without gain before something else is tried
_SHARED = 0.1  # of the moves, where a layer shares a threshold
_REMEMBERED = 2_000  # last layers
_BETWEEN_LOOKS = 20  # moves


def search_anything_once(
    problem: Problem,
    seed: list[int],
    budget: Budget,
    target: float,
    patience: int,
    offer: Callable[[Network], float] | None = None,
) -> Network | None:
    """The best network from one random start; ``patience`` moves in vain end the search."""
    rng = np.random.default_rng(seed)
    rows = problem.scaling.apply(problem.dataset.X)
    climber = _Climber(problem, rows, random_scaled_network(problem, rows, rng), rng, budget)
    evaluate = offer or problem.price
    best, best_network, running, in_vain, stalled = np.inf, None, np.inf, 0, 0
    while in_vain < patience and not (in_vain % _BETWEEN_LOOKS == 0 and budget.stop_reason):
        gained = climber.move()
        in_vain, stalled = in_vain + 1, 0 if gained else stalled + 1
        if climber.loss < running - climber.flat:
            network = problem.restore(climber.network())
            loss = evaluate(network)
            if loss < np.inf:  # what constraints on answers do not admit is no gain
                running, in_vain = climber.loss, 0
            if loss < best:
                best, best_network = loss, network
            if best <= target + climber.flat:
                break
        if stalled > _PATIENCE:
            stalled = 0
            climber.leave()
    return best_network


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


class _Before(NamedTuple):
    """What a move of one layer changes."""

    weights: Floats
    thresholds: Floats
    above: list[Floats]  # the signals
    last_weights: Floats
    last_thresholds: Floats
    loss: float


_Proposal = tuple[float, Floats, Floats]  # the loss, weights and thresholds after a move


class _Climber:
    """A network on its scaled rows, improved neuron by neuron."""

    def __init__(
        self, problem: Problem, rows: Floats, network: Network, rng: np.random.Generator, budget: Budget | None = None
    ) -> None:
        self.problem, self.rows, self.rng, self.budget = problem, rows, rng, budget or Budget()
        self.architecture, self.y = problem.architecture, problem.dataset.y
        self.real, self.answered = problem.loss.of_values, problem.loss.of_answers
        self.is_least_squares = self.real is not None and self.real.is_least_squares
        self.row_weights = problem.dataset.weights
        self.penalties = self.row_weights.copy()
        self.kinds, self.domains = self.architecture.activations, self.architecture.domains
        self.flat = FLAT * problem.accuracy.scale if self.real else FLAT
        self.W = [layer.weights.copy() for layer in network.layers]
        self.T = [layer.thresholds.reshape(layer.width, -1).copy() for layer in network.layers]
        self.given = [T.copy() for T in self.T]
        for k, (kind, domain) in enumerate(zip(self.kinds, self.domains, strict=True)):
            if domain.is_integer and not kind.is_compared:
                self.T[k] = np.ceil(self.T[k]) - 0.5  # the same, and no sum of integers meets it
        widths = self.architecture.widths if self.real is None else self.architecture.hidden
        self.constraints = problem.constraints
        self.user_rows: dict[tuple[int, int], list[Row]] = {}
        for row in problem.scaled_rows():
            for neuron in {(k, j) for (k, j, _), _ in row.terms}:
                self.user_rows.setdefault(neuron, []).append(row)
        self.neurons = [(k, j) for k, width in enumerate(widths) for j in range(width)]
        self.last_layers: dict[bytes, tuple[Floats, Floats]] = {}  # by the signals below: few rows meet them again
        self.signals = self._forward(0, rows)
        self.refit()

    def network(self) -> Network:
        layers = []
        for k, (W, kind) in enumerate(zip(self.W, self.kinds, strict=True)):
            is_fixed = kind.thresholds is not None or self.architecture.fixed_threshold is not None
            is_last_of_real = self.real is not None and k == len(self.W) - 1
            T = self.given[k] if is_fixed and not is_last_of_real else self.T[k]
            layers.append(Layer(W, T[:, 0] if kind.n_thresholds == 1 else T, kind))
        return Network(tuple(layers))

    def refit(self) -> None:
        """The best last layer, where the loss reads its values; and the loss."""
        if self.real is not None:
            key = hashlib.blake2b(self.signals[-2].tobytes(), digest_size=16).digest()
            if key not in self.last_layers:
                if len(self.last_layers) >= _REMEMBERED:
                    self.last_layers.clear()
                self.last_layers[key] = best_last_layer(self.problem, self.signals[-2], self.budget)
            weights, intercepts = self.last_layers[key]
            self.W[-1], self.T[-1] = weights.copy(), -intercepts[:, None]
            self.signals[-1] = self.signals[-2] @ self.W[-1].T
        self.loss = float(self._row_costs(self.signals[-1], self.row_weights).sum())
        if self.real is not None:
            self.loss += self.real.penalty(self.W[-1])

    def leave(self) -> None:
        """Away from a local optimum: wrong rows get heavier and the others recover, or a neuron begins anew."""
        if self.real is None:
            wrong = self._row_costs(self.signals[-1], self.row_weights) > 0
            self.penalties = np.where(
                wrong, self.penalties + self.row_weights, np.maximum(self.row_weights, 0.95 * self.penalties)
            )
            return
        k, j = self.neurons[self.rng.integers(len(self.neurons))]
        weights = random_scaled_network(self.problem, self.rows, self.rng).layers[k].weights[j]
        if self._is_allowed(k, j, weights):
            self.W[k][j] = weights
        if self.architecture.threshold == "neuron" and self.kinds[k].thresholds is None:
            # Through a row as this neuron sees it, which is not how the other network's does.
            values = self.signals[k] @ self.W[k][j]
            chosen = np.sort(values[self.rng.integers(len(values), size=self.T[k].shape[1])])
            self.T[k][j] = np.ceil(chosen) - 0.5 if self.domains[k].is_integer else chosen
        self.signals[k + 1 :] = self._forward(k, self.signals[k])[1:]
        self.refit()

    def move(self) -> bool:
        """Try one direction of one neuron; whether the penalised loss fell."""
        k, j = self.neurons[self.rng.integers(len(self.neurons))]
        if self._shares_integer_threshold(k) and self.rng.random() < _SHARED:
            return self._move_shared_threshold(k)
        thresholds, costs = self._levels_and_costs(k, j)
        levels = ((self.signals[k] @ self.W[k][j])[:, None] >= thresholds).sum(axis=1)
        now = float(costs[np.arange(len(levels)), levels].sum())
        follow: Callable[[Events], Line] = partial(by_table, costs=costs)
        if self._asks_least_squares(k):
            now, follow = self.loss if self.is_least_squares else np.inf, self._least_squares(k, j).along
        weights, free = self._base(k, j)
        values = self.signals[k] @ weights
        levels = (values[:, None] >= thresholds).sum(axis=1)
        neuron = _Neuron(k, j, weights, free, values, levels, thresholds, costs, follow)
        proposal = self._integer_proposal(neuron) if self.domains[k].is_integer else self._real_proposal(neuron)
        if proposal is None or proposal[0] > now + self.flat or not self._is_allowed(k, j, proposal[1]):
            return False
        reached, weights, own = proposal
        before = self._state(k) if self.real is not None else None
        self.W[k][j], self.T[k][j] = weights, own
        self.signals[k + 1 :] = self._forward(k, self.signals[k])[1:]
        self.refit()
        if before is None:
            return reached < now - self.flat
        if self.loss > before.loss + self.flat:
            self._return_to(before, k)
            return False
        return self.loss < before.loss - self.flat

    def _state(self, k: int) -> _Before:
        return _Before(self.W[k].copy(), self.T[k].copy(), self.signals[k + 1 :], self.W[-1], self.T[-1], self.loss)

    def _return_to(self, state: _Before, k: int) -> None:
        """Undo what happened to layer k since, and above it."""
        self.W[-1], self.T[-1] = state.last_weights, state.last_thresholds
        self.W[k], self.T[k] = state.weights, state.thresholds
        self.signals[k + 1 :], self.loss = state.above, state.loss

    def _shares_integer_threshold(self, k: int) -> bool:
        """Whether the neurons of a layer have one threshold that weights cannot take up."""
        is_shared = self.architecture.threshold == "layer" and len(self.W[k]) > 1
        return is_shared and self.domains[k].is_integer and not self.kinds[k].is_compared

    def _move_shared_threshold(self, k: int) -> bool:
        """Shift the threshold of a whole layer by a small integer."""
        before, penalised = self._state(k), float(self._row_costs(self.signals[-1], self.penalties).sum())
        self.T[k] = self.T[k] + self.rng.choice([-2.0, -1.0, 1.0, 2.0])
        self.signals[k + 1 :] = self._forward(k, self.signals[k])[1:]
        self.refit()
        reached = float(self._row_costs(self.signals[-1], self.penalties).sum())
        if reached > penalised + self.flat:
            self._return_to(before, k)
            return False
        return reached < penalised - self.flat

    def _asks_least_squares(self, k: int) -> bool:
        """Whether a line shows the loss after least squares; for other losses a hint that is asked now and then."""
        if self.real is None or k < len(self.W) - 2:
            return False
        return self.is_least_squares or self.rng.random() < 0.5

    def _base(self, k: int, j: int) -> tuple[Floats, NDArray[np.bool_]]:
        """The weights where a line begins, and which of them may move along it.

        Where few weights may be non-zero, one of them now and then gives way to another.
        """
        weights = self.W[k][j]
        room = self.constraints.room(self.W, k)
        if np.isinf(room):
            return weights, np.ones(len(weights), dtype=bool)
        weights, support = weights.copy(), np.flatnonzero(weights)
        if len(support) and self.rng.random() < 0.3 and self.domains[k].contains(np.zeros(1)):
            weights[self.rng.choice(support)] = 0.0
            room += 1
        free = weights != 0
        idle = self.rng.permutation(np.flatnonzero(~free))
        free[idle[: self.rng.integers(int(min(room, len(idle))) + 1)]] = True
        return weights, free

    def _is_allowed(self, k: int, j: int, weights: Floats) -> bool:
        """Whether the constraints admit these weights of a neuron."""
        if not self.constraints.restrict_weights:
            return True
        before = self.W[k][j].copy()
        self.W[k][j] = weights
        is_allowed = self.constraints.room(self.W, k) >= 0
        is_allowed &= all(row.holds(self.W) for row in self.user_rows.get((k, j), ()))
        self.W[k][j] = before
        return is_allowed

    def _reach(self, k: int, j: int, direction: Floats) -> tuple[float, float]:
        """How far the weights of a neuron may go either way along a direction before a constraint ends it."""
        low, high = -np.inf, np.inf
        for row in self.user_rows.get((k, j), ()):
            slope = sum(c * direction[i] for (q, p, i), c in row.terms if (q, p) == (k, j))
            if abs(slope) > FLAT:
                ends = sorted((side - row.value(self.W)) / slope for side in (row.lower, row.upper))
                low, high = max(low, ends[0]), min(high, ends[1])
        return min(low, 0.0), max(high, 0.0)

    def _forward(self, k: int, signals: Floats) -> list[Floats]:
        """Inputs of layer k and of those above it, and last the values of the output layer."""
        result = [signals]
        for q in range(k, len(self.W)):
            values = signals @ self.W[q].T
            if q < len(self.W) - 1:
                levels = (values[:, :, None] >= self.T[q]).sum(axis=2)
                signals = np.array(self.kinds[q].values)[levels]
                result.append(signals)
            else:
                result.append(values)
        return result

    def _row_costs(self, values: Floats, row_weights: Floats) -> Floats:
        """What each row costs, from the values of the output layer."""
        if self.answered is not None:
            return row_weights * self.answered.answer_costs(self.kinds[-1].answers(values, self.T[-1]), self.y)
        assert self.real is not None
        return np.asarray(row_weights * self.real.costs(values - self.T[-1][:, 0], self.y).sum(axis=1))

    def _levels_and_costs(self, k: int, j: int) -> tuple[Floats, Floats]:
        """The thresholds between the levels of a neuron (rows × L) and each row's cost at every level."""
        m = len(self.rows)
        if k == len(self.W) - 1:
            assert self.answered is not None  # the others leave the last layer to a convex problem
            at, answers = self.kinds[k].switches(self.signals[-1], self.T[k], j)
            return at, self.penalties[:, None] * self.answered.answer_costs(answers, self.y[:, None])
        n_levels = self.T[k].shape[1] + 1
        costs = np.empty((m, n_levels))
        signals = self.signals[k + 1].copy()
        for level in range(n_levels):
            signals[:, j] = self.kinds[k].values[level]
            costs[:, level] = self._row_costs(self._forward(k + 1, signals)[-1], self.penalties)
        return np.broadcast_to(self.T[k][j], (m, n_levels - 1)), costs

    def _least_squares(self, k: int, j: int) -> LeastSquares:
        others = np.delete(self.signals[k + 1], j, axis=1)
        assert self.real is not None
        targets, ridge = self.real.targets(self.y), self.real.ridge
        values, intercept = np.array(self.kinds[k].values), self.architecture.intercept
        return LeastSquares(others, targets, self.row_weights, values, ridge=ridge, intercept=intercept)

    def _real_proposal(self, neuron: _Neuron) -> _Proposal | None:
        """The best step along a direction."""
        k, j, values, thresholds = neuron.layer, neuron.number, neuron.values, neuron.thresholds
        number = self._threshold_to_move(k)
        if number is not None:
            line = neuron.follow(threshold_events(values, neuron.levels, thresholds, number))
            found = best_interval(*line, self.rng, self.flat, *self._room(k, j, number))
            if found is None:
                return None
            own = self.T[k][j].copy()
            own[number] += found[1]
            return found[0], neuron.weights, own
        dw, dt = self._direction(neuron)
        dw = np.where(neuron.free & ~self._pinned(k, j), dw, 0.0)
        line = neuron.follow(events_along(values[:, None] - thresholds, self.signals[k] @ dw - dt))
        found = best_interval(*line, self.rng, self.flat, *self._reach(k, j, dw))
        if found is None:
            return None
        weights, own = neuron.weights + found[1] * dw, self.T[k][j] + found[1] * dt
        size = max(np.abs(weights).max(), np.abs(own).max())
        if size > 1e6:
            return None
        is_free = self.architecture.threshold == "neuron" and self.kinds[k].thresholds is None
        if is_free and self.kinds[k].has_levels and (size > 4 or 0 < size < 0.25):
            weights, own = weights / size, own / size
        return found[0], weights, own

    def _pinned(self, k: int, j: int) -> NDArray[np.bool_]:
        """Some of the weights that lie at a bound of the user, so that a line need not end at once."""
        pinned = np.zeros(self.W[k].shape[1], dtype=bool)
        for row in self.user_rows.get((k, j), ()):
            if len(row.terms) == 1 and self.W[k][j, row.terms[0][0][2]] == 0:
                pinned[row.terms[0][0][2]] = self.rng.random() < 0.7
        return pinned

    def _threshold_to_move(self, k: int) -> int | None:
        """Now and then one threshold alone, where a neuron has several and learns them."""
        n_thresholds = self.T[k].shape[1]
        if n_thresholds > 1 and self.kinds[k].thresholds is None and self.rng.random() < 0.3:
            return int(self.rng.integers(n_thresholds))
        return None

    def _room(self, k: int, j: int, number: int) -> tuple[float, float]:
        """How far a threshold may move before it meets its neighbours."""
        own = self.T[k][j]
        low = own[number - 1] - own[number] if number else -np.inf
        high = own[number + 1] - own[number] if number + 1 < len(own) else np.inf
        return float(low), float(high)

    def _direction(self, neuron: _Neuron) -> tuple[Floats, float]:
        """Towards a wrong row with the nearest right ones held in place, one coordinate, or at random."""
        k, values, costs = neuron.layer, neuron.values, neuron.costs
        n = self.signals[k].shape[1]
        learns = self.architecture.threshold == "neuron" and self.kinds[k].thresholds is None
        kind, every = self.rng.random(), np.arange(len(values))
        if kind < 0.5:
            now, best = costs[every, neuron.levels], costs.min(axis=1)
            wrong = np.flatnonzero(now > best)
            right = np.flatnonzero((now <= best) & (costs.max(axis=1) > best))
            if len(wrong):
                row = wrong[self._which(now[wrong] - best[wrong])]
                distance = np.abs(values[right, None] - neuron.thresholds[right]).min(axis=1)
                n_held = min(len(right), 1 + int(self.rng.integers(max(1, n if learns else n - 1))))
                held = right[np.argpartition(distance, n_held - 1)[:n_held]] if n_held else right[:0]
                vectors = np.column_stack([self.signals[k], np.full(len(values), -1.0 if learns else 0.0)])
                towards: Floats = vectors[row]
                if len(held):
                    basis = np.linalg.qr(vectors[held].T)[0]
                    towards = towards - basis @ (basis.T @ towards)
                return towards[:-1], float(towards[-1])
        if kind < 0.7:
            dw, position = np.zeros(n), int(self.rng.integers(n + 1))
            if position < n:
                dw[position] = 1.0
                return dw, 0.0
            if learns:
                return dw, 1.0
        return self.rng.normal(size=(1, n))[0], float(self.rng.normal()) if learns else 0.0

    def _which(self, gains: Floats) -> int:
        """One of the rows that could cost less: any, or where costs are numbers one with much to gain."""
        if self.real is None:
            return int(self.rng.integers(len(gains)))
        return int(self.rng.choice(len(gains), p=gains / gains.sum()))

    def _integer_proposal(self, neuron: _Neuron) -> _Proposal | None:
        """One weight over its whole domain, or one threshold over all places."""
        k, j, n = neuron.layer, neuron.number, len(neuron.weights)
        learns = self.kinds[k].thresholds is None and self.architecture.fixed_threshold is None
        position = int(self.rng.integers(n + 1 if learns else n))
        if position == n:
            return self._integer_threshold(neuron)
        if not neuron.free[position]:
            return None
        line = neuron.follow(events_along(neuron.values[:, None] - neuron.thresholds, self.signals[k][:, position]))
        places = self.domains[k].values - neuron.weights[position]
        reached, step = best_place(*line, places, self.rng, self.flat)
        weights = neuron.weights.copy()
        weights[position] += step
        return reached, weights, self.T[k][j]

    def _integer_threshold(self, neuron: _Neuron) -> _Proposal | None:
        """One threshold of the neuron shifted by an integer, unless other neurons share it."""
        k, j = neuron.layer, neuron.number
        if self.architecture.threshold == "layer" and len(self.W[k]) > 1:
            return None
        number = int(self.rng.integers(self.T[k].shape[1]))
        low, high = self._room(k, j, number)
        steps, losses = neuron.follow(threshold_events(neuron.values, neuron.levels, neuron.thresholds, number))
        if not len(steps):
            return None
        places = np.unique(np.concatenate([np.floor(steps), np.ceil(steps), [0.0]]))
        places = places[(places >= low) & (places <= high)]
        reached, shift = best_place(steps, losses, places, self.rng, self.flat)
        own = self.T[k][j].copy()
        own[number] += shift
        return reached, neuron.weights, own
