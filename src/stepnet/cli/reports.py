"""The command ``report``: read a model and tables, write the report."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

from stepnet.cli.inputs import check_writable, features_of, targets_for, weights_in
from stepnet.cli.output import EXIT_FALSE
from stepnet.errors import InvalidInputError
from stepnet.tables.table import read_table

_ENDINGS = {"html": "report.html", "markdown": "report.md", "text": ""}


def write_report(
    model: Path,
    data: Path | None,
    target: str,
    test: Path | None,
    out: Path | None,
    to: str,
    radius: float | None,
    norm: str,
    sample_weight: str | None,
) -> None:
    """Write a report on a model; text without ``out`` is printed. Exit code 1 if the certificate is false."""
    if to not in _ENDINGS:
        raise InvalidInputError(f"--to {to} is not known; choose one of {', '.join(_ENDINGS)}.")
    path = out or (Path(_ENDINGS[to]) if _ENDINGS[to] else None)
    check_writable(path)
    from stepnet import load
    from stepnet.report import Report, to_html, to_markdown, to_text
    from stepnet.runtime.files import write_atomically
    from stepnet.runtime.view import showing

    estimator = load(model)
    with showing(math.inf, "computing the report"):
        report = Report.of(
            estimator,
            _rows(estimator, data, target, sample_weight),
            None if test is None else _rows(estimator, test, target, None)[:2],
            radius=radius,
            norm=norm,
            title=f"Report on {model.name}",
            data_name="" if data is None else data.name,
            model_name=model.name,
            target=target or "y",
            weight=sample_weight or "weight",
        )
    text = {"html": to_html, "markdown": to_markdown, "text": to_text}[to](report)
    if path is None:
        print(text, end="")
    else:
        write_atomically(path, text)
        print(f"report written to {path}")
    if report.verification is not None and not report.verification:
        print(f"the certificate of {model} is FALSE:\n{report.verification}", file=sys.stderr)
        sys.exit(EXIT_FALSE)


def _rows(estimator: Any, data: Path | None, target: str, sample_weight: str | None) -> Any:
    """Features, targets and weights of a table, as the model expects them."""
    if data is None:
        return None
    table = read_table(data, text=[target])
    _, X = features_of(estimator, table, (target, sample_weight))
    return X, targets_for(estimator, table, target), weights_in(table, sample_weight)
