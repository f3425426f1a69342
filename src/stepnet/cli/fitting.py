"""What commands that train share: fitting with progress, writing the model, and a summary."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepnet.cli.inputs import InputRows

if TYPE_CHECKING:
    from stepnet.estimators.base import BaseStep
    from stepnet.runtime.progress import Progress


def fit_shown(
    estimator: BaseStep,
    rows: InputRows,
    out: Path | None,
    is_enough: Callable[[Progress], bool] = lambda _: False,
    **given: Any,
) -> bool:
    """Fit with progress and write the model at once; returns whether Ctrl-C ended the fit.

    ``given`` is passed to ``fit``.
    """
    import numpy as np

    from stepnet import save
    from stepnet.runtime.view import showing

    estimator.columns_ = rows.columns  # constraints refer to their names
    before, is_interrupted = getattr(estimator, "result_", None), False
    try:
        with showing(estimator.time_limit) as show:
            estimator.fit(rows.X, rows.y, rows.weights, on_incumbent=lambda now: show(now) or is_enough(now), **given)
    except KeyboardInterrupt:
        is_interrupted = True
        if getattr(estimator, "result_", None) is before:  # no network was kept
            raise
    if out is not None:
        estimator.feature_names_in_ = np.array(rows.columns.features, dtype=object)
        if rows.columns.is_plain:
            del estimator.columns_
        save(estimator, out)
        del estimator.feature_names_in_  # the rows here are plain arrays; only the file keeps the names
    return is_interrupted


def summary(estimator: BaseStep) -> str:
    from stepnet.runtime.memory import in_words, peak

    most = peak()
    memory = "" if most is None else f"\n  memory   {in_words(most)} at most"
    chosen = [one for one in getattr(estimator, "held_out_", ()) if one.hidden == estimator.hidden_]
    width = f"\n  width    {chosen[0]}; chosen of {len(estimator.held_out_)}" if chosen else ""
    return f"{estimator.certificate_}{width}{memory}"


def facts_of(estimator: BaseStep, out: Path | None) -> dict[str, Any]:
    from stepnet.runtime.memory import peak

    return {"model": out, "certificate": estimator.certificate_, "memory": peak()}
