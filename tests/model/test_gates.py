"""Gates: all of them, and read off any output neuron."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import cube, splits
from stepnet.model.gates import gates, read_gate
from stepnet.model.network import Layer


@pytest.mark.parametrize(("n_inputs", "count"), [(1, 1), (2, 2), (3, 5), (4, 17), (5, 92)])
def test_there_are_as_many_gates_as_monotone_threshold_functions(n_inputs, count):
    assert len(gates(n_inputs)) == count


@pytest.mark.parametrize("n_inputs", [1, 2, 3])
def test_gates_with_complements_and_permutations_are_all_threshold_functions(n_inputs):
    corners = cube(n_inputs)
    reached = {tuple([False] * 2**n_inputs), tuple([True] * 2**n_inputs)}
    for gate in gates(n_inputs):
        for order in permutations(range(n_inputs)):
            for flips in corners:
                for used in corners:
                    bits = np.where(used == 1, (corners != flips)[:, list(order)], 1)
                    reached.add(tuple((bits @ np.array(gate.weights) >= gate.threshold).tolist()))
    assert reached == {tuple(split) for split in splits(corners).tolist()}


@settings(max_examples=200)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=5), st.integers(-9, 9))
def test_any_output_neuron_is_read_as_a_gate(weights, threshold):
    layer = Layer([weights], [threshold])
    corners = cube(len(weights))
    table = corners @ np.array(weights) >= threshold
    reading = read_gate(layer)
    if reading is None:
        assert table.all() or not table.any()
        return
    bits = (corners != 0)[:, list(reading.order)] ^ np.array(reading.flipped)
    bits[:, list(reading.ignored)] = True
    assert ((bits @ np.array(reading.gate.weights) >= reading.gate.threshold) == table).all()


def test_six_inputs_are_too_many_to_read():
    assert read_gate(Layer([[1] * 6], [3])) is None
