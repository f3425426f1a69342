"""Boosted trees for new rows, trained on some rows and read on all of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.model.trees import Trees, network_of_trees
from stepnet.problem.dataset import Dataset
from stepnet.runtime.compiling import Compiling
from stepnet.search.boosting import in_numpy
from stepnet.search.boosting.bins import Bins
from stepnet.search.boosting.kernel import LOGISTIC, SOFTMAX, SQUARES, Boosting, Growth, boost

_LOOK = 0.2  # seconds between two looks at the clock
_RIDGE = 1.0
_FEWEST_ROUNDS, _MOST_TREES = 10, 200
_FARTHEST = 0.3  # rate
_SURE = 1e-3  # no class counts as rarer


@dataclass(frozen=True, kw_only=True)
class BoostingOptions:
    """How many trees of how many leaves, how far each step goes, and the fewest rows of a leaf."""

    rounds: int = 60
    leaves: int = 8
    rate: float = 0.1
    least: float = 10.0

    @classmethod
    def for_rows(cls, n_rows: int, n_outputs: int) -> BoostingOptions:
        """More and larger trees where more rows allow it; with many outputs fewer rounds, which go farther."""
        usual = min(100, max(60, n_rows // 20))
        rounds = min(usual, max(_FEWEST_ROUNDS, _MOST_TREES // n_outputs))
        rate = min(_FARTHEST, cls.rate * usual / rounds)
        return cls(rounds=rounds, leaves=min(31, max(8, n_rows // 64)), rate=rate)


def boosted_network(
    dataset: Dataset,
    bins: Bins,
    kept: Floats,
    n_outputs: int,
    *,
    options: BoostingOptions | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    seconds: float = math.inf,
    is_compiled: Callable[[], bool] | None = None,
) -> Network:
    """The sum of boosted trees for rows that count so often: log-odds of classes, or numbers.

    One output is for two classes. If all rounds take longer than ``seconds``, there are fewer, but at least one.
    """
    options, is_ready = options or BoostingOptions(), is_compiled or (lambda: KERNELS.is_compiled)
    state, growth = _state(dataset, bins, kept, n_outputs, options)
    base = state.scores[0].copy()
    first, chunk, begin = 0, 1, time.perf_counter()
    while first < options.rounds:
        make_rounds = boost if is_ready() else in_numpy.boost
        before = time.perf_counter()
        make_rounds(state, growth, first, min(first + chunk, options.rounds))
        now = time.perf_counter()
        first = min(first + chunk, options.rounds)
        per_round = (now - before) / chunk
        left = begin + seconds - now
        if should_stop() or left < per_round:
            break
        chunk = max(1, int(min(_LOOK, left) / max(per_round, 1e-9)))
    return network_of_trees(_trees(state, bins, first), dataset.n_features, base)


def _state(
    dataset: Dataset, bins: Bins, kept: Floats, n_outputs: int, options: BoostingOptions
) -> tuple[Boosting, Growth]:
    is_number = dataset.y.ndim > 1
    loss = SQUARES if is_number else LOGISTIC if n_outputs == 1 else SOFTMAX
    targets = dataset.y if is_number else dataset.y[:, None].astype(np.float64)
    shape = (options.rounds, n_outputs, 2 * options.leaves - 1)
    state = Boosting(
        bins=bins.codes,
        offsets=np.concatenate([[0], np.cumsum(bins.n_bins)]),
        targets=np.ascontiguousarray(targets, dtype=np.float64),
        weights=kept,
        rows=np.flatnonzero(kept),
        scores=np.tile(_base(targets, kept, loss, n_outputs), (dataset.n_rows, 1)),
        features=np.full(shape, -1, dtype=np.int32),
        cuts=np.zeros(shape, dtype=np.int32),
        below=np.zeros(shape, dtype=np.int32),
        above=np.zeros(shape, dtype=np.int32),
        values=np.zeros(shape),
    )
    return state, Growth(loss, options.rate, options.leaves, options.least, _RIDGE)


def _base(targets: Any, weights: Floats, loss: int, n_outputs: int) -> Floats:
    """The best constant: means, or log-odds."""
    shares = weights / weights.sum()
    if loss == SQUARES:
        return np.asarray(shares @ targets)
    counts = np.bincount(targets[:, 0].astype(np.int64), shares, minlength=max(2, n_outputs)).clip(_SURE, 1.0)
    logs = np.log(counts)
    return np.array([logs[1] - logs[0]]) if loss == LOGISTIC else np.asarray(logs)


def _trees(s: Boosting, bins: Bins, n_rounds: int) -> Trees:
    """Those of the first rounds, one after the other."""
    n_outputs, n_nodes = s.features.shape[1:]
    features, codes, below, above, values = (
        nodes[:n_rounds].reshape(-1, n_nodes) for nodes in (s.features, s.cuts, s.below, s.above, s.values)
    )
    table = np.zeros((len(bins.cuts), max(map(len, bins.cuts), default=0) + 1))
    for row, own in zip(table, bins.cuts, strict=True):
        row[: len(own)] = own
    cuts = np.where(features >= 0, table[np.maximum(features, 0), np.where(features >= 0, codes, 0)], 0.0)
    return Trees(features, cuts, below, above, values, np.tile(np.arange(n_outputs), n_rounds))


def _compile() -> None:
    dataset = Dataset.from_rows([[0.0], [1.0], [2.0]], [0, 1, 0])
    options = BoostingOptions(rounds=1, leaves=2, least=1.0)
    for n_outputs in (1, 3):
        boosted_network(dataset, Bins.of(dataset.X), np.ones(3), n_outputs, options=options, is_compiled=lambda: True)


KERNELS = Compiling("boosting", _compile, __name__, boost)
