"""Layer and Network: what is learned, and what it answers.

Layer k computes ``step(W h - t)``: neuron j is 1 where ``w_j·h >= t_j`` and 0 elsewhere. The answer
of a network with one output neuron is that neuron's bit. All answers are exact: the sign of
``w·h - t`` is that of the rational number, whatever the rounding of float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepnet.arithmetic import Floats, activations
from stepnet.errors import InvalidInputError, ModelFileError

Bits = NDArray[np.int8]

_CHUNK = 200_000  # entries of a layer computed at a time: they should stay in the cache
_SMALLEST = 5e-324  # the smallest positive float


@dataclass(frozen=True, eq=False)
class Layer:
    """Weights (d_k × d_{k-1}) and thresholds (d_k) of one layer of step neurons."""

    weights: Floats
    thresholds: Floats

    def __post_init__(self) -> None:
        weights = np.array(self.weights, dtype=np.float64, ndmin=2)
        thresholds = np.array(self.thresholds, dtype=np.float64, ndmin=1)
        if weights.ndim != 2 or thresholds.shape != (weights.shape[0],):
            raise InvalidInputError(
                f"a layer needs weights of shape (d_k, d_k-1) and d_k thresholds; got shapes "
                f"{weights.shape} and {thresholds.shape}."
            )
        if not (np.isfinite(weights).all() and np.isfinite(thresholds).all()):
            raise InvalidInputError("weights and thresholds of a layer must be finite numbers.")
        weights.flags.writeable = thresholds.flags.writeable = False
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "thresholds", thresholds)

    @property
    def width(self) -> int:
        return int(self.weights.shape[0])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Layer)
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.thresholds, other.thresholds)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Network:
    """Layers of step neurons, from the inputs to the output neuron."""

    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        if not self.layers:
            raise InvalidInputError("a network needs at least one layer.")
        for below, above in zip(self.layers, self.layers[1:], strict=False):
            if above.weights.shape[1] != below.width:
                raise InvalidInputError(
                    f"a layer of {below.width} neurons cannot feed a layer that expects "
                    f"{above.weights.shape[1]} inputs."
                )

    @property
    def n_features(self) -> int:
        return int(self.layers[0].weights.shape[1])

    @property
    def widths(self) -> tuple[int, ...]:
        """d_1, ..., d_K: the hidden widths, then that of the output."""
        return tuple(layer.width for layer in self.layers)

    def hidden_bits(self, X: ArrayLike) -> list[Bits]:
        """The exact 0-1 outputs of every layer, the output layer last; one (rows × d_k) array each."""
        parts = [[_bits(signs) for _, signs in self._forward(rows)] for rows in self._chunks(X)]
        return [np.concatenate(layer) for layer in zip(*parts, strict=True)]

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """The exact output bit of every row."""
        parts = [_bits(self._output(rows)[1]) for rows in self._chunks(X)]
        return np.concatenate(parts)[:, 0].astype(np.int64)

    def decision(self, X: ArrayLike) -> Floats:
        """``w·h - t`` of the output neuron: positive exactly where :meth:`predict` says 1.

        A tie, where the neuron is on by definition, gives the smallest positive float.
        """
        parts = []
        for rows in self._chunks(X):
            values, signs = self._output(rows)
            on = signs >= 0
            values = np.nan_to_num(values)  # sums that overflow both ways; their sign is known
            values = np.where(on, np.maximum(values, _SMALLEST), np.minimum(values, -_SMALLEST))
            parts.append(values[:, 0])
        return np.concatenate(parts)

    def margin(self, X: ArrayLike) -> float:
        """The smallest Euclidean distance of a row to a hyperplane that its answer hangs on.

        Those are the hyperplanes of first-layer neurons whose bit alone decides the row's answer. If
        no row hangs on any neuron, infinity.
        """
        layer = self.layers[0]
        # Scaled by the largest weight, so that no square over- or underflows.
        sizes = np.abs(layer.weights).max(axis=1, initial=0.0)
        scales = np.where(sizes > 0, sizes, 1.0)
        lengths = np.linalg.norm(layer.weights / scales[:, None], axis=1)
        smallest = np.inf
        for rows in self._chunks(X):
            values, signs = activations(rows, layer.weights, layer.thresholds)
            bits = _bits(signs)
            for j in np.flatnonzero(lengths).tolist():
                distances = np.abs(values[:, j]) / scales[j] / lengths[j]
                smallest = min(smallest, self._nearest_hanging(bits, j, distances, smallest))
        return smallest

    def _nearest_hanging(self, bits: Bits, j: int, distances: Floats, below: float) -> float:
        """The smallest distance under ``below`` of a row that hangs on neuron ``j``; nearest rows first."""
        candidates = np.flatnonzero(distances < below)
        candidates = candidates[np.argsort(distances[candidates])]
        first, size = 0, 64
        while first < len(candidates):
            block = candidates[first : first + size]
            hanging = self._hanging(bits[block], j)
            if hanging.any():
                return float(distances[block[hanging.argmax()]])
            first, size = first + size, 4 * size
        return np.inf

    def hangs_on(self, X: ArrayLike, j: int) -> NDArray[np.bool_]:
        """For each row whether its answer changes with the bit of first-layer neuron ``j`` alone."""
        layer = self.layers[0]
        parts = [
            self._hanging(_bits(activations(rows, layer.weights, layer.thresholds)[1]), j) for rows in self._chunks(X)
        ]
        return np.concatenate(parts)

    def _hanging(self, bits: Bits, j: int) -> NDArray[np.bool_]:
        if len(self.layers) == 1:
            return np.ones(len(bits), dtype=bool)
        above = Network(self.layers[1:])
        flipped = bits.copy()
        flipped[:, j] ^= 1
        answers: NDArray[np.bool_] = above.predict(bits) != above.predict(flipped)
        return answers

    def summary(self, feature_names: Sequence[str] | None = None) -> str:
        """The network as readable rules, one neuron a line."""
        names = [f"x{i}" for i in range(self.n_features)] if feature_names is None else list(feature_names)
        lines = [f"step network {self.n_features} -> " + " -> ".join(map(str, self.widths))]
        for k, layer in enumerate(self.layers, start=1):
            is_output = k == len(self.layers)
            new_names = ["output"] if is_output and layer.width == 1 else [f"h{k}_{j}" for j in range(layer.width)]
            for name, weights, threshold in zip(new_names, layer.weights, layer.thresholds, strict=True):
                lines.append(f"  {name} = [{_linear(weights, names)} >= {threshold:.6g}]")
            names = new_names
        return "\n".join(lines)

    @property
    def n_weights(self) -> int:
        """Non-zero weights in all layers."""
        return sum(int(np.count_nonzero(layer.weights)) for layer in self.layers)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; :meth:`from_dict` gives the same network back, bit for bit."""
        return {
            "layers": [
                {
                    "activation": "step",
                    "weights": layer.weights.tolist(),
                    "thresholds": layer.thresholds.tolist(),
                }
                for layer in self.layers
            ]
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Network:
        try:
            for layer in data["layers"]:
                if layer["activation"] != "step":
                    raise ModelFileError(f"unknown activation {layer['activation']!r}; this version knows 'step'.")
            return cls(tuple(Layer(layer["weights"], layer["thresholds"]) for layer in data["layers"]))
        except (KeyError, TypeError, InvalidInputError) as error:
            raise ModelFileError(f"the network in the file is damaged ({error}).") from error
        except ValueError as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(f"the network in the file is damaged ({error}).") from error

    def _forward(self, rows: Floats) -> Iterator[tuple[Floats, Bits]]:
        """Values ``w·h - t`` and their exact signs, layer by layer."""
        signals = rows
        for layer in self.layers:
            values, signs = activations(signals, layer.weights, layer.thresholds)
            yield values, signs
            signals = _bits(signs).astype(np.float64)

    def _output(self, rows: Floats) -> tuple[Floats, Bits]:
        *_, last = self._forward(rows)
        return last

    def _chunks(self, X: ArrayLike) -> Iterator[Floats]:
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise InvalidInputError(f"the network expects rows of {self.n_features} features; got shape {X.shape}.")
        n_rows = max(1, _CHUNK // max(*self.widths, self.n_features))
        for first in range(0, max(len(X), 1), n_rows):
            yield np.asarray(X[first : first + n_rows], dtype=np.float64)


def _bits(signs: Bits) -> Bits:
    return (signs >= 0).astype(np.int8)


def _linear(weights: Floats, names: Sequence[str]) -> str:
    terms = [f"{weight:+.6g}·{name}" for weight, name in zip(weights, names, strict=True) if weight]
    return " ".join(terms) or "0"


def majority(networks: Sequence[Network]) -> Network:
    """The majority vote of networks with one output each, as one network with one more layer.

    Members are laid side by side; shallower ones pass their bit on. A tie, possible with an even
    number of members, counts as 0.
    """
    depth = max(len(network.layers) for network in networks)
    members = [_deepened(network, depth).layers for network in networks]
    layers = [Layer(np.vstack([m[0].weights for m in members]), np.concatenate([m[0].thresholds for m in members]))]
    for k in range(1, depth):
        blocks = [m[k].weights for m in members]
        weights = np.zeros((sum(len(block) for block in blocks), sum(block.shape[1] for block in blocks)))
        row = column = 0
        for block in blocks:
            weights[row : row + len(block), column : column + block.shape[1]] = block
            row, column = row + len(block), column + block.shape[1]
        layers.append(Layer(weights, np.concatenate([m[k].thresholds for m in members])))
    n_votes = len(members)
    return Network((*layers, Layer(np.ones((1, n_votes)), np.array([n_votes // 2 + 0.5]))))


def _deepened(network: Network, depth: int) -> Network:
    """Layers on top that pass the output bit on."""
    passing = Layer(np.array([[1.0]]), np.array([0.5]))
    return Network((*network.layers, *[passing] * (depth - len(network.layers))))
