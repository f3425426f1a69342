"""Rows for provers of one neuron: few of all kinds with their least loss, and more that are noisy."""

from itertools import product

import numpy as np

from stepnet.provers.oracle import Neuron, Oracle

KINDS = ("floats", "grid", "eighths", "bits", "on a line")


def rows_of(seed, n_rows=9, base=8.0):
    """Few rows of one to three features, many of them degenerate; whole weights."""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.integers(1, 4)), KINDS[seed % len(KINDS)]
    X = {
        "floats": rng.normal(size=(n_rows, n)),
        "grid": rng.integers(-1, 2, (n_rows, n)),
        "eighths": rng.integers(0, 4, (n_rows, n)) / 8,
        "bits": rng.integers(0, 2, (n_rows, n)),
        "on a line": np.outer(rng.integers(-3, 4, n_rows), rng.integers(1, 3, n)) / 8 + (rng.random((n_rows, n)) < 0.2),
    }[kind].astype(float)
    _, first = np.unique(X, axis=0, return_index=True)
    X = X[np.sort(first)] * base ** rng.integers(-6, 7, n)
    return X, rng.random(len(X)) < 0.5, rng.integers(1, 4, len(X))


def least_loss(X, on, weights):
    """By asking about every set of rows, in exact arithmetic."""
    oracle, best = Oracle(X, on), int(weights.sum())
    for bits in product([False, True], repeat=len(X)):
        lost = int(weights[~np.array(bits)].sum())
        if lost < best and isinstance(oracle.ask(np.flatnonzero(bits)), Neuron):
            best = lost
    return best


def noisy(m=60, n=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, (X @ rng.normal(size=n) + 0.8 * rng.normal(size=m) > 0).astype(int)
