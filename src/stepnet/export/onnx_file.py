"""A fitted estimator as an ONNX model.

Sums are of integers that floats hold, in several digits where one is not enough, so they make no rounding errors: the
first layer cuts its rows into slices of few digits for that. Without these slices it compares plain sums of floats
with thresholds, and the model says how near to a hyperplane rounding may be seen.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepnet.errors import InvalidInputError, MissingExtraError
from stepnet.export.described import Described, describe
from stepnet.export.integers import Sums, digits, n_digits, over_bits, scaled
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.arithmetic import slice_bits, slices
from stepnet.model.network import Layer

_MANTISSAS = {"float64": 53, "float32": 24}
_OPSET, _IR_VERSION = 17, 8
_N_SLICES, _SCALE_STEP = 5, 8  # of rows: how many, and the bits by which their scales differ


def to_onnx(estimator: Any, *, dtype: str = "float64", exact: bool | None = None) -> bytes:
    """The model as ONNX: input ``x`` (rows × features), output ``label`` (classes) or ``y`` (rows × outputs).

    Parameters
    ----------
    estimator : fitted estimator
    dtype : "float64" or "float32", default="float64"
        With float32 weights and rows are rounded: answers near hyperplanes may differ.
    exact : bool, optional
        Whether the first layer is computed without rounding errors, by some twenty products of matrices instead of
        one. The default is yes for float64; float32 cannot. Otherwise :func:`doubt` says which rows may be told
        wrongly.
    """
    _require_dtype(dtype)
    if exact and dtype != "float64":
        raise InvalidInputError(f"exact=True needs dtype='float64'; got {dtype!r}, which rounds the weights.")
    is_exact = dtype == "float64" if exact is None else exact
    onnx = _imported("onnx")
    described = describe(estimator)
    graph = _Graph(onnx, dtype, is_exact)
    signals = _hidden_layers(graph, described)
    if described.classes is None:
        output = _outputs(graph, described, signals)
        outputs = [onnx.helper.make_tensor_value_info("y", graph.type, ["rows", described.network.widths[-1]])]
    else:
        classes = _class_values(described.classes)
        output = graph.add("Gather", graph.constant(classes), _codes(graph, described, signals))
        outputs = [onnx.helper.make_tensor_value_info("label", graph.element_type(classes), ["rows"])]
    graph.nodes.append(onnx.helper.make_node("Identity", [output], [outputs[0].name]))
    x = onnx.helper.make_tensor_value_info("x", graph.type, ["rows", described.network.n_features])
    model = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, "stepnet", [x], outputs, graph.constants),
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="stepnet",
        doc_string=_statement(described, graph),
    )
    onnx.helper.set_model_props(model, _properties(described, graph))
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString()
    return content


def run_onnx(model: bytes, X: ArrayLike) -> NDArray[Any]:
    """The answers of an ONNX model that :func:`to_onnx` made, by onnxruntime."""
    session = _imported("onnxruntime").InferenceSession(model, providers=["CPUExecutionProvider"])
    kind = np.float64 if "double" in session.get_inputs()[0].type else np.float32
    return np.asarray(session.run(None, {"x": np.asarray(X, dtype=kind)})[0])


def doubt(estimator: Any, *, largest: float = 1.0, dtype: str = "float64") -> float:
    """Rows with entries up to ``largest`` that keep this distance from hyperplanes need no exact first layer.

    Hyperplanes are those of the first layer; layers above it make no rounding errors.
    """
    slope, constant = _doubt(describe(estimator).network.layers[0], dtype)
    return slope * largest + constant


def _doubt(layer: Layer, dtype: str) -> tuple[float, float]:
    """The distance as slope · largest entry + constant: rounding errors over the length of the weights."""
    _require_dtype(dtype)
    if layer.activation == IDENTITY:
        return 0.0, 0.0
    weights, thresholds = layer.weights, np.abs(layer.thresholds.reshape(layer.width, -1)).max(axis=1)
    sizes, apart = np.abs(weights).sum(axis=1), weights
    if layer.activation.name == "argmax":
        pairs = list(combinations(range(layer.width), 2))
        k, j = np.array(pairs, dtype=int).reshape(-1, 2).T
        sizes, thresholds, apart = sizes[k] + sizes[j], thresholds[k] + thresholds[j], weights[k] - weights[j]
    lengths = np.linalg.norm(apart, axis=1)
    used = sizes > 0  # a sum without weights is 0
    if not used.any():
        return 0.0, 0.0
    if (lengths[used] == 0).any():
        return np.inf, np.inf
    unit = (weights.shape[1] + 8) * 2.0 ** -_MANTISSAS[dtype]
    return float(unit * (sizes[used] / lengths[used]).max()), float(unit * (thresholds[used] / lengths[used]).max())


def _statement(described: Described, graph: _Graph) -> str:
    lines = [f"{described.title}, written by stepnet."]
    if described.classes is None:
        lines.append(
            "The sums of the last layer are those of predict to the last bit."
            if _is_one_slice(described) and graph.mantissa == 53
            else f"The sums of the last layer are rounded in {graph.dtype}: they may differ in the last digits."
        )
    lines.append(_promise(described.network.layers[0], graph))
    lines.append(
        f"The margin of the training rows is {described.certificate.margin:.4g}. Layers above the first are exact."
    )
    return "\n".join([*lines, *described.certified()])


def _promise(first: Layer, graph: _Graph) -> str:
    """Of which rows the bits of the first layer are exact."""
    if graph.is_exact:
        return (
            f"Answers are those of predict for every row whose entries, and 1, are multiples of "
            f"2^-{_exact_bits(first)} of the largest of them; digits below that are left out."
        )
    slope, constant = _doubt(first, graph.dtype.name)
    rounded = " Weights and rows are rounded to float32, which is part of that distance." if graph.mantissa < 53 else ""
    return (
        f"Answers are those of predict for rows that are farther than {slope:.3g} * (largest absolute entry) + "
        f"{constant:.3g} from every hyperplane of the first layer, products that over- or underflow apart; nearer "
        f"ones may be rounded to the other side.{rounded}"
    )


def _properties(described: Described, graph: _Graph) -> dict[str, str]:
    certificate = described.certificate.to_dict()
    if np.isinf(certificate["margin"]):
        certificate["margin"] = None
    return {
        "features": json.dumps(described.sentences),
        "feature_names": json.dumps(described.names),
        "classes": json.dumps(described.class_names),
        "certificate": json.dumps(certificate),
        "exactness": _promise(described.network.layers[0], graph),
    }


class _Graph:
    """Nodes and constants of a model, each with a name of its own; signals are floats of one type."""

    def __init__(self, onnx: Any, dtype: str, is_exact: bool) -> None:
        self.onnx, self.dtype, self.mantissa, self.is_exact = onnx, np.dtype(dtype), _MANTISSAS[dtype], is_exact
        self.type = onnx.helper.np_dtype_to_tensor_dtype(self.dtype)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, **options: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], **options))
        return name

    def constant(self, values: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        helper = self.onnx.helper
        if values.dtype == object:
            content = [text.encode("utf-8") for text in values.tolist()]
            self.constants.append(helper.make_tensor(name, self.onnx.TensorProto.STRING, values.shape, content))
        else:
            self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def element_type(self, values: NDArray[Any]) -> Any:
        is_text = values.dtype == object
        return self.onnx.TensorProto.STRING if is_text else self.onnx.helper.np_dtype_to_tensor_dtype(values.dtype)

    def floats(self, values: Any) -> str:
        return self.constant(np.asarray(values, dtype=self.dtype))

    def sums(self, signals: str, weights: Any) -> str:
        return self.add("MatMul", signals, self.floats(np.asarray(weights, dtype=self.dtype).T))

    def is_on(self, sums: str, thresholds: Any) -> str:
        """1 where sums reach thresholds, else 0."""
        return self.add("Cast", self.add("GreaterOrEqual", sums, self.floats(thresholds)), to=self.type)


def _hidden_layers(graph: _Graph, described: Described) -> str:
    """The bits of all layers whose neurons have levels."""
    first, *others = described.network.layers
    if first.activation.name in ("argmax", "identity"):
        return "x"
    repeated = np.repeat(first.weights, first.activation.n_thresholds, axis=0)
    if graph.is_exact:
        signals = _exact_signs(graph, _exact_rows(repeated, first.thresholds.ravel()))
    else:
        signals = graph.is_on(graph.sums("x", repeated), first.thresholds.ravel())
    below = first
    for layer in others:
        if layer.activation.name not in ("argmax", "identity"):
            signals, below = _bits(graph, signals, over_bits(layer, below.activation.values)), layer
    return signals


def _exact_rows(weights: NDArray[np.float64], thresholds: NDArray[np.float64]) -> list[list[Fraction]]:
    """Weights over rows that end with a 1."""
    return [
        [*map(Fraction, row), -Fraction(end)] for row, end in zip(weights.tolist(), thresholds.tolist(), strict=True)
    ]


def _exact_bits(first: Layer) -> int:
    """Binary digits of a row, below the largest of its entries, that an exact first layer sees for certain."""
    return _N_SLICES * _slice_digits(first.weights.shape[1] + 1) - _SCALE_STEP


def _slice_digits(n_terms: int) -> int:
    """Digits of a slice, so that the products of two of them add up below 2^52 for all slices at a place."""
    return (53 - (n_terms * _N_SLICES).bit_length()) // 2


def _exact_signs(graph: _Graph, rows: list[list[Fraction]]) -> str:
    """1 where the weights times (x, 1) are not negative, else 0, by sums without rounding.

    Both factors are integers in digits of few bits: those of weights by an exact scaling of every neuron, those of a
    row by a power of two above its entries.
    """
    n_bits = _slice_digits(len(rows[0]))
    integers = [scaled(row)[0] for row in rows]
    largest = max(abs(weight) for row in integers for weight in row)
    count = n_digits(largest, n_bits)
    weights = np.array([[digits(weight, n_bits, count) for weight in row] for row in integers], dtype=np.float64)
    left = _row_slices(graph, n_bits)
    right = [graph.floats(weights[:, :, t].T) for t in range(count)]
    places: dict[int, str] = {}
    for s, one in enumerate(left, start=1):
        for t, other in enumerate(right):
            part = graph.add("MatMul", one, other)
            places[t - s] = graph.add("Add", places[t - s], part) if t - s in places else part
    return graph.is_on(_carried(graph, [places[place] for place in sorted(places)], n_bits), 0.0)


def _row_slices(graph: _Graph, n_bits: int) -> list[str]:
    """Rows (x, 1), scaled by a power of two into (-1, 1), as integers of ``n_bits`` digits, the highest first."""
    powers = 2.0 ** np.arange(0, 1024, _SCALE_STEP)
    one = graph.add("ReduceSum", graph.add("Mul", "x", graph.floats(0.0)), graph.constant(np.array([1])), keepdims=1)
    row = graph.add("Concat", "x", graph.add("Add", one, graph.floats(1.0)), axis=1)
    size = graph.add("ReduceMax", graph.add("Abs", row), axes=[1], keepdims=1)
    number = graph.add("ReduceSum", graph.is_on(size, powers), graph.constant(np.array([1])), keepdims=1)
    scales = graph.floats(np.ldexp(1.0, -_SCALE_STEP * np.arange(len(powers) + 1)))
    rest = graph.add(
        "Mul", row, graph.add("Gather", scales, graph.add("Cast", number, to=graph.onnx.TensorProto.INT64))
    )
    found = []
    for _ in range(_N_SLICES):
        rest = graph.add("Mul", rest, graph.floats(2.0**n_bits))
        found.append(graph.add("Round", rest))
        rest = graph.add("Sub", rest, found[-1])
    return found


def _carried(graph: _Graph, places: list[str], n_bits: int) -> str:
    """The last carry of digits, the lowest first: it has the sign of the whole, since what is below is not negative."""
    carry = ""
    for digit in places:
        total = graph.add("Add", digit, carry) if carry else digit
        carry = graph.add("Floor", graph.add("Mul", total, graph.floats(2.0**-n_bits)))
    return carry


def _bits(graph: _Graph, signals: str, sums: Sums) -> str:
    """Which thresholds are reached, in an exact comparison."""
    weights = [row for row, ends in zip(sums.weights, sums.thresholds, strict=True) for _ in ends]
    ends = [end for row in sums.thresholds for end in row]
    if sums.largest < 2**graph.mantissa:
        return graph.is_on(graph.sums(signals, weights), ends)
    n_bits = graph.mantissa - 1 - (len(weights[0]) + 2).bit_length()
    count = n_digits(sums.largest, n_bits)
    row_digits = np.array([[digits(weight, n_bits, count) for weight in row] for row in weights], dtype=graph.dtype)
    end_digits = np.array([digits(end, n_bits, count) for end in ends], dtype=graph.dtype)
    places = [
        graph.add("Sub", graph.sums(signals, row_digits[:, :, k]), graph.floats(end_digits[:, k])) for k in range(count)
    ]
    return graph.is_on(_carried(graph, places, n_bits), 0.0)


def _codes(graph: _Graph, described: Described, signals: str) -> str:
    """The code of every row's class: the level of the output, or the number of the largest one."""
    layers = described.network.layers
    last = layers[-1]
    if last.activation.name != "argmax":
        level = graph.add("ReduceSum", signals, graph.constant(np.array([1])), keepdims=0)
        return graph.add("Cast", level, to=graph.onnx.TensorProto.INT64)
    pairs = list(combinations(range(last.width), 2))
    if len(layers) == 1 and graph.is_exact:
        rows = _exact_rows(last.weights, last.thresholds)
        apart = [[a - b for a, b in zip(rows[k], rows[j], strict=True)] for k, j in pairs]
        return _codes_by_pairs(graph, _exact_signs(graph, apart), last.width)
    if len(layers) == 1:
        scores = graph.add("Sub", graph.sums("x", last.weights), graph.floats(last.thresholds))
        return graph.add("ArgMax", scores, axis=1, keepdims=0)
    sums = over_bits(last, layers[-2].activation.values)
    if sums.largest < 2**graph.mantissa:
        weights = sums.factor * np.array(sums.weights, dtype=np.float64)
        scores = graph.add("Sub", graph.sums(signals, weights), graph.floats([end for (end,) in sums.thresholds]))
        return graph.add("ArgMax", scores, axis=1, keepdims=0)
    differences = [
        [sums.factor * (a - b) for a, b in zip(sums.weights[k], sums.weights[j], strict=True)] for k, j in pairs
    ]
    ends = [[sums.thresholds[k][0] - sums.thresholds[j][0]] for k, j in pairs]
    return _codes_by_pairs(graph, _bits(graph, signals, Sums(differences, ends)), last.width)


