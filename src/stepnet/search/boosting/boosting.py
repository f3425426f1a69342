"""Boosted trees for new rows, trained on some rows and read on all of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.model.arithmetic import Bools, Floats
from stepnet.model.network import Network
from stepnet.model.trees import Tree, network_of_trees
from stepnet.problem.dataset import Dataset
from stepnet.runtime.compiling import Compiling
from stepnet.search.boosting import in_numpy
from stepnet.search.boosting.bins import Bins
from stepnet.search.boosting.kernel import LOGISTIC, SOFTMAX, SQUARES, Boosting, Growth, boost

_LOOK = 0.2  # seconds between two looks at the clock
_RIDGE = 1.0
_SURE = 1e-3  # no class counts as rarer


@dataclass(frozen=True, kw_only=True)
class BoostingOptions:
    """How many trees of how many leaves, how far each step goes, and the fewest rows of a leaf."""

    rounds: int = 60
    leaves: int = 8
    rate: float = 0.1
    least: float = 10.0

    @classmethod
    def for_rows(cls, n_rows: int) -> BoostingOptions:
        """More and larger trees where more rows allow it."""
        return cls(rounds=min(100, max(60, n_rows // 20)), leaves=min(31, max(8, n_rows // 64)))


def boosted_network(
    dataset: Dataset,
    bins: Bins,
    is_used: Bools,
    n_outputs: int,
    *,
    options: BoostingOptions | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    seconds: float = math.inf,
    is_compiled: Callable[[], bool] | None = None,
) -> Network:
    """The sum of boosted trees for the rows that are used: log-odds of classes, or numbers.

    One output is for two classes. If all rounds take longer than ``seconds``, there are fewer, but at least one.
    """
    options, is_ready = options or BoostingOptions(), is_compiled or (lambda: KERNELS.is_compiled)
    state, growth = _state(dataset, bins, is_used, n_outputs, options)
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
    trees = [(k, _tree(state, bins, turn, k)) for turn in range(first) for k in range(n_outputs)]
    return network_of_trees(trees, dataset.n_features, base)


def _state(
    dataset: Dataset, bins: Bins, is_used: Bools, n_outputs: int, options: BoostingOptions
) -> tuple[Boosting, Growth]:
    is_number = dataset.y.ndim > 1
    loss = SQUARES if is_number else LOGISTIC if n_outputs == 1 else SOFTMAX
    targets = dataset.y if is_number else dataset.y[:, None].astype(np.float64)
    weights = np.where(is_used, dataset.repetitions, 0.0)
    shape = (options.rounds, n_outputs, 2 * options.leaves - 1)
    state = Boosting(
        bins=bins.codes,
        n_bins=bins.n_bins,
        targets=np.ascontiguousarray(targets, dtype=np.float64),
        weights=weights,
        rows=np.flatnonzero(is_used),
        scores=np.tile(_base(targets, weights, loss, n_outputs), (dataset.n_rows, 1)),
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


def _tree(s: Boosting, bins: Bins, turn: int, output: int) -> Tree:
    features = s.features[turn, output]
    cuts = [0.0 if f < 0 else float(bins.cuts[f][b]) for f, b in zip(features, s.cuts[turn, output], strict=True)]
    return Tree(features, np.array(cuts), s.below[turn, output], s.above[turn, output], s.values[turn, output])


def _compile() -> None:
    dataset = Dataset.from_rows([[0.0], [1.0], [2.0]], [0, 1, 0])
    options = BoostingOptions(rounds=1, leaves=2, least=1.0)
    for n_outputs in (1, 3):
        boosted_network(
            dataset, Bins.of(dataset.X), np.ones(3, dtype=bool), n_outputs, options=options, is_compiled=lambda: True
        )


KERNELS = Compiling("boosting", _compile, __name__, boost)
