"""What every export states about a model: features, classes, certificate; and the answers it must give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepnet.certificate.certificate import Certificate
from stepnet.errors import InvalidInputError
from stepnet.model.activations.base import Activation
from stepnet.model.foreign.given import GivenModel
from stepnet.model.network import Layer, Network
from stepnet.model.unscaled import unscaled
from stepnet.tables.operations import Operations, after, are_linear
from stepnet.tables.pipelines import unpacked

COLUMNS = ("used", "all")
_MOST_ENTRIES = 2**26  # of a layer in files that have full arrays


@dataclass(frozen=True)
class Described:
    """A fitted estimator as the exports see it."""

    kind: str
    network: Network
    names: list[str]  # of the features, in order
    has_names: bool  # whether the names come from the data
    sentences: list[str]  # a description per feature
    classes: NDArray[Any] | None  # by code; None if answers are numbers
    certificate: Certificate | None  # None of networks from elsewhere
    arithmetic: list[Operations]  # what each feature goes through before the first layer
    taken: list[int]  # the numbers of these features among those of the model
    n_features: int  # of the model
    is_scorecard: bool  # whether neurons are rules, and weights points

    @property
    def title(self) -> str:
        widths = " -> ".join(map(str, self.network.widths))
        return f"{self.kind}, a step network {self.network.n_features} -> {widths}"

    @property
    def selection(self) -> str:
        """Which features of the model are taken; empty if all are."""
        n_taken = len(self.taken)
        if n_taken == self.n_features:
            return ""
        return f"No answer depends on the other {self.n_features - n_taken} of the model's {self.n_features} features."

    @property
    def class_names(self) -> list[str]:
        """As ``stepnet predict`` prints them."""
        return [] if self.classes is None else [str(one) for one in self.classes]

    def answers(self, X: ArrayLike) -> NDArray[Any]:
        """The exact answers of ``predict`` for rows of all features: classes, or numbers (rows × outputs)."""
        codes = self.network.predict(after(self.arithmetic, self.rows(X)))
        return codes if self.classes is None else np.asarray(self.classes[codes])

    def rows(self, X: ArrayLike) -> NDArray[Any]:
        """The features that are taken, out of rows of all features of the model."""
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise InvalidInputError(f"the model expects rows of {self.n_features} features; got shape {rows.shape}.")
        return rows[:, self.taken]

    @property
    def lines(self) -> list[Operations]:
        """The operations on each feature, where they are a line; none on those that are rounded to a grid."""
        return [operations if are_linear(operations) else () for operations in self.arithmetic]

    @property
    def unscaled(self) -> Network:
        """The network for features before operations that are lines, which become part of its first layer; rounded."""
        return unscaled(self.network, self.lines)

    def certified(self) -> list[str]:
        """The certificate in two lines."""
        if self.certificate is None:
            return ["a network from elsewhere; nothing is certified about rows"]
        lines = str(self.certificate).splitlines()
        return [lines[0], f"training data {self.certificate.fingerprint}, margin {self.certificate.margin_in_words}"]


def require_full(described: Described, kind: str) -> Described:
    """The model, if its layers fit into memory as full arrays, which this kind of file has."""
    for k, layer in enumerate(described.network.layers):
        if layer.width * layer.n_inputs > _MOST_ENTRIES:
            raise InvalidInputError(
                f"layer {k} has {layer.n_weights:,} weights among {layer.width} × {layer.n_inputs} entries, too many "
                f"for {kind}, which has all of them; export to JSON, which has the weights alone."
            )
    return described


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


def describe(estimator: Any, columns: str = "used") -> Described:
    """Describe a fitted estimator with the features that its answers depend on, or with all; else is refused."""
    if columns not in COLUMNS:
        raise InvalidInputError(f"columns={columns!r} is not known; choose 'used' or 'all'.")
    estimator = GivenModel(estimator) if isinstance(estimator, Network) else unpacked(estimator)
    network = getattr(estimator, "network_", None)
    certificate = getattr(estimator, "certificate_", None)
    is_given = isinstance(estimator, GivenModel)
    if not isinstance(network, Network) or not (is_given or isinstance(certificate, Certificate)):
        raise InvalidInputError(
            f"{type(estimator).__name__} is not a fitted stepnet estimator. Call fit first, or read a model with "
            f"stepnet.load; for a search, give its best_estimator_."
        )
    answers = kind_of(network.layers[-1].activation)
    names = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
    has_names = len(names) == network.n_features
    if not has_names:
        names = [f"x{i}" for i in range(network.n_features)]
    read = getattr(estimator, "columns_", None)
    sentences = [] if read is None else [str(sentence) for sentence in read.describe()]
    sentences = sentences if len(sentences) == network.n_features else names
    taken = _taken(network, columns)
    return Described(
        kind="Network" if is_given else type(estimator).__name__,
        network=_as_answered(network).on_features(taken),
        names=[names[i] for i in taken],
        has_names=has_names,
        sentences=[sentences[i] for i in taken],
        classes=None if answers == "identity" else _classes(estimator, network),
        certificate=certificate,
        arithmetic=[() if read is None else read.arithmetic[i] for i in taken],
        taken=taken,
        n_features=network.n_features,
        is_scorecard=hasattr(estimator, "card_"),
    )


def _classes(estimator: Any, network: Network) -> NDArray[Any]:
    """Those of the estimator; of a bare network the codes."""
    last = network.layers[-1]
    return np.asarray(getattr(estimator, "classes_", np.arange(last.activation.n_answers(last.width))))


def _taken(network: Network, columns: str) -> list[int]:
    """The features that a file takes: at least one, and all if the rounding of sums depends on their number."""
    used = network.used_features
    is_all = columns == "all" or not used or network.layers[0].activation.gives_numbers
    return list(range(network.n_features) if is_all else used)


def _as_answered(network: Network) -> Network:
    """Without unused outputs: an output with levels answers by its first neuron alone."""
    *below, last = network.layers
    if not last.activation.has_levels or last.width == 1:
        return network
    return Network((*below, Layer(last.matrix[:1], last.thresholds[:1], last.activation)))
