"""The demonstration: three neurons that separate the training rows, two that cannot, and three for new rows."""

from __future__ import annotations

import itertools
import sys
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from stepnet import Integers, Layer, Network, StepClassifier, load
from stepnet.cli.fitting import facts_of, fit_shown
from stepnet.cli.inputs import InputRows
from stepnet.cli.output import EXIT_FALSE, exit_if, say, write_rows
from stepnet.datasets import load_breast_cancer_wisconsin
from stepnet.export import to_rules
from stepnet.tables.columns import Column, Columns

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_TARGET = "class"
_GROWTH = 1.01  # from one scale to the next that is tried


class _Rows(NamedTuple):
    X: Floats
    y: NDArray[np.str_]


def demonstrate(out: Path, time_limit: float, report: Path | None, data: Path | None, *, as_json: bool) -> None:
    """Print it part by part; write the three neurons, and on request a report on them and the training rows."""
    tell = partial(print, file=sys.stderr if as_json else sys.stdout, flush=True)
    training, test, table = _rows()
    tell(f"Breast Cancer Wisconsin: {len(training.y)} training rows, {len(test.y)} test rows, 9 features from 1 to 10.")
    if data is not None:
        cells = [[*(f"{value:g}" for value in row), label] for row, label in zip(*training, strict=True)]
        write_rows(data, [*table.columns.features, _TARGET], cells)
        tell(f"training rows written to {data}")

    three, is_interrupted = _three_neurons(table, out, time_limit)
    rules = "\n".join(fill(line, 100, subsequent_indent=6 * " ") for line in to_rules(load(out)).splitlines())
    tell(f"\nThree neurons, rounded to integer weights:\n\n{rules}\n\nmodel written to {out}")
    if report is not None:
        _write_report(report, training, test, out, "" if data is None else data.name)
        tell(f"report written to {report}")
    exit_if(is_interrupted)

    two = StepClassifier(hidden=(2,), method="prove", time_limit=time_limit, random_state=0)
    is_interrupted = fit_shown(two, table, None, is_enough=lambda now: now.bound > 0)
    bound = two.certificate_.bound
    heading = "Two neurons cannot do it, whatever their weights:"
    if bound <= 0:
        heading = "Whether two neurons can do it is open; give the proof more --time-limit:"
    tell(f"\n{heading}\n\n{two.certificate_}")
    exit_if(is_interrupted)

    learned = StepClassifier(hidden=(3,), random_state=0).fit(*training)
    logistic = LogisticRegression(max_iter=1000).fit(*training)
    models = {"prove, 3 neurons": three, "learn, 3 neurons": learned, "logistic regression": logistic}
    lines, compared = [f"{'':19}  training errors  test accuracy"], {}
    for name, model in models.items():
        errors, accuracy = int((model.predict(training.X) != training.y).sum()), model.score(*test)
        compared[name] = {"training_errors": errors, "test_accuracy": accuracy}
        lines.append(f"{name:19}  {errors:15}  {100 * accuracy:11.1f} %")
    facts = facts_of(three, out) | {"two_neurons": two.certificate_, "models": compared}
    say("\nprove minimises the training errors, learn aims at new rows:\n\n" + "\n".join(lines), facts, as_json=as_json)
    if bound <= 0:
        sys.exit(EXIT_FALSE)


def _rows() -> tuple[_Rows, _Rows, InputRows]:
    """The training rows, the test rows, and the training rows as a command reads them."""
    bunch = load_breast_cancer_wisconsin()
    names = np.array(bunch.target_names)[bunch.target]
    split: Any = train_test_split(bunch.data, names, test_size=0.2, random_state=42)
    X, X_test, y, y_test = split
    columns = Columns(tuple(Column(name) for name in bunch.feature_names))
    return _Rows(X, y), _Rows(X_test, y_test), InputRows(columns, X, y, None)


def _three_neurons(table: InputRows, out: Path, time_limit: float) -> tuple[StepClassifier, bool]:
    """With real weights first, then with integers that are right on the same rows; and whether Ctrl-C ended it."""
    classifier = StepClassifier(hidden=(3,), method="prove", time_limit=time_limit, random_state=0)
    exit_if(fit_shown(classifier, table, out))
    whole = with_integer_weights(classifier.network_, table.X, np.searchsorted(classifier.classes_, table.y))
    largest = max(1, *(int(np.abs(layer.weights).max()) for layer in whole.layers))
    return classifier, fit_shown(classifier.set_params(weights=Integers(largest)), table, out, start=whole)


def _write_report(report: Path, training: _Rows, test: _Rows, out: Path, data_name: str) -> None:
    from stepnet.report import Report, to_html
    from stepnet.runtime.files import write_atomically

    names: Any = {"title": "Breast Cancer Wisconsin", "data_name": data_name, "model_name": out.name, "target": _TARGET}
    write_atomically(report, to_html(Report.of(load(out), (*training, None), test, **names)))


def with_integer_weights(network: Network, X: Floats, y: NDArray[np.int_]) -> Network:
    """A network of small integer weights that is right on every row on which this one is.

    There is one hidden layer, ``X`` has integers, and ``y`` is 0 or 1. Hidden neurons with a negative weight in the
    output are complemented, so that the output is a vote. Then the neurons are rounded one by one, as coarsely as
    the rows that depend on them allow.
    """
    hidden, output = network.layers
    signs = np.where(output.weights[0] < 0, -1.0, 1.0)
    bits: Floats = np.where(signs < 0, 1.0, 0.0) + signs * network.levels(X)[0].astype(np.float64)
    is_one, is_right = y == 1, network.predict(X) == y
    votes, needed = _rounded(np.abs(output.weights[0]), bits, is_right & is_one, is_right & ~is_one)
    weights, thresholds = signs[:, None] * hidden.weights, np.zeros(hidden.width)
    for j in range(hidden.width):
        others = bits @ votes - bits[:, j] * votes[j]
        depends = is_right & (others < needed) & (others + votes[j] >= needed)
        weights[j], thresholds[j] = _rounded(weights[j], X, depends & is_one, depends & ~is_one)
        bits[:, j] = X @ weights[j] >= thresholds[j]
    return Network((Layer(weights, thresholds), Layer(votes[None, :], np.array([needed]))))


def _rounded(weights: Floats, X: Floats, on: Mask, off: Mask) -> tuple[Floats, float]:
    """About these weights, as integers, and a threshold with the rows ``on`` above it and ``off`` below."""
    if not on.any() or not off.any():  # no row depends on it: never on, or always
        return np.zeros_like(weights), 0.5 if off.any() else -0.5
    for scale in map(_GROWTH.__pow__, itertools.count()):
        whole = np.round(scale * weights / np.abs(weights).max())
        sums = X @ whole
        if sums[off].max() < sums[on].min():
            break
    return whole, float(sums[on].min()) - 0.5
