"""A fitted estimator as an ONNX model, which states for which rows its answers are exact."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepnet.errors import InvalidInputError
from stepnet.export.described import Described, describe, require_full
from stepnet.export.onnx_graph import MANTISSAS, Graph, require_dtype
from stepnet.export.onnx_layers import codes, exact_bits, hidden_layers, is_one_slice, outputs, scaled_rows
from stepnet.model.foreign.onnx_file import graph_fingerprint
from stepnet.model.network import Layer
from stepnet.runtime.extras import imported

_OPSET, _IR_VERSION = 17, 8


def to_onnx(estimator: Any, *, dtype: str = "float64", exact: bool | None = None, columns: str = "used") -> bytes:
    """The model as ONNX: input ``x`` (rows × features), output ``label`` (classes) or ``y`` (rows × outputs).

    Parameters
    ----------
    estimator : fitted estimator
    dtype : "float64" or "float32", default="float64"
        float32 rounds weights and rows, so answers near hyperplanes may differ.
    exact : bool, optional
        Whether the first layer is computed without rounding errors, by about twenty matrix products instead of one.
        The default is True for float64; it is impossible for float32. If False, :func:`doubt` says which rows may
        be answered wrongly.
    columns : "used" or "all", default="used"
        The features that the file takes: those that answers depend on, or all of the model. The file lists them.
    """
    require_dtype(dtype)
    if exact and dtype != "float64":
        raise InvalidInputError(f"exact=True needs dtype='float64'; got {dtype!r}, which rounds the weights.")
    is_exact = dtype == "float64" if exact is None else exact
    described = require_full(describe(estimator, columns), "ONNX")
    onnx = imported("onnx")
    graph = Graph(onnx, dtype, is_exact)
    output = _answers(graph, described)
    x = onnx.helper.make_tensor_value_info("x", graph.type, ["rows", described.network.n_features])
    model = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, "stepnet", [x], [output], graph.constants),
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="stepnet",
        doc_string=_statement(described, graph),
    )
    onnx.helper.set_model_props(model, _properties(described, graph) | _network(described, model.graph))
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString()
    return content


def run_onnx(model: bytes, X: ArrayLike) -> NDArray[Any]:
    """The answers of a model from :func:`to_onnx`, computed by onnxruntime."""
    session = imported("onnxruntime").InferenceSession(model, providers=["CPUExecutionProvider"])
    kind = np.float64 if "double" in session.get_inputs()[0].type else np.float32
    return np.asarray(session.run(None, {"x": np.asarray(X, dtype=kind)})[0])


def n_features_of(model: bytes) -> int:
    """The number of features that a model from :func:`to_onnx` takes."""
    shape = imported("onnx").load_from_string(model).graph.input[0].type.tensor_type.shape
    return int(shape.dim[1].dim_value)


def doubt(estimator: Any, *, largest: float = 1.0, dtype: str = "float64") -> float:
    """The distance from the hyperplanes of the first layer beyond which rows need no exact first layer.

    It is for rows with absolute entries up to ``largest``; layers above the first make no rounding errors.
    """
    slope, constant = _doubt(describe(estimator).network.layers[0], dtype)
    return slope * largest + constant


def _answers(graph: Graph, described: Described) -> Any:
    """Add all layers to the graph; returns the description of the output."""
    network, helper = described.network, graph.onnx.helper
    scaled_rows(graph, described.arithmetic)
    signals = hidden_layers(graph, network)
    if described.classes is None:
        last = outputs(graph, network, signals)
        output = helper.make_tensor_value_info("y", graph.type, ["rows", network.widths[-1]])
    else:
        classes = _class_values(described.classes)
        last = graph.add("Gather", graph.constant(classes), codes(graph, network, signals))
        output = helper.make_tensor_value_info("label", graph.element_type(classes), ["rows"])
    graph.nodes.append(helper.make_node("Identity", [last], [output.name]))
    return output


def _doubt(layer: Layer, dtype: str) -> tuple[float, float]:
    """The distance as slope · largest entry + constant: rounding errors divided by the length of the weights."""
    require_dtype(dtype)
    if layer.activation.gives_numbers:
        return 0.0, 0.0
    weights, thresholds = layer.weights, np.abs(layer.thresholds.reshape(layer.width, -1)).max(axis=1)
    sizes, apart = np.abs(weights).sum(axis=1), weights
    if layer.activation.is_compared:
        k, j = np.triu_indices(layer.width, 1)
        sizes, thresholds, apart = sizes[k] + sizes[j], thresholds[k] + thresholds[j], weights[k] - weights[j]
    lengths = np.linalg.norm(apart, axis=1)
    used = sizes > 0  # a sum without weights is 0
    if not used.any():
        return 0.0, 0.0
    if (lengths[used] == 0).any():
        return np.inf, np.inf
    unit = (weights.shape[1] + 8) * 2.0 ** -MANTISSAS[dtype]
    return float(unit * (sizes[used] / lengths[used]).max()), float(unit * (thresholds[used] / lengths[used]).max())


def _statement(described: Described, graph: Graph) -> str:
    lines = [f"{described.title}, written by stepnet."]
    if described.classes is None:
        lines.append(
            "The sums of the last layer equal those of predict to the last bit."
            if is_one_slice(described.network) and graph.mantissa == 53
            else f"The sums of the last layer are rounded in {graph.dtype}: they may differ in the last digits."
        )
    if any(described.arithmetic):
        lines.append("The features are scaled first, with the same roundings as in training; below they are scaled.")
    lines.append(_promise(described.network.layers[0], graph))
    lines.append("Layers above the first are exact.")
    if described.certificate is not None:
        lines.append(f"The margin of the training rows is {described.certificate.margin_in_words}.")
    lines += [f"The features are {', '.join(described.names)}. {described.selection}".strip()]
    return "\n".join([*lines, *described.certified()])


def _promise(first: Layer, graph: Graph) -> str:
    """The rows for which the bits of the first layer are exact."""
    if graph.is_exact:
        return (
            f"Answers equal those of predict for every row whose entries, and 1, are multiples of "
            f"2^-{exact_bits(first)} times the largest of them; digits below that are ignored."
        )
    slope, constant = _doubt(first, graph.dtype.name)
    rounded = " Weights and rows are rounded to float32, which is part of that distance." if graph.mantissa < 53 else ""
    return (
        f"Answers equal those of predict for rows that are farther than {slope:.3g} * (largest absolute entry) + "
        f"{constant:.3g} from every hyperplane of the first layer, unless products over- or underflow; closer "
        f"ones may be rounded to the other side.{rounded}"
    )


def _properties(described: Described, graph: Graph) -> dict[str, str]:
    return {
        "features": json.dumps(described.sentences),
        "feature_names": json.dumps(described.names),
        "classes": json.dumps(described.class_names),
        "certificate": json.dumps(described.certificate and described.certificate.in_words()),
        "exactness": _promise(described.network.layers[0], graph),
    }


def _network(described: Described, graph: Any) -> dict[str, str]:
    """The network itself, for :meth:`stepnet.Network.from_onnx`, which believes it if the graph is unchanged."""
    scaled = "the operations that scale features are part of the first layer, rounded"
    content = described.unscaled.to_dict() | {
        "classes": None if described.classes is None else _class_values(described.classes).tolist(),
        "notes": [scaled] if any(described.arithmetic) else [],
    }
    return {"network": json.dumps(content), "graph": graph_fingerprint(graph)}


def _class_values(classes: NDArray[Any]) -> NDArray[Any]:
    """Classes in a type that ONNX has: integers, booleans, floats, or text."""
    kinds = {"i": np.int64, "u": np.int64, "b": np.bool_, "f": np.float64}
    if classes.dtype.kind in kinds:
        return classes.astype(kinds[classes.dtype.kind])
    return np.array(list(map(str, classes)), object)
