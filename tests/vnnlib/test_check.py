"""VNN-LIB properties: what is read, and sat, unsat and unknown against enumeration."""

import itertools
import time
from fractions import Fraction

import numpy as np
import pytest

from command_line import stepnet
from graphs import Graph
from stepnet import Layer, Network, check
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.export import to_json
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import SIGN
from stepnet.model.restriction import within
from stepnet.vnnlib.property import Property


def declared(n_inputs, n_outputs):
    names = [f"X_{i}" for i in range(n_inputs)] + [f"Y_{i}" for i in range(n_outputs)]
    return "; made by a test\n" + "\n".join(f"(declare-const {name} Real)" for name in names)


def box_text(low, high):
    return "\n".join(
        f"(assert (>= X_{i} {a}))\n(assert (<= X_{i} {b}))" for i, (a, b) in enumerate(zip(low, high, strict=True))
    )


def network_of(rng, n_inputs=2, widths=(4, 3, 2), activation=SIGN):
    layers, below = [], n_inputs
    for width in widths:
        kind = IDENTITY if width == widths[-1] and len(layers) == len(widths) - 1 else activation
        layers.append(Layer(rng.integers(-3, 4, (width, below)), rng.integers(-2, 3, width) + 0.5, kind))
        below = width
    return Network(tuple(layers))


def reached_outputs(network, low, high):
    """All outputs of cells of the box with inner points; the hyperplanes have integer weights."""
    steps = np.linspace(0.003, 0.997, 30)
    points = np.array(list(itertools.product(*[a + steps * (b - a) for a, b in zip(low, high, strict=True)])))
    return np.unique(network.predict(points), axis=0)


def test_answers_are_those_of_enumeration():
    answers = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        network = network_of(rng)
        low = rng.integers(-2, 1, 2) + 0.25
        high = low + rng.choice([0.5, 2.0])
        found = reached_outputs(network, low, high)
        end = float(np.quantile(found[:, 0] - found[:, 1], 0.0)) + (-0.5 if seed % 2 else 0.0)
        asked = f"(assert (or (and (<= Y_0 (+ Y_1 {end}))) (and (>= Y_0 9) (>= (* 2 Y_1) 18))))"
        result = check(network, Property.from_text(declared(2, 2) + box_text(low, high) + asked))
        holds = (found[:, 0] <= found[:, 1] + end) | ((found >= 9).all(axis=1))
        answers.append(result.answer)
        if result.answer == "unsat":
            assert not holds.any()
            assert result.evidence
        if result.answer == "sat":
            y = network.predict(result.point[None])[0]
            assert (low <= result.point).all()
            assert (result.point <= high).all()
            assert y[0] <= y[1] + end or (y >= 9).all()
            assert y.tolist() == result.outputs.tolist()
        else:
            assert not holds.any() or result.answer == "unknown"
    assert answers.count("unknown") <= 1
    assert min(answers.count("sat"), answers.count("unsat")) >= 3


def test_a_network_on_a_box_has_the_same_answers_and_no_neurons_that_cannot_switch():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        network = network_of(rng, 3, (20, 8, 2))
        low = rng.normal(size=3)
        high = low + 0.2
        small = within(network, low, high)
        points = rng.uniform(low, high, (300, 3))
        np.testing.assert_array_equal(small.predict(points), network.predict(points))
        moves = np.ptp(network.levels(points)[0], axis=0).astype(bool)
        assert moves.sum() <= small.widths[0] < 20


def test_bounds_are_the_decimals_of_the_file():
    """0.1 + 0.2 is 0.3 in the file; in doubles it is larger."""
    network = Network((Layer([[1.0, 1.0]], [0.30000000000000004]), Layer([[1.0]], [0.0], IDENTITY)))
    text = declared(2, 1) + box_text(["0", "0.2"], ["0.1", "0.2"]) + "(assert (>= Y_0 1))"
    assert Property.from_text(text).cases[0].high == (Fraction(1, 10), Fraction(1, 5))
    assert check(network, Property.from_text(text)).answer != "sat"


