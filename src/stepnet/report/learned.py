"""What was learned: features, and neurons with their rules and the training rows for which they are on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.model.rules import Words, hidden_names, output_names

_MOST_WORK = 20_000_000  # rows × neurons² × neurons above; beyond it, the rows that neurons decide are not computed
_BINS = 12
_WORDS = Words(digits=4, most_terms=30, is_scaled=True)
_UNDIVIDED = Words(digits=4, most_terms=30)


@dataclass(frozen=True)
class Feature:
    """One input: its name, a sentence on its meaning (may be empty), and how neurons use it."""

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
    """One neuron: its numbers, its rule, and its effect on the training rows, if given.

    Attributes
    ----------
    is_divided : bool
        Whether the rule shows the weights divided by the largest one.
    importance : float
        Its share of the influence on the output; the shares of a layer add up to 1.
    rows : tuple of int or None
        Number of training rows at each of its levels; for a step, off and on.
    decided : int or None
        Number of training rows whose answer changes if this neuron alone is flipped.
    """

    name: str
    weights: tuple[float, ...]
    thresholds: tuple[float, ...]
    rule: str
    is_divided: bool
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
    """A histogram of the distances of training rows to the nearest hyperplane that their answer depends on."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    n_free: int  # rows whose answer depends on no single neuron


@dataclass(frozen=True)
class Names:
    """The names of features, of classes (empty for numbers), and of predicted numbers (empty for classes)."""

    features: tuple[str, ...]
    classes: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


def features_of(network: Network, names: Sequence[str], meanings: Sequence[str], X: Floats | None) -> list[Feature]:
    first = network.layers[0].weights
    raises, lowers = (first > 0).sum(axis=0).tolist(), (first < 0).sum(axis=0).tolist()
    unknown = [None] * len(names)
    lows, highs = (unknown, unknown) if X is None else (X.min(axis=0).tolist(), X.max(axis=0).tolist())
    return list(map(Feature, names, meanings, raises, lowers, lows, highs))


def layers_of(network: Network, names: Names, X: Floats | None, decided: Floats | None) -> list[NeuronLayer]:
    """All neurons, layer by layer; ``decided`` (rows × neurons) marks the rows that a first-layer neuron decides."""
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
            about: Any = {"values": values, "answers": answers}
            rule, undivided = (
                words.rule(layer.activation, weights, thresholds, inputs, **about) for words in (_WORDS, _UNDIVIDED)
            )
            neurons.append(
                NeuronSummary(
                    name,
                    weights,
                    thresholds,
                    rule,
                    rule != undivided,
                    float(importances[k][j]),
                    _rows_at(layer, levels[k], j),
                    None if decided is None or k > 0 else int(decided[:, j].sum()),
                )
            )
        title = "Output" if is_last else "Hidden layer" if len(network.layers) == 2 else f"Hidden layer {k + 1}"
        numbers = "numbers" if layer.activation.gives_numbers else layer.activation.name
        found.append(NeuronLayer(title, layer.activation.reading or numbers, inputs, tuple(neurons)))
        inputs = tuple(own)
    return found


def decided_rows(network: Network, X: Floats) -> Any:
    """Whether the answer for each row depends on each first-layer neuron; None if they are not bits, or too many."""
    layer = network.layers[0]
    above = network.widths[1] if len(network.layers) > 1 else 1
    if layer.activation.n_thresholds > 1 or not layer.activation.has_levels:
        return None
    if network.layers[-1].activation.gives_numbers or len(X) * layer.width * layer.width * above > _MOST_WORK:
        return None
    return np.column_stack([network.hangs_on(X, j) for j in range(layer.width)])


def margins_of(network: Network, X: Floats, decided: Any) -> Margins:
    """In float64, since this is for a chart."""
    layer = network.layers[0]
    lengths = np.linalg.norm(layer.weights, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = np.abs(X @ layer.weights.T - layer.thresholds) / lengths
    nearest = np.where(decided & (lengths > 0), distances, np.inf).min(axis=1)
    finite = nearest[np.isfinite(nearest)]
    counts, edges = np.histogram(finite, bins=_BINS, range=(0.0, float(finite.max(initial=0.0)) or 1.0))
    return Margins(tuple(edges.tolist()), tuple(counts.tolist()), len(nearest) - len(finite))


def _importances(network: Network) -> list[Floats]:
    """From the output down: the importance of a neuron is distributed over its inputs by absolute weight."""
    shares = [np.full(network.widths[-1], 1.0 / network.widths[-1])]
    for layer in network.layers[:0:-1]:
        sizes = np.abs(layer.weights)
        totals = sizes.sum(axis=1, keepdims=True)
        shares.insert(0, shares[0] @ np.divide(sizes, totals, out=np.zeros_like(sizes), where=totals > 0))
    return shares


def _rows_at(layer: Layer, levels: Any, j: int) -> tuple[int, ...] | None:
    if levels is None or not layer.activation.has_levels:
        return None
    return tuple(np.bincount(levels[:, j], minlength=layer.activation.n_thresholds + 1).tolist())


def _output_names(layer: Layer, names: Names) -> list[str]:
    if layer.activation.is_compared:
        return list(names.classes)
    return list(names.targets) or output_names(layer.width)
