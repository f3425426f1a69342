"""The command ``risk``: bounds on errors on new rows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from stepnet.cli import options
from stepnet.cli.inputs import check_order, check_writable, loaded, read
from stepnet.cli.output import say
from stepnet.errors import InvalidInputError


def risk(
    model: options.Model,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Table with rows that were not trained on.")],
    target: Annotated[str, typer.Option(help="Column with the true classes.")],
    confidence: Annotated[float, typer.Option(help="Of each bound.")] = 0.95,
    by: Annotated[str, typer.Option(help="Column with groups; the error is bounded in each of them, too.")] = "",
    radius: Annotated[float | None, typer.Option(help="Also bound the share of rows certified within it.")] = None,
    norm: Annotated[str, typer.Option(help="Norm of perturbations: l1, l2 or linf.")] = "linf",
    repeated: Annotated[str, typer.Option(help="Rows that equal training rows: refuse, drop or keep.")] = "refuse",
    keep: Annotated[bool, typer.Option("--keep", help="Write the bound into the model's certificate.")] = False,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Bound the errors on new rows, exactly, from rows that the model was not trained on."""
    from stepnet import save
    from stepnet.estimators.classifier import BaseStepClassifier
    from stepnet.runtime.view import showing

    check_order(model, data, "risk MODEL DATA")
    if keep:
        check_writable(model)
    table = read(data, target)
    estimator, rows = loaded(model, table, (target, *((by,) if by else ())))
    if not isinstance(estimator, BaseStepClassifier):
        raise InvalidInputError(f"risk is for classifiers; {model} is a {type(estimator).__name__}.")
    if rows.absent:
        raise InvalidInputError("risk compares whole rows with those of training; give all columns of the model.")
    groups = table.labels(by) if by else None
    with showing(math.inf, "bounding the risk"):
        found = estimator.risk(
            rows.X,
            table.labels(target),
            confidence,
            groups=groups,
            radius=radius,
            norm=norm,
            repeated=repeated,
            keep=keep,
        )
    lines = [str(found)]
    if keep:
        save(estimator, model)
        lines.append(f"certificate in {model}: {found.sentence}")
    say("\n".join(lines), {"model": model, "risk": found.to_dict()}, as_json=as_json)
