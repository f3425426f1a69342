"""Networks from means and one covariance: rough, complete and almost free, for when there is no time for better ones.

Classes are told apart by linear discriminants, numbers and rows of an autoencoder are followed by steps along the
directions in which they vary; what the first layer tells passes through the layers above it.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from stepnet.constructions.last_layer import best_last_layer
from stepnet.constructions.linear import embedded
from stepnet.model.activations.base import Activation
from stepnet.model.arithmetic import Bools, Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.problem.weights import WeightDomain
from stepnet.runtime.limits import Budget

_MOST_WORK = 2e8  # multiplications for a covariance; with more rows than that the first ones serve
_MOST_FEATURES = 1_000  # with more, features count as independent
_RIDGE = 1e-2  # of the mean variance
_SIZES = (1.0, 2.0, 4.0, 8.0)  # of rounded weights, in multiples of the largest one of the domain


def discriminant_network(problem: Problem) -> Network | None:
    """A network of the problem that does about as well as a linear model; None if the problem leaves no way."""
    network = _unchecked(problem)
    return None if network is None or problem.refuses(network) is not None else network


def _unchecked(problem: Problem) -> Network | None:
    """The same, even if constraints do not admit it."""
    architecture = problem.architecture
    if architecture.output.is_unusual or not _passes(architecture):
        return None
    sample = _sample(problem.dataset)
    if architecture.output.gives_numbers:
        return _numbers(problem, sample)
    n_classes = architecture.output.n_answers(architecture.n_outputs)
    if n_classes == 2 and not architecture.output.is_compared:
        directions, offsets = class_scores(sample, 2)
        return _of_pair(directions[1] - directions[0], offsets[0] - offsets[1], sample, architecture)
    if architecture.has_integers:
        return None
    if not architecture.hidden:
        return _linear(problem, sample) if architecture.output.is_compared else None
    return _ordinal(problem, sample) if architecture.output.has_levels else _one_hot(problem, sample)


def discriminant_pairs(problem: Problem, n_classes: int) -> list[Network | None]:
    """The same for each pair a < b of classes, in lexicographic order, with b as class 1."""
    architecture, pairs = problem.architecture, list(combinations(range(n_classes), 2))
    if not _passes(architecture):
        return [None] * len(pairs)
    sample = _sample(problem.dataset)
    directions, offsets = class_scores(sample, n_classes)
    found: list[Network | None] = []
    for a, b in pairs:
        part = None
        if architecture.domains[0].is_integer:
            members = (sample.y == a) | (sample.y == b)
            part = Dataset(sample.X[members], (sample.y[members] == b).astype(np.int16), sample.weights[members])
        found.append(_of_pair(directions[b] - directions[a], offsets[a] - offsets[b], part, architecture))
    return found


def class_scores(dataset: Dataset, n_classes: int) -> tuple[Floats, Floats]:
    """Linear scores w·x + c of the classes, the largest of which is the likeliest class if rows are normal.

    A class without rows has a score that never wins.
    """
    X, scale = _scaled(dataset)
    member = dataset.weights[:, None] * (dataset.y[:, None] == np.arange(n_classes))
    sizes = member.sum(axis=0)
    means = member.T @ X / np.maximum(sizes, 1e-300)[:, None]
    within = X - means[dataset.y]
    directions = _solve(within, dataset.weights, means.T).T
    with np.errstate(divide="ignore"):
        offsets = np.log(sizes / sizes.sum()) - (directions * means).sum(axis=1) / 2
    largest = np.abs(X @ directions.T).max(initial=1.0) + np.abs(offsets[sizes > 0]).max()
    return directions / scale, np.where(sizes > 0, offsets, -10 * largest)


def _sample(dataset: Dataset) -> Dataset:
    """The first rows, which are representative, as many as take little time."""
    n_rows = int(max(1_000, _MOST_WORK / dataset.n_features / min(dataset.n_features, _MOST_FEATURES)))
    return Dataset(dataset.X[:n_rows].astype(np.float64), dataset.y[:n_rows], dataset.weights[:n_rows])


def _scaled(dataset: Dataset) -> tuple[Floats, Floats]:
    """The rows with features divided by their largest absolute value, and these."""
    scale = np.abs(dataset.X).max(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    return dataset.X / scale, scale


def _solve(rows: Floats, weights: Floats, right: Floats) -> Floats:
    """S^-1 right, for the regularised covariance S of centred rows."""
    total, n = weights.sum(), rows.shape[1]
    variances = weights @ rows**2 / total
    ridge = _RIDGE * variances.mean() + 1e-9
    if n > _MOST_FEATURES:
        return np.asarray(right / (variances + ridge)[:, None])
    covariance = (rows * weights[:, None]).T @ rows / total
    return np.linalg.solve(covariance + ridge * np.eye(n), right)


def _passes(architecture: Architecture) -> bool:
    """Whether a bit can be passed on from layer to layer."""
    kinds = architecture.activations[:-1]
    is_free = architecture.threshold == "neuron" or (architecture.threshold == "layer" and architecture.is_plain)
    return is_free and all(kind.thresholds is None and kind.values[0] < kind.values[-1] for kind in kinds)


def _of_pair(weights: Floats, threshold: float, rows: Dataset | None, architecture: Architecture) -> Network:
    """The network of one linear neuron; ``rows`` are needed where weights are rounded."""
    domain = architecture.domains[0]
    if domain.is_integer and rows is not None:
        weights, threshold = _rounded(weights, rows, domain)
    neuron = Layer(weights[None], np.array([threshold]))
    if architecture.is_plain:
        return embedded(neuron, architecture)
    return _copies(neuron, architecture)


def _rounded(weights: Floats, rows: Dataset, domain: WeightDomain) -> tuple[Floats, float]:
    """Weights of the domain in about this direction, with the best threshold; the best of several sizes."""
    largest, on = np.abs(weights).max(initial=1e-300), rows.y == 1
    tries = [domain.nearest(weights / largest * domain.limit * size) for size in _SIZES]
    found = [(*_best_threshold(rows.X @ one, on, rows.weights), number) for number, one in enumerate(tries)]
    _, threshold, number = min(found)
    return tries[number], threshold


def _best_threshold(values: Floats, on: Bools, weights: Floats) -> tuple[float, float]:
    """The least weight of errors of ``values >= t``, and t, halfway between two values."""
    order = np.argsort(values)
    ordered = values[order]
    gains = np.where(on, 1.0, -1.0)[order] * weights[order]
    errors = np.concatenate([[0.0], np.cumsum(gains)]) + weights[~on].sum()  # of t below the first, ..., above the last
    errors[1:-1][ordered[1:] == ordered[:-1]] = np.inf
    best = int(errors.argmin())
    below = ordered[best - 1] if best else ordered[0] - 1.0
    above = ordered[best] if best < len(ordered) else ordered[-1] + 1.0
    return float(errors[best]), float(below / 2 + above / 2)


def _copies(neuron: Layer, architecture: Architecture) -> Network:
    """All neurons of a layer are copies, so that each layer can add up those below with weights of 1."""
    layers: list[Layer] = []
    weights, threshold = neuron.weights, float(neuron.thresholds[0])
    for width, kind in zip(architecture.widths, architecture.activations, strict=True):
        layers.append(Layer(np.repeat(weights, width, axis=0), _at(threshold, width, kind), kind))
        if kind.has_levels:
            weights, threshold = np.ones((1, width)), width * (kind.values[0] + kind.values[-1]) / 2
    return Network(tuple(layers))


def _at(threshold: float, width: int, kind: Activation) -> Floats:
    return np.full(kind.threshold_shape(width), threshold)


def _bits(directions: Floats, thresholds: Floats, architecture: Architecture) -> list[Layer]:
    """Hidden layers that pass the bits of the first ``min(hidden)`` neurons on; others have no weights."""
    layers: list[Layer] = []
    for k, (width, kind) in enumerate(zip(architecture.hidden, architecture.activations, strict=False)):
        n_inputs = architecture.n_features if k == 0 else architecture.hidden[k - 1]
        weights, ends = np.zeros((width, n_inputs)), np.zeros(kind.threshold_shape(width))
        n_bits = len(directions)
        if k == 0:
            weights[:n_bits], ends[:n_bits] = directions, (thresholds if ends.ndim == 1 else thresholds[:, None])
        else:
            weights[np.arange(n_bits), np.arange(n_bits)] = 1.0
            ends[:n_bits] = (kind.values[0] + kind.values[-1]) / 2
        layers.append(Layer(architecture.domains[k].nearest(weights), ends, kind))
    return layers


def _steps(directions: Floats, rows: Dataset, architecture: Architecture) -> list[Layer]:
    """Hidden layers of steps along the directions in turn, at evenly spaced quantiles of the rows."""
    n_bits = min(architecture.hidden)
    turns = np.arange(n_bits) % len(directions)
    chosen, thresholds = directions[turns], np.zeros(n_bits)
    for number in range(min(n_bits, len(directions))):
        own = np.flatnonzero(turns == number)
        shares = (np.arange(len(own)) + 1) / (len(own) + 1)
        thresholds[own] = np.quantile(rows.X @ directions[number], shares)
    return _bits(chosen, thresholds, architecture)


def _linear(problem: Problem, rows: Dataset) -> Network:
    """The scores of the classes themselves."""
    directions, offsets = class_scores(rows, problem.architecture.n_outputs)
    return Network((Layer(directions, -offsets, problem.architecture.output),))


def _one_hot(problem: Problem, rows: Dataset) -> Network:
    """Steps along the scores of the classes, and a last layer by least squares of their indicators."""
    architecture = problem.architecture
    directions, _ = class_scores(rows, architecture.n_outputs)
    directions = directions - directions.mean(axis=0)
    if min(architecture.hidden) < len(directions):  # fewer neurons than classes: what tells most of them apart
        _, scale = _scaled(rows)
        directions = np.linalg.svd(directions * scale, full_matrices=False)[2] / scale
    hidden = _steps(directions, rows, architecture)
    signals = hidden[-1].outputs(Network(tuple(hidden)).levels(rows.X)[-1])
    indicators = (rows.y[:, None] == np.arange(architecture.n_outputs)).astype(np.float64)
    weights, means = _regression(signals, indicators, rows.weights)
    return Network((*hidden, Layer(weights.T, -means, architecture.output)))


def _ordinal(problem: Problem, rows: Dataset) -> Network:
    """One step per boundary between neighbouring classes, along the direction in which classes rise, added up."""
    architecture, n_classes = problem.architecture, problem.architecture.output.n_answers(1)
    X, scale = _scaled(rows)
    direction = _regression(X, rows.y[:, None].astype(np.float64), rows.weights)[0][:, 0] / scale
    values, n_bits = rows.X @ direction, min(architecture.hidden)
    boundaries = np.arange(1, n_classes)
    chosen = boundaries[np.unique(np.linspace(0, n_classes - 2, min(n_bits, n_classes - 1)).round().astype(int))]
    ends = np.array([_best_threshold(values, rows.y >= code, rows.weights)[1] for code in chosen])
    hidden = _bits(np.repeat(direction[None], len(chosen), axis=0), np.maximum.accumulate(ends), architecture)
    low, high = hidden[-1].activation.values[0], hidden[-1].activation.values[-1]
    weights = np.zeros((1, hidden[-1].width))
    weights[0, : len(chosen)] = 1.0
    # A class whose boundary has no step begins where the next one does, so it is never the answer.
    place = np.searchsorted(chosen, boundaries) + 0.5
    thresholds = len(chosen) * low + np.minimum(place, len(chosen) + 0.5) * (high - low)
    return Network((*hidden, Layer(weights, thresholds.reshape(1, -1), architecture.output)))


def _numbers(problem: Problem, rows: Dataset) -> Network | None:
    """Steps along the directions in which targets vary, and the best last layer on them."""
    architecture = problem.architecture
    if any(domain.is_integer for domain in architecture.domains[:-1]):
        return None
    X, scale = _scaled(rows)
    slopes = _regression(X, rows.y, rows.weights)[0].T
    n_directions = min(architecture.hidden)
    if len(slopes) > 1:  # the directions that matter for most targets
        predicted = slopes * np.sqrt(np.maximum((X**2).mean(axis=0), 1e-12))
        slopes = np.linalg.svd(predicted, full_matrices=False)[2][:n_directions]
        slopes = slopes / np.sqrt(np.maximum((X**2).mean(axis=0), 1e-12))
    hidden = _steps(slopes / scale, rows, architecture)
    signals = hidden[-1].outputs(Network(tuple(hidden)).levels(rows.X)[-1])
    part = Problem(rows, architecture, problem.loss)
    weights, intercepts = best_last_layer(part, signals, Budget(1.0))
    return Network((*hidden, Layer(weights, -intercepts, architecture.output)))


def _regression(X: Floats, targets: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Slopes (inputs × targets) and intercepts of a ridge regression."""
    shares = weights / weights.sum()
    centre, means = shares @ X, shares @ targets
    rows = X - centre
    slopes = _solve(rows, weights, (rows * shares[:, None]).T @ (targets - means))
    return slopes, means - centre @ slopes