def test_the_command_writes_what_the_competition_reads(tmp_path):
    graph = Graph([1, 2])
    hidden = graph.add("Sign", graph.add("MatMul", "x", np.eye(2)))
    graph.save(tmp_path / "net.onnx", graph.add("MatMul", hidden, np.array([[1.0, 0.0], [1.0, 0.0]])))
    (tmp_path / "sat.vnnlib").write_text(declared(2, 2) + box_text([-1, -1], [1, 1]) + "(assert (>= Y_0 2))")
    (tmp_path / "unsat.vnnlib").write_text(
        declared(2, 2) + box_text([-1, -1], [-0.5, 1]) + "(assert (>= Y_0 Y_1) )(assert (>= Y_0 2))"
    )
    done = stepnet("check", "net.onnx", "sat.vnnlib", "--out", "answer.txt", "--time-limit", "60", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sat\nthe input was verified by an exact forward pass")
    lines = (tmp_path / "answer.txt").read_text().splitlines()
    assert lines[0] == "sat"
    assert [line.strip("()").split()[0] for line in lines[1:]] == ["X_0", "X_1", "Y_0", "Y_1"]
    assert lines[3:] == ["(Y_0 2.0)", "(Y_1 0.0))"]
    assert all(np.float32(line.strip("()").split()[1]) == float(line.strip("()").split()[1]) for line in lines[1:])
    done = stepnet("check", "net.onnx", "unsat.vnnlib", "--out", "answer.txt", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"answer": "unsat"' in done.stdout
    assert (tmp_path / "answer.txt").read_text() == "unsat\n"


def test_a_time_limit_ends_an_attack_that_would_take_longer(monkeypatch):
    """Only inputs between 0.9999 and 0.99995 have the property, which an attack finds."""
    layers = Layer([[1.0, 0.0], [-1.0, 0.0]], [0.9999, -0.99995]), Layer([[1.0, 1.0]], [0.0], IDENTITY)
    asked = Property.from_text(declared(2, 1) + box_text([0, 0], [1, 1]) + "(assert (>= Y_0 2))")
    found = check(Network(layers), asked)
    assert found.answer == "sat"
    assert 0.9999 <= found.point[0] <= 0.99995

    def endless(*_, **__):
        while True:
            time.sleep(0.01)

    monkeypatch.setattr("stepnet.vnnlib.check.attack", endless)
    found = check(Network(layers), asked, time_limit=0.3)
    assert (found.answer, found.evidence, found.point) == ("unknown", "the time limit was reached", None)
    assert found.to_text() == "unknown\n"


def test_an_open_question_has_exit_code_1(tmp_path, monkeypatch):
    layers = Layer([[1.0, 0.0], [-1.0, 0.0]], [0.9999, -0.99995]), Layer([[1.0, 1.0]], [0.0], IDENTITY)
    (tmp_path / "network.json").write_text(to_json(Network(layers), columns="all"))
    (tmp_path / "asked.vnnlib").write_text(declared(2, 1) + box_text([0, 0], [1, 1]) + "(assert (>= Y_0 2))")
    monkeypatch.setattr("stepnet.vnnlib.check.attack", lambda *_, **__: time.sleep(9))
    done = stepnet("check", "network.json", "asked.vnnlib", "--time-limit", "0.2", cwd=tmp_path)
    assert (done.returncode, done.stdout.split()[0]) == (1, "unknown")


MISTAKES = {
    "(assert (>= X_0 0)": "1 parentheses are still open at its end",
    "(assert (>= X_0 0)))": "line 4: a parenthesis is closed, none is open",
    "(assert (>= X_7 0))": "X_7 is not declared",
    "(assert (>= X_0 zero))": "zero is neither a number nor X_i or Y_i",
    "(assert (>= (* X_0 Y_0) 0))": "is not linear",
    "(assert (>= X_0 Y_0))": "inputs must be bounded one by one",
    "(assert (>= X_0 0))": "X_0 has no upper bound",
    "(assert (> X_0 0))": "is not and, or, <= or >=",
    "(define X_0)": "is neither a declaration of X_i or Y_i nor an assertion",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_property_that_cannot_be_read_gives_one_line(text, tmp_path):
    path = tmp_path / "wrong.vnnlib"
    path.write_text(declared(1, 1) + "\n" + text)
    with pytest.raises(InvalidInputError) as error:
        Property.from_file(path)
    assert MISTAKES[text] in str(error.value)
    assert "\n" not in str(error.value)


def test_networks_and_properties_that_do_not_fit_are_refused():
    network = network_of(np.random.default_rng(0))
    three = Property.from_text(declared(3, 2) + box_text([0] * 3, [1] * 3) + "(assert (>= Y_0 1))")
    with pytest.raises(InvalidInputError, match="3 inputs and 2 outputs, the network 2 and 2"):
        check(network, three)
    two = Property.from_text(declared(2, 1) + box_text([0] * 2, [1] * 2) + "(assert (>= Y_0 1))")
    with pytest.raises(NotAcceptedError, match="ends with 'step'"):
        check(Network((Layer([[1.0, 1.0]], [0.5]),)), two)
    with pytest.raises(InvalidInputError, match="time_limit=0"):
        check(network, two, time_limit=0)
