"""Architecture: the widths, the threshold rule and the weight domain of a network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from stepnet.checks import is_finite_number, is_integer
from stepnet.errors import InvalidInputError
from stepnet.network import Network
from stepnet.problem.weights import WeightDomain, weight_domain

Threshold = Literal["neuron", "layer"] | float


@dataclass(frozen=True)
class Architecture:
    """Which networks are admitted.

    ``threshold`` is ``"neuron"`` (each neuron learns its own), ``"layer"`` (each layer learns one;
    the paper's λ_k) or a number that all neurons have (0.0: the paper's BDNN_0).
    """

    n_features: int
    hidden: tuple[int, ...] = (25,)
    threshold: Threshold = "neuron"
    weights: WeightDomain = field(default_factory=lambda: weight_domain("real"))

    @classmethod
    def of(cls, n_features: int, hidden: object, threshold: object, weights: object) -> Architecture:
        """From what a user typed, checked."""
        return cls(n_features, checked_hidden(hidden), checked_threshold(threshold), weight_domain(weights))

    @property
    def widths(self) -> tuple[int, ...]:
        """d_1, ..., d_K."""
        return (*self.hidden, 1)

    @property
    def fixed_threshold(self) -> float | None:
        """The number that all thresholds have, or None if thresholds are learned."""
        return None if isinstance(self.threshold, str) else self.threshold

    def refuses(self, network: Network) -> str | None:
        """Why the network is not one of this architecture, or None if it is."""
        if network.n_features != self.n_features or network.widths != self.widths:
            return (
                f"it has {network.n_features} features and widths {network.widths}, "
                f"not {self.n_features} and {self.widths}"
            )
        for layer in network.layers:
            wanted = layer.thresholds[0] if self.threshold == "layer" else self.fixed_threshold
            if wanted is not None and (layer.thresholds != wanted).any():
                return f"its thresholds {layer.thresholds} do not fit threshold={self.threshold!r}"
            if not self.weights.contains(layer.weights):
                return f"its weights are not {self.weights.name}"
        return None


def checked_hidden(hidden: object) -> tuple[int, ...]:
    widths: tuple[object, ...] = (hidden,)
    if isinstance(hidden, Iterable) and not isinstance(hidden, str):
        widths = tuple(hidden)
    if not all(is_integer(width) and width >= 1 for width in widths):
        raise InvalidInputError(
            f"hidden={hidden!r} must be a tuple of positive integers, one a hidden layer, "
            f"such as (25,) or (5, 5); () is a single neuron."
        )
    return tuple(int(width) for width in widths if is_integer(width))


def checked_threshold(threshold: object) -> Threshold:
    if threshold == "neuron" or threshold == "layer":
        return threshold
    if is_finite_number(threshold):
        return float(threshold)
    raise InvalidInputError(f"threshold={threshold!r} is not known; choose 'neuron', 'layer' or a finite number.")
