"""A network as a drawing: features on the left, neurons, outputs on the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from stepnet.model.network import Network
from stepnet.model.rules import hidden_names, output_names
from stepnet.plot.axes import axes, fitted

_MOST = 26  # nodes of a column


class NetworkDisplay:
    """Features, neurons and the weights between them: blue is positive, orange negative; the wider, the larger.

    Parameters
    ----------
    network : Network
    feature_names : sequence of str
    answers : sequence of str
        Names of the outputs.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    n_left_out_ : int
        Nodes that are not drawn: of each layer the 26 with the largest weights are.
    """

    ax_: Any
    figure_: Any

    def __init__(self, network: Network, feature_names: Sequence[str], answers: Sequence[str]) -> None:
        self.network, self.feature_names, self.answers = network, feature_names, answers

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Of a fitted estimator, or of a Network."""
        if isinstance(estimator, Network):
            places = [f"x{i}" for i in range(estimator.n_features)]
            return cls(estimator, places, output_names(estimator.widths[-1])).plot(ax)
        known = fitted(estimator, "network_")
        network, columns = known.network_, getattr(known, "columns_", None)
        usual = [f"x{i}" for i in range(network.n_features)] if columns is None else columns.features
        names = list(getattr(known, "feature_names_in_", usual))
        classes = [str(one) for one in getattr(known, "classes_", [])]
        is_named = len(classes) == network.widths[-1] or (network.widths[-1] == 1 and len(classes) == 2)
        answers = classes[-network.widths[-1] :] if is_named else output_names(network.widths[-1])
        return cls(network, [str(name) for name in names], answers).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        network = self.network
        hidden = [hidden_names(network.widths, k) for k in range(len(network.layers) - 1)]
        names = [list(self.feature_names), *hidden, list(self.answers)]
        sizes = [_sizes(network, k) for k in range(len(names))]
        shown = [np.sort(np.argsort(-size, kind="stable")[:_MOST][size[np.argsort(-size, kind="stable")[:_MOST]] > 0])
                 for size in sizes]  # fmt: skip
        self.n_left_out_ = sum(len(own) for own in names) - sum(map(len, shown))
        tallest = max(map(len, shown))
        self.figure_, self.ax_ = axes(ax, (2.2 * len(names) + 1, 0.32 * max(tallest, 6) + 0.8))
        places = [(k, _spread(len(chosen))) for k, chosen in enumerate(shown)]
        for k, layer in enumerate(network.layers):
            self._weights(layer.weights[np.ix_(shown[k + 1], shown[k])], places[k], places[k + 1])
        for (k, heights), own, chosen in zip(places, names, shown, strict=True):
            align = "right" if k == 0 else "left" if k == len(names) - 1 else "center"
            for height, name in zip(heights, [own[i] for i in chosen], strict=True):
                box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "0.4"}
                self.ax_.text(k, height, name, ha=align, va="center", fontsize=8, bbox=box, zorder=3)
        self.ax_.set(xlim=(-0.6, len(names) - 0.4), ylim=(-0.03, 1.03))
        self.ax_.axis("off")
        return self

    def _weights(self, weights: Any, left: Any, right: Any) -> None:
        largest = np.abs(weights).max(initial=0.0) or 1.0
        for j, i in np.argwhere(weights).tolist():
            share = abs(weights[j, i]) / largest
            colour = "#1561b0" if weights[j, i] > 0 else "#b4480a"
            self.ax_.plot(
                [left[0], right[0]], [left[1][i], right[1][j]], color=colour, linewidth=0.4 + 2.6 * share,
                alpha=0.25 + 0.6 * share, zorder=1,
            )  # fmt: skip


def _sizes(network: Network, k: int) -> Any:
    """How much the nodes of a column matter: the largest weights to used neurons above; outputs all do."""
    if k == len(network.layers):
        return np.ones(network.widths[-1])
    above = np.abs(network.layers[k].weights) * network.used_neurons[k][:, None]
    return above.max(axis=0, initial=0.0)


def _spread(n: int) -> Any:
    return np.array([0.5]) if n == 1 else np.linspace(1, 0, n)
