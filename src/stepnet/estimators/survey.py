"""Survey: what the first pass over rows finds, and a sample to learn from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.problem.moments import Moments, Stretches
from stepnet.runtime.reservoir import Reservoir
from stepnet.tables.rows import Piece

_MANY_LABELS = 1_000  # more are no classes
_NEAR = 10_000  # integers so close together are counted without sorting


@dataclass
class Survey:
    """Statistics of the rows so far; the same for the same rows, whatever pieces they come in."""

    sample: Reservoir
    counts_labels: bool
    features: Stretches = field(default_factory=Stretches)
    targets: Stretches = field(default_factory=Stretches)  # of numbers to predict
    labels: dict[Any, int] = field(default_factory=dict)
    first_of: dict[type, str] = field(default_factory=dict)  # where labels of a type first were
    digests: list[int] = field(default_factory=list)  # of the pieces
    n_features: int = 0
    n_all: int = 0  # rows, also those of weight 0
    with_weight: set[Any] = field(default_factory=set)  # labels of rows of positive weight

    def add(self, piece: Piece) -> None:
        """The next rows."""
        self._require_features(piece)
        if piece.y is None:
            raise InvalidInputError(f"{piece.where} has no targets; name the column with target=, or return (X, y).")
        self.digests.append(piece.digest)
        n_before, piece = len(piece.X), self._counted(piece)
        self.n_all += n_before
        if not len(piece.X):
            return
        self.features.add(piece.X, piece.weights)
        if not self.counts_labels:
            self.targets.add(piece.y.reshape(len(piece.y), -1), piece.weights)
        self.sample.add(piece.X, piece.y, piece.weights)

    def _counted(self, piece: Piece) -> Piece:
        """The rows of positive weight; labels are counted before, and classes are those of the rows that are left."""
        kept = piece.counted
        if self.counts_labels:
            self._count(piece)
            self.with_weight.update(counted(kept.y)[0])
        return kept

    def _require_features(self, piece: Piece) -> None:
        self.n_features = self.n_features or piece.X.shape[1]
        if piece.X.shape[1] != self.n_features:
            raise InvalidInputError(
                f"{piece.where} has {piece.X.shape[1]} features, the rows before had {self.n_features}; all blocks "
                f"need the same columns."
            )

    def _count(self, piece: Piece) -> None:
        labels, counts = counted(piece.y)
        self.add_counts(dict(zip(labels, counts, strict=True)), set(), {type(one): piece.where for one in labels}, 0)

    def add_counts(self, counts: dict[Any, int], with_weight: set[Any], where: dict[type, str], n_all: int) -> None:
        """Labels of other rows, those of them that are of positive weight, where they are, and how many rows."""
        self.n_all += n_all
        self.with_weight |= with_weight
        for kind, place in where.items():
            self.first_of.setdefault(kind, place)
        if len({issubclass(kind, str) for kind in self.first_of}) > 1:
            places = " and ".join(f"{kind.__name__} in {where}" for kind, where in self.first_of.items())
            raise InvalidInputError(f"the target has labels of several types, {places}; write them as one type.")
        for label, count in counts.items():
            self.labels[label] = self.labels.get(label, 0) + count
        if len(self.labels) > _MANY_LABELS:
            raise InvalidInputError(
                f"the target has more than {_MANY_LABELS} different labels. To predict numbers, use "
                f"StepRegressor and task='regression' (--task regression)."
            )

    @property
    def n_rows(self) -> int:
        return self.sample.n_seen

    @property
    def classes(self) -> Any:
        return np.array(sorted(self.with_weight))

    def moments(self) -> Moments:
        """Of the features; no more rows are added."""
        if not self.n_rows:
            raise InvalidInputError("there are no rows of positive weight; give at least one.")
        return self.features.closed()


def counted(y: Any) -> tuple[list[Any], list[int]]:
    """The different labels and how often they come."""
    if y.ndim != 1:
        raise InvalidInputError(f"labels must be one per row; got shape {y.shape}.")
    if y.dtype.kind in "iu" and len(y) and (low := int(y.min())) > int(y.max()) - _NEAR:
        counts = np.bincount(y - low)
        found = np.flatnonzero(counts)
        return (found + low).tolist(), counts[found].tolist()
    labels, numbers = np.unique(y, return_counts=True)
    return labels.tolist(), numbers.tolist()
