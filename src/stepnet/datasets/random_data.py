"""The paper's random data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def make_paper_random(
    seed: int, *, n_rows: int = 200, n_features: int = 100
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A third of the rows uniform in [0, 10] of class 1, a third in [-10, 0] of class 0, the others

    in [-1, 1] with random classes; in random order.
    """
    rng = np.random.default_rng(seed)
    third = n_rows // 3
    rest = n_rows - 2 * third
    X = np.concatenate(
        [
            rng.uniform(0, 10, (third, n_features)),
            rng.uniform(-10, 0, (third, n_features)),
            rng.uniform(-1, 1, (rest, n_features)),
        ]
    )
    y = np.concatenate([np.ones(third, np.int64), np.zeros(third, np.int64), rng.integers(0, 2, rest)])
    order = rng.permutation(n_rows)
    return X[order], y[order]
