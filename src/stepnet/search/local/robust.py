"""Local search for uncertain rows: one neuron at a time, on a bound of the worst case.

Every first-layer neuron that may switch within a row's set acts against the network, as if it did so alone: what a
row then costs is at least its worst case. With everything else fixed that depends on whether the neuron is surely
off, may switch, or is surely on: a table of rows × 3, and lines as in :mod:`stepnet.search.local.robust_lines`. Layers
above move by trial. What is found is evaluated exactly, which can only be better.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize as scipy_minimise

from stepnet.constructions.random_network import random_scaled_network
from stepnet.errors import YES, Answer
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.losses.base import RealLoss
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.local.lines import FLAT, best_interval, by_table
from stepnet.search.local.robust_lines import sure_events, threshold_events_of
from stepnet.uncertainty.above import Above
from stepnet.uncertainty.sets import Uncertainty

Integers = NDArray[np.int64]

_PATIENCE = 100  # moves without gain before rows that fail get heavier
_BETWEEN_LOOKS = 10  # moves
_FIRST_LOOK = 0.5  # seconds; what begins at random is not worth to be evaluated
_LOOKS = 3.0  # exact evaluations take at most a quarter of the time
_WINDOW = 8.0  # of steps, for weights of size 1
_TRIALS = 4  # thresholds of a higher layer
_REFIT_EVERY = 50  # moves, where outputs are numbers


def accepts_robust_search(problem: Problem) -> Answer:
    """Hidden neurons of one threshold, without constraints."""
    if reason := problem.loss.refuses_architecture(problem.architecture):
        return Answer(reason)
    if problem.constraints.restrict:
        return Answer("the search takes no constraints where rows are uncertain. Use method='exact'.")
    if problem.architecture.hidden and problem.architecture.activation.n_thresholds > 1:
        return Answer(
            f"the search takes hidden neurons of one threshold where rows are uncertain, not "
            f"{problem.architecture.activation.name}. Use activation='step', or method='exact'."
        )
    if not problem.architecture.hidden and problem.architecture.output.n_thresholds != 1:
        return Answer("several classes need a hidden layer where rows are uncertain. Use hidden=(1,) or more.")
    return YES


def search_robust_once(
    problem: Problem,
    seed: list[int],
    budget: Budget,
    target: float,
    patience: int,
    offer: Callable[[Network], float] | None = None,
    start: Network | None = None,
) -> Network | None:
    """The best network from one start, random unless given; ``patience`` moves in vain end the search."""
    rng = np.random.default_rng(seed)
    rows = problem.scaling.apply(problem.dataset.X)
    begin = random_scaled_network(problem, rows, rng) if start is None else problem.scale(start)
    climber = _Climber(problem, rows, begin, rng)
    evaluate = offer or problem.evaluate
    best, best_network, running, in_vain, stalled = np.inf, None, np.inf, 0, 0
    kept, next_look = np.inf, budget.elapsed + _FIRST_LOOK
    while in_vain < patience and not (in_vain % _BETWEEN_LOOKS == 0 and budget.stop_reason):
        gained = climber.move()
        in_vain, stalled = in_vain + 1, 0 if gained else stalled + 1
        if climber.loss < running - climber.flat:
            running, in_vain, best_network = climber.loss, 0, problem.restore(climber.network())
        if running < kept and (running <= target + climber.flat or budget.elapsed >= next_look):
            before, kept = budget.elapsed, running
            assert best_network is not None
            best = min(best, evaluate(best_network))
            next_look = budget.elapsed + _LOOKS * (budget.elapsed - before)
            if best <= target + climber.flat:
                break
        if stalled > _PATIENCE:
            stalled = 0
            climber.leave()
    return best_network


class _Climber:
    """A network on its scaled rows, with what each first-layer neuron surely does."""

    def __init__(self, problem: Problem, rows: Floats, network: Network, rng: np.random.Generator) -> None:
        self.problem, self.rows, self.rng = problem, rows, rng
        self.architecture, self.y = problem.architecture, problem.dataset.y
        self.real = problem.loss.of_values
        self.row_weights, self.penalties = problem.dataset.weights, problem.dataset.weights.copy()
        self.flat = FLAT * problem.accuracy.scale
        assert isinstance(problem.uncertainty, Uncertainty)
        self.set, self.radii = problem.uncertainty, problem.radii
        self.X = problem.dataset.X.astype(np.float64)
        scaling = problem.scaling
        self.to_original = scaling.restored_weights(np.eye(rows.shape[1])) * scaling.grid
        self.norm = self.set.dual_norm(self.to_original)
        self.layers = list(network.layers)
        self.values = self.rows @ self.layers[0].weights.T - self.layers[0].thresholds
        self.low, self.high = self._states(self.layers[0].weights, self.values)
        self.n_moves = 0
        self._read_above()

    def network(self) -> Network:
        return Network(tuple(self.layers))

    # What rows cost.

    def _read_above(self) -> None:
        self.above = Above(self.network())
        self.loss = float(self.row_weights @ self._costs(self.low, self.high)) + self._penalty()

    def _penalty(self) -> float:
        return 0.0 if self.real is None else self.real.penalty(self.layers[-1].weights)

    def _costs(self, low: Integers, high: Integers, rows: Integers | None = None) -> Floats:
        """At most, without weights."""
        y = self.y if rows is None else self.y[rows]
        if self.real is None:
            return self.above.could_miss(low, high, y.astype(np.int64)).astype(np.float64)
        least, most = self.above.value_ranges(low, high)
        return np.asarray(np.maximum(self.real.costs(least, y), self.real.costs(most, y)).sum(axis=1))

    def _states(self, weights: Floats, values: Floats) -> tuple[Integers, Integers]:
        """Whether neurons are surely on, and whether they may be on."""
        up, down = self._reaches(weights)
        return (values >= down).astype(np.int64), (values >= -up).astype(np.int64)

    def _reaches(self, weights: Floats) -> tuple[Floats, Floats]:
        """How far rows can be moved up and down (rows × neurons), in the units of scaled rows."""
        original = weights @ self.to_original
        return self.set.reach(original, self.X, self.radii), self.set.reach(-original, self.X, self.radii)

    # Moves.

    def leave(self) -> None:
        """Away from a local optimum: rows that fail get heavier and the others recover, or a neuron begins anew."""
        if self.real is None and self.rng.random() < 0.7:
            failing = self._costs(self.low, self.high) > 0
            self.penalties = np.where(
                failing, self.penalties + self.row_weights, np.maximum(self.row_weights, 0.95 * self.penalties)
            )
            return
        j = int(self.rng.integers(self.layers[0].width))
        other = random_scaled_network(self.problem, self.rows, self.rng).layers[0]
        is_own = self.architecture.threshold == "neuron"  # others share theirs, or it is given
        w, t = other.weights[j], float((other if is_own else self.layers[0]).thresholds[j])
        values = self.rows @ w - t
        low, high = self._states(w[None], values[:, None])
        self._set_neuron(j, w, t, values, low[:, 0], high[:, 0])

    def move(self) -> bool:
        """Try one change; whether the penalised loss fell."""
        self.n_moves += 1
        if self.real is not None and self.n_moves % _REFIT_EVERY == 0:
            return self._refit()
        if len(self.layers) > 1 and self.rng.random() < 0.25:
            return self._move_above()
        return self._move_first(int(self.rng.integers(self.layers[0].width)))

    def _move_first(self, j: int) -> bool:
        table = self._table(j)
        every = np.arange(len(self.rows))
        now = float(table[every, self.low[:, j] + self.high[:, j]].sum())
        first = self.layers[0]
        w, t = first.weights[j], float(first.thresholds[j])
        learns = self.architecture.threshold == "neuron" and first.activation.thresholds is None
        if self.architecture.domains[0].is_integer:
            return self._move_integer(j, table, now, learns=learns)
        size = float(max(np.abs(w).max(), abs(t))) or 1.0
        values = self.values[:, j]
        if learns and self.rng.random() < 0.25:
            return self._accept(j, w, self._best_threshold(w, t, table), table, now)
        if self.norm is None:
            return self._try_weights(j, table, now, learns=learns)
        dw, dt = self._direction(j, table, learns=learns)
        scale = float(max(np.abs(dw).max(), abs(dt))) or 1.0
        dw, dt = dw * size / scale, dt * size / scale
        events = sure_events(values, self.rows @ dw - dt, self.radii, self.norm, w, dw, _WINDOW)
        found = best_interval(*by_table(events, table), self.rng, self.flat)
        if found is None or found[0] > now + self.flat:
            return False
        return self._accept(j, w + found[1] * dw, t + found[1] * dt, table, now)

    def _best_threshold(self, w: Floats, t: float, table: Floats) -> float:
        """Of a neuron with these weights; the one it has if none is better."""
        values, (up, down) = self.rows @ w - t, self._reaches(w[None])
        window = float(np.abs(values).max() + max(up.max(), down.max())) * 2 + 1e-9
        events = threshold_events_of(values, down[:, 0], up[:, 0], window)
        found = best_interval(*by_table(events, table), self.rng, self.flat)
        return t if found is None else t + found[1]

    def _accept(self, j: int, w: Floats, t: float, table: Floats, now: float) -> bool:
        """Take a neuron if, looked at exactly as the costs are, it is no worse; whether it is better."""
        if self.architecture.threshold == "neuron" and not self.architecture.domains[0].is_integer:
            size = float(max(np.abs(w).max(), abs(t)))
            if size > 4 or 0 < size < 0.25:
                w, t = w / size, t / size
        values = self.rows @ w - t
        low, high = self._states(w[None], values[:, None])
        reached = float(table[np.arange(len(values)), low[:, 0] + high[:, 0]].sum())
        if reached > now + self.flat:
            return False
        self._set_neuron(j, w, t, values, low[:, 0], high[:, 0])
        return reached < now - self.flat

    def _set_neuron(self, j: int, w: Floats, t: float, values: Floats, low: Integers, high: Integers) -> None:
        first = self.layers[0]
        weights, thresholds = first.weights.copy(), first.thresholds.copy()
        weights[j], thresholds[j] = w, t
        self.layers[0] = first.with_(weights, thresholds)
        self.values[:, j], self.low[:, j], self.high[:, j] = values, low, high
        self.loss = float(self.row_weights @ self._costs(self.low, self.high)) + self._penalty()

    def _table(self, j: int) -> Floats:
        """What each row costs, by penalties, if the neuron is surely off, may switch, or is surely on."""
        m = len(self.rows)
        low, high = np.tile(self.low, (3, 1)), np.tile(self.high, (3, 1))
        for state, (a, b) in enumerate(((0, 0), (0, 1), (1, 1))):
            low[state * m : (state + 1) * m, j], high[state * m : (state + 1) * m, j] = a, b
        costs = self._costs(low, high, np.tile(np.arange(m), 3)).reshape(3, m)
        return np.asarray((self.penalties * costs).T)

    def _direction(self, j: int, table: Floats, *, learns: bool) -> tuple[Floats, float]:
        """Towards or away from a row that costs too much, one coordinate, smaller weights, or at random."""
        n, kind = self.rows.shape[1], self.rng.random()
        every = np.arange(len(table))
        if kind < 0.45:
            wrong = np.flatnonzero(table[every, self.low[:, j] + self.high[:, j]] > table.min(axis=1))
            if len(wrong):
                row: Floats = self.rows[self.rng.choice(wrong)]
                other = self.rows[self.rng.integers(len(self.rows))]
                if self.rng.random() < 0.5:
                    between: Floats = row - other
                    return between, 0.0
                return row, (-1.0 if learns else 0.0)
        if kind < 0.75:
            dw = np.zeros(n)
            dw[self.rng.integers(n)] = 1.0
            return dw, 0.0
        if kind < 0.85:
            # A weight towards zero: shorter weights reach less far.
            dw, w = np.zeros(n), self.layers[0].weights[j]
            used = np.flatnonzero(w)
            if len(used):
                c = self.rng.choice(used)
                dw[c] = -w[c]
                return dw, 0.0
        return self.rng.normal(size=(1, n))[0], float(self.rng.normal()) if learns else 0.0

    def _try_weights(self, j: int, table: Floats, now: float, *, learns: bool) -> bool:
        """A random step, for sets without lines; then the best threshold, if it is free."""
        w, t = self.layers[0].weights[j], float(self.layers[0].thresholds[j])
        dw, dt = self._direction(j, table, learns=learns)
        size = (float(np.abs(w).max()) or 1.0) / (float(np.abs(dw).max()) or 1.0)
        step = size * float(self.rng.normal()) * 10.0 ** -self.rng.integers(3)
        w, t = w + step * dw, t + step * dt
        return self._accept(j, w, self._best_threshold(w, t, table) if learns else t, table, now)

    def _move_integer(self, j: int, table: Floats, now: float, *, learns: bool) -> bool:
        """One weight to any other value of its domain, with the best threshold for it."""
        w, t = self.layers[0].weights[j].copy(), float(self.layers[0].thresholds[j])
        w[self.rng.integers(len(w))] = self.rng.choice(self.architecture.domains[0].values)
        return self._accept(j, w, self._best_threshold(w, t, table) if learns else t, table, now)

    def _move_above(self) -> bool:
        """One weight or threshold of a higher layer, the best of some trials."""
        k = int(self.rng.integers(1, len(self.layers)))
        j, layer = int(self.rng.integers(self.layers[k].width)), self.layers[k]
        is_free = self.architecture.threshold == "neuron" and getattr(layer.activation, "thresholds", None) is None
        weights = layer.weights.copy()
        if not is_free or self.rng.random() < 0.6:
            weights[j] = self._tried_weights(k, j)
        trials = [layer.with_(weights, layer.thresholds)]
        if is_free or layer.activation.gives_numbers:
            self.layers[k] = trials[0]
            trials += [layer.with_(weights, thresholds) for thresholds in self._tried_thresholds(k, j)]
        losses = [self._penalised_with(k, trial) for trial in [layer, *trials]]
        now, best = losses[0], int(np.argmin(losses[1:]))
        reached = losses[1 + best]
        self.layers[k] = trials[best] if reached <= now + self.flat else layer
        self._read_above()
        return reached < now - self.flat

    def _penalised_with(self, k: int, layer: Layer) -> float:
        self.layers[k] = layer
        self._read_above()
        return self.loss if self.real is not None else float(self.penalties @ self._costs(self.low, self.high))

    def _tried_weights(self, k: int, j: int) -> Floats:
        weights, domain = self.layers[k].weights[j].copy(), self.architecture.domains[k]
        c = int(self.rng.integers(len(weights)))
        if domain.is_integer:
            weights[c] = self.rng.choice(domain.values)
        elif self.rng.random() < 0.3:
            weights[c] = 0.0
        else:
            weights[c] += self.rng.normal() * (float(np.abs(weights).max()) or 1.0)
        bound = self.problem.loss.bound
        return weights if bound is None or k < len(self.layers) - 1 else np.asarray(np.clip(weights, -bound, bound))

    def _tried_thresholds(self, k: int, j: int) -> list[Floats]:
        """With one threshold between two of the places where rows surely cross it; of other outputs, a shift."""
        layer = self.layers[k]
        own = layer.thresholds.reshape(layer.width, -1)
        if not layer.activation.has_levels:
            shifted = own.copy()
            shifted[j] += self.rng.normal() * 10.0 ** -self.rng.integers(3)
            return [shifted.reshape(layer.thresholds.shape)]
        self.above = Above(self.network())
        bottom, top = self.above.sums(k - 1, self.low, self.high)
        ends = np.unique(np.concatenate([bottom[:, j], top[:, j]]))
        places = np.concatenate([[ends[0] - 1.0], (ends[1:] + ends[:-1]) / 2, [ends[-1] + 1.0]])
        number, found = int(self.rng.integers(own.shape[1])), []
        for place in self.rng.choice(places, min(_TRIALS, len(places)), replace=False):
            moved = own.copy()
            moved[j, number] = place
            moved[j] = np.sort(moved[j])
            found.append(moved.reshape(layer.thresholds.shape))
        return found

    def _refit(self) -> bool:
        """The last layer of numbers by descent on the costs of its ranges; kept if they fall."""
        last, real, values = self.layers[-1], self.real, np.array(self.architecture.activation.values)
        assert real is not None
        if len(self.layers) != 2 or (np.diff(values) < 0).any():
            return False
        middle, half = values[self.low] / 2 + values[self.high] / 2, values[self.high] / 2 - values[self.low] / 2
        width, limit = last.weights.shape[1], np.inf if real.bound is None else real.bound
        weights, thresholds = last.weights.copy(), last.thresholds.copy()
        for output in range(last.width):
            y = self.y if self.y.ndim == 1 else self.y[:, output : output + 1]

            def cost(point: Floats, y: Floats = y) -> tuple[float, Floats]:
                up, down, threshold = point[:width], point[width : 2 * width], point[-1]
                centre, spread = middle @ (up - down) - threshold, half @ (up + down)
                top, bottom = real.costs((centre + spread)[:, None], y), real.costs((centre - spread)[:, None], y)
                is_top = top[:, 0] >= bottom[:, 0]
                end = np.where(is_top, centre + spread, centre - spread)
                slopes = self.row_weights * _slope(real, end, y)
                sides = np.where(is_top, slopes, -slopes)
                total = float(self.row_weights @ np.where(is_top, top[:, 0], bottom[:, 0]))
                total += real.penalty((up - down)[None])
                ridge = 2 * real.ridge * (up - down)
                along = slopes @ middle + ridge
                return total, np.concatenate([along + sides @ half, -along + sides @ half, [-slopes.sum()]])

            begin = np.concatenate(
                [np.maximum(weights[output], 0), np.maximum(-weights[output], 0), [thresholds[output]]]
            )
            free = None if self.architecture.intercept else 0.0
            bounds = [(0.0, limit if np.isfinite(limit) else None)] * (2 * width) + [(free, free)]
            found = scipy_minimise(cost, begin, jac=True, method="L-BFGS-B", bounds=bounds).x
            weights[output], thresholds[output] = found[:width] - found[width : 2 * width], found[-1]
        before, loss = self.layers[-1], self.loss
        self.layers[-1] = last.with_(np.clip(weights, -limit, limit), thresholds)
        self._read_above()
        if self.loss > loss:
            self.layers[-1] = before
            self._read_above()
            return False
        return self.loss < loss - self.flat


def _slope(real: RealLoss, values: Floats, y: Floats) -> Floats:
    """Of the costs, by a small difference: they are piecewise linear or quadratic."""
    step = 1e-6 * (1.0 + np.abs(values))
    up, down = real.costs((values + step)[:, None], y)[:, 0], real.costs((values - step)[:, None], y)[:, 0]
    return np.asarray((up - down) / (2 * step))
