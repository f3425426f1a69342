"""What every formulation owes: its size, the forward pass, and the way back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import XOR, make_problem, random_network
from stepnet.constructions import random_network as start
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.formulations.layered_encoding import counts
from stepnet.formulations.paper import Paper
from stepnet.formulations.registry import FORMULATIONS, formulation_for
from stepnet.problem.weights import Integers
from stepnet.search.polish.polish import centred


def test_theorem_2_has_the_paper_s_size():
    rng = np.random.default_rng(0)
    m, n, d = 559, 9, 50
    problem = make_problem(rng.normal(size=(m, n)), rng.integers(0, 2, m), (d,))
    (encoding,) = Paper().encode(problem)
    assert encoding.model.n_rows == 2 * m * d + 4 * m * d + 2 * m == 168_818
    assert encoding.model.n_columns == n * d + d + m * d + d + 1 + m * d + m


@pytest.mark.parametrize(
    ("formulation", "columns", "rows"),
    [
        ("tight", 4 + 2 + 8 + 2 + 1 + 8 + 4, 16 + 32 + 4),
        ("bilinear", 4 + 2 + 8 + 2 + 1 + 4, 16 + 4),
        ("paper", 4 + 2 + 8 + 2 + 1 + 8 + 4, 16 + 32 + 8),
        ("gates", 4 + 2 + 8 + 4, 8 + 4),
    ],
)
def test_sizes_are_pinned(formulation, columns, rows):
    problem = make_problem(XOR, [0, 1, 1, 0], (2,))
    model = FORMULATIONS[formulation].encode(problem)[0].model
    assert (model.n_columns, model.n_rows) == (columns, rows)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32),
    st.sampled_from([(), (1,), (3,), (2, 2)]),
    st.sampled_from(["neuron", "layer", 0.0, 0.7, -1.3]),
    st.sampled_from(["tight", "bilinear", "paper", "two-sided"]),
)
def test_the_start_of_a_network_is_feasible_and_decodes_to_it(seed, hidden, threshold, name):
    """With a margin wide enough a network is a point of the program, with its exact loss."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(7, 2)), rng.integers(0, 2, 7)
    problem = make_problem(X, y, hidden, threshold)
    network = centred(problem, random_network(rng, 2, hidden, threshold))
    formulation = Paper(two_sided=True) if name == "two-sided" else FORMULATIONS[name]
    (encoding,) = formulation.encode(problem)
    point = encoding.start(network)
    again = encoding.decode(point)
    assert (again.predict(X) == network.predict(X)).all()
    assert problem.evaluate(again) == problem.evaluate(network)
    if smallest_gap(problem, encoding, network) > 2e-3:
        assert encoding.model.violation(point) <= 1e-9
        assert encoding.model.cost @ point + encoding.model.offset == pytest.approx(problem.evaluate(network))


def smallest_gap(problem, encoding, network):
    """The smallest |w·h - t| of any row and neuron in the program's units; 0 if weights leave its box.

    Neurons that all-zero inputs put on their threshold 0 are exempt, as in the program.
    """
    if max(np.abs(layer.weights).max() for layer in network.layers) > 1 and encoding.name == "paper":
        return 0.0
    point = encoding.start(network)
    signals = encoding.rows
    smallest = np.inf
    bits = network.levels(problem.dataset.X)
    for k, (weights, thresholds) in enumerate(zip(encoding.weights, encoding.thresholds, strict=True)):
        values = np.abs(signals @ point[weights].T - point[thresholds][:, 0])
        if problem.architecture.fixed_threshold == 0:
            values = values[signals.any(axis=1)]
        smallest = min(smallest, values.min(initial=np.inf), np.abs(point[thresholds]).min() or np.inf)
        signals = bits[k].astype(float)
    return smallest


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_a_network_is_a_point_of_the_program_of_its_gate_alone(seed, width):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(8, 2)), rng.integers(0, 2, 8)
    problem = make_problem(X, y, (width,))
    network = centred(problem, random_network(rng, 2, (width,)))
    points = [(e, e.start(network)) for e in FORMULATIONS["gates"].encode(problem)]
    taken = [(encoding, point) for encoding, point in points if point is not None]
    if len(set(network.predict(cube_inputs(network)).tolist())) == 1:
        return
    assert len(taken) <= 1
    for encoding, point in taken:
        assert (encoding.decode(point).predict(X) == network.predict(X)).all()
        assert encoding.model.cost @ point == pytest.approx(problem.evaluate(network))
        rows = problem.scaling.apply(problem.dataset.X)
        hidden = point[encoding.weights] @ rows.T - point[encoding.thresholds][:, None]
        if np.abs(hidden).min() > 1e-3:
            assert encoding.model.violation(point) <= 1e-9


