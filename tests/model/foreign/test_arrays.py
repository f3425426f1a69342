"""Networks from arrays, and a binarised convolutional network trained in numpy."""

import numpy as np
import pytest
from scipy import sparse

from graphs import INT64, Graph
from stepnet import Layer, Network
from stepnet.errors import InvalidInputError
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.staircase import SIGN


def test_plain_layers_are_taken_as_they_are():
    hidden, last = Layer([[1.0, 2.0]], [0.5], SIGN), Layer(sparse.csr_array([[1.0], [2.0]]), [0.0, 1.0], ARGMAX)
    given = [{"weights": [[1, 2]], "bias": [-0.5], "activation": "sign"}, (last.matrix, [0, 1], "argmax")]
    assert Network.from_layers(given) == Network((hidden, last))
    assert Network.from_layers([hidden, last]) == Network((hidden, last))


@pytest.mark.parametrize("zero", [-1, 0, 1])
@pytest.mark.parametrize("direction", [-1.0, 1.0, 0.0])
def test_a_normalised_sign_is_a_threshold_with_a_direction(direction, zero):
    batch_norm = ([direction], [0.5], [1.0], [4.0], 0.0)
    hidden = {"weights": [[1.0, 1.0]], "batch_norm": batch_norm, "activation": "sign", "zero": zero}
    both = [
        hidden
        | {"weights": [[1.0, 1.0], [1.0, 0.0]], "batch_norm": [np.resize(one, 2) for one in batch_norm[:4]] + [0.0]}
    ]
    network = Network.from_layers([*both, {"weights": np.eye(2), "activation": "identity"}])
    rows = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [3.0, -3.0], [0.0, 2.0]])
    sums = np.column_stack([rows.sum(axis=1), rows[:, 0]])
    numbers = direction * (sums - 1) / 2 + 0.5
    expected = np.where(numbers == 0, zero, np.sign(numbers))
    np.testing.assert_array_equal(network.predict(rows), expected)


def forward(layers, images):
    """The network's own forward pass in numpy: sign(0) is 1, as in larq."""
    (kernels, first), (weights, second), output = layers
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
    maps = np.einsum("nijab,cab->ncij", windows, kernels)
    maps = maps[:, :, :4, :4].reshape(len(images), len(kernels), 2, 2, 2, 2).max(axis=(3, 5))  # 2 × 2 pools
    signals = np.where(normalised(maps, first) >= 0, 1.0, -1.0).reshape(len(images), -1)
    hidden = np.where(normalised(signals @ weights.T, second) >= 0, 1.0, -1.0)
    return hidden @ output.T


def normalised(values, numbers):
    gamma, beta, mean, variance = (one.reshape(1, -1, *[1] * (values.ndim - 2)) for one in numbers)
    return gamma * (values - mean) / np.sqrt(variance + 1e-3) + beta


def trained(rng, images, labels):
    """Latent weights, of which the signs count, moved by straight-through gradients of the last layers."""
    kernels, output = rng.choice([-1.0, 1.0], (6, 3, 3)), rng.choice([-1.0, 1.0], (2, 16))
    latent, numbers = rng.normal(0, 0.1, (16, 24)), [np.ones(6), rng.normal(0, 0.1, 6), np.zeros(6), np.ones(6)]
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
    maps = np.einsum("nijab,cab->ncij", windows, kernels)[:, :, :4, :4]
    maps = maps.reshape(len(images), 6, 2, 2, 2, 2).max(axis=(3, 5))
    numbers[2], numbers[3] = maps.mean(axis=(0, 2, 3)), maps.var(axis=(0, 2, 3))
    signals = np.where(normalised(maps, numbers) >= 0, 1.0, -1.0).reshape(len(images), -1)
    for _ in range(40):
        sums = signals @ np.sign(latent).T
        second = [rng.choice([-1.0, 1.0], 16) * 0 + 1, np.full(16, 0.05), sums.mean(axis=0), sums.var(axis=0)]
        hidden = np.where(normalised(sums, second) >= 0, 1.0, -1.0)
        scores = hidden @ output.T / 4
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        shares[np.arange(len(labels)), labels] -= 1
        slope = (shares @ output) * (np.abs(normalised(sums, second)) <= 1)
        latent = np.clip(latent - 0.05 * slope.T @ signals / len(images) * 10, -1, 1)
    sums = signals @ np.sign(latent).T
    second[2], second[3] = sums.mean(axis=0), sums.var(axis=0)
    return (kernels, numbers), (np.sign(latent), second), output


def test_a_network_trained_with_binary_layers_answers_as_its_own_forward_pass(tmp_path):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 16, (400, 6, 6)).astype(float)
    labels = (images[:, :3].sum(axis=(1, 2)) > images[:, 3:].sum(axis=(1, 2))).astype(int)
    layers = trained(rng, images, labels)
    (kernels, first), (weights, second), output = layers
    assert (forward(layers, images).argmax(axis=1) == labels).mean() > 0.7
    graph = Graph([1, 1, 6, 6], "float64")
    h = graph.add("Conv", "x", kernels[:, None], kernel_shape=[3, 3])
    h = graph.add("MaxPool", h, kernel_shape=[2, 2], strides=[2, 2])
    h = graph.add("BatchNormalization", h, *first, epsilon=1e-3)
    h = graph.add("Flatten", graph.add("Sign", graph.add("Add", graph.add("Sign", h), 0.1)))
    h = graph.add("BatchNormalization", graph.add("MatMul", h, weights.T), *second, epsilon=1e-3)
    h = graph.add("MatMul", graph.add("Where", graph.add("GreaterOrEqual", h, 0.0), 1.0, -1.0), output.T)
    path = graph.save(tmp_path / "net.onnx", graph.add("ArgMax", h, axis=1), INT64)
    new = rng.integers(0, 16, (10_000, 6, 6)).astype(float)
    with pytest.warns(UserWarning, match="thresholds on the inputs are rounded"):
        network = Network.from_onnx(path)
    assert network.predict(new.reshape(10_000, -1)).tolist() == forward(layers, new).argmax(axis=1).tolist()


MISTAKES = {
    "a network needs at least one layer": [],
    "layer 0 has 'kernel', which is not one of weights": [{"kernel": 1}],
    "layer 1 needs weights": [([[1.0]], [0.0]), {"bias": [1.0]}],
    "activation='relu' of layer 0 is not known": [([[1.0]], [0.0], "relu")],
    "batch_norm of layer 0 must be": [{"weights": [[1.0]], "batch_norm": (1, 2)}],
    "zero=3 of layer 0 must be -1, 0 or 1": [{"weights": [[1.0]], "zero": 3}],
    "has both bias and thresholds": [{"weights": [[1.0]], "bias": [0], "thresholds": [0]}],
    "a variance is negative": [{"weights": [[1.0]], "batch_norm": ([1], [1], [0], [-1])}],
    r"weights of shape \(1, 2\) do not fit 1 inputs": [
        {"weights": [[1.0]], "zero": -1}, {"weights": [[1.0, 1.0]], "zero": -1},
    ],
}  # fmt: skip


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_explained(message):
    with pytest.raises(InvalidInputError, match=message):
        Network.from_layers(MISTAKES[message])
