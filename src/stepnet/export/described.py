"""What every export states about a model: features, classes, certificate; and the answers it must give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepnet.certificate.certificate import Certificate
from stepnet.errors import InvalidInputError
from stepnet.model.activations.base import Activation
from stepnet.model.network import Layer, Network


@dataclass(frozen=True)
class Described:
    """A fitted estimator as the exports see it."""

    kind: str
    network: Network
    names: list[str]  # of the features, in order
    has_names: bool  # whether the names come from the data
    sentences: list[str]  # a description per feature
    classes: NDArray[Any] | None  # by code; None if answers are numbers
    certificate: Certificate

    @property
    def title(self) -> str:
        widths = " -> ".join(map(str, self.network.widths))
        return f"{self.kind}, a step network {self.network.n_features} -> {widths}"

    @property
    def class_names(self) -> list[str]:
        """As ``stepnet predict`` prints them."""
        return [] if self.classes is None else [str(one) for one in self.classes]

    def answers(self, X: ArrayLike) -> NDArray[Any]:
        """The exact answers of ``predict``: classes, or numbers (rows × outputs)."""
        codes = self.network.predict(X)
        return codes if self.classes is None else np.asarray(self.classes[codes])

    def certified(self) -> list[str]:
        """The certificate in two lines."""
        lines = str(self.certificate).splitlines()
        return [lines[0], f"training data {self.certificate.fingerprint}, margin {self.certificate.margin_in_words}"]


def kind_of(activation: Activation) -> str:
    """The kind of a layer, as exported files name it; other activations are refused."""
    if activation.has_levels:
        return "levels"
    if activation.is_compared:
        return "argmax"
    if activation.gives_numbers:
        return "identity"
    raise InvalidInputError(
        f"a network with the output {activation.name!r} cannot be exported. Exports accept outputs with levels (steps, "
        f"signs, staircases), outputs of which the largest wins (argmax), and numbers (identity)."
    )


def describe(estimator: Any) -> Described:
    """Describe a fitted estimator; anything else is refused."""
    network = getattr(estimator, "network_", None)
    certificate = getattr(estimator, "certificate_", None)
    if not isinstance(network, Network) or not isinstance(certificate, Certificate):
        raise InvalidInputError(
            f"{type(estimator).__name__} is not a fitted stepnet estimator. Call fit first, or read a model with "
            f"stepnet.load; for a Pipeline or a search, give its last step or best_estimator_."
        )
    answers = kind_of(network.layers[-1].activation)
    names = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
    has_names = len(names) == network.n_features
    if not has_names:
        names = [f"x{i}" for i in range(network.n_features)]
    columns = getattr(estimator, "columns_", None)
    sentences = [] if columns is None else [str(sentence) for sentence in columns.describe()]
    return Described(
        kind=type(estimator).__name__,
        network=_as_answered(network),
        names=names,
        has_names=has_names,
        sentences=sentences if len(sentences) == network.n_features else names,
        classes=None if answers == "identity" else getattr(estimator, "classes_", None),
        certificate=certificate,
    )


def _as_answered(network: Network) -> Network:
    """Without unused outputs: an output with levels answers by its first neuron alone."""
    *below, last = network.layers
    if not last.activation.has_levels or last.width == 1:
        return network
    return Network((*below, Layer(last.weights[:1], last.thresholds[:1], last.activation)))
