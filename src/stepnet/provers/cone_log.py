"""Cone log: how the cones of a tree were divided, in the order in which they were looked at."""

from __future__ import annotations

import numpy as np

from stepnet.model.arithmetic import Ints
from stepnet.provers.corners import N_LOGGED

_LENGTH = 1 << 16  # of a page


class ConeLog:
    """Entries of a tree, page by page; ``page`` is for kernels, and has no room if nothing is logged."""

    def __init__(self, counters: Ints, *, is_kept: bool) -> None:
        self._counters, self.is_kept, self._pages = counters, is_kept, list[Ints]()
        self.page = np.empty(_LENGTH if is_kept else 0, dtype=np.int64)

    def append(self, entry: int) -> None:
        if self.is_kept:
            self.page[self._counters[N_LOGGED]] = entry
            self._counters[N_LOGGED] += 1

    def turn_if_full(self) -> None:
        """Leave room for what is appended between two turns of a kernel."""
        if self.is_kept and self._counters[N_LOGGED] > _LENGTH - 2:
            self._turn()

    def entries(self) -> Ints:
        self._turn()
        return np.concatenate(self._pages)

    def _turn(self) -> None:
        self._pages.append(self.page[: self._counters[N_LOGGED]].copy())
        self._counters[N_LOGGED] = 0
