"""Decision trees as step networks.

A node asks ``x[feature] >= cut``: a neuron that looks at one feature. A leaf is reached if every node on its path
answers as the path needs: an AND of these neurons, 1 for each that must be on, -1 for each that must be off. The
outputs add up the values of the leaves that are reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepnet.model.activations.identity import IDENTITY
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network

_Path = tuple[tuple[int, float, bool], ...]  # feature, cut, and whether the row must reach it


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in arrays; node 0 is the root.

    Node i asks ``x[features[i]] >= cuts[i]`` and goes on at ``above[i]`` or ``below[i]``. A leaf has the feature -1 and
    adds ``values[i]``.
    """

    features: NDArray[Any]
    cuts: Floats
    below: NDArray[Any]
    above: NDArray[Any]
    values: Floats

    def leaves(self) -> Iterator[tuple[_Path, float]]:
        """The path to each leaf, and its value."""
        waiting: list[tuple[int, _Path]] = [(0, ())]
        while waiting:
            node, path = waiting.pop()
            feature = int(self.features[node])
            if feature < 0:
                yield path, float(self.values[node])
                continue
            cut = float(self.cuts[node])
            waiting.append((int(self.below[node]), (*path, (feature, cut, False))))
            waiting.append((int(self.above[node]), (*path, (feature, cut, True))))


def network_of_trees(trees: Sequence[tuple[int, Tree]], n_features: int, offsets: Floats) -> Network:
    """The sums of trees as a network: each tree adds to the output of its number, ``offsets`` to all.

    Of every tree one leaf needs no neuron: a row that reaches no other leaf reaches this one.
    """
    questions: dict[tuple[int, float], int] = {}
    paths: list[_Path] = []
    places, weights, constants = [], [], np.array(offsets, dtype=np.float64)
    for output, tree in trees:
        leaves = sorted(tree.leaves(), key=lambda leaf: len(leaf[0]))
        *named, (_, last) = leaves
        constants[output] += last
        for path, value in named:
            for feature, cut, _ in path:
                questions.setdefault((feature, cut), len(questions))
            paths.append(path)
            places.append(output)
            weights.append(value - last)
    if not paths:
        return _constant(n_features, constants)
    out = np.zeros((len(constants), len(paths)))
    out[places, np.arange(len(paths))] = weights
    return Network(
        (one_feature(list(questions), n_features), _ands(paths, questions), Layer(out, -constants, IDENTITY))
    )


def one_feature(questions: Sequence[tuple[int, float]], n_features: int) -> Layer:
    """A neuron for each question ``x[feature] >= cut``."""
    features = np.array([feature for feature, _ in questions])
    ones = (np.ones(len(features)), (np.arange(len(features)), features))
    return Layer(sparse.csr_array(ones, shape=(len(features), n_features)), np.array([cut for _, cut in questions]))


def _ands(paths: Sequence[_Path], questions: dict[tuple[int, float], int]) -> Layer:
    """A neuron per path; its threshold lies between the sum that it needs and the next smaller one."""
    steps = [(row, questions[f, cut], 1.0 if up else -1.0) for row, path in enumerate(paths) for f, cut, up in path]
    rows, columns, signs = zip(*steps, strict=True)
    weights = sparse.csr_array((signs, (rows, columns)), shape=(len(paths), len(questions)))
    return Layer(weights, [sum(up for _, _, up in path) - 0.5 for path in paths])


def _constant(n_features: int, constants: Floats) -> Network:
    """A neuron that is never on, and one above it."""
    below, above = Layer(np.zeros((1, n_features)), [1.0]), Layer([[0.0]], [1.0])
    return Network((below, above, Layer(np.zeros((len(constants), 1)), -constants, IDENTITY)))
