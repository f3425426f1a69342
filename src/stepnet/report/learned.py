"""What was learned: features, and neurons with their rules and the rows that they are on for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.model.activations.base import Activation
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.model.rules import Words, hidden_names, output_names

_MOST_WORK = 20_000_000  # rows × neurons × neurons above, up to which it is asked which rows a neuron decides
_BINS = 12
_WORDS = Words(digits=4, most_terms=30, is_scaled=True)


@dataclass(frozen=True)
class Feature:
    """One input: its name, what it means in a sentence (or nothing), and how neurons use it."""

    name: str
    meaning: str
    raises: int  # first-layer neurons with a positive weight
    lowers: int
    smallest: float | None  # among the training rows
    largest: float | None

    @property
    def is_used(self) -> bool:
        return self.raises + self.lowers > 0


@dataclass(frozen=True)
class NeuronSummary:
    """One neuron: its numbers, its rule, and with training rows what it does to them.

    Attributes
    ----------
    importance : float
        Its share in what the output sees: 1 in all for each layer.
    rows : tuple of int or None
        Training rows at each of its levels; of a step, off and on.
    decided : int or None
        Training rows whose answer changes with this neuron alone.
    """

    name: str
    weights: tuple[float, ...]
    thresholds: tuple[float, ...]
    rule: str
    importance: float
    rows: tuple[int, ...] | None
    decided: int | None


@dataclass(frozen=True)
class NeuronLayer:
    title: str
    activation: str
    inputs: tuple[str, ...]
    neurons: tuple[NeuronSummary, ...]


@dataclass(frozen=True)
class Margins:
    """Distances of training rows to the nearest hyperplane that their answer depends on, as a histogram."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    n_free: int  # rows whose answer depends on no single neuron


@dataclass(frozen=True)
class Names:
    """Of what goes in, of the classes (none where answers are numbers), and of the numbers that come out."""

    features: tuple[str, ...]
    classes: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


def features_of(network: Network, names: Sequence[str], meanings: Sequence[str], X: Floats | None) -> list[Feature]:
    first = network.layers[0].weights
    ends = [(None, None)] * len(names) if X is None else list(zip(X.min(axis=0), X.max(axis=0), strict=True))
    return [
        Feature(
            name,
            meaning,
            int((first[:, i] > 0).sum()),
            int((first[:, i] < 0).sum()),
            None if low is None else float(low),
            None if high is None else float(high),
        )
        for i, (name, meaning, (low, high)) in enumerate(zip(names, meanings, ends, strict=True))
    ]


def layers_of(network: Network, names: Names, X: Floats | None, decided: Floats | None) -> list[NeuronLayer]:
    """All neurons, layer by layer; ``decided`` says which rows which first-layer neuron decides."""
    levels: list[Any] = [None] * len(network.layers) if X is None else network.levels(X)
    importances = _importances(network)
    inputs, found = names.features, []
    for k, layer in enumerate(network.layers):
        is_last = k == len(network.layers) - 1
        own = _output_names(layer, names) if is_last else hidden_names(network.widths, k)
        values = network.layers[k - 1].activation.values if k else ()
        neurons = []
        for j, name in enumerate(own):
            weights = tuple(layer.weights[j].tolist())
            thresholds = tuple(np.atleast_1d(layer.thresholds[j]).tolist())
            answers = names.classes if is_last and layer.activation.has_levels else ()
            neurons.append(
                NeuronSummary(
                    name,
                    weights,
                    thresholds,
                    _WORDS.rule(layer.activation, weights, thresholds, inputs, values=values, answers=answers),
                    float(importances[k][j]),
                    _rows_at(layer, levels[k], j),
                    None if decided is None or k > 0 else int(decided[:, j].sum()),
                )
            )
        title = "Output" if is_last else "Hidden layer" if len(network.layers) == 2 else f"Hidden layer {k + 1}"
        found.append(NeuronLayer(title, _answers_by(layer.activation), inputs, tuple(neurons)))
        inputs = tuple(own)
    return found


def decided_rows(network: Network, X: Floats) -> Any:
    """For each row and first-layer neuron whether the answer depends on it; None where that is no bit, or too much."""
    layer = network.layers[0]
    above = network.widths[1] if len(network.layers) > 1 else 1
    if layer.activation.n_thresholds > 1 or not layer.activation.has_levels:
        return None
    if network.layers[-1].activation.gives_numbers or len(X) * layer.width * layer.width * above > _MOST_WORK:
        return None
    return np.column_stack([network.hangs_on(X, j) for j in range(layer.width)])


def margins_of(network: Network, X: Floats, decided: Any) -> Margins:
    """In float64: a picture, not a proof."""
    layer = network.layers[0]
    lengths = np.linalg.norm(layer.weights, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = np.abs(X @ layer.weights.T - layer.thresholds) / lengths
    nearest = np.where(decided & (lengths > 0), distances, np.inf).min(axis=1)
    finite = nearest[np.isfinite(nearest)]
    counts, edges = np.histogram(finite, bins=_BINS, range=(0.0, float(finite.max(initial=0.0)) or 1.0))
    return Margins(tuple(edges.tolist()), tuple(counts.tolist()), len(nearest) - len(finite))


def _importances(network: Network) -> list[Floats]:
    """From the outputs down: every neuron shares its own among its inputs by the size of their weights."""
    shares = [np.full(network.widths[-1], 1.0 / network.widths[-1])]
    for layer in network.layers[:0:-1]:
        sizes = np.abs(layer.weights)
        totals = sizes.sum(axis=1, keepdims=True)
        shares.insert(0, shares[0] @ np.divide(sizes, totals, out=np.zeros_like(sizes), where=totals > 0))
    return shares


def _answers_by(activation: Activation) -> str:
    return activation.reading or ("numbers" if activation.gives_numbers else activation.name)


def _rows_at(layer: Layer, levels: Any, j: int) -> tuple[int, ...] | None:
    if levels is None or not layer.activation.has_levels:
        return None
    return tuple(np.bincount(levels[:, j], minlength=layer.activation.n_thresholds + 1).tolist())


def _output_names(layer: Layer, names: Names) -> list[str]:
    if layer.activation.is_compared:
        return list(names.classes)
    return list(names.targets) or output_names(layer.width)