def _codes_by_pairs(graph: _Graph, bits: str, n_classes: int) -> str:
    """Who wins all of its pairs, given for each whether the first is not below the second."""
    pairs = list(combinations(range(n_classes), 2))
    wins, alone = np.zeros((n_classes, len(pairs))), np.zeros(n_classes)
    for number, (k, j) in enumerate(pairs):
        wins[k, number], wins[j, number] = 1.0, -1.0
        alone[j] += 1.0
    counts = graph.add("Add", graph.sums(bits, wins), graph.floats(alone))
    return graph.add("ArgMax", counts, axis=1, keepdims=0)


def _outputs(graph: _Graph, described: Described, signals: str) -> str:
    """The sums of the last layer; in slices as predict adds them, where that takes one slice of the values."""
    *below, last = described.network.layers
    if below:
        width, values = below[-1].width, below[-1].activation.values
        blocks = np.kron(np.eye(width), np.ones(len(values) - 1))
        levels = graph.add("Cast", graph.sums(signals, blocks), to=graph.onnx.TensorProto.INT64)
        signals = graph.add("Gather", graph.floats(values), levels)
    if not _is_one_slice(described) or graph.mantissa != 53:
        return graph.add("Sub", graph.sums(signals, last.weights), graph.floats(last.thresholds))
    total, rest = graph.floats(-last.thresholds), graph.floats(np.zeros(last.width))
    for part_weights in slices(last.weights, slice_bits(last.weights.shape[1])) or [np.zeros_like(last.weights)]:
        part, before = graph.sums(signals, part_weights), total
        total = graph.add("Add", before, part)
        added = graph.add("Sub", total, before)
        lost = graph.add("Sub", before, graph.add("Sub", total, added))
        rest = graph.add("Add", rest, graph.add("Add", lost, graph.add("Sub", part, added)))
    return graph.add("Add", total, rest)


def _is_one_slice(described: Described) -> bool:
    """Whether any row of values of the layer below the last is a slice by itself, so that predict does not cut it."""
    layers = described.network.layers
    if len(layers) == 1:
        return False
    values = np.array(layers[-2].activation.values)
    n_bits = slice_bits(layers[-1].weights.shape[1])
    rows = [values[np.abs(values) <= largest] for largest in np.unique(np.abs(values))]
    return all(len(slices(row[None, :], n_bits)) <= 1 for row in rows)


def _class_values(classes: NDArray[Any]) -> NDArray[Any]:
    """Classes in a type that ONNX has: integers, truth values, floats, or text."""
    kinds = {"i": np.int64, "u": np.int64, "b": np.bool_, "f": np.float64}
    return (
        classes.astype(kinds[classes.dtype.kind])
        if classes.dtype.kind in kinds
        else np.array(list(map(str, classes)), object)
    )


def _require_dtype(dtype: str) -> None:
    if dtype not in _MANTISSAS:
        raise InvalidInputError(f"dtype={dtype!r} is not known; choose 'float64' or 'float32'.")


def _imported(name: str) -> Any:
    import importlib

    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError(f"this needs {name}. Install it with: pip install 'stepnet[onnx]'") from error
    return module
