"""Architecture: the widths, activations, threshold rule and weight domains of a network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from stepnet.errors import InvalidInputError
from stepnet.model.activations.base import Activation
from stepnet.model.activations.registry import activation
from stepnet.model.activations.staircase import STEP
from stepnet.model.network import Network
from stepnet.problem.weights import Real, WeightDomain, weight_domains
from stepnet.runtime.numbers import is_finite_number, is_integer

Threshold = Literal["neuron", "layer"] | float


@dataclass(frozen=True)
class Architecture:
    """Which networks are admitted.

    ``threshold`` is ``"neuron"`` (each neuron learns its own), ``"layer"`` (each layer learns one;
    the paper's λ_k) or a number that all neurons have (0.0: the paper's BDNN_0). Staircases of more
    than two values have thresholds of their own.
    """

    n_features: int
    hidden: tuple[int, ...]
    threshold: Threshold
    domains: tuple[WeightDomain, ...]  # one a layer
    activations: tuple[Activation, ...]  # one a layer
    n_outputs: int = 1
    intercept: bool = True  # whether outputs that are numbers have one

    @classmethod
    def of(
        cls,
        n_features: int,
        hidden: object,
        threshold: object,
        weights: object,
        hidden_activation: object = STEP,
        output: Activation = STEP,
        n_outputs: int = 1,
        intercept: bool = True,
    ) -> Architecture:
        """From what a user typed, checked."""
        widths, stairs = checked_hidden(hidden), activation(hidden_activation)
        rule = checked_threshold(threshold)
        if rule != "neuron" and (stairs.n_thresholds > 1 or stairs.thresholds is not None):
            raise InvalidInputError(
                f"threshold={threshold!r} is for steps; a Staircase has thresholds of its own, fixed in "
                f"Staircase(values, thresholds) or learned. Use threshold='neuron'."
            )
        if rule != "neuron" and output.is_unusual:
            raise InvalidInputError(f"output={output.name!r} learns its thresholds. Use threshold='neuron'.")
        domains = weight_domains(weights, len(widths) + 1)
        if output.gives_numbers:
            domains = _with_real_output(domains, weights, widths)
        return cls(n_features, widths, rule, domains, (*(stairs for _ in widths), output), n_outputs, intercept)

    @classmethod
    def of_network(cls, network: Network) -> Architecture:
        """The real networks of the same shape."""
        activations = tuple(layer.activation for layer in network.layers)
        domains = weight_domains("real", len(activations))
        return cls(network.n_features, network.widths[:-1], "neuron", domains, activations, network.widths[-1])

    @property
    def widths(self) -> tuple[int, ...]:
        """d_1, ..., d_K."""
        return (*self.hidden, self.n_outputs)

    @property
    def activation(self) -> Activation:
        """Of the hidden layers."""
        return self.activations[0] if self.hidden else STEP

    @property
    def output(self) -> Activation:
        """Of the last layer."""
        return self.activations[-1]

    @property
    def fixed_threshold(self) -> float | None:
        """The number that all thresholds have, or None if thresholds are learned."""
        return None if isinstance(self.threshold, str) else self.threshold

    @property
    def has_integers(self) -> bool:
        """Whether some layer's weights are integers."""
        return any(domain.is_integer for domain in self.domains)

    @property
    def is_plain(self) -> bool:
        """Whether it is all steps with one output bit and real weights: what the fast searches take."""
        return (
            self.activation == STEP
            and self.output == STEP
            and self.n_outputs == 1
            and all(isinstance(domain, Real) for domain in self.domains)
        )

    def refuses(self, network: Network) -> str | None:
        """Why the network is not one of this architecture, or None if it is."""
        if network.n_features != self.n_features or network.widths != self.widths:
            return (
                f"it has {network.n_features} features and widths {network.widths}, "
                f"not {self.n_features} and {self.widths}"
            )
        for layer, kind, domain in zip(network.layers, self.activations, self.domains, strict=True):
            if layer.activation.name != kind.name:
                return f"its activation {layer.activation.name} is not {kind.name}"
            if kind.thresholds is not None and (layer.thresholds.reshape(layer.width, -1) != kind.thresholds).any():
                return f"its thresholds {layer.thresholds} are not {kind.thresholds}"
            if kind.gives_numbers and not self.intercept and layer.thresholds.any():
                return f"its outputs have intercepts {-layer.thresholds}, and the problem has intercept=False"
            if kind.n_thresholds == 1 and kind.thresholds is None and kind.has_levels:
                wanted = layer.thresholds[0] if self.threshold == "layer" else self.fixed_threshold
                if wanted is not None and (layer.thresholds != wanted).any():
                    return f"its thresholds {layer.thresholds} do not fit threshold={self.threshold!r}"
            if kind.is_compared and self.threshold != "neuron" and (layer.thresholds != layer.thresholds[0]).any():
                return f"its outputs have thresholds {layer.thresholds} of their own, not threshold={self.threshold!r}"
            if not domain.contains(layer.weights):
                return f"its weights are not {domain.name}"
        return None


def _with_real_output(
    domains: tuple[WeightDomain, ...], weights: object, hidden: tuple[int, ...]
) -> tuple[WeightDomain, ...]:
    """One choice for all layers is one for the step neurons; outputs that are numbers have real weights."""
    if not hidden:
        raise InvalidInputError(
            "hidden=() has no step neuron, and what is left is linear regression. Use a hidden layer, such as (25,), "
            "or sklearn.linear_model."
        )
    if not isinstance(weights, str) and isinstance(weights, Iterable) and domains[-1].is_integer:
        raise InvalidInputError(f"weights={weights!r}: outputs that are numbers have real weights; use 'real' last.")
    return (*domains[:-1], Real())


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
