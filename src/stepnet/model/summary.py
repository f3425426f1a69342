"""A network in words: its shape, and the rule of every neuron."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from stepnet.model.rules import Words, hidden_names, output_names

if TYPE_CHECKING:
    from stepnet.model.network import Network


def shape(network: Network) -> str:
    return f"step network {network.n_features} -> " + " -> ".join(map(str, network.widths))


def neuron_rules(network: Network, feature_names: Sequence[str] | None = None) -> Iterator[tuple[str, str]]:
    """The name and the rule of every neuron."""
    names = [f"x{i}" for i in range(network.n_features)] if feature_names is None else list(feature_names)
    words = Words()
    values: Sequence[float] = ()
    for k, layer in enumerate(network.layers):
        is_output = k == len(network.layers) - 1
        answers = [f"{value:g}" for value in layer.activation.values] if is_output else ()
        own = output_names(layer.width) if is_output else hidden_names(network.widths, k)
        for j, (name, ends) in enumerate(zip(own, layer.thresholds.tolist(), strict=True)):
            ends = ends if isinstance(ends, list) else [ends]
            yield name, words.rule(layer.activation, layer.row(j).tolist(), ends, names, values=values, answers=answers)
        names, values = own, layer.activation.values
