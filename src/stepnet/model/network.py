"""Layer and Network: what is learned, and its answers.

Layer k computes ``step(W h - t)``: neuron j is 1 where ``w_j·h >= t_j`` and 0 elsewhere; other activations are in
:mod:`stepnet.model.activations`. The answer of a network is the level of its output neuron (0 or 1 for a step), the
index of the largest output, or the outputs themselves. Levels are exact: ``w·h - t`` has the sign of the rational
number, independent of rounding in float64.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.model.activations.base import Activation, Levels
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.registry import from_plain, to_plain
from stepnet.model.activations.staircase import STEP
from stepnet.model.arithmetic import Bools, Floats, Weights
from stepnet.model.conjunctions import SumOfConjunctions
from stepnet.model.margin import smallest_distance
from stepnet.model.summary import neuron_rules, shape
from stepnet.runtime.notebooks import html_table
from stepnet.runtime.numbers import is_integer

_ROUNDINGS = 8  # units in the last place by which a threshold may be off
_CHUNK = 200_000  # entries of a layer computed at a time, so that they stay in the cache
_LARGE, _RARE = 2**14, 0.05  # layers of so many entries, at most this share of them not zero, are kept sparse


@dataclass(frozen=True, eq=False, init=False)
class Layer:
    """Weights (d_k × d_{k-1}), thresholds and activation of one layer.

    Thresholds are d_k numbers, or d_k × L in rising order where the activation has L > 1 per neuron. ``matrix`` holds
    the weights, sparse where nearly all of many are zero, as in votes and convolutions: what works on networks of any
    size reads it, or ``row``. ``weights`` is always the full array.
    """

    matrix: Weights
    thresholds: Floats
    activation: Activation = STEP

    def __init__(self, weights: Any, thresholds: Any, activation: Activation = STEP) -> None:
        is_sparse = sparse.issparse(weights)
        matrix = sparse.csr_array(weights, dtype=np.float64) if is_sparse else np.array(weights, np.float64, ndmin=2)
        thresholds = np.array(thresholds, dtype=np.float64, ndmin=1)
        if matrix.ndim != 2 or thresholds.shape != activation.threshold_shape(matrix.shape[0]):
            raise InvalidInputError(
                f"a layer needs weights of shape (d_k, d_k-1) and d_k thresholds (d_k rows of L where the activation "
                f"has L > 1); got shapes {matrix.shape} and {thresholds.shape}."
            )
        if not (np.isfinite(matrix.data if is_sparse else matrix).all() and np.isfinite(thresholds).all()):
            raise InvalidInputError("weights and thresholds of a layer must be finite numbers.")
        if thresholds.ndim > 1 and (np.diff(thresholds, axis=1) < 0).any():
            raise InvalidInputError("the thresholds of a staircase must be in rising order.")
        matrix = _stored(matrix)
        thresholds.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "thresholds", thresholds)
        object.__setattr__(self, "activation", activation)

    @property
    def weights(self) -> Floats:
        """All weights; a new array each time if they are kept sparse."""
        return np.asarray(self.matrix.toarray() if self.is_sparse else self.matrix)

    @property
    def is_sparse(self) -> bool:
        return bool(sparse.issparse(self.matrix))

    def row(self, j: int) -> Floats:
        """All weights of one neuron."""
        return np.asarray(self.matrix[[j]].toarray()[0] if self.is_sparse else self.matrix[j])

    def inputs_of(self, neurons: Bools) -> Bools:
        """Which inputs have a non-zero weight in one of these neurons."""
        own = self.matrix[neurons]
        return np.asarray(np.bincount(own.indices, minlength=self.n_inputs) > 0 if self.is_sparse else own.any(axis=0))

    @property
    def n_weights(self) -> int:
        """Non-zero weights."""
        return int(self.matrix.nnz if self.is_sparse else np.count_nonzero(self.matrix))

    @property
    def n_inputs(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def width(self) -> int:
        return int(self.matrix.shape[0])

    def outputs(self, levels: Levels) -> Floats:
        """The outputs of the neurons at the given levels."""
        if self.activation == STEP:
            return levels.astype(np.float64)
        return np.array(self.activation.values)[levels]

    def with_(self, weights: Weights, thresholds: Floats) -> Layer:
        """A layer with the same activation and other numbers."""
        return Layer(weights, thresholds, self.activation)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Layer)
            and self.activation == other.activation
            and np.array_equal(self.thresholds, other.thresholds)
            and self.matrix.shape == other.matrix.shape
            and not (self.matrix != other.matrix).sum()
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
            if above.n_inputs != below.width:
                raise InvalidInputError(
                    f"a layer of {below.width} neurons cannot feed a layer that expects {above.n_inputs} inputs."
                )
            if not below.activation.has_levels:
                raise InvalidInputError(f"only the last layer may have the activation {below.activation.name!r}.")

    @property
    def n_features(self) -> int:
        return self.layers[0].n_inputs

    @property
    def widths(self) -> tuple[int, ...]:
        """The hidden widths, then the width of the output."""
        return tuple(layer.width for layer in self.layers)

    @property
    def used_neurons(self) -> tuple[Bools, ...]:
        """For every layer, which neurons an answer may depend on: non-zero weights lead from them to the output."""
        last = self.layers[-1]
        used = [np.ones(last.width, dtype=bool)]
        if last.activation.has_levels:
            used[0][1:] = False  # its first neuron alone answers
        for above in reversed(self.layers[1:]):
            used.insert(0, above.inputs_of(used[0]))
        return tuple(used)

    @property
    def used_features(self) -> tuple[int, ...]:
        """The features that an answer may depend on: those with a non-zero weight in a neuron of ``used_neurons``."""
        return tuple(np.flatnonzero(self.layers[0].inputs_of(self.used_neurons[0])).tolist())

    def on_features(self, features: Sequence[int]) -> Network:
        """The same network for rows of these features alone, in this order; the others must not be used."""
        if not set(self.used_features) <= set(features):
            raise InvalidInputError(f"the network uses the features {self.used_features}; got {tuple(features)} only.")
        first, *above = self.layers
        return Network((first.with_(first.matrix[:, list(features)], first.thresholds), *above))

    def levels(self, X: ArrayLike) -> list[Levels]:
        """The exact levels of every layer (the bits of steps), as one array of rows × d_k per layer.

        A last layer without levels has its answers in one column, or no column if they are numbers.
        """
        parts = [[levels for _, levels in self.forward(rows)] for rows in self.chunks(X)]
        return [np.concatenate(layer) for layer in zip(*parts, strict=True)]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The exact answer for every row: the code of a class, or the outputs (rows × d_K) if they are numbers."""
        outputs = list(self._outputs(X))
        if self.layers[-1].activation.gives_numbers:
            return np.concatenate([values for values, _ in outputs])
        return np.concatenate([levels for _, levels in outputs])[:, 0].astype(np.int64)

    def values(self, X: ArrayLike) -> Floats:
        """``w·h - t`` of the last layer (rows × d_K) for any activation; the same on every machine."""
        *below, last = self.layers
        return Network((*below, Layer(last.matrix, last.thresholds.reshape(last.width, -1)[:, 0], IDENTITY))).predict(X)

    def decision(self, X: ArrayLike) -> Floats:
        """``w·h - t`` of the output neuron, positive exactly where :meth:`predict` answers 1.

        A tie, where the neuron is on by definition, gives the smallest positive float. Several outputs give rows × d_K
        values, of which the first largest is the answer up to rounding; a staircase as output gives 1 in the column of
        the answer.
        """
        outputs, activation = self._outputs(X), self.layers[-1].activation
        # Sums that overflow in both directions are NaN; their answers are known exactly.
        return np.concatenate([activation.scores(np.nan_to_num(values), levels) for values, levels in outputs])

    def margin(self, X: ArrayLike) -> float:
        """The smallest Euclidean distance of a row to a hyperplane that its answer depends on.

        An answer depends on a first-layer neuron if it changes with the bit of this neuron alone. Infinity if no answer
        depends on any neuron.
        """
        margin = self.margin_unless(X, lambda: False)
        assert margin is not None
        return margin

    def margin_unless(self, X: ArrayLike, should_stop: Callable[[], bool]) -> float | None:
        """The margin; None if it must stop before that is known."""
        return smallest_distance(self, X, should_stop)

    def hangs_on(self, X: ArrayLike, j: int) -> Bools:
        """For each row, whether its answer changes with the bit of first-layer step neuron ``j`` alone."""
        parts = [next(self.forward(rows))[1] for rows in self.chunks(X)]
        return np.concatenate([self._hanging(bits, j, 1 - bits[:, j]) for bits in parts])

    def _hanging(self, levels: Levels, j: int, other: Levels) -> Bools:
        if len(self.layers) == 1:
            return np.ones(len(levels), dtype=bool)
        outputs = self.layers[0].outputs(levels)
        changed = outputs.copy()
        changed[:, j] = self.layers[0].outputs(other)
        above = Network(self.layers[1:])
        return np.asarray((above.predict(outputs) != above.predict(changed)).reshape(len(levels), -1).any(axis=1))

    def with_neuron(self, j: int, neuron: Layer) -> Network:
        """The network with first-layer neuron ``j`` replaced by the only neuron of another layer."""
        first = self.layers[0]
        weights, thresholds = first.weights.copy(), first.thresholds.copy()
        weights[j], thresholds[j] = neuron.weights[0], neuron.thresholds[0]
        return Network((first.with_(weights, thresholds), *self.layers[1:]))

    def with_higher_output(self, by: float, X: ArrayLike) -> Network:
        """The network with the threshold of its only output neuron raised, on for the rows whose decision is >= ``by``.

        The new threshold is rounded to a float, and so are decisions. Where the two disagree on a row of ``X``, the
        threshold moves on by a few units in the last place.
        """
        *below, last = self.layers
        wanted = self.predict(X) if by == 0 else self.decision(X) >= by
        raised = last.thresholds + by if by else last.thresholds
        for _ in range(_ROUNDINGS):
            network = Network((*below, last.with_(last.matrix, raised)))
            on = network.predict(X)
            if (on == wanted).all():
                return network
            raised = np.nextafter(raised, np.inf if (on > wanted).any() else -np.inf)
        raise InvalidInputError(
            f"no threshold of the output separates the rows at {by!r}: decisions there differ by rounding only. Choose "
            f"a number between two decisions."
        )

    def summary(self, feature_names: Sequence[str] | None = None) -> str:
        """The network as readable rules, one line per neuron."""
        lines = [shape(self), *(f"  {name}: {rule}" for name, rule in neuron_rules(self, feature_names))]
        if reading := self.layers[-1].activation.reading:
            lines.append(f"  {reading}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: a table of the rules."""
        return html_table(shape(self), neuron_rules(self))

    @property
    def n_weights(self) -> int:
        """Non-zero weights in all layers."""
        return sum(layer.n_weights for layer in self.layers)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; :meth:`from_dict` restores the same network, bit for bit."""
        return {
            "layers": [
                {
                    "activation": to_plain(layer.activation),
                    "weights": plain_weights(layer.matrix),
                    "thresholds": layer.thresholds.tolist(),
                }
                for layer in self.layers
            ]
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Network:
        try:
            layers = [(one["weights"], one["thresholds"], one["activation"]) for one in data["layers"]]
            return cls(tuple(Layer(matrix_of(w), _numbers(t, np.ndim(t)), from_plain(kind)) for w, t, kind in layers))
        except (KeyError, TypeError, ValueError, InvalidInputError) as error:
            raise ModelFileError(f"the network in the file is damaged ({error}).") from error

    @classmethod
    def from_layers(cls, layers: Sequence[Any]) -> Network:
        """A network from arrays, such as the weights of a binarised network trained elsewhere.

        Parameters
        ----------
        layers : sequence
            From the inputs to the output, each a tuple (weights, thresholds, activation) or a dictionary with some of

            - ``weights``: one row per neuron, an array or a sparse matrix; a first layer with a ``batch_norm`` may
              have none, then it normalises the features;
            - ``bias`` or ``thresholds``: added to the sums, or subtracted;
            - ``batch_norm``: (gamma, beta, mean, variance, epsilon), after the bias. A normalised sign is a threshold
              with a direction, and it is computed in rational numbers: over bits no answer is rounded;
            - ``activation``: "step" (default), "sign", a Staircase, and for the last layer "argmax" or "identity";
            - ``zero``: what a step or sign of 0 is, 1 (default), -1 or, for a sign, 0.

        Where a number of the network has to be rounded to float64, a warning says so.

        Examples
        --------
        >>> from stepnet import Network
        >>> normalised = ([1, -2], [0, 1], [0.5, 0], [4, 1], 0)
        >>> hidden = {"weights": [[1, -1], [1, 1]], "batch_norm": normalised, "activation": "sign"}
        >>> network = Network.from_layers([hidden, {"weights": [[1, 1], [1, -1]], "activation": "argmax"}])
        >>> network.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
        [1, 0]
        """
        from stepnet.model.foreign.arrays import network_of

        network, notes = network_of(layers)
        _warn_of(notes)
        return network

    @classmethod
    def from_onnx(cls, path: str | os.PathLike[str], *, output: str | None = None, zero: int | None = None) -> Network:
        """The network of an ONNX file, for files whose numbers become steps: Sign, Greater, Where and the like.

        The answers are those of the file in exact arithmetic. Convolutions become sparse layers, batch normalisation
        and pools are folded into neurons. A network that stepnet exported is read back as it was.

        Parameters
        ----------
        path : path
        output : "argmax", optional
            Let the answer be the place of the largest output, where the file ends with the outputs themselves. By
            default the answers are those of the file.
        zero : -1, 0 or 1, optional
            What a Sign of 0 is. In ONNX it is 0, which takes two neurons for each Sign on sums that can be 0.

        Where a number of the network has to be rounded to float64, or differs from the file as asked, a warning says
        so. A file that cannot be read raises a ModelFileError that names the operator.
        """
        from stepnet.model.foreign.onnx_file import read_onnx

        found = read_onnx(path, output=output, zero=zero)
        _warn_of(found.notes)
        return found.network

    def forward(self, rows: Floats) -> Iterator[tuple[Floats, Levels]]:
        """The values ``w·h - t`` for the first threshold, and the exact levels, layer by layer."""
        signals = rows
        for layer in self.layers:
            values, levels = layer.activation.read(signals, layer.matrix, layer.thresholds)
            yield values, levels
            if layer.activation.has_levels:
                signals = layer.outputs(levels)

    def _outputs(self, X: ArrayLike) -> Iterator[tuple[Floats, Levels]]:
        """What :meth:`forward` gives for the last layer, for some rows at a time."""
        if (whole := self._sum_of_conjunctions) is not None:
            yield from (whole.read(rows) for rows in self.chunks(X, whole.n_rows))
            return
        for rows in self.chunks(X):
            *_, last = self.forward(rows)
            yield last

    @cached_property
    def _sum_of_conjunctions(self) -> SumOfConjunctions | None:
        return SumOfConjunctions.of(self.layers)

    def chunks(self, X: ArrayLike, n_rows: int | None = None) -> Iterator[Floats]:
        """The rows, some at a time, as float64."""
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise InvalidInputError(f"the network expects rows of {self.n_features} features; got shape {X.shape}.")
        n_rows = n_rows or max(1, _CHUNK // max(*self.widths, self.n_features))
        for first in range(0, max(len(X), 1), n_rows):
            yield np.asarray(X[first : first + n_rows], dtype=np.float64)


def _warn_of(notes: Sequence[str]) -> None:
    if notes:
        warnings.warn(f"the network differs from what was read: {'; '.join(notes)}.", stacklevel=3)


def _stored(matrix: Weights) -> Weights:
    """Sparse if nearly all of many weights are zero, otherwise a full array; not to be written into."""
    is_sparse = sparse.issparse(matrix)
    if is_sparse:
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    n_entries = matrix.shape[0] * matrix.shape[1]
    n_weights = matrix.nnz if is_sparse else np.count_nonzero(matrix)
    if n_entries >= _LARGE and n_weights <= _RARE * n_entries:
        return matrix if is_sparse else sparse.csr_array(matrix)
    matrix = matrix.toarray() if is_sparse else matrix
    matrix.flags.writeable = False
    return matrix


def plain_weights(matrix: Weights) -> Any:
    """Rows of numbers; if sparse, each row as the positions of its weights and the weights."""
    if not sparse.issparse(matrix):
        return matrix.tolist()
    ends = matrix.indptr[1:-1]
    rows = zip(np.split(matrix.indices, ends), np.split(matrix.data, ends), strict=True)
    return {"n_inputs": matrix.shape[1], "rows": [[places.tolist(), values.tolist()] for places, values in rows]}


def matrix_of(plain: Any) -> Weights:
    """The inverse of :func:`plain_weights`, for what a file holds."""
    if not isinstance(plain, dict):
        return _numbers(plain, 2)
    n_inputs, rows = plain["n_inputs"], plain["rows"]
    if not is_integer(n_inputs) or n_inputs < 1:
        raise TypeError(f"n_inputs={n_inputs!r} is not a number of inputs")
    places = [np.array(one, dtype=np.int64) for one, _ in rows]
    values = [_numbers(one, 1) for _, one in rows]
    for own, weights in zip(places, values, strict=True):
        is_inside = not own.size or 0 <= own[0] <= own[-1] < n_inputs
        if own.shape != weights.shape or (np.diff(own) <= 0).any() or not is_inside:
            raise TypeError("weights of a row need one place each, in rising order")
    ends = np.cumsum([0, *map(len, values)])
    return sparse.csr_array((np.concatenate(values), np.concatenate(places), ends), shape=(len(rows), int(n_inputs)))


def _numbers(values: Any, n_axes: int) -> Floats:
    """Nested lists of numbers from a file; anything else that NumPy could convert is rejected."""
    array = np.array(values)
    if array.ndim != n_axes or n_axes == 0 or (array.size and array.dtype.kind not in "iuf"):
        raise TypeError(f"{str(values)[:40]} is not a list of numbers")
    return array.astype(np.float64)
