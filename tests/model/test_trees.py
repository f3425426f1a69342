"""Trees as step networks: the same leaf for every row, also on a cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepnet.model.trees import Tree, network_of_trees, one_feature


def grown(rng, n_leaves, n_features=3):
    """A random tree, whose cuts are whole numbers so that rows lie on them."""
    features, cuts, below, above = [-1], [0.0], [0], [0]
    values, leaves = [float(rng.normal())], [0]
    while len(leaves) < n_leaves:
        node = leaves.pop(int(rng.integers(len(leaves))))
        features[node], cuts[node] = int(rng.integers(n_features)), float(rng.integers(-2, 3))
        below[node], above[node] = len(features), len(features) + 1
        leaves += [below[node], above[node]]
        for _ in range(2):
            for column, entry in zip(
                (features, cuts, below, above, values), (-1, 0.0, 0, 0, float(rng.normal())), strict=True
            ):
                column.append(entry)
    return Tree(*map(np.array, (features, cuts, below, above, values)))


def walked(tree, row):
    node = 0
    while tree.features[node] >= 0:
        node = tree.above[node] if row[tree.features[node]] >= tree.cuts[node] else tree.below[node]
    return tree.values[node]


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 4), st.integers(1, 3))
def test_a_network_of_trees_has_the_sums_of_their_leaves(seed, n_leaves, n_trees, n_outputs):
    rng = np.random.default_rng(seed)
    trees = [(int(rng.integers(n_outputs)), grown(rng, n_leaves)) for _ in range(n_trees)]
    offsets = rng.normal(size=n_outputs)
    X = rng.integers(-3, 4, size=(20, 3)).astype(float)
    network = network_of_trees(trees, 3, offsets)
    expected = np.tile(offsets, (20, 1))
    for output, tree in trees:
        expected[:, output] += [walked(tree, row) for row in X]
    np.testing.assert_allclose(network.predict(X), expected, rtol=0, atol=1e-12)


def test_each_question_has_one_neuron_and_each_leaf_but_one_another():
    rng = np.random.default_rng(0)
    tree = grown(rng, 6)
    network = network_of_trees([(0, tree), (0, tree)], 3, np.zeros(1))
    n_questions = len({(f, c) for f, c in zip(tree.features, tree.cuts, strict=True) if f >= 0})
    assert network.widths == (n_questions, 10, 1)


def test_trees_without_a_split_are_constants():
    leaf = Tree(*map(np.array, ([-1], [0.0], [0], [0], [0.25])))
    assert network_of_trees([(0, leaf), (1, leaf)], 2, np.array([1.0, 2.0])).predict([[0, 0]]).tolist() == [
        [1.25, 2.25]
    ]


def test_a_question_is_answered_yes_on_its_cut():
    layer = one_feature([(1, 0.1), (0, np.nextafter(0.1, 1))], 2)
    assert layer.weights.tolist() == [[0, 1], [1, 0]]
    assert (np.array([[0.1, 0.1]]) @ layer.weights.T >= layer.thresholds).tolist() == [[True, False]]


@pytest.mark.parametrize("seed", range(3))
def test_paths_lead_to_the_leaf_that_a_row_reaches(seed):
    rng = np.random.default_rng(seed)
    tree = grown(rng, 5)
    for row in rng.integers(-3, 4, size=(20, 3)):
        reached = [value for path, value in tree.leaves() if all((row[f] >= cut) == up for f, cut, up in path)]
        assert reached == [walked(tree, row)]
