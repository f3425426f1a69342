"""The search for one neuron whose weights are integers, few, or both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from stepnet.constructions.feasibility import feasible_weights
from stepnet.errors import InvalidInputError
from stepnet.model.activations.staircase import STEP
from stepnet.model.arithmetic import Bools, Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.constraint import Constraints
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.local.looks import Looks
from stepnet.search.neuron.integers import IntegerNeuron
from stepnet.search.neuron.prices import Prices
from stepnet.search.neuron.reals import Support, search_supports
from stepnet.search.neuron.restricted import extended, restricted
from stepnet.search.neuron.starts import best_starts
from stepnet.search.neuron.supports import Fit, Logistic

_MOST_ROWS, _MOST_NUMBERS = 20_000, 5_000_000  # that guide the search; thresholds and losses are those of all rows
_LARGEST_BEAM = 10  # features
_BEAM = 10  # supports of each size
_LARGEST_FIT = 200  # features
_MOVES_PER_LOOK = 20  # moves along lines that count as one look at all moves, or as one support
_SHORT = 300  # moves on a support

Once = Callable[..., Network | None]


def is_for_neuron(problem: Problem) -> bool:
    """Whether the problem is one step neuron that counts answers, with integer weights or a limit on their number."""
    architecture, constraints = problem.architecture, problem.constraints
    is_one = not architecture.hidden and architecture.output == STEP and architecture.n_outputs == 1
    is_one &= problem.loss.of_answers is not None and problem.uncertainty is None and not constraints.need_rows
    return is_one and (architecture.has_integers or constraints.has_limits)


def first_neuron(problem: Problem) -> Problem | None:
    """For a network of step neurons: the problem of its first one, if layers above pass its answer on; otherwise None.

    Each of these layers needs one weight for that.
    """
    architecture, constraints = problem.architecture, problem.constraints
    if not architecture.hidden or architecture.activation != STEP or architecture.fixed_threshold is not None:
        return None
    limit = constraints.total_limit
    alone = Constraints(
        tuple(row for row in constraints.rows if all(name[:2] == (0, 0) for name, _ in row.terms)),
        constraints.layer_limits[:1],
        None if limit is None else max(0, limit - len(architecture.hidden)),
    )
    single = replace(
        architecture, hidden=(), domains=architecture.domains[:1], activations=architecture.activations[-1:]
    )
    part = replace(problem, architecture=single, constraints=alone)
    return part if is_for_neuron(part) and not constraints.need_rows else None


def neuron_once(
    problem: Problem,
    seed: list[int],
    budget: Budget,
    target: float,
    patience: int,
    offer: Callable[[Network], float] | None = None,
    start: Network | None = None,
    *,
    once: Once,
) -> Network | None:
    """The best neuron from one start; ``once`` searches along lines, on problems without limits.

    A warm start competes with the fits that a search begins with.
    """
    neuron = _Neuron(problem, np.random.default_rng(seed), budget, Looks(offer or problem.price, budget, target, 0.0))
    patience = max(1, patience // _MOVES_PER_LOOK)
    with np.errstate(over="ignore", invalid="ignore"):  # of huge rows
        if problem.architecture.domains[0].is_integer:
            neuron.search_integers(seed[-1], patience, start)
        else:
            neuron.search_reals(seed, patience, start, once)
    return neuron.looks.network


class _Neuron:
    """One neuron of a problem, on its scaled rows."""

    def __init__(self, problem: Problem, rng: np.random.Generator, budget: Budget, looks: Looks) -> None:
        self.problem, self.rng, self.budget, self.looks = problem, rng, budget, looks
        answered, dataset = problem.loss.of_answers, problem.dataset
        assert answered is not None
        codes = np.zeros(dataset.n_rows, dtype=np.int64)
        gains = answered.answer_costs(codes, dataset.y) - answered.answer_costs(codes + 1, dataset.y)
        gains, fixed = dataset.weights * gains, problem.architecture.fixed_threshold
        self.all = Prices(dataset.X.T, gains, fixed)
        n_rows = min(_MOST_ROWS, max(1, _MOST_NUMBERS // dataset.n_features))  # the first rows are as good as random
        columns = np.ascontiguousarray(problem.scaling.apply(dataset.X[:n_rows]).T)
        self.prices = Prices(columns, gains[:n_rows], None if fixed is None else fixed * problem.scaling.grid)
        self.rows = problem.scaled_rows()
        limits = [problem.constraints.total_limit, *problem.constraints.layer_limits]
        self.most = min([len(columns), *(limit for limit in limits if limit is not None)])

    @cached_property
    def logistic(self) -> Logistic:
        return Logistic(self.prices.columns, self.prices.gains)

    def is_over(self) -> bool:
        return self.budget.stop_reason is not None or self.looks.loss <= self.looks.target

    def admits(self, weights: Floats) -> bool:
        """Whether the user's linear constraints hold."""
        return all(row.holds([weights[None]]) for row in self.rows)

    # Integer weights.

    def search_integers(self, number: int, patience: int, warm: Network | None) -> None:
        """From the best rounded fit, a later start from the next one; or from any weights that are admitted."""
        values, allowed = self.problem.architecture.domains[0].values, self._allowed()
        starts = best_starts(self.prices, self._fits(), values, allowed, self.most, self.admits)
        given = [] if warm is None else [warm.layers[0].weights[0]]
        try:
            start = starts[number % len(starts)] if starts else feasible_weights(self.problem)[0][0]
        except InvalidInputError:  # there are none
            return
        neuron = IntegerNeuron(self.prices, values, allowed, self.most, self.rng, self.admits)
        start = min([start, *given], key=neuron.loss)
        neuron.search(start, patience, self.is_over, self._offer)

    def _allowed(self) -> Bools:
        """Which value each weight may have (features × values), by constraints on single weights."""
        values, n = self.problem.architecture.domains[0].values, len(self.prices.columns)
        allowed = np.ones((n, len(values)), dtype=bool)
        for row in self.rows:
            if len(row.terms) == 1:
                i = row.terms[0][0][2]
                alone = np.zeros((1, n))
                for place, value in enumerate(values):
                    alone[0, i] = value
                    allowed[i, place] &= row.holds([alone])
        return allowed

    def _fits(self) -> list[Fit]:
        levels = self.logistic.beam(min(self.most, _LARGEST_BEAM), _BEAM, self.is_over)
        fits = [fit for level in levels for fit in level]
        if self.most > _LARGEST_BEAM and len(self.prices.columns) <= _LARGEST_FIT and not self.is_over():
            fits.append(self.logistic.fit(tuple(np.flatnonzero(~self.logistic.is_constant).tolist())))
        return fits

    def _offer(self, weights: Floats) -> bool:
        """Evaluate weights that are better on the rows that guide the search; whether the target is met."""
        loss, threshold = self.all.threshold(self.all.sums(weights))  # integers have the units of the rows
        if not np.isfinite(threshold):
            return False
        return self.looks.look(loss, Network((Layer(weights[None], np.array([threshold])),)))

    # Real weights.

    def search_reals(self, seed: list[int], patience: int, warm: Network | None, once: Once) -> None:
        """Support by support, each with the search along lines."""
        given = [] if warm is None else [np.flatnonzero(self.problem.scale(warm).layers[0].weights[0])]
        first = [tuple(support.tolist()) for support in given if len(support)]
        kept, counts = np.flatnonzero(self.problem.scaling.kept), dict[Support, int]()

        def improve(support: Support) -> float:
            features = tuple(kept[list(support)].tolist())
            counts[support] = counts.get(support, 0) + 1
            part = restricted(self.problem, features)
            moves = _SHORT * 10 ** (counts[support] - 1)
            network = once(part, [*seed, counts[support]], self.budget, self.looks.target, moves)
            if network is None:
                return np.inf
            loss = part.price(network)
            self.looks.look(loss, extended(network, features, self.problem.dataset.n_features))
            return loss

        search_supports(self.logistic, self.most, first, patience, self.rng, improve, self.is_over)
