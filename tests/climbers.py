"""Searches move by move, and problems of all kinds for them: the one place that knows what a search is made of."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np

from stepnet import Absolute, Hinge, Integers, Lowers, Raises, Squared, Staircase
from stepnet.constructions.random_network import random_scaled_network
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import SIGN, STEP
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.constraint import Constraints
from stepnet.problem.dataset import Dataset
from stepnet.problem.losses.misclassified import MISCLASSIFIED
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.search.local import in_numpy
from stepnet.search.local.general import GeneralClimber
from stepnet.search.local.kernels import search
from stepnet.search.local.robust import RobustClimber
from stepnet.search.local.state import Buffers, State, random_padded, unpadded

NEAR = 1e-7  # a row so near to a threshold may be on either side of it once numbers are rounded

_ORDINAL = Staircase((0, 1, 2))


def problem_of(
    rng,
    *,
    hidden=(3,),
    threshold="neuron",
    weights="real",
    activation=STEP,
    output=STEP,
    n_outputs=1,
    intercept=True,
    loss=MISCLASSIFIED,
    sparsity=None,
    constraints=None,
    rows="real",
    n_rows=25,
):
    """Rows that few neurons cannot all get right, with weights of their own; on a lattice many lie on thresholds."""
    X = rng.integers(-3, 4, (n_rows, 3)) / 2.0 if rows == "lattice" else rng.normal(size=(n_rows, 3))
    row_weights = rng.integers(1, 4, n_rows).astype(float)
    if output == IDENTITY:
        data = Dataset.from_numbers(X, np.round(rng.normal(size=(n_rows, n_outputs)) + X[:, :1], 2), row_weights)
    else:
        data = Dataset.from_rows(X, rng.integers(0, 2 if output == STEP else 3, n_rows), row_weights)
    architecture = Architecture.of(3, hidden, threshold, weights, activation, output, n_outputs, intercept)
    return Problem(data, architecture, loss, Constraints.of(architecture, sparsity, constraints))


def _numbers(loss, n_outputs=1, **choices):
    return {"output": IDENTITY, "n_outputs": n_outputs, "loss": loss} | choices


# What the compiled kernels take.
PLAIN = {
    "a single neuron": {"hidden": ()},
    "one hidden layer": {},
    "two hidden layers": {"hidden": (3, 2)},
    "three hidden layers": {"hidden": (2, 3, 2)},
    "shared thresholds": {"threshold": "layer", "hidden": (3, 2)},
    "thresholds 0.5": {"threshold": 0.5},
    "thresholds 0": {"threshold": 0.0},
    "rows on a lattice": {"rows": "lattice"},
}

WITH_CLASSES = {
    **PLAIN,
    "signs": {"activation": SIGN, "hidden": (3, 2)},
    "staircase": {"activation": Staircase((0, 1, 2)), "hidden": (3, 2)},
    "staircase that falls": {"activation": Staircase((1, 0, 2))},
    "staircase with fixed thresholds": {"activation": Staircase((0, 1, 3), (-0.5, 0.5))},
    "ternary": {"weights": "ternary", "hidden": (3, 2), "rows": "lattice"},
    "binary": {"weights": "binary", "rows": "lattice"},
    "integers": {"weights": Integers(3), "rows": "lattice"},
    "integers and shared thresholds": {"weights": "ternary", "threshold": "layer", "hidden": (3, 2), "rows": "lattice"},
    "integers and thresholds 0": {"weights": "sign", "threshold": 0.0, "rows": "lattice"},
    "integers below real weights": {"weights": ("ternary", "real"), "rows": "lattice"},
    "integer staircase": {"weights": "ternary", "activation": Staircase((0, 1, 2)), "rows": "lattice"},
    "argmax": {"output": ARGMAX, "n_outputs": 3},
    "argmax without hidden layer": {"output": ARGMAX, "n_outputs": 3, "hidden": ()},
    "argmax of integers": {"output": ARGMAX, "n_outputs": 3, "weights": "ternary", "rows": "lattice"},
    "ordinal": {"output": _ORDINAL},
    "ordinal above thresholds 0.5": {"output": _ORDINAL, "threshold": 0.5},
    "ordinal of integers": {"output": _ORDINAL, "weights": Integers(2), "rows": "lattice"},
    "few weights": {"sparsity": 6},
    "few weights in a layer": {"sparsity": (4, None)},
    "few integers": {"sparsity": 5, "weights": "ternary", "rows": "lattice"},
    "raises": {"constraints": (Raises(0), Lowers(1)), "hidden": (2, 2)},
    "raises by integers": {"constraints": Raises(0), "weights": "ternary", "rows": "lattice"},
}

WITH_VALUES = {
    "squared": _numbers(Squared()),
    "squared, two outputs": _numbers(Squared(), 2, hidden=(2, 2)),
    "squared with a ridge": _numbers(Squared(ridge=0.5), activation=Staircase((0, 1, 3))),
    "squared with a bound": _numbers(Squared(bound=0.5)),
    "squared without intercept": _numbers(Squared(), intercept=False),
    "squared above integers": _numbers(Squared(), weights="ternary", rows="lattice"),
    "squared with few weights": _numbers(Squared(), sparsity=(4, None)),
    "absolute": _numbers(Absolute(), activation=SIGN, n_rows=12),
    "absolute with a bound": _numbers(Absolute(bound=0.5), n_rows=12),
    "hinge": {"loss": Hinge(), "n_rows": 12},
    "hinge with a bound": {"loss": Hinge(bound=0.75), "n_rows": 12},
}

CASES = WITH_CLASSES | WITH_VALUES

# What the search for uncertain rows takes.
UNCERTAIN = {
    name: CASES[name]
    for name in (
        "a single neuron", "one hidden layer", "three hidden layers", "shared thresholds", "thresholds 0.5", "signs",
        "argmax", "ordinal", "squared", "squared with a bound", "absolute", "hinge",
    )
} | {
    "a step with a fixed threshold": {"activation": Staircase((0, 1), (0.25,))},
    "ternary weights": {"weights": "ternary"},
    "two numbers": _numbers(Squared(ridge=0.5), 2, intercept=False),
}  # fmt: skip


def made(name, seed=0, uncertainty=None):
    """The problem of a case."""
    choices = (CASES | UNCERTAIN)[name]
    return replace(problem_of(np.random.default_rng(seed), **choices), uncertainty=uncertainty)


def far_rows(network, rows):
    """The rows that are near to no threshold and no tie of outputs: how numbers are rounded does not matter to them.

    Sums of whole numbers are not rounded at all.
    """
    signals, far = rows, np.ones(len(rows), dtype=bool)
    for layer in network.layers:
        values = signals @ layer.weights.T
        ends = layer.thresholds.reshape(layer.width, -1)
        is_whole = (layer.weights % 1 == 0).all(axis=1) & ((signals % 1 == 0).all() | ~layer.weights.any(axis=1))
        if layer.activation == ARGMAX:
            best = np.sort(values - ends[:, 0], axis=1)
            return far & ((best[:, -1] - best[:, -2] > NEAR) | is_whole.all())
        if layer.activation == IDENTITY:
            return far
        far &= ((np.abs(values[:, :, None] - ends) > NEAR).all(axis=2) | is_whole).all(axis=1)
        signals = layer.outputs((values[:, :, None] >= ends).sum(axis=2))
    return far


def off_the_rows(problem, network):
    """A random network lays its hyperplanes through rows; here they pass by."""
    is_learned = problem.architecture.fixed_threshold is None and not problem.architecture.has_integers
    if not is_learned or problem.architecture.activation.thresholds is not None:
        return network
    return Network(tuple(layer.with_(layer.weights, layer.thresholds + 1e-3) for layer in network.layers))


class Climbing:
    """A climber of a problem, for rows as they are or for uncertain ones."""

    def __init__(self, problem, seed):
        rng = np.random.default_rng(seed)
        self.problem, self.rows = problem, problem.scaling.apply(problem.dataset.X)
        start = off_the_rows(problem, random_scaled_network(problem, self.rows, rng))
        kind = RobustClimber if problem.is_uncertain else GeneralClimber
        self._climber = kind(problem, rng, Budget(), start)

    def move(self):
        return self._climber.move()

    def leave(self):
        self._climber.leave()

    @property
    def flat(self):
        """What rounding may add to a loss."""
        return self._climber.flat

    @property
    def loss(self):
        return self._climber.loss

    @property
    def penalties(self):
        return self._climber.penalties

    @property
    def penalised(self):
        """What the moves are to lower: with the rows' penalties, or where values are read the loss itself."""
        climber = self._climber
        return climber.loss if climber.real is not None else math.fsum(climber.penalties * climber.row_costs())

    @property
    def answers(self):
        climber = self._climber
        return climber.kinds[-1].answers(climber.signals[-1], climber.T[-1])

    @property
    def signals(self):
        """Of the hidden layers, as it believes they are."""
        return self._climber.signals[1:-1]

    @property
    def values(self):
        """Of the outputs, less their thresholds, as it believes they are."""
        return self._climber.signals[-1] - self._climber.T[-1][:, 0]

    @property
    def scaled(self):
        return self._climber.network()

    @property
    def network(self):
        return self.problem.restore(self.scaled)