def cube_inputs(network):
    return np.random.default_rng(0).normal(size=(50, network.n_features))


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([(), (2,), (2, 2)]), st.sampled_from(["neuron", "layer", 0.0, 1.0]))
def test_integer_networks_are_points_without_any_margin(seed, hidden, threshold):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-8, 9, (7, 3)) / 4, rng.integers(0, 2, 7)
    problem = make_problem(X, y, hidden, threshold, "ternary")
    network = random_network(rng, 3, hidden, threshold, integer=True)
    (encoding,) = FORMULATIONS["tight"].encode(problem)
    point = encoding.start(network)
    assert encoding.model.is_integral
    assert encoding.model.violation(point) == 0
    assert encoding.model.cost @ point == problem.evaluate(network)
    assert (encoding.decode(point).predict(X) == network.predict(X)).all()


def test_starts_of_other_architectures_are_no_points(rng):
    problem = make_problem(XOR, [0, 1, 1, 0], (2,))
    stranger = random_network(rng, 2, (3,))
    for formulation in FORMULATIONS.values():
        assert all(encoding.start(stranger) is None for encoding in formulation.encode(problem))


@pytest.mark.parametrize(
    ("arguments", "formulation", "message"),
    [
        (
            {"hidden": (5, 5)},
            "gates",
            r"one hidden layer of up to 5 neurons; got hidden=\(5, 5\). Use formulation='tight'",
        ),
        ({"hidden": ()}, "gates", "one hidden layer"),
        ({"hidden": (6,)}, "gates", "up to 5 neurons"),
        ({"hidden": (2,), "threshold": "layer"}, "gates", "needs threshold='neuron'"),
        ({"hidden": (2,), "threshold": 0.0}, "gates", "needs threshold='neuron'"),
        ({"hidden": (2,), "weights": "ternary"}, "gates", "real weights"),
        ({"hidden": (2,), "weights": "ternary"}, "paper", "real weights"),
        ({"hidden": (2,), "weights": "ternary"}, "bilinear", "real weights"),
    ],
)
def test_refusals_say_why_and_what_would_do(arguments, formulation, message):
    with pytest.raises(NotAcceptedError, match=message):
        formulation_for(formulation, make_problem(XOR, [0, 1, 1, 0], **arguments))


def test_discrete_weights_refuse_data_that_are_no_integers():
    problem = make_problem([[0.1], [0.2]], [0, 1], (2,), weights="ternary")
    with pytest.raises(NotAcceptedError, match="Round them first"):
        formulation_for("auto", problem)


def test_auto_takes_gates_where_it_can():
    assert formulation_for("auto", make_problem(XOR, [0, 1, 1, 0], (2,))).name == "gates"
    assert formulation_for("auto", make_problem(XOR, [0, 1, 1, 0], (2, 2))).name == "tight"


@pytest.mark.parametrize("name", ["tigth", None, 3])
def test_unknown_formulations_are_named(name):
    with pytest.raises(InvalidInputError, match="'gates', 'tight', 'bilinear', 'paper'"):
        formulation_for(name, make_problem(XOR, [0, 1, 1, 0]))


@pytest.mark.parametrize("hidden", [(1,), (3,), (2, 3)])
@pytest.mark.parametrize("weights", ["ternary", "sign", "binary"])
def test_a_counting_output_has_a_start_for_every_network(hidden, weights):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, (9, 3)), rng.integers(0, 2, 9)
    problem = make_problem(X, y, hidden, weights=weights)
    (encoding,) = FORMULATIONS["tight"].encode(problem)
    assert (encoding.model.lower[encoding.weights[-1]] == 1).all()
    for seed in range(20):
        network = start.random_network(problem, np.random.default_rng(seed))
        point = encoding.start(network)
        assert encoding.model.violation(point) == 0
        assert (encoding.decode(point).predict(X) == network.predict(X)).all()


@pytest.mark.parametrize(
    ("hidden", "threshold", "weights", "expected"),
    [
        ((2,), "neuron", "ternary", True),
        ((2,), "neuron", ("binary", "binary"), True),
        ((2,), "neuron", (Integers(3), "ternary"), True),
        ((2,), "neuron", ("binary", "ternary"), False),  # the complement of a binary neuron is none
        ((2,), "neuron", ("ternary", Integers(2)), False),
        ((2,), "neuron", ("real", "ternary"), False),
        ((2,), "layer", "ternary", False),
        ((2,), 0.0, "ternary", False),
        ((), "neuron", "ternary", False),
    ],
)
def test_an_output_counts_only_where_nothing_is_lost(hidden, threshold, weights, expected):
    problem = make_problem(XOR, [0, 1, 1, 0], hidden, threshold, weights=weights)
    assert counts(problem) == expected
