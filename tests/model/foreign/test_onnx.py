"""ONNX files are read operator by operator; what is read answers as the file does in exact arithmetic."""

import warnings
from fractions import Fraction

import numpy as np
import onnx
import onnxruntime
import pytest

from exported import fitted, real, whole
from graphs import BOOL, INT64, Graph
from stepnet import Layer, Network, Staircase
from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.export import to_onnx
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import SIGN, STEP
from stepnet.model.foreign.onnx_file import read_onnx

SQUARE = {"epsilon": 0.0}  # with variances 1, 4 and 16 all roots are rational


def small_bn(graph, rng, name, channels):
    """Batch normalisation with such numbers that sums often lie at 0 exactly."""
    gamma, beta, mean = (rng.integers(-2, 3, channels).astype(float) for _ in range(3))
    return graph.add("BatchNormalization", name, gamma, beta, mean, rng.choice([1.0, 4.0, 16.0], channels), **SQUARE)


def run(path, rows, shape):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    kind = np.float64 if "double" in session.get_inputs()[0].type else np.float32
    found = [session.run(None, {"x": row.reshape(1, *shape).astype(kind)})[0] for row in rows]
    return np.array(found).reshape(len(rows), -1)


def read_silently(path, **options):
    """Read a file; anything that would have to be rounded is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Network.from_onnx(path, **options)


def same(path, rows, shape, **options):
    """Integers small enough that the runtime rounds nothing: its answers are those of exact arithmetic."""
    network = read_silently(path, **options)
    answers = network.predict(rows).reshape(len(rows), -1)
    np.testing.assert_array_equal(answers, run(path, rows, shape))
    return network


def ints(rng, *shape):
    return rng.integers(-3, 4, shape).astype(float)


def signs(rng, *shape):
    return rng.choice([-1.0, 1.0], shape)


STEPS = {
    "Sign, which is 0 at 0": lambda g, h: g.add("Sign", h),
    "larq's sign of sign + 0.1": lambda g, h: g.add("Sign", g.add("Add", g.add("Sign", h), 0.1)),
    "Where of >= as in PyTorch and Brevitas": lambda g, h: g.add("Where", g.add("GreaterOrEqual", h, 0.0), 1.0, -1.0),
    "2 (x > 0) - 1": lambda g, h: g.add("Sub", g.add("Mul", g.add("Cast", g.add("Greater", h, 0.0), to=1), 2.0), 1.0),
    "HardTanh before a Sign": lambda g, h: g.add("Sign", g.add("Clip", h, -1.0, 1.0)),
    "not less": lambda g, h: g.add("Cast", g.add("Not", g.add("Less", h, 0.0)), to=1),
    "0 < x, with the constant first": lambda g, h: g.add("Cast", g.add("Less", np.array(0.0), h), to=1),
    "x <= 0": lambda g, h: g.add("Cast", g.add("LessOrEqual", h, 0.0), to=1),
    "Relu before a Sign": lambda g, h: g.add("Sign", g.add("Relu", h)),
    "scaled signs": lambda g, h: g.add("Mul", g.add("Sign", g.add("Neg", h)), 0.5),
    "a clipped Sign": lambda g, h: g.add("Clip", g.add("Sign", h), 0.0),
    "two bits": lambda g, h: g.add(
        "Add",
        g.add("Cast", g.add("Greater", h, 1.0), to=1),
        g.add("Cast", g.add("GreaterOrEqual", h, -1.0), to=1),
    ),
    "levels that are not rising": lambda g, h: g.add(
        "Where", g.add("Equal", g.add("Sign", h), 0.0), 2.0, -1.0
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", STEPS)
def test_every_idiom_of_a_step_answers_as_in_the_file_also_at_zero(kind, tmp_path):
    rng = np.random.default_rng(3)
    graph = Graph(["rows", 3])
    hidden = small_bn(graph, rng, graph.add("Gemm", "x", ints(rng, 3, 6), ints(rng, 6)), 6)
    again = graph.add("MatMul", STEPS[kind](graph, hidden), ints(rng, 6, 5))
    last = graph.add("Gemm", STEPS[kind](graph, again), ints(rng, 2, 5), ints(rng, 2), transB=1, alpha=2.0, beta=0.5)
    path = graph.save(tmp_path / "net.onnx", last)
    rows = rng.integers(-3, 4, (300, 3)).astype(float)
    network = same(path, rows, (3,))
    assert network.layers[-1].activation == IDENTITY
    assert np.unique(network.predict(rows), axis=0).shape[0] > 1


def convolutional(rng):
    """A small network as larq makes them: signs, ±1 kernels, pools before and after the signs, padding."""
    graph = Graph([1, 2, 7, 6])
    h = graph.add("Conv", "x", ints(rng, 4, 2, 3, 3), ints(rng, 4), kernel_shape=[3, 3], pads=[1, 0, 1, 0])
    h = graph.add("MaxPool", h, kernel_shape=[2, 2], strides=[1, 1])
    h = graph.add("Sign", graph.add("Add", graph.add("Sign", small_bn(graph, rng, h, 4)), 0.1))
    h = graph.add("Pad", h, np.array([0, 0, 1, 1, 0, 0, 1, 1]), np.array(1.0))
    h = graph.add("Conv", h, signs(rng, 6, 2, 3, 3), kernel_shape=[3, 3], group=2, strides=[2, 1], dilations=[1, 1])
    h = graph.add("Where", graph.add("GreaterOrEqual", small_bn(graph, rng, h, 6), 0.0), 1.0, -1.0)
    h = graph.add("MaxPool", h, kernel_shape=[2, 2], strides=[2, 1], pads=[0, 0, 1, 0])
    h = graph.add("Transpose", h, perm=[0, 2, 3, 1])
    h = graph.add("Reshape", h, np.array([1, -1]))
    return graph, h


def size_of(graph, name):
    inferred = onnx.shape_inference.infer_shapes(graph.model(name)).graph
    shape = next(one for one in [*inferred.value_info, *inferred.output] if one.name == name).type.tensor_type.shape
    return int(np.prod([one.dim_value for one in shape.dim]))


def test_a_binary_convolutional_network_answers_as_its_file_for_ten_thousand_inputs(tmp_path):
    rng = np.random.default_rng(5)
    graph, h = convolutional(rng)
    h = graph.add("MatMul", h, signs(rng, size_of(graph, h), 4))
    path = graph.save(tmp_path / "net.onnx", graph.add("ArgMax", h, axis=1, keepdims=0), INT64)
    rows = rng.integers(-2, 3, (10_000, 84)).astype(float)
    network = same(path, rows, (2, 7, 6))
    assert network.layers[-1].activation == ARGMAX
    assert len(np.unique(network.predict(rows))) > 2


def test_convolutions_and_pools_with_strides_pads_groups_and_dilations_are_those_of_the_runtime(tmp_path):
    rng = np.random.default_rng(6)
    for options in (
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER"},
        {"dilations": [2, 1], "group": 2, "pads": [0, 2, 1, 0]},
    ):
        graph = Graph([1, 4, 7, 6])
        weights = ints(rng, 4, 4 // options.get("group", 1), 3, 2)
        h = graph.add("Sign", graph.add("Conv", "x", weights, kernel_shape=[3, 2], **options))
        h = graph.add("MaxPool", h, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1)
        h = graph.add("AveragePool", h, kernel_shape=[2, 1])
        h = graph.add("Flatten", graph.add("Greater", h, 0.0))
        path = graph.save(tmp_path / "net.onnx", graph.add("Cast", h, to=1))
        same(path, rng.integers(-1, 2, (60, 168)).astype(float), (4, 7, 6))


def test_shapes_slices_joins_residual_sums_and_means_are_those_of_the_runtime(tmp_path):
    rng = np.random.default_rng(7)
    graph = Graph([1, 8])
    bits = graph.add("Sign", graph.add("MatMul", "x", ints(rng, 8, 6)))
    other = graph.add("Sign", graph.add("MatMul", bits, ints(rng, 6, 6)))
    total = graph.add("Add", bits, other)  # of bits of two layers
    parts = graph.add("Slice", total, np.array([1]), np.array([5]), np.array([1]), np.array([2]))
    joined = graph.add("Concat", parts, graph.add("Sub", other, bits), axis=1)
    count = graph.add("Gather", graph.add("Shape", joined), np.array([0]))
    shaped = graph.add("Reshape", joined, graph.add("Concat", count, np.array([2, -1]), axis=0))
    mean = graph.add("ReduceMean", shaped, axes=[2], keepdims=0)
    either = graph.add("Or", graph.add("Greater", mean, 0.25), graph.add("Greater", graph.add("Neg", mean), 0.5))
    path = graph.save(tmp_path / "net.onnx", either, BOOL)
    network = same(path, rng.integers(-2, 3, (300, 8)).astype(float), (8,))
    assert network.layers[-1].activation == IDENTITY


def test_irrational_batch_normalisation_is_exact_over_bits():
    """Thresholds lie between two values of the sums, whatever the roots are."""
    rng = np.random.default_rng(8)
    weights, numbers = signs(rng, 40, 30), rng.normal(size=(4, 40))
    numbers[3] = np.exp(numbers[3])
    first = {"weights": np.eye(30), "activation": "sign"}
    last = {"weights": signs(rng, 1, 40), "activation": "identity"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network = Network.from_layers(
            [first, {"weights": weights, "batch_norm": (*numbers, 1e-5), "activation": "sign"}, last]
        )
    rows = rng.normal(size=(400, 30))
    gamma, beta, mean, variance = numbers
    signals = np.where(rows >= 0, 1.0, -1.0) @ weights.T
    hidden = np.where(gamma * (signals - mean) / np.sqrt(variance + 1e-5) + beta >= 0, 1.0, -1.0)
    np.testing.assert_array_equal(network.predict(rows), hidden @ last["weights"].T)
    assert set(np.unique(network.layers[1].weights)) == {-1.0, 1.0}


def test_the_sign_of_zero_may_be_chosen_and_that_is_said(tmp_path):
    graph = Graph([1, 2])
    path = graph.save(tmp_path / "net.onnx", graph.add("Sign", graph.add("MatMul", "x", np.eye(2))))
    rows = [[0.0, 1.0], [-1.0, 0.0]]
    assert Network.from_onnx(path).predict(rows).tolist() == [[0, 1], [-1, 0]]
    assert Network.from_onnx(path).widths == (4, 2)
    for zero in (-1, 1):
        with pytest.warns(UserWarning, match=f"Sign of 0 is {zero}, as asked; in the file it is 0"):
            network = Network.from_onnx(path, zero=zero)
        assert network.predict(rows).tolist() == [[zero, 1], [-1, zero]]
        assert network.widths == (2, 2)


def test_an_image_scaled_by_255_keeps_exact_thresholds(tmp_path):
    rng = np.random.default_rng(9)
    graph = Graph([1, 4])
    h = graph.add("Gemm", graph.add("Div", "x", 255.0), signs(rng, 4, 3), np.array([0.5, 0.25, -1.0]))
    h = graph.add("MatMul", graph.add("Sign", h), signs(rng, 3, 2))
    network = read_silently(graph.save(tmp_path / "net.onnx", h))
    assert set(np.unique(np.abs(network.layers[0].weights))) == {1.0}
    assert set(np.abs(network.layers[0].thresholds)) == {127.5, 63.75, 255.0}


def test_what_must_be_rounded_is_said(tmp_path):
    graph = Graph([1, 2])
    h = graph.add("BatchNormalization", "x", np.ones(2), np.ones(2), np.ones(2), np.array([2.0, 3.0]))
    path = graph.save(tmp_path / "net.onnx", graph.add("Greater", h, 0.0), BOOL)
    with pytest.warns(UserWarning, match="thresholds on the inputs are rounded to float64"):
        network = Network.from_onnx(path)
    near = Fraction(1) - Fraction(2**0.5)
    assert abs(Fraction(float(-network.layers[0].thresholds[0])) - near) < Fraction(1, 10**4)


def test_a_last_softmax_is_left_out_and_that_is_said(tmp_path):
    rng = np.random.default_rng(10)
    graph = Graph([1, 3])
    h = graph.add("Softmax", graph.add("MatMul", graph.add("Sign", "x"), ints(rng, 3, 4)), axis=1)
    path = graph.save(tmp_path / "net.onnx", h)
    rows = rng.normal(size=(50, 3))
    with pytest.warns(UserWarning, match="before the last Softmax"):
        numbers = Network.from_onnx(path).predict(rows)
    best = read_silently(path, output="argmax")
    assert best.predict(rows).tolist() == numbers.argmax(axis=1).tolist()
    labels = graph.save(tmp_path / "labels.onnx", graph.add("ArgMax", h, axis=1), INT64)
    assert read_silently(labels) == best


OWN = {
    "step": lambda rng: (real(rng, 5, 3), real(rng, 1, 5)),
    "two layers": lambda rng: (real(rng, 5, 3), whole(rng, 4, 5), whole(rng, 1, 4)),
    "argmax": lambda rng: (whole(rng, 5, 3), whole(rng, 4, 5, ARGMAX)),
    "ordinal": lambda rng: (real(rng, 5, 3), real(rng, 1, 5, Staircase((0.0, 1.0, 2.0)))),
    "numbers": lambda rng: (real(rng, 5, 3), real(rng, 2, 5, IDENTITY)),
    "sign": lambda rng: (real(rng, 4, 3, SIGN), real(rng, 1, 4)),
    "staircase": lambda rng: (real(rng, 4, 3, Staircase((0.0, 2.0, 1.0))), real(rng, 1, 4)),
}


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", OWN)
def test_what_stepnet_exports_is_read_back_as_it_was(name, exact, tmp_path):
    rng = np.random.default_rng(11)
    model = fitted(*OWN[name](rng))
    path = tmp_path / "model.onnx"
    path.write_bytes(to_onnx(model, exact=exact))
    assert read_silently(path) == model.network_
    found = read_onnx(path)
    assert (found.classes is None) == (name == "numbers")
    if found.classes is not None:
        assert found.classes.tolist() == model.classes_.tolist()


def gentle(rng, width, n_inputs, kind=STEP):
    shape = (width, kind.n_thresholds) if kind.n_thresholds > 1 else (width,)
    return Layer(rng.integers(-3, 4, (width, n_inputs)) / 4, np.sort(rng.integers(-3, 4, shape) / 4 + 0.125), kind)


GENTLE = {
    "step": lambda rng: (gentle(rng, 5, 3), gentle(rng, 1, 5)),
    "two layers": lambda rng: (gentle(rng, 5, 3), gentle(rng, 4, 5), gentle(rng, 1, 4)),
    "argmax": lambda rng: (gentle(rng, 5, 3), gentle(rng, 4, 5, ARGMAX)),
    "ordinal": lambda rng: (gentle(rng, 5, 3), gentle(rng, 1, 5, Staircase((0.0, 1.0, 2.0)))),
    "numbers": lambda rng: (gentle(rng, 5, 3), gentle(rng, 2, 5, IDENTITY)),
    "sign": lambda rng: (gentle(rng, 4, 3, SIGN), gentle(rng, 1, 4)),
    "staircase": lambda rng: (gentle(rng, 4, 3, Staircase((0.0, 2.0, 1.0))), gentle(rng, 1, 4)),
}


@pytest.mark.parametrize("name", GENTLE)
def test_exports_without_the_network_in_them_are_read_by_their_operators(name, tmp_path):
    rng = np.random.default_rng(12)
    model, path = fitted(*GENTLE[name](rng)), tmp_path / "model.onnx"
    content = onnx.load_from_string(to_onnx(model, exact=False))
    del content.metadata_props[:]
    onnx.save(content, path)
    found = read_onnx(path)
    rows = rng.normal(size=(200, 3))
    answers = found.network.predict(rows)
    np.testing.assert_array_equal(answers if found.classes is None else found.classes[answers], model.predict(rows))
    assert len(np.unique(answers)) > 1


def test_a_network_in_the_metadata_of_another_graph_is_not_believed(tmp_path):
    rng = np.random.default_rng(13)
    layers = Layer([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]], [0.25, 0.5]), Layer([[1.0, 1.0]], [1.5])
    model, path = fitted(*layers), tmp_path / "model.onnx"
    content = onnx.load_from_string(to_onnx(model, exact=False))
    weights = onnx.numpy_helper.to_array(content.graph.initializer[0])
    content.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(-weights, content.graph.initializer[0].name))
    onnx.save(content, path)
    rows = rng.normal(size=(200, 3))
    first, *above = model.network_.layers
    turned = Network((Layer(-first.weights, first.thresholds), *above))
    assert read_onnx(path).network.predict(rows).tolist() == turned.predict(rows).tolist()


def broken(tmp_path, *nodes, **options):
    graph = Graph([1, 4], **options)
    h = "x"
    for operator, *constants in nodes:
        h = graph.add(operator, h, *constants)
    return graph.save(tmp_path / "net.onnx", h)


MISTAKES = {
    "node 'Tanh_0' (Tanh): the operator Tanh is not known": [("Tanh",)],
    "node 'Mul_0' (Mul): it multiplies signals by each other": [("Mul", "x")],
    "node 'MatMul_1' (MatMul): it adds up numbers that are clipped": [("Relu",), ("MatMul", np.ones((4, 2)))],
    "node 'MatMul_0' (MatMul): weights of shape (3, 2) do not fit": [("MatMul", np.ones((3, 2)))],
    "node 'MatMul_3' (MatMul): it adds inputs of the network": [
        ("Sign",), ("Add", "x"), ("Sign",), ("MatMul", np.ones((4, 1))),
    ],
    "node 'Sign_0' (Sign) needs 'nowhere', which no operator": None,
    "node 'Reshape_0' (Reshape) is malformed": [("Reshape", np.array([3, 7]))],
    "node 'Div_0' (Div): it divides by zero": [("Div", np.zeros(4))],
    "node 'Where_0' (Where): it has numbers where bits are expected": [("Where", np.ones(4), np.ones(4))],
}  # fmt: skip


@pytest.mark.parametrize("message", MISTAKES)
def test_a_file_that_cannot_be_read_gives_one_line_that_names_the_node(message, tmp_path):
    if MISTAKES[message] is None:
        graph = Graph([1, 4])
        graph.add("Sign", "nowhere")
        path = graph.save(tmp_path / "net.onnx", "n0")
    else:
        path = broken(tmp_path, *MISTAKES[message])
    with pytest.raises(ModelFileError) as error:
        Network.from_onnx(path)
    text = str(error.value)
    assert message in text
    assert "\n" not in text
    assert text.startswith(f"'{path}' cannot be read as a network of steps: ")


def test_files_that_are_no_onnx_files_give_one_line(tmp_path):
    for content in (b"", b"no onnx", b"\x08\x07\x12\x04", b"{}" * 400):
        path = tmp_path / "net.onnx"
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="is not an ONNX file"):
            Network.from_onnx(path)
    with pytest.raises(InvalidInputError, match="there is no file"):
        Network.from_onnx(tmp_path / "missing.onnx")
    with pytest.raises(InvalidInputError, match="output='best' is not known"):
        Network.from_onnx(path, output="best")
    with pytest.raises(InvalidInputError, match="zero=2 must be"):
        Network.from_onnx(path, zero=2)
