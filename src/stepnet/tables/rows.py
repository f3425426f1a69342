"""Rows: training rows that are read block by block, as often as they are needed, and never all at once."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepnet.errors import InvalidInputError
from stepnet.runtime.memory import available, in_words, resident
from stepnet.tables.sources import Arrays, ArrowDataset, CsvFiles, LazyTable, ParquetFiles, Source, files_of
from stepnet.tables.table import RawTable

if TYPE_CHECKING:
    from stepnet.tables.columns import Columns

_SHARE = 0.5  # of the free memory, if there is no limit
_LEAST = 96e6  # bytes beside what the process has already
_PIECE, _LARGEST_PIECE = 1 / 24, 32e6  # of that, and bytes
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "KI": 2.0**10, "MI": 2.0**20, "GI": 2.0**30, "TI": 2.0**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]I?)?B?\s*", re.IGNORECASE)
_AHEAD = 2  # pieces that are read before they are asked for


class Piece(NamedTuple):
    """Some rows in order."""

    X: Any  # rows × features, float32 if all columns are, else float64
    y: Any  # labels or numbers; None if no target is named
    weights: Any  # None if all weigh 1
    where: str
    block: int

    @property
    def counted(self) -> Piece:
        """Without rows of weight 0."""
        if self.weights is None or (kept := self.weights > 0).all():
            return self
        y = None if self.y is None else self.y[kept]
        return self._replace(X=self.X[kept], y=y, weights=self.weights[kept])

    @property
    def digest(self) -> int:
        """Changes if a row does."""
        parts = [self.X, self.weights, self.y if self.y is None or self.y.dtype != object else self.y.astype(str)]
        value = 0
        for part in parts:
            value = value if part is None else zlib.crc32(part.tobytes(), value)
        return value


def bytes_of(limit: str | float | None) -> float | None:
    """A memory limit in bytes, from a number or from text such as "1GB"."""
    found = _SIZE.fullmatch(limit) if isinstance(limit, str) else None
    size = float(found[1]) * _UNITS[(found[2] or "").upper()] if found else limit
    if size is None or (isinstance(size, int | float) and not isinstance(size, bool) and size > 0):
        return None if size is None else float(size)
    raise InvalidInputError(f"memory_limit={limit!r} must be a number of bytes, or text such as '1GB' or '500MB'.")


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table that does not fit into memory, for ``fit``, ``predict`` and ``verify`` of an estimator.

    Made by :meth:`from_parquet`, :meth:`from_csv`, :meth:`from_arrow`, :meth:`from_polars` or :meth:`from_blocks`;
    nothing is read before it is needed. Rows must be the same, in the same order, each time they are read.

    Attributes
    ----------
    columns : Columns or None
        How columns become features, learned by reading the rows once if there is something to learn; None for blocks of
        arrays.
    features : list of str or None
        The names of the features.
    memory_limit : float or None
        Bytes that the process may use.

    Examples
    --------
    >>> import numpy as np
    >>> from stepnet import Rows, StepClassifier
    >>> def read(block):
    ...     rng = np.random.default_rng(block)
    ...     X = rng.normal(size=(1000, 2))
    ...     return X, X[:, 0] > X[:, 1]
    >>> rows = Rows.from_blocks(read, 5)
    >>> clf = StepClassifier(hidden=(2,), random_state=0).fit(rows)
    >>> clf.certificate_.total_weight, bool(clf.verify(rows))
    (5000.0, True)
    """

    source: Any
    target: str | None = None
    sample_weight: str | None = None
    task: str = "classification"
    encode: str = ""
    impute: str = ""
    drop: tuple[str, ...] = ()
    memory_limit: float | None = None
    rules: Columns | None = field(default=None, repr=False)  # of a model, in place of learned ones

    @classmethod
    def from_parquet(cls, paths: Any, target: str | None = None, **options: Any) -> Rows:
        """From a Parquet file, a folder or a pattern such as ``claims/*.parquet``, or a list of them.

        Parameters
        ----------
        paths : path or list of paths
        target : str, optional
            The column of the classes or numbers to predict.
        sample_weight : str, optional
            The column of row weights.
        task : "classification" or "regression"
            Whether the target holds classes or numbers.
        encode, impute, drop
            As for :meth:`Table.read`; categories and fills are those of all rows. The median of more than 100,000
            numbers is that of a sample, and the model file says so.
        memory_limit : float or str, optional
            Bytes that the process may use, such as ``"1GB"``; without it, what it uses plus half of what is free.
        """
        return cls._of(ParquetFiles(files_of(paths, "parquet")), target, **options)

    @classmethod
    def from_csv(cls, paths: Any, target: str | None = None, **options: Any) -> Rows:
        """From CSV files, plain or compressed; see :meth:`from_parquet`."""
        return cls._of(CsvFiles(files_of(paths, "csv"), frozenset(filter(None, [target]))), target, **options)

    @classmethod
    def from_arrow(cls, dataset: Any, target: str | None = None, **options: Any) -> Rows:
        """From a ``pyarrow.dataset.Dataset``; see :meth:`from_parquet`."""
        if not hasattr(dataset, "get_fragments"):
            raise InvalidInputError(f"from_arrow takes a pyarrow.dataset.Dataset, not a {type(dataset).__name__}.")
        return cls._of(ArrowDataset(dataset), target, **options)

    @classmethod
    def from_polars(cls, frame: Any, target: str | None = None, **options: Any) -> Rows:
        """From a ``polars.LazyFrame``; its rows must come in the same order each time. See :meth:`from_parquet`."""
        if not hasattr(frame, "collect_schema"):
            raise InvalidInputError(f"from_polars takes a polars.LazyFrame, not a {type(frame).__name__}.")
        return cls._of(LazyTable(frame.lazy()), target, **options)

    @classmethod
    def from_blocks(
        cls,
        read: Callable[[int], Any],
        n_blocks: int,
        *,
        task: str = "classification",
        memory_limit: str | float | None = None,
    ) -> Rows:
        """From a function of a block's number, which returns ``(X, y)``, ``(X, y, sample_weight)`` or ``X`` alone."""
        if not callable(read) or isinstance(n_blocks, bool) or not isinstance(n_blocks, int) or n_blocks < 1:
            raise InvalidInputError("from_blocks takes a function of a block's number, and how many blocks there are.")
        return cls._of(Arrays(read, n_blocks), None, task=task, memory_limit=memory_limit)

    @classmethod
    def _of(
        cls,
        source: Any,
        target: str | None,
        *,
        sample_weight: str | None = None,
        task: str = "classification",
        encode: str = "",
        impute: str | float = "",
        drop: str | Sequence[str] = (),
        memory_limit: str | float | None = None,
    ) -> Rows:
        if task not in ("classification", "regression"):
            raise InvalidInputError(f"task={task!r} is not known; choose 'classification' or 'regression'.")
        dropped = (drop,) if isinstance(drop, str) else tuple(drop)
        if target is not None and target in (sample_weight, *dropped):
            raise InvalidInputError(f"the target {target!r} cannot be dropped or be the row weight.")
        return cls(source, target, sample_weight, task, encode, str(impute), dropped, bytes_of(memory_limit))

    @property
    def name(self) -> str:
        """Where the rows are from, for messages."""
        return str(self.source.name)

    @property
    def has_arrays(self) -> bool:
        """Whether blocks are arrays, without names and rules of columns."""
        return hasattr(self.source, "arrays")

    @cached_property
    def columns(self) -> Columns | None:
        from stepnet.tables.columns import Column, Columns
        from stepnet.tables.learning import learned_columns

        if self.rules is not None or self.has_arrays:
            return self.rules
        names = self._names()
        if self.encode or self.impute:
            source = self.source.with_text(names) if self.encode and hasattr(self.source, "with_text") else self.source
            tables = self._raw(source, names)
            return learned_columns(tables, names, self.name, encode=self.encode, impute=self.impute)
        return Columns(tuple(map(Column, names)))

    def _names(self) -> list[str]:
        """Of the columns that become features."""
        known = self.source.names()
        for name in (self.target, self.sample_weight, *self.drop):
            if name is not None and name not in known:
                raise InvalidInputError(f"{self.name} has no column {name!r}; its columns are {', '.join(known)}.")
        names = [name for name in known if name not in (self.target, self.sample_weight, *self.drop)]
        if not names:
            raise InvalidInputError(f"{self.name} has no column to learn from.")
        return names

    @property
    def features(self) -> list[str] | None:
        return None if self.columns is None else self.columns.features

    @property
    def working_memory(self) -> float:
        """Bytes that may be used beside those that the process uses already."""
        used = resident()
        limit = used + _SHARE * min(available(), 1e15) if self.memory_limit is None else self.memory_limit
        if limit - used < _LEAST:
            raise InvalidInputError(
                f"memory_limit={in_words(limit)} is too little: the process uses {in_words(used)} already, and needs "
                f"{in_words(_LEAST)} more. Give {in_words(used + 2 * _LEAST)} or more."
            )
        return limit - used

    @cached_property
    def _piece_size(self) -> int:
        return int(min(_LARGEST_PIECE, _PIECE * self.working_memory))

    def like(self, estimator: Any) -> Rows:
        """The same rows, read by the rules of a fitted estimator: those of columns are not learned again."""
        columns = getattr(estimator, "columns_", None)
        return self if self.has_arrays or columns is None else replace(self, rules=columns)

    def pieces(self, blocks: Sequence[int] | None = None) -> Iterator[Piece]:
        """The rows in order, or those of some blocks in the order given; the next pieces are read meanwhile."""
        order = range(self.source.n_blocks) if blocks is None else blocks
        with ThreadPoolExecutor(1, "rows") as pool:
            reading = (piece for block in order for piece in self._block(block))
            waiting: list[Future[Piece | None]] = [pool.submit(next, reading, None) for _ in range(_AHEAD)]
            try:
                while (piece := waiting.pop(0).result()) is not None:
                    waiting.append(pool.submit(next, reading, None))
                    if len(piece.X):
                        yield piece
            finally:
                for one in waiting:
                    one.cancel()

    def _block(self, block: int) -> Iterator[Piece]:
        from stepnet.tables.piece import of_arrays, of_table

        if self.has_arrays:
            for X, y, weights, where in self.source.arrays(block, self._piece_size):
                yield of_arrays(X, y, weights, where, block, is_number=self.task == "regression")
            return
        assert self.columns is not None
        for table in self._reading.pieces(block, self._needed, self._piece_size):
            yield of_table(table, self.columns, self.target, self.sample_weight, block, self.task == "regression")

    @cached_property
    def _reading(self) -> Any:
        """The source, with the text of categories as it is written."""
        from stepnet.tables.learning import texts_of

        if self.columns is None or not hasattr(self.source, "with_text"):
            return self.source
        return self.source.with_text(texts_of(self.columns))

    @cached_property
    def _needed(self) -> list[str]:
        assert self.columns is not None
        names = [str(column.name) for column in self.columns.columns]
        return [*names, *filter(None, (self.target, self.sample_weight))]

    def tables(self) -> Iterator[RawTable]:
        """All columns as they are, for a model that takes them by its own rules."""
        return self._raw(self._reading, self.source.names())

    def _raw(self, source: Any, names: Sequence[str]) -> Iterator[RawTable]:
        for block in range(source.n_blocks):
            yield from source.pieces(block, names, self._piece_size)


def rows_in(path: str | os.PathLike[str], target: str | None = None, **options: Any) -> Rows:
    """The rows of a file, by its ending."""
    has_parquet = Path(path).is_dir() and any(Path(path).glob("*.parquet"))
    is_parquet = has_parquet or ".parquet" in os.fspath(path).lower()
    return (Rows.from_parquet if is_parquet else Rows.from_csv)(path, target, **options)


__all__ = ["Piece", "Rows", "Source", "bytes_of", "rows_in"]
