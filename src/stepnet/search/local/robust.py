"""Local search for uncertain rows: one neuron at a time, on a bound of the worst case.

Every first-layer neuron that may switch within a row's set acts against the network, as if it did so alone: what a
row then costs is at least its worst case. With everything else fixed that depends on whether the neuron is surely
off, may switch, or is surely on: a table of rows × 3, and lines as in :mod:`stepnet.search.local.robust_lines`. Layers
above move by trial. What is found is evaluated exactly, which can only be better.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepnet.constructions.random_network import random_scaled_network
from stepnet.errors import YES, Answer
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.local.climber import Climber, with_row
from stepnet.search.local.lines import at_levels, best_interval, by_table
from stepnet.search.local.robust_last_layer import robust_last_layer
from stepnet.search.local.robust_lines import sure_events, threshold_events_of
from stepnet.uncertainty.above import Above
from stepnet.uncertainty.norms.along import DualNorm
from stepnet.uncertainty.sets import Uncertainty

Integers = NDArray[np.int64]
_States = tuple[Floats, Integers, Integers]  # each rows × neurons

_WINDOW = 8.0  # of steps, for weights of size 1
_TRIALS = 4  # thresholds of a higher layer
_REFIT_EVERY = 50  # moves, where outputs are numbers
_ABOVE = 0.25  # of the moves
_THRESHOLD = 0.25  # of the moves of a first-layer neuron: its threshold alone
_HEAVIER = 0.7  # of the ways out of a local optimum; else a neuron begins anew


def accepts_robust_search(problem: Problem) -> Answer:
    """Hidden neurons of one threshold, without constraints."""
    if reason := problem.loss.refuses_architecture(problem.architecture):
        return Answer(reason)
    if problem.loss.weighs_answers:
        return Answer(f"loss={problem.loss.name!r} has no worst case. Use uncertainty=None, or loss='misclassified'.")
    if problem.constraints.restrict:
        return Answer("the search takes no constraints where rows are uncertain. Use method='exact'.")
    if problem.architecture.hidden and problem.architecture.activation.n_thresholds > 1:
        return Answer(
            f"the search takes hidden neurons of one threshold where rows are uncertain, not "
            f"{problem.architecture.activation.name}. Use activation='step', or method='exact'."
        )
    output = problem.architecture.output
    if not problem.architecture.hidden and not (output.has_levels and output.n_thresholds == 1):
        return Answer("several classes need a hidden layer where rows are uncertain. Use hidden=(1,) or more.")
    return YES


class RobustClimber(Climber):
    """With what each first-layer neuron surely does; its loss is a bound of the worst case."""

    patience = 100
    is_bound = True

    def __init__(self, problem: Problem, rng: np.random.Generator, budget: Budget, start: Network | None) -> None:
        super().__init__(problem, rng, budget, start)
        assert isinstance(problem.uncertainty, Uncertainty)
        self.set, self.radii, self.X = problem.uncertainty, problem.radii, problem.dataset.X.astype(np.float64)
        self.to_original = problem.scaling.restored_weights(np.eye(self.rows.shape[1])) * problem.scaling.grid
        self.norm = self.set.dual_norm(self.to_original)
        self.values, self.low, self.high = self._states(self.W[0], self.T[0][:, 0])
        self.n_moves = 0
        self.update(1)

    def update(self, k: int) -> None:
        """What lies above the first layer; that one keeps its states neuron by neuron."""
        self.above = Above(self.network())
        self.measure()

    # What rows cost.

    def row_costs(self) -> Floats:
        return self._costs_of(self.low, self.high, self.y)

    def _costs_of(self, low: Integers, high: Integers, y: Floats) -> Floats:
        """What rows cost at most if their first-layer neurons are in these states."""
        if self.real is None:
            return self.above.could_miss(low, high, y.astype(np.int64)).astype(np.float64)
        least, most = self.above.value_ranges(low, high)
        return np.asarray(np.maximum(self.real.costs(least, y), self.real.costs(most, y)).sum(axis=1))

    def _table(self, j: int) -> Floats:
        """What each row costs, by penalties, if the neuron is surely off, may switch, or is surely on."""
        m = len(self.rows)
        low, high = np.tile(self.low, (3, 1)), np.tile(self.high, (3, 1))
        low[:, j], high[:, j] = np.repeat([0, 0, 1], m), np.repeat([0, 1, 1], m)
        costs = self._costs_of(low, high, np.concatenate([self.y] * 3)).reshape(3, m)
        return np.asarray((self.penalties * costs).T)

    def _states(self, weights: Floats, thresholds: Floats) -> _States:
        """Of first-layer neurons: w·x - t, whether they are surely on, and whether they may be on."""
        values, (up, down) = self.rows @ weights.T - thresholds, self._reaches(weights)
        return values, (values >= down).astype(np.int64), (values >= -up).astype(np.int64)

    def _reaches(self, weights: Floats) -> tuple[Floats, Floats]:
        """How far perturbations raise and lower w·x (rows × neurons), in the units of scaled rows."""
        original = weights @ self.to_original
        return self.set.reach(original, self.X, self.radii), self.set.reach(-original, self.X, self.radii)

    # Moves.

    def leave(self) -> None:
        if self.real is None and self.rng.random() < _HEAVIER:
            self.make_failing_rows_heavier()
            return
        j = int(self.rng.integers(len(self.W[0])))
        other = random_scaled_network(self.problem, self.rows, self.rng).layers[0]
        w, own = other.weights[j], other.thresholds[j : j + 1] if self.learns(0) else self.T[0][j]
        self._set_neuron(j, w, own, self._states(w[None], own))

    def move(self) -> bool:
        self.n_moves += 1
        if self.real is not None and self.n_moves % _REFIT_EVERY == 0:
            return self._refit()
        if len(self.W) > 1 and self.rng.random() < _ABOVE:
            return self._move_above()
        return self._move_first(int(self.rng.integers(len(self.W[0]))))

    def _move_first(self, j: int) -> bool:
        """Along a line, where the set has lines; else by trial, with the best threshold for the weights tried."""
        table, w, t = self._table(j), self.W[0][j], float(self.T[0][j, 0])
        if self.domains[0].is_integer:
            w = w.copy()
            w[self.rng.integers(len(w))] = self.rng.choice(self.domains[0].values)
        elif not self.learns(0) or self.rng.random() >= _THRESHOLD:
            dw, dt = self._direction(j, table)
            if self.norm is not None:
                return self._move_along(j, dw, dt, table, self.norm)
            size = (float(np.abs(w).max()) or 1.0) / (float(np.abs(dw).max()) or 1.0)
            step = size * float(self.rng.normal()) * 10.0 ** -self.rng.integers(3)
            w, t = w + step * dw, t + step * dt
        return self._accept(j, w, self._best_threshold(w, t, table) if self.learns(0) else t, table)

    def _move_along(self, j: int, dw: Floats, dt: float, table: Floats, norm: DualNorm) -> bool:
        """To the best interval of a line."""
        w, t = self.W[0][j], float(self.T[0][j, 0])
        size, scale = (float(max(np.abs(a).max(), abs(b))) or 1.0 for a, b in ((w, t), (dw, dt)))
        dw, dt = dw * size / scale, dt * size / scale
        events = sure_events(self.values[:, j], self.rows @ dw - dt, self.radii, norm, w, dw, _WINDOW)
        found = best_interval(*by_table(events, table), self.rng, self.flat)
        return found is not None and self._accept(j, w + found[1] * dw, t + found[1] * dt, table)

    def _best_threshold(self, w: Floats, t: float, table: Floats) -> float:
        """Of a neuron with these weights; the one it has if none is better."""
        values, (up, down) = self.rows @ w - t, self._reaches(w[None])
        window = float(np.abs(values).max() + max(up.max(), down.max())) * 2 + 1e-9
        events = threshold_events_of(values, down[:, 0], up[:, 0], window)
        found = best_interval(*by_table(events, table), self.rng, self.flat)
        return t if found is None else t + found[1]

    def _direction(self, j: int, table: Floats) -> tuple[Floats, float]:
        """Towards or away from a row that costs too much, one coordinate, smaller weights, or at random."""
        n, kind, w = self.rows.shape[1], self.rng.random(), self.W[0][j]
        if kind < 0.45:
            wrong = np.flatnonzero(at_levels(table, self.low[:, j] + self.high[:, j]) > table.min(axis=1))
            if len(wrong):
                row: Floats = self.rows[self.rng.choice(wrong)]
                other: Floats = self.rows[self.rng.integers(len(self.rows))]
                if self.rng.random() < 0.5:
                    return row - other, 0.0
                return row, -1.0 if self.learns(0) else 0.0
        if kind < 0.75:
            return np.eye(1, n, int(self.rng.integers(n)))[0], 0.0
        if kind < 0.85 and w.any():
            c = self.rng.choice(np.flatnonzero(w))
            return -w[c] * np.eye(1, n, c)[0], 0.0  # shorter weights reach less far
        return self.random_direction(0)

    def _accept(self, j: int, w: Floats, t: float, table: Floats) -> bool:
        """Take a neuron if, looked at exactly as the costs are, it is no worse; whether it is better."""
        now = float(at_levels(table, self.low[:, j] + self.high[:, j]).sum())
        w, own = self.rescaled(0, w, np.array([t]))
        _, low, high = states = self._states(w[None], own)
        reached = float(at_levels(table, (low + high)[:, 0]).sum())
        if reached <= now + self.flat:
            self._set_neuron(j, w, own, states)
        return reached < now - self.flat

    def _set_neuron(self, j: int, w: Floats, own: Floats, states: _States) -> None:
        self.W[0], self.T[0] = with_row(self.W[0], j, w), with_row(self.T[0], j, own)
        self.values[:, j], self.low[:, j], self.high[:, j] = (state[:, 0] for state in states)
        self.measure()

    # Layers above the first.

    def _move_above(self) -> bool:
        """One weight or threshold of a higher layer, the best of some trials."""
        k = int(self.rng.integers(1, len(self.W)))
        j, W, T = int(self.rng.integers(len(self.W[k]))), self.W[k], self.T[k]
        weights = W if self.learns(k) and self.rng.random() >= 0.6 else with_row(W, j, self._tried_weights(k, j))
        self.W[k], tried, losses = weights, [T], []
        if self.learns(k):
            tried += [with_row(T, j, own) for own in self._tried_thresholds(k, j)]
        for thresholds in tried:
            self.T[k] = thresholds
            self.update(k)
            losses.append(self.penalised)
        self.W[k], self.T[k] = W, T
        self.update(k)
        return self.change(k, weights, tried[int(np.argmin(losses))])

    def _tried_weights(self, k: int, j: int) -> Floats:
        weights, domain, bound = self.W[k][j].copy(), self.domains[k], self.problem.loss.bound
        c = int(self.rng.integers(len(weights)))
        if domain.is_integer:
            weights[c] = self.rng.choice(domain.values)
        elif self.rng.random() < 0.3:
            weights[c] = 0.0
        else:
            weights[c] += self.rng.normal() * (float(np.abs(weights).max()) or 1.0)
        return weights if bound is None or k < len(self.W) - 1 else np.asarray(np.clip(weights, -bound, bound))

    def _tried_thresholds(self, k: int, j: int) -> list[Floats]:
        """With one threshold between two of the places where rows surely cross it; of other outputs, a shift."""
        own = self.T[k][j]
        if not self.kinds[k].has_levels:
            return [own + self.rng.normal() * 10.0 ** -self.rng.integers(3)]
        bottom, top = Above(self.network()).sums(k - 1, self.low, self.high)
        ends = np.unique(np.concatenate([bottom[:, j], top[:, j]]))
        places = np.concatenate([[ends[0] - 1.0], (ends[1:] + ends[:-1]) / 2, [ends[-1] + 1.0]])
        number = int(self.rng.integers(len(own)))
        chosen = self.rng.choice(places, min(_TRIALS, len(places)), replace=False)
        return [np.sort(np.append(np.delete(own, number), place)) for place in chosen]

    def _refit(self) -> bool:
        """The last layer of numbers, by descent; kept if the loss falls."""
        values = np.array(self.kinds[0].values)
        if len(self.W) != 2 or (np.diff(values) < 0).any():
            return False
        ends, last = (values[self.low], values[self.high]), (self.W[-1], self.T[-1][:, 0])
        weights, thresholds = robust_last_layer(self.problem, *ends, *last)
        return self.change(1, weights, thresholds[:, None])
