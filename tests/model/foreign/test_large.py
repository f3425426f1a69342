"""Convolutions of more than a million weights are read, evaluated, saved and checked without full arrays."""

import json
from fractions import Fraction

import numpy as np
import pytest

from graphs import Graph
from stepnet import Layer, Network, check
from stepnet.model.restriction import within
from stepnet.vnnlib.property import Case, Property


def convolved(images, kernels):
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(2, 3))
    return np.einsum("ncijab,ocab->noij", windows, kernels, optimize=True)


@pytest.mark.slow
def test_a_convolutional_network_of_a_million_weights(tmp_path, monkeypatch):
    def refused(layer):
        assert not layer.is_sparse, "a sparse layer was turned into a full array"
        return layer.matrix

    monkeypatch.setattr(Layer, "weights", property(refused))
    rng = np.random.default_rng(0)
    one, two = rng.choice([-1.0, 1.0], (24, 3, 3, 3)), rng.choice([-1.0, 1.0], (4, 24, 3, 3))
    graph = Graph([1, 3, 32, 32])
    h = graph.add(
        "Where", graph.add("GreaterOrEqual", graph.add("Conv", "x", one, kernel_shape=[3, 3]), 0.5), 1.0, -1.0
    )
    h = graph.add("MaxPool", graph.add("Conv", h, two, kernel_shape=[3, 3]), kernel_shape=[4, 4], strides=[4, 4])
    h = graph.add("Where", graph.add("Greater", h, 8.5), 1.0, -1.0)
    output = rng.choice([-1.0, 1.0], (196, 3))
    path = graph.save(tmp_path / "net.onnx", graph.add("MatMul", graph.add("Flatten", h), output))
    network = Network.from_onnx(path)
    assert network.n_weights > 1_000_000
    images = rng.integers(0, 3, (3, 3, 32, 32)).astype(float)
    bits = np.where(convolved(images, one) >= 0.5, 1.0, -1.0)
    largest = convolved(bits, two).reshape(3, 4, 7, 4, 7, 4).max(axis=(3, 5))
    expected = np.where(largest > 8.5, 1.0, -1.0).reshape(3, -1) @ output
    rows = images.reshape(3, -1)
    np.testing.assert_array_equal(network.predict(rows), expected)
    assert Network.from_dict(json.loads(json.dumps(network.to_dict()))) == network
    low, high = rows[0] - 0.01, rows[0] + 0.01  # sums of 27 integers move by 0.27, and none is so close to 0.5
    assert within(network, low, high).widths[0] == 1
    best, other = np.argsort(-expected[0])[:2].tolist()
    case = Case(
        *(tuple(map(Fraction, end.tolist())) for end in (low, high)),
        (({best: Fraction(1), other: Fraction(-1)}, Fraction(-1)),),
    )
    found = check(network, Property(3072, 3, (case,)))
    assert (found.answer, found.evidence.split()[0]) == ("unsat", "intervals")
