"""Answers about rows of Dask: collections that are computed where the rows are."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.estimators.fit_rows import is_rows, nameless


def is_dask(X: Any) -> bool:
    """Whether it is a collection of Dask, that is not computed yet."""
    return hasattr(X, "__dask_graph__")


def comes_in_blocks(X: Any) -> bool:
    """Whether rows are Rows or a Dask collection."""
    return is_rows(X) or is_dask(X)


def lazily(estimator: Any, X: Any, answer: str, like: Any) -> Any:
    """A Dask collection of what a method of the estimator says of the rows of another; ``like`` are some answers."""
    estimator = estimator._without_rows()
    if hasattr(X, "columns"):
        return X.map_partitions(_frame_answers, estimator, answer, meta=_as_frame(like, None))
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if like.ndim == 1:
        return X.map_blocks(_answers, estimator, answer, dtype=like.dtype, drop_axis=1)
    return X.map_blocks(_answers, estimator, answer, dtype=like.dtype, chunks=(X.chunks[0], (like.shape[1],)))


def _answers(X: Any, estimator: Any, answer: str) -> Any:
    return getattr(estimator, answer)(np.asarray(X))


def _frame_answers(frame: Any, estimator: Any, answer: str) -> Any:
    names = getattr(estimator, "feature_names_in_", frame.columns)
    rows = np.asarray(frame[list(names)])
    twin = nameless(estimator)
    found = getattr(twin, answer)(rows) if len(rows) else getattr(twin, answer)(np.zeros((1, len(names))))[:0]
    return _as_frame(found, frame.index)


def _as_frame(answers: Any, index: Any) -> Any:
    import pandas

    if answers.ndim == 1:
        return pandas.Series(answers if index is not None else answers[:0], index=index, name="prediction")
    return pandas.DataFrame(answers if index is not None else answers[:0], index=index)
