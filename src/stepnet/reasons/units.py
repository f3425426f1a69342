"""A classifier for which reasons are given, in the units of the rows that users have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.model.unscaled import unscaled
from stepnet.tables.operations import Operations, after, require_lines
from stepnet.tables.pipelines import cells_of, unpacked


@dataclass(frozen=True)
class Model:
    """A fitted classifier as reasons need it: its network, and what features go through before it."""

    network: Network
    names: tuple[str, ...]
    classes: NDArray[Any]
    arithmetic: tuple[Operations, ...]
    is_text: NDArray[np.bool_]  # features that encode text

    @classmethod
    def of(cls, estimator: Any, *, before_operations: bool = False) -> Model:
        """For rows as ``predict`` takes them, or as they are before their features are scaled."""
        network = getattr(estimator, "network_", None)
        if not isinstance(network, Network) or not hasattr(estimator, "classes_"):
            raise InvalidInputError(f"{type(estimator).__name__} is not a fitted stepnet classifier; call fit first.")
        columns = getattr(estimator, "columns_", None)
        n_features, names = network.n_features, getattr(estimator, "feature_names_in_", None)
        if names is None:
            names = [f"x{i}" for i in range(n_features)] if columns is None else columns.features
        arithmetic: list[Operations] = [()] * n_features
        if columns is not None and columns.has_arithmetic:
            names = columns.features if before_operations else columns.formulas()
            arithmetic = columns.arithmetic if before_operations else arithmetic
            require_lines(arithmetic, "an explanation in the units of the table")
        encodings = [] if columns is None else [one.encoding for one in columns.columns for _ in one.features]
        is_text = np.array([bool(one) for one in encodings or [None] * n_features])
        return cls(network, tuple(map(str, names)), estimator.classes_, tuple(arithmetic), is_text)

    @property
    def in_units(self) -> Network:
        """The network for rows in the units of users, rounded if features are scaled."""
        return unscaled(self.network, self.arithmetic)

    def taken(self, rows: Floats) -> Floats:
        """Rows in the units of users as the network takes them."""
        return after(self.arithmetic, rows)

    def answers(self, rows: Floats) -> NDArray[np.int64]:
        """The exact codes of rows in the units of users."""
        return self.network.predict(self.taken(rows))


def read(model: Any, X: Any) -> tuple[Model, Floats, bool]:
    """A classifier or a pipeline that ends with one, with its rows; and whether a single row was given."""
    rows, is_single = as_rows(X)
    if not isinstance(model, Pipeline):
        known = Model.of(model)
        return known, np.asarray(model._new_rows(rows), dtype=np.float64), is_single
    estimator = unpacked(model)
    known, columns = Model.of(estimator, before_operations=True), getattr(estimator, "columns_", None)
    if columns is None:
        return known, np.asarray(estimator._new_rows(rows), dtype=np.float64), is_single
    return known, columns.before_operations(cells_of(rows), "X"), is_single


def as_rows(X: Any) -> tuple[Any, bool]:
    """Rows × features, and whether a single row was given as one axis."""
    if hasattr(X, "to_frame"):  # a row of a data frame
        return X.to_frame().T.infer_objects(), True
    if hasattr(X, "shape") and len(X.shape) == 2:
        return X, False
    rows = np.asarray(X)
    return (rows[None], True) if rows.ndim == 1 else (rows, False)
