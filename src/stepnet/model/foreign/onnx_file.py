"""ONNX files, read as networks of step neurons."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError, ModelFileError, StepnetError
from stepnet.model.foreign import arrangements, linear_operators, operators
from stepnet.model.foreign.answers import Answers, answers_of, argmax_of
from stepnet.model.foreign.neurons import Neurons
from stepnet.model.foreign.operators import Context
from stepnet.model.foreign.rationals import Rationals
from stepnet.model.foreign.tensors import Steps, Sums, as_bits
from stepnet.model.network import Network
from stepnet.runtime.extras import imported

_MOST_FEATURES = 2**24


@dataclass(frozen=True)
class Reading:
    """What an ONNX file holds.

    Attributes
    ----------
    network : Network
        Its features are the entries of the file's input, in row-major order.
    classes : ndarray or None
        The file's answers by code; None if its answers are numbers.
    input_shape : tuple of int
        Of one row, with the axis of the batch.
    dtype : str
        Of the input in the file.
    notes : tuple of str
        Where the network differs from the file in exact arithmetic; empty if it does not.
    """

    network: Network
    classes: Any
    input_shape: tuple[int, ...]
    dtype: str
    notes: tuple[str, ...]


def read_onnx(path: str | os.PathLike[str], *, output: str | None = None, zero: int | None = None) -> Reading:
    """Read an ONNX file; see :meth:`stepnet.Network.from_onnx`."""
    if output not in (None, "argmax"):
        raise InvalidInputError(f"output={output!r} is not known; choose 'argmax', or None for that of the file.")
    if zero not in (None, -1, 0, 1):
        raise InvalidInputError(f"zero={zero!r} must be -1, 0 or 1, the sign of zero, or None for that of the file.")
    model = _loaded(path)
    try:
        own = _own(model) if output is None else None
        return own or _Graph(model, output, zero).read()
    except ModelFileError as error:
        raise ModelFileError(f"{str(path)!r} cannot be read as a network of steps: {error}.") from error


def graph_fingerprint(graph: Any) -> str:
    """Tells whether a graph is the one that the network in the metadata was written with."""
    return hashlib.sha256(graph.SerializeToString()).hexdigest()


def _loaded(path: str | os.PathLike[str]) -> Any:
    onnx = imported("onnx")
    if not Path(path).is_file():
        raise InvalidInputError(f"there is no file {str(path)!r}.")
    try:
        model = onnx.load(os.fspath(path))
    except Exception as error:  # of protobuf, onnx and the file system, each with its own kind
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ModelFileError(f"{str(path)!r} is not an ONNX file ({reason}); export it again.") from error
    if not model.graph.node:
        raise ModelFileError(f"{str(path)!r} is not an ONNX file, or it has no operators; export it again.")
    return model


def _own(model: Any) -> Reading | None:
    """The network that stepnet wrote into the metadata, if the graph is still the one it was written with."""
    known = {one.key: one.value for one in model.metadata_props}
    if "network" not in known or known.get("graph") != graph_fingerprint(model.graph):
        return None
    try:
        content = json.loads(known["network"])
        network = Network.from_dict(content)
        shape, dtype = _input_of(model)
        classes = None if content["classes"] is None else np.array(content["classes"])
        return Reading(network, classes, shape, dtype, tuple(content["notes"]))
    except (StepnetError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"the network in its metadata is damaged ({error})") from error


def _input_of(model: Any) -> tuple[tuple[int, ...], str]:
    """The shape of one row, with 1 for axes of any size, and the type of its numbers."""
    onnx = imported("onnx")
    constants = {one.name for one in model.graph.initializer}
    inputs = [one for one in model.graph.input if one.name not in constants]
    if len(inputs) != 1:
        raise ModelFileError(f"it has {len(inputs)} inputs, and one is expected")
    kind = inputs[0].type.tensor_type
    shape = tuple(int(one.dim_value) or 1 for one in kind.shape.dim)
    if not 1 <= int(np.prod(shape)) <= _MOST_FEATURES:
        raise ModelFileError(f"its input has the shape {shape}")
    return shape, str(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)))


class _Graph:
    """The operators of a file, one after the other."""

    def __init__(self, model: Any, output: str | None, zero: int | None) -> None:
        self.onnx, self.graph, self.output = imported("onnx"), model.graph, output
        self.shape, self.dtype = _input_of(model)
        self.neurons = Neurons(int(np.prod(self.shape)))
        self.context = Context(self.neurons, None if zero is None else Fraction(zero))
        self.values: dict[str, Any] = {}
        for tensor in self.graph.initializer:
            self.values[tensor.name] = self._array(tensor)
        name = next(one.name for one in self.graph.input if one.name not in self.values)
        self.values[name] = Sums.of_inputs(self.shape)

    def read(self) -> Reading:
        for node in self.graph.node:
            self._run(node)
        if len(self.graph.output) != 1:
            names = ", ".join(one.name for one in self.graph.output)
            raise ModelFileError(f"it has the outputs {names}, and one is expected; keep the one to be read")
        name = self.graph.output[0].name
        if name not in self.values:
            raise ModelFileError(f"no operator gives its output {name!r}")
        value = self.values[name]
        found: Answers = answers_of(argmax_of(value, self.neurons) if self.output == "argmax" else value, self.neurons)
        return Reading(found.network, found.classes, self.shape, self.dtype, tuple(self.neurons.notes))

    def _run(self, node: Any) -> None:
        where = f"node {node.name or (node.output[0] if node.output else '?')!r} ({node.op_type})"
        try:
            given = [self.values[name] if name else None for name in node.input]
        except KeyError as error:
            raise ModelFileError(f"{where} needs {error}, which no operator before it gives") from error
        try:
            options = {one.name: self.onnx.helper.get_attribute_value(one) for one in node.attribute}
            operator = _operator(node)
            results = operator(self.context, options, *given)
        except ModelFileError as error:
            raise ModelFileError(f"{where}: {error}") from error
        except (InvalidInputError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
            raise ModelFileError(f"{where} is malformed ({' '.join(str(error).split())})") from error
        self.values[node.output[0]] = results

    def _array(self, tensor: Any) -> Any:
        try:
            return np.asarray(self.onnx.numpy_helper.to_array(tensor))
        except Exception as error:  # of onnx, on damaged or missing data
            raise ModelFileError(f"the constant {tensor.name!r} is damaged ({error})") from error


def _constant(context: Context, options: operators.Options) -> Any:
    name, value = next(iter(options.items()))
    if name == "value":
        return np.asarray(imported("onnx").numpy_helper.to_array(value))
    if name not in ("value_float", "value_floats", "value_int", "value_ints"):
        raise ModelFileError(f"its attribute {name!r} cannot be read")
    return np.array(value)


def _cast(context: Context, options: operators.Options, value: Any) -> Any:
    """Steps are cast value by value; of sums, only those of integers can become integers."""
    onnx = imported("onnx")
    wanted = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(options["to"]))
    if operators.is_constant(value):
        return value.astype(wanted)
    if isinstance(value, Steps):
        if wanted.kind == "b":
            return value.mapped(lambda values: as_bits(values != 0))
        return value.mapped(_cut) if wanted.kind in "iu" else value
    if isinstance(value, Sums) and wanted.kind in "iub" and not value.is_integer(context.neurons.n_features):
        raise ModelFileError(f"it casts numbers to {wanted}; put a step such as Greater or Sign before it")
    if isinstance(value, Sums) and wanted.kind == "f" and (value.matrix.indices < context.neurons.n_features).any():
        context.neurons.note(f"inputs are not rounded to {wanted}, as a Cast in the file does")
    return value


def _cut(values: Rationals) -> Rationals:
    """Without the digits after the point, as a cast to integers does."""
    return np.asarray(np.frompyfunc(lambda one: Fraction(math.trunc(one)), 1, 1)(values))


def _same(context: Context, options: operators.Options, value: Any, *_: Any) -> Any:
    return value


_PLAIN = {"Reshape": "reshape", "Flatten": "flatten", "Transpose": "transpose", "Squeeze": "squeeze"}
_OPERATORS: dict[str, Callable[..., Any]] = {
    **{name: operators.arithmetic(name) for name in ("Add", "Sub", "Mul", "Div")},
    **{name: operators.comparison(name) for name in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual")},
    **{name: arrangements.arranging(getattr(arrangements, function)) for name, function in _PLAIN.items()},
    **dict.fromkeys(("Identity", "Dropout"), _same),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Sigmoid"), linear_operators.softmax),
    "And": operators.logical(lambda count: count - 0.5),
    "ArgMax": linear_operators.argmax,
    "AveragePool": linear_operators.average_pool,
    "BatchNormalization": operators.batch_normalisation,
    "Cast": _cast,
    "Clip": operators.clip,
    "Concat": arrangements.concat,
    "Constant": _constant,
    "Conv": linear_operators.conv,
    "Equal": operators.equal,
    "Expand": arrangements.expand,
    "Gather": arrangements.gather,
    "Gemm": linear_operators.gemm,
    "GlobalAveragePool": linear_operators.global_average_pool,
    "GlobalMaxPool": linear_operators.global_max_pool,
    "MatMul": linear_operators.matmul,
    "MaxPool": linear_operators.max_pool,
    "Neg": operators.negative,
    "Not": operators.inverse,
    "Or": operators.logical(lambda count: 0.5),
    "Pad": arrangements.pad,
    "ReduceMean": linear_operators.reduction(True),
    "ReduceSum": linear_operators.reduction(False),
    "Relu": operators.rectified,
    "Shape": arrangements.shape_of,
    "Sign": operators.sign,
    "Slice": arrangements.arranging(arrangements.cut),
    "Unsqueeze": arrangements.arranging(arrangements.unsqueeze),
    "Where": operators.where,
}


def _operator(node: Any) -> Callable[..., Any]:
    if node.domain not in ("", "ai.onnx") or node.op_type not in _OPERATORS:
        name = f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        raise ModelFileError(
            f"the operator {name} is not known; known are {', '.join(sorted(_OPERATORS))}. Export the network with "
            f"these, or build it from arrays by Network.from_layers"
        )
    return _OPERATORS[node.op_type]
