"""ONNX files made operator by operator, as other tools write them."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Collects operators; ``add`` returns the name of the result."""

    def __init__(self, shape, dtype="float32"):
        self.dtype, self.shape = np.dtype(dtype), shape
        self.nodes, self.constants = [], []

    def constant(self, values, dtype=None):
        name = f"c{len(self.constants)}"
        array = np.asarray(values)
        array = array.astype(dtype or (self.dtype if array.dtype.kind == "f" else array.dtype))
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, operator, *inputs, **options):
        name = f"n{len(self.nodes)}"
        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        self.nodes.append(helper.make_node(operator, names, [name], name=f"{operator}_{len(self.nodes)}", **options))
        return name

    def model(self, last, kind=None):
        element = helper.np_dtype_to_tensor_dtype(self.dtype)
        x = helper.make_tensor_value_info("x", element, self.shape)
        y = helper.make_tensor_value_info(last, kind or element, None)
        graph = helper.make_graph(self.nodes, "made_by_hand", [x], [y], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def save(self, path, last, kind=None):
        onnx.save(self.model(last, kind), path)
        return path


INT64, BOOL = TensorProto.INT64, TensorProto.BOOL
