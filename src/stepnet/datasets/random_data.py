"""The paper's random data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def make_paper_random(
    seed: int, *, n_rows: int = 200, n_features: int = 100
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A third of the rows is uniform in [0, 10] with class 1, a third in [-10, 0] with class 0.

    The others are uniform in [-1, 1] with random classes. All rows are in random order.
    """
    rng = np.random.default_rng(seed)
    third = n_rows // 3
    rest = n_rows - 2 * third
    parts = ((0, 10, third), (-10, 0, third), (-1, 1, rest))
    X = np.concatenate([rng.uniform(low, high, (size, n_features)) for low, high, size in parts])
    y = np.concatenate([np.ones(third, np.int64), np.zeros(third, np.int64), rng.integers(0, 2, rest)])
    order = rng.permutation(n_rows)
    return X[order], y[order]
