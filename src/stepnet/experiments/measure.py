"""Run a cell and measure how well its method predicts new rows, and what is known of its training loss."""

from __future__ import annotations

import functools
import time
from datetime import UTC, datetime
from typing import Any

from sklearn.metrics import accuracy_score, precision_recall_fscore_support
from threadpoolctl import threadpool_limits

import stepnet
from stepnet.estimators.warm_up import warm_up
from stepnet.experiments.as_printed import wait_for_solvers
from stepnet.experiments.cell import Cell, CellRows, rows_of
from stepnet.experiments.contenders import CONTENDERS, Predict

Record = dict[str, Any]


def measured(cell: Cell) -> Record:
    """Run a cell; an error goes into the record, so that the other cells still run."""
    _compile()
    rows = rows_of(cell)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    record: Record = cell.to_dict() | {"when": when, "stepnet": stepnet.__version__}
    begin = time.perf_counter()
    try:
        with threadpool_limits(1):
            fitted = CONTENDERS[cell.method].fit(rows, cell)
    except Exception as error:
        return record | {"error": f"{type(error).__name__}: {error}"}
    finally:
        seconds = time.perf_counter() - begin
        wait_for_solvers()
    record |= {"seconds": seconds} | fitted.facts | {"note": fitted.note}
    return record if fitted.predict is None else record | _scores(fitted.predict, rows)


@functools.cache
def _compile() -> None:
    """Load or compile the kernels before the clock starts."""
    warm_up()


def _scores(predict: Predict, rows: CellRows) -> Record:
    """On the test rows: accuracy, and precision, recall and F1 weighted by class size, as in the paper."""
    truth, answers = rows.y_test, predict(rows.X_test)
    weighted = precision_recall_fscore_support(truth, answers, average="weighted", zero_division=0.0)
    scores = (accuracy_score(truth, answers), *weighted[:3])
    return dict(zip(("accuracy", "precision", "recall", "f1"), map(float, scores), strict=True))
