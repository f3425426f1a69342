"""Trees as step networks: the same leaf for every row, also on a cut."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stepnet.model.trees import Trees, network_of_trees, one_feature


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
    return tuple(map(np.array, (features, cuts, below, above, values)))


def stacked(trees):
    """Trees of different sizes, with outputs, as one object; what is beyond a tree's last node is never reached."""
    n_nodes = max(len(tree[0]) for _, tree in trees)
    parts = [
        np.array([np.pad(tree[k], (0, n_nodes - len(tree[k])), constant_values=-1) for _, tree in trees])
        for k in range(5)
    ]
    return Trees(*parts, np.array([output for output, _ in trees]))


def walked(tree, row):
    features, cuts, below, above, values = tree
    node = 0
    while features[node] >= 0:
        node = above[node] if row[features[node]] >= cuts[node] else below[node]
    return values[node]


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 4), st.integers(1, 3))
def test_a_network_of_trees_has_the_sums_of_their_leaves(seed, n_leaves, n_trees, n_outputs):
    rng = np.random.default_rng(seed)
    trees = [(int(rng.integers(n_outputs)), grown(rng, int(rng.integers(1, n_leaves + 1)))) for _ in range(n_trees)]
    offsets = rng.normal(size=n_outputs)
    X = rng.integers(-3, 4, size=(20, 3)).astype(float)
    network = network_of_trees(stacked(trees), 3, offsets)
    expected = np.tile(offsets, (20, 1))
    for output, tree in trees:
        expected[:, output] += [walked(tree, row) for row in X]
    np.testing.assert_allclose(network.predict(X), expected, rtol=0, atol=1e-12)


def test_each_question_has_one_neuron_and_each_leaf_but_one_another():
    rng = np.random.default_rng(0)
    tree = grown(rng, 6)
    network = network_of_trees(stacked([(0, tree), (0, tree)]), 3, np.zeros(1))
    n_questions = len({(f, c) for f, c in zip(tree[0], tree[1], strict=True) if f >= 0})
    assert network.widths == (n_questions, 10, 1)


def test_trees_without_a_split_are_constants():
    leaf = tuple(map(np.array, ([-1], [0.0], [0], [0], [0.25])))
    network = network_of_trees(stacked([(0, leaf), (1, leaf)]), 2, np.array([1.0, 2.0]))
    assert network.predict([[0, 0]]).tolist() == [[1.25, 2.25]]


def test_a_question_is_answered_yes_on_its_cut():
    layer = one_feature([(1, 0.1), (0, np.nextafter(0.1, 1))], 2)
    assert layer.weights.tolist() == [[0, 1], [1, 0]]
    assert (np.array([[0.1, 0.1]]) @ layer.weights.T >= layer.thresholds).tolist() == [[True, False]]


def test_the_deepest_leaf_needs_no_neuron():
    # x0 >= 0, then x1 >= 0, then x2 >= 0: leaves at depths 1, 2, 3 and 3
    tree = tuple(
        map(
            np.array,
            (
                [0, -1, 1, -1, 2, -1, -1],
                [0.0] * 7,
                [1, 0, 3, 0, 5, 0, 0],
                [2, 0, 4, 0, 6, 0, 0],
                [0, 1, 0, 2, 0, 3, 4.0],
            ),
        )
    )
    network = network_of_trees(stacked([(0, tree)]), 3, np.zeros(1))
    assert sorted((network.layers[1].weights != 0).sum(axis=1)) == [1, 2, 3]
    assert network.predict([[-1, 0, 0], [1, -1, 0], [1, 1, -1], [1, 1, 1]])[:, 0].tolist() == [1, 2, 3, 4]
