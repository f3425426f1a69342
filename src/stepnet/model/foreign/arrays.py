"""Networks from arrays: weights, biases or thresholds, batch normalisation and activation of each layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.base import Activation
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import SIGN, STEP, Staircase
from stepnet.model.foreign.answers import Answers, answers_of
from stepnet.model.foreign.bits import as_sums
from stepnet.model.foreign.neurons import Neurons
from stepnet.model.foreign.operators import Winner
from stepnet.model.foreign.rationals import ONE, Rationals, filled, rationals, roots
from stepnet.model.foreign.tensors import Steps, Sums, signs
from stepnet.model.network import Layer, Network

KEYS = ("weights", "bias", "thresholds", "batch_norm", "activation", "zero")
ACTIVATIONS: dict[str, Activation] = {"sign": SIGN, "step": STEP, "argmax": ARGMAX, "identity": IDENTITY}


def network_of(layers: Iterable[Any]) -> tuple[Network, tuple[str, ...]]:
    """The network of layers given as arrays, and what was rounded in it."""
    given = [_described(number, one) for number, one in enumerate(layers)]
    if not given:
        raise InvalidInputError("a network needs at least one layer.")
    if all(_is_plain(one) for one in given):
        return Network(tuple(_layer(one) for one in given)), ()
    first = given[0]
    n_features = np.shape(first["batch_norm"][0])[0] if first["weights"] is None else first["weights"].shape[1]
    neurons = Neurons(int(n_features))
    value: Any = Sums.of_inputs((1, int(n_features)))
    for number, one in enumerate(given):
        try:
            value = _through(value, one, neurons, is_last=number == len(given) - 1)
        except (ModelFileError, InvalidInputError, ValueError) as error:
            raise InvalidInputError(f"layer {number} cannot be read: {str(error).rstrip('.')}.") from error
    found: Answers = answers_of(value, neurons)
    return found.network, tuple(neurons.notes)


def _described(number: int, layer: Any) -> dict[str, Any]:
    """A layer by the names of its parts; a tuple has weights, thresholds and activation."""
    if isinstance(layer, Layer):
        layer = (layer.matrix, layer.thresholds, layer.activation)
    if not isinstance(layer, Mapping):
        layer = dict(zip(("weights", "thresholds", "activation"), layer, strict=False))
    unknown = [key for key in layer if key not in KEYS]
    if unknown:
        raise InvalidInputError(f"layer {number} has {unknown[0]!r}, which is not one of {', '.join(KEYS)}.")
    found = {key: layer.get(key) for key in KEYS}
    weights, batch_norm = found["weights"], found["batch_norm"]
    if weights is not None:
        found["weights"] = sparse.csr_array(weights) if sparse.issparse(weights) else np.array(weights, float, ndmin=2)
    if weights is None and (number > 0 or batch_norm is None):
        raise InvalidInputError(f"layer {number} needs weights; only a first layer may have a batch_norm alone.")
    if batch_norm is not None and len(batch_norm) not in (4, 5):
        raise InvalidInputError(f"batch_norm of layer {number} must be (gamma, beta, mean, variance, epsilon).")
    if found["bias"] is not None and found["thresholds"] is not None:
        raise InvalidInputError(f"layer {number} has both bias and thresholds; a threshold is the negative of a bias.")
    kind = "step" if found["activation"] is None else found["activation"]
    if not isinstance(kind, Activation) and kind not in ACTIVATIONS:
        names = ", ".join(map(repr, ACTIVATIONS))
        raise InvalidInputError(f"activation={kind!r} of layer {number} is not known; choose {names} or a Staircase.")
    found["activation"] = kind if isinstance(kind, Activation) else ACTIVATIONS[kind]
    if found["zero"] not in (None, -1, 0, 1):
        raise InvalidInputError(f"zero={found['zero']!r} of layer {number} must be -1, 0 or 1.")
    return found


def _is_plain(given: dict[str, Any]) -> bool:
    """Whether weights and thresholds are those of a layer as they are."""
    return given["batch_norm"] is None and given["zero"] in (None, 1)


def _layer(given: dict[str, Any]) -> Layer:
    weights, activation = given["weights"], given["activation"]
    if given["thresholds"] is not None:
        return Layer(weights, given["thresholds"], activation)
    bias = np.zeros(weights.shape[0]) if given["bias"] is None else np.asarray(given["bias"], dtype=float)
    return Layer(weights, 0.0 - np.broadcast_to(bias, weights.shape[0]), activation)


def _through(value: Any, given: dict[str, Any], neurons: Neurons, *, is_last: bool) -> Any:
    """The tensor after one more layer."""
    tensor = as_sums(value, neurons)
    kind, thresholds = given["activation"], given["thresholds"]
    if given["weights"] is not None:
        matrix = sparse.csr_array(given["weights"])
        if matrix.shape[1] != tensor.shape[1]:
            raise InvalidInputError(f"weights of shape {matrix.shape} do not fit {tensor.shape[1]} inputs")
        tensor = tensor.linear(matrix, (1, matrix.shape[0]), neurons)
    ends = [np.zeros(1)]
    if kind.n_thresholds == 1 and thresholds is not None:
        tensor = tensor.moved(filled(ONE, 2), -_row(thresholds))
    elif kind.n_thresholds > 1:
        ends = list(np.asarray(thresholds, dtype=float).reshape(tensor.shape[1], -1).T)
    if given["bias"] is not None:
        tensor = tensor.moved(filled(ONE, 2), _row(given["bias"]))
    if given["batch_norm"] is not None:
        tensor = tensor.moved(*_normalised(*given["batch_norm"]))
    if kind.is_compared or kind.gives_numbers:
        if not is_last:
            raise InvalidInputError(f"only the last layer may have the activation {kind.name!r}")
        return Winner(tensor) if kind.is_compared else tensor
    if not isinstance(kind, Staircase):
        raise InvalidInputError(f"the activation {kind.name!r} is not one of steps")
    return _stepped(tensor, kind, ends, given["zero"])


def _stepped(tensor: Sums, kind: Staircase, ends: list[Any], zero: int | None) -> Steps:
    """At a threshold, ``zero=1`` has the upper value, -1 the lower one, and 0 the middle of both."""
    if kind in (STEP, SIGN):
        low, high = (Fraction(one) for one in kind.values)
        return signs(tensor, Fraction(1 if zero is None else zero)).mapped(
            lambda own: (own + 1) / 2 * (high - low) + low
        )
    cuts = tuple((_row(end), zero == -1) for end in ends)
    return Steps(tensor, cuts, tuple(filled(Fraction(one), 2) for one in kind.values))


def _normalised(gamma: Any, beta: Any, mean: Any, variance: Any, epsilon: float = 1e-5) -> tuple[Rationals, Rationals]:
    """gamma (z - mean) / sqrt(variance + epsilon) + beta as factor and offset."""
    factor = _row(gamma) / roots(_row(variance) + Fraction(float(epsilon)))
    return factor, _row(beta) - _row(mean) * factor


def _row(values: Any) -> Rationals:
    return rationals(np.asarray(values, dtype=np.float64).reshape(1, -1))