class Compiled:
    """The kernels, for misclassified rows of plain steps."""

    search = staticmethod(search)

    def __init__(self, problem, seed):
        rng = np.random.default_rng(seed)
        self.problem, self.rows = problem, problem.scaling.apply(problem.dataset.X)
        W, t = random_padded(problem, self.rows, rng)
        if problem.architecture.fixed_threshold is None:
            t = np.where(t == 0, 0.0, t + 1e-3)  # past the rows that the hyperplanes were laid through
        self.state = State.of(problem, self.rows, W, t)
        self.buffers, self.rng = Buffers.of(self.state), rng
        self.best_W, self.best_t, self.best, self.loss = W.copy(), t.copy(), np.inf, np.nan
        self.learns = problem.architecture.threshold == "neuron"
        self.scales = self.learns or problem.architecture.fixed_threshold == 0

    def moves(self, number, *, patience=10**9, target=-1.0):
        self.best, self.loss = self.search(
            self.state, self.buffers, self.best_W, self.best_t, self.best, self.loss, self.learns, self.scales,
            number - 1, patience, int(self.rng.integers(2**31)), target,
        )  # fmt: skip

    @property
    def penalised(self):
        return math.fsum(self.state.penalties[self.is_wrong])

    @property
    def is_wrong(self):
        return self.state.B[-1] != self.problem.dataset.y

    @property
    def signals(self):
        """Of the hidden layers, as it believes they are."""
        layers = zip(self.state.first, self.state.widths[1:], strict=True)
        return [self.state.B[first : first + width].T for first, width in layers][:-1]

    @property
    def scaled(self):
        widths = self.state.widths.tolist()
        return Network(
            tuple(
                Layer(self.state.W[k, :width, :n_inputs], self.state.t[k, :width])
                for k, (n_inputs, width) in enumerate(pairwise(widths))
            )
        )

    @property
    def network(self):
        return self.problem.restore(self.scaled)

    @property
    def best_network(self):
        return unpadded(self.problem, self.best_W, self.best_t)


class InNumpy(Compiled):
    """What does the same before the kernels are compiled."""

    search = staticmethod(in_numpy.search)
