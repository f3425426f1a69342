"""Supply: fresh rows for a descent on a sample of more rows than fit into memory.

A descent of D draws begins with a uniform sample of B rows. If it would see them more than twice, blocks are read in
random order while it runs, and some rows of each, at most B / 32, take the places of others. So the rows in memory are
always those of many blocks, and it does not matter if a block has rows of one class or one day only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepnet.model.arithmetic import Floats
from stepnet.problem.dataset import Dataset

_SHARE = 32  # of the sample that one block may replace
_LOOKS = 2  # draws of a row before there should be another in its place


@dataclass
class Supply:
    """What a descent must know of all rows, and some more of them when they are due."""

    units: tuple[Floats, Floats]  # means and scales of the features
    n_rows: int  # of all
    n_kept: int  # of the sample
    mean_weight: float = 1.0
    n_blocks: int = 0  # that can be read in any order
    read: Callable[[int, int, int], Dataset] | None = None  # block, how many of its rows, seed
    seed: int = 0
    n_taken: int = 0
    _next: Future[Dataset] | None = field(default=None, repr=False)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "supply"), repr=False)

    def due(self, share: float, n_draws: int) -> Iterator[Dataset]:
        """The rows that are due after this share of all draws."""
        total = self.n_refills(n_draws)
        while self.n_taken < math.floor(share * total):
            dataset = (self._next or self._begun(self.n_taken)).result()
            self.n_taken += 1
            self._next = self._begun(self.n_taken) if self.n_taken < total else None
            yield dataset

    def n_refills(self, n_draws: int) -> int:
        """How many blocks are read; each at most once."""
        wanted = min(self.n_rows, n_draws / _LOOKS) - self.n_kept
        if self.read is None or wanted <= 0:
            return 0
        return min(self.n_blocks, math.ceil(wanted / self._at_once))

    @property
    def _at_once(self) -> int:
        return max(1, self.n_kept // _SHARE)

    def _begun(self, number: int) -> Future[Any]:
        assert self.read is not None
        order = np.random.default_rng(self.seed).permutation(self.n_blocks)
        return self._pool.submit(self._rows, self.read, int(order[number]))

    def _rows(self, read: Callable[[int, int, int], Dataset], block: int) -> Dataset:
        rows = read(block, self._at_once, self.seed)
        return Dataset(rows.X, rows.y, rows.weights / self.mean_weight)

    def close(self) -> None:
        """No more rows are needed."""
        self._pool.shutdown(wait=True, cancel_futures=True)
