"""Groups of equal rows among more rows than fit into memory.

Of every row two hashes are kept, one of its features and one of its features and target: in memory as long as they are
few, then in temporary files by their first bits, which are sorted one after the other. Equal rows have equal hashes, so
rows without a partner of the same hash and another target are in no conflict. The others are suspects: whoever has the
rows compares them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np

from stepnet.problem.row_hashes import Hashes

_IN_MEMORY = 2**21  # pairs of hashes, 16 bytes each
_BITS = 7  # of the hash that choose a file
_PAIR = np.dtype([("row", np.uint64), ("whole", np.uint64)])


class Groups(NamedTuple):
    """What the hashes tell."""

    n_distinct: int  # rows that differ in features or target
    suspects: Hashes  # sorted hashes of features that come with several targets
    n_suspects: int  # distinct rows that have them


class RowGroups:
    """Collects hashes of rows; a context manager, which removes its files."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._n_kept = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def add(self, rows: Hashes, wholes: Hashes) -> None:
        """Hashes of features, and of features and targets, of some rows."""
        pairs = np.empty(len(rows), dtype=_PAIR)
        pairs["row"], pairs["whole"] = rows, wholes
        self._parts.append(pairs)
        self._n_kept += len(pairs)
        if self._n_kept > _IN_MEMORY:
            self._flush()

    def _flush(self) -> None:
        """What is in memory goes to the files; the same row twice, once."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="stepnet-rows-")
        pairs = _distinct(np.concatenate(self._parts))
        self._parts, self._n_kept = [], 0
        ends = np.searchsorted(pairs["row"] >> np.uint64(64 - _BITS), np.arange(2**_BITS + 1))
        for number, (first, end) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
            with self._file(number).open("ab") as file:
                file.write(pairs[first:end].tobytes())

    def _file(self, number: int) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / f"{number}"

    def groups(self) -> Groups:
        """Of all rows."""
        if self._folder is None:
            return _groups(np.concatenate(self._parts))
        self._flush()
        found = [_groups(np.fromfile(self._file(number), dtype=_PAIR)) for number in range(2**_BITS)]
        return Groups(
            sum(one.n_distinct for one in found),
            np.concatenate([one.suspects for one in found]),
            sum(one.n_suspects for one in found),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def _distinct(pairs: np.ndarray) -> np.ndarray:
    """In the order of their hashes, each once."""
    pairs = pairs[np.lexsort((pairs["whole"], pairs["row"]))]
    is_new = np.ones(len(pairs), dtype=bool)
    is_new[1:] = (pairs["row"][1:] != pairs["row"][:-1]) | (pairs["whole"][1:] != pairs["whole"][:-1])
    return pairs[is_new]


def _groups(pairs: np.ndarray) -> Groups:
    pairs = _distinct(pairs)
    rows, counts = np.unique(pairs["row"], return_counts=True)
    return Groups(len(pairs), rows[counts > 1], int(counts[counts > 1].sum()))
