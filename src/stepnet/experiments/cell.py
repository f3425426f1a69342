"""Cell: one method on one set of rows, the smallest unit of an experiment."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from stepnet.datasets import load_breast_cancer_wisconsin, make_paper_random
from stepnet.model.arithmetic import Floats

PAPER_SEED = 42  # the paper's split
N_TRAIN = 160  # training rows among the 200 random rows
N_FOLDS = 5


@dataclass(frozen=True)
class Cell:
    """A method, the rows it is trained on, and its time limit.

    ``data`` is "breast_cancer" (``seed`` sets the split), "folds" (of the training rows of the paper's split;
    ``seed`` is the number of the fold) or "random" (``seed`` sets the rows).
    """

    experiment: str
    data: str
    seed: int
    n_rows: int | None  # training rows; None for all
    width: int
    method: str
    time_limit: float
    radius: float = 0.0

    @property
    def name(self) -> str:
        """The name of its file; a cell with another time limit is another cell."""
        rows = "" if self.n_rows is None else f"-m{self.n_rows}"
        radius = f"-r{self.radius:g}" if self.radius else ""
        return f"{self.experiment}-{self.method}-d{self.width}{rows}{radius}-s{self.seed}-{self.time_limit:g}s"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class CellRows:
    """Rows and class codes for training and for testing."""

    X_train: Floats
    y_train: NDArray[np.int64]
    X_test: Floats
    y_test: NDArray[np.int64]


def rows_of(cell: Cell) -> CellRows:
    """The rows of a cell."""
    if cell.data == "random":
        X, y = make_paper_random(cell.seed)
        return CellRows(X[: cell.n_rows], y[: cell.n_rows], X[N_TRAIN:], y[N_TRAIN:])
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    seed = PAPER_SEED if cell.data == "folds" else cell.seed
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed)
    if cell.data == "folds":
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X_train, y_train)
        kept, held_out = list(folds)[cell.seed]
        X_train, X_test, y_train, y_test = X_train[kept], X_train[held_out], y_train[kept], y_train[held_out]
    return CellRows(X_train, y_train, X_test, y_test)
