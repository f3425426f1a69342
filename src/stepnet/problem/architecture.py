"""Architecture: widths, activations, threshold rule and weight domains of networks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

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

    ``threshold`` is ``"neuron"`` (each neuron learns its own), ``"layer"`` (each layer learns one, the paper's λ_k) or
    a number for all neurons (0.0: the paper's BDNN_0). Staircases of more than two values have their own thresholds.
    """

    n_features: int
    hidden: tuple[int, ...]
    threshold: Threshold
    domains: tuple[WeightDomain, ...]  # one per layer
    activations: tuple[Activation, ...]  # one per layer
    n_outputs: int = 1
    intercept: bool = True  # of outputs that are numbers

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
        """From parameters as given by a user, checked."""
        widths, stairs = checked_hidden(hidden), activation(hidden_activation)
        rule = checked_threshold(threshold)
        if rule != "neuron" and (stairs.n_thresholds > 1 or stairs.thresholds is not None):
            raise InvalidInputError(
                f"threshold={threshold!r} is for steps; a Staircase has its own thresholds, fixed in "
                f"Staircase(values, thresholds) or learned. Use threshold='neuron'."
            )
        if rule != "neuron" and output.is_unusual:
            raise InvalidInputError(f"output={output.name!r} learns its thresholds. Use threshold='neuron'.")
        domains = weight_domains(weights, len(widths) + 1)
        if output.gives_numbers:
            if not widths:
                raise InvalidInputError(
                    "hidden=() has no step neuron and leaves a linear regression. Use a hidden layer, such as (25,), "
                    "or sklearn.linear_model."
                )
            if domains[-1].is_integer and not isinstance(weights, str) and isinstance(weights, Iterable):
                raise InvalidInputError(f"weights={weights!r}: outputs that are numbers need 'real' as the last entry.")
            domains = (*domains[:-1], Real())  # a single choice is one for the step neurons
        return cls(n_features, widths, rule, domains, (*(stairs for _ in widths), output), n_outputs, intercept)

    @classmethod
    def of_network(cls, network: Network) -> Architecture:
        """All networks with real weights and the shape of this one."""
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
        """The number that all thresholds are fixed to, or None if they are learned."""
        return None if isinstance(self.threshold, str) else self.threshold

    @property
    def has_integers(self) -> bool:
        """Whether the weights of some layer are integers."""
        return any(domain.is_integer for domain in self.domains)

    @property
    def is_plain(self) -> bool:
        """Whether all neurons are steps with real weights and there is one output bit, as the fast searches require."""
        has_steps = self.activation == STEP and self.output == STEP and self.n_outputs == 1
        return has_steps and not self.has_integers

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
                return f"its outputs have different thresholds {layer.thresholds}, not threshold={self.threshold!r}"
            if domain.is_integer and not domain.contains(layer.weights):
                return f"its weights are not {domain.name}"
        return None


def checked_hidden(hidden: object) -> tuple[int, ...]:
    widths: Any = tuple(hidden) if isinstance(hidden, Iterable) and not isinstance(hidden, str) else (hidden,)
    if not all(is_integer(width) and width >= 1 for width in widths):
        raise InvalidInputError(
            f"hidden={hidden!r} must be a tuple of positive integers, one per hidden layer, "
            f"such as (25,) or (5, 5); () is a single neuron."
        )
    return tuple(map(int, widths))


def checked_threshold(threshold: object) -> Threshold:
    if threshold == "neuron" or threshold == "layer":
        return threshold
    if is_finite_number(threshold):
        return float(threshold)
    raise InvalidInputError(f"threshold={threshold!r} is not known; choose 'neuron', 'layer' or a finite number.")
