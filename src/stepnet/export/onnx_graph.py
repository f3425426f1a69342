"""The graph of an ONNX model under construction, and integer sums in it without rounding errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.errors import InvalidInputError

MANTISSAS = {"float64": 53, "float32": 24}


class Graph:
    """Nodes and constants of a model, each with its own name; signals are floats of one type."""

    def __init__(self, onnx: Any, dtype: str, is_exact: bool) -> None:
        self.onnx, self.dtype, self.mantissa, self.is_exact = onnx, np.dtype(dtype), MANTISSAS[dtype], is_exact
        self.type = onnx.helper.np_dtype_to_tensor_dtype(self.dtype)
        self.rows = "x"  # the name of the rows that the first layer takes
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
        """1 where a sum reaches its threshold, else 0."""
        return self.add("Cast", self.add("GreaterOrEqual", sums, self.floats(thresholds)), to=self.type)


def carried(graph: Graph, places: list[str], n_bits: int) -> str:
    """The last carry of digits, lowest first: it has the sign of the number, since what remains is not negative."""
    carry = ""
    for digit in places:
        total = graph.add("Add", digit, carry) if carry else digit
        carry = graph.add("Floor", graph.add("Mul", total, graph.floats(2.0**-n_bits)))
    return carry


def require_dtype(dtype: str) -> None:
    if dtype not in MANTISSAS:
        raise InvalidInputError(f"dtype={dtype!r} is not known; choose 'float64' or 'float32'.")
