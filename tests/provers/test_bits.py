"""Sets of rows as bits: what they cost, and which are the largest."""

import numpy as np
import pytest

from stepnet.provers.bits import costs, largest, packed


def unpacked(words, n_rows):
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :n_rows]
    return [frozenset(np.flatnonzero(row).tolist()) for row in bits]


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_are_those_in_no_other_one_each_once(seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([3, 7, 64, 65, 130]))
    sets = rng.random((int(rng.integers(1, 80)), n_rows)) < rng.choice([0.3, 0.8, 0.97])
    smaller = sets & (rng.random(sets.shape) < 0.95)  # equal ones, ones of one row less, and of several
    sets = rng.permutation(np.concatenate([sets, smaller, sets]))
    found = unpacked(largest(packed(sets), lambda: False), n_rows)
    given = unpacked(packed(sets), n_rows)
    assert len(found) == len(set(found))
    assert set(found) == {one for one in given if not any(one < other for other in given)}


def test_where_the_time_is_up_no_set_is_lost():
    sets = packed(np.random.default_rng(0).random((30, 9)) < 0.5)
    assert set(unpacked(largest(sets, lambda: True), 9)) >= set(unpacked(largest(sets, lambda: False), 9))
    assert len(largest(sets[:0], lambda: False)) == 0


def test_costs_are_the_weights_of_rows_outside():
    rng = np.random.default_rng(0)
    sets, rows, weights = rng.random((20, 70)) < 0.5, rng.random(70) < 0.5, rng.integers(0, 8, 70)
    planes = packed(np.array([weights >> bit & 1 for bit in range(3)], dtype=bool))
    assert costs(packed(sets), packed(rows[None])[0], planes).tolist() == ((~sets & rows) @ weights).tolist()
