"""Decision trees as step networks.

A node asks ``x[feature] >= cut``: a neuron that looks at one feature. A leaf is reached if every node on its path
answers as the path needs: an AND of these neurons, 1 for each that must be on, -1 for each that must be off. The
outputs add up the values of the leaves that are reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepnet.model.activations.identity import IDENTITY
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.model.sums import on_one_grid


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees × nodes, in arrays; node 0 is the root.

    Node i asks ``x[features[i]] >= cuts[i]`` and goes on at ``above[i]`` or ``below[i]``. A leaf has the feature -1 and
    adds ``values[i]`` to the output of its tree. Nodes that no other one leads to are not read.
    """

    features: NDArray[Any]
    cuts: Floats
    below: NDArray[Any]
    above: NDArray[Any]
    values: Floats
    outputs: NDArray[Any]  # of each tree


def network_of_trees(trees: Trees, n_features: int, offsets: Floats) -> Network:
    """The sums of trees as a network; ``offsets`` are added to the outputs.

    Of every tree the deepest leaf needs no neuron: a row that reaches no other leaf reaches this one.
    """
    constants = np.array(offsets, dtype=np.float64)
    is_inner = trees.features >= 0
    parent, is_above = _parents(trees, is_inner)
    tree, node = np.nonzero(~is_inner & ((parent >= 0) | (np.arange(is_inner.shape[1]) == 0)))  # all leaves
    steps = _paths(tree, node, parent, is_above)
    depth = np.bincount(np.concatenate([rows for rows, *_ in steps]), minlength=len(tree)) if steps else 0 * tree
    by_tree = np.lexsort((depth, tree))
    last = by_tree[np.append(np.diff(tree[by_tree]) > 0, True)]  # of each tree
    left_out = trees.values[tree[last], node[last]]
    np.add.at(constants, trees.outputs[tree[last]], left_out)
    is_kept = np.ones(len(tree), dtype=bool)
    is_kept[last] = False
    if not is_kept.any():
        return _constant(n_features, constants)
    questions, number = _questions(trees, is_inner)
    number_of_leaf = np.cumsum(is_kept) - 1
    out = np.zeros((len(constants), int(is_kept.sum())))
    out[trees.outputs[tree[is_kept]], number_of_leaf[is_kept]] = (trees.values[tree, node] - left_out[tree])[is_kept]
    ands = _ands([(number_of_leaf[r], number[t, n], up) for r, t, n, up in _of(steps, is_kept)], out.shape[1])
    out, constants = on_one_grid([out, constants])  # sums of such weights are exact
    return Network((one_feature(questions, n_features), ands, Layer(out, -constants, IDENTITY)))


_Step = tuple[Any, Any, Any, Any]  # leaves, their trees, nodes on the way to them, and whether they must answer yes


def _parents(trees: Trees, is_inner: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The node that leads to each node (-1: none), and whether it does so when its answer is yes."""
    parent, is_above = np.full(is_inner.shape, -1), np.zeros(is_inner.shape, dtype=bool)
    tree, node = np.nonzero(is_inner)
    parent[tree, trees.below[tree, node]] = node
    parent[tree, trees.above[tree, node]] = node
    is_above[tree, trees.above[tree, node]] = True
    return parent, is_above


def _paths(tree: Any, node: Any, parent: Any, is_above: Any) -> list[_Step]:
    """From all leaves upwards, one step of all of them at a time."""
    steps: list[_Step] = []
    rows = np.arange(len(tree))
    while True:
        up = parent[tree[rows], node]
        rows, node, up = rows[up >= 0], node[up >= 0], up[up >= 0]
        if not len(rows):
            return steps
        steps.append((rows, tree[rows], up, is_above[tree[rows], node]))
        node = up


def _of(steps: list[_Step], is_kept: Any) -> list[_Step]:
    return [tuple(part[is_kept[step[0]]] for part in step) for step in steps]


def _questions(trees: Trees, is_inner: Any) -> tuple[list[tuple[int, float]], NDArray[Any]]:
    """All different questions, and the number of that of each inner node."""
    asked = np.column_stack([trees.features[is_inner], trees.cuts[is_inner]])
    different, which = np.unique(asked, axis=0, return_inverse=True)
    number = np.full(is_inner.shape, -1)
    number[is_inner] = which.ravel()
    return [(int(feature), float(cut)) for feature, cut in different], number


def one_feature(questions: Sequence[tuple[int, float]], n_features: int) -> Layer:
    """A neuron for each question ``x[feature] >= cut``."""
    features = np.array([feature for feature, _ in questions])
    ones = (np.ones(len(features)), (np.arange(len(features)), features))
    return Layer(sparse.csr_array(ones, shape=(len(features), n_features)), np.array([cut for _, cut in questions]))


def _ands(steps: Sequence[tuple[Any, Any, Any]], n_leaves: int) -> Layer:
    """A neuron per leaf; its threshold lies between the sum that it needs and the next smaller one."""
    leaves, questions, is_yes = (np.concatenate(parts) for parts in zip(*steps, strict=True))
    signs = np.where(is_yes, 1.0, -1.0)
    weights = sparse.csr_array((signs, (leaves, questions)), shape=(n_leaves, questions.max() + 1))
    return Layer(weights, np.bincount(leaves, is_yes, minlength=n_leaves) - 0.5)


def _constant(n_features: int, constants: Floats) -> Network:
    """A neuron that is never on, and one above it."""
    below, above = Layer(np.zeros((1, n_features)), [1.0]), Layer([[0.0]], [1.0])
    return Network((below, above, Layer(np.zeros((len(constants), 1)), -constants, IDENTITY)))
