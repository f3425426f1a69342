"""Time limits: what was asked, what was taken, and whether the model is worth having.

    python benchmarks/limits.py [--only "10 classes" robust] [--limits 1 3] [--rows 100 1500] [--states warm]

Every cell is a fit in a process of its own, which is killed a minute after the limit. What counts is the time from the
call of fit to its return; it may exceed the limit by at most max(1 s, 5 %). "warm" cells have loaded their kernels by a
small fit before, "cold" ones begin with an empty cache of kernels. CPU seconds tell a broken limit from a busy machine.
``score`` is that of the training rows, between that of a constant (0) and that of a linear model (1); a model below 0.5
is not worth having. Without options the results are written to ``results/limits.txt``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from common import RESULTS
from stepnet import Ball, Exact, Integers, StepAutoencoder, StepClassifier, StepEnsembleClassifier, StepRegressor

_PATIENCE = 60  # seconds after the limit until a cell is killed
_N_FEATURES = 20

_MODELS = {
    "2 classes": lambda **options: StepClassifier((5,), **options),
    "2 classes, 2 layers": lambda **options: StepClassifier((10, 10), **options),
    "3 classes": StepClassifier,
    "10 classes": StepClassifier,
    "10 classes, one_hot": lambda **options: StepClassifier(output="one_hot", **options),
    "10 classes, ordinal": lambda **options: StepClassifier(output="ordinal", **options),
    "76 classes": StepClassifier,
    "ensemble": lambda method, **options: StepEnsembleClassifier(**options),
    "regressor": StepRegressor,
    "autoencoder": StepAutoencoder,
    "robust": lambda **options: StepClassifier((5,), uncertainty=Ball("linf", 0.1), **options),
    "integers": lambda **options: StepClassifier((5,), weights=Integers(7), **options),
    "digits": StepClassifier,
    "digits, 70 %": StepClassifier,
    "digits, 1,200, ensemble": lambda method, **options: StepEnsembleClassifier(**options),
    "noise, gates": lambda method, **options: StepClassifier((3,), method=Exact(formulation="gates"), **options),
    "noise, tight": lambda method, **options: StepClassifier((25,), method=Exact(), **options),
    "noise, Theorem 2": lambda method, **options: StepClassifier((50,), method=Exact(formulation="paper"), **options),
}

_SMALL, _MIDDLE, _LARGE = 100, 1_500, 20_000
_GRID = {  # methods, numbers of rows
    "2 classes": (("learn", "prove", "search", "exact"), (_SMALL, _MIDDLE, _LARGE)),
    "2 classes, 2 layers": (("prove",), (_MIDDLE,)),
    "3 classes": (("learn", "prove"), (_SMALL, _MIDDLE)),
    "10 classes": (("learn", "prove", "search", "exact"), (_MIDDLE, _LARGE)),
    "10 classes, one_hot": (("learn", "prove", "search"), (_MIDDLE, _LARGE)),
    "10 classes, ordinal": (("prove",), (_MIDDLE,)),
    "76 classes": (("learn", "prove"), (_MIDDLE,)),
    "ensemble": (("learn",), (_MIDDLE, _LARGE)),
    "regressor": (("learn", "prove", "exact"), (_SMALL, _MIDDLE, _LARGE)),
    "autoencoder": (("learn", "prove"), (_SMALL, _MIDDLE, _LARGE)),
    "robust": (("prove", "search", "exact"), (_SMALL, _MIDDLE, _LARGE)),
    "integers": (("prove", "search", "exact"), (_SMALL, _MIDDLE)),
    "digits": (("prove",), (1_797,)),
    "digits, 70 %": (("prove",), (1_257,)),
    "digits, 1,200, ensemble": (("learn",), (1_200,)),
    "noise, gates": (("exact",), (559,)),
    "noise, tight": (("exact",), (559,)),
    "noise, Theorem 2": (("exact",), (559,)),
}
_LIMITS = {_SMALL: (1.0,), _LARGE: (1.0, 10.0)}  # by rows
_FEWER_LIMITS = {("robust", _LARGE): (10.0,)}  # one worst case of so many rows takes seconds
_ALL_LIMITS = (1.0, 3.0, 10.0)
_COLD = (("2 classes", "prove"), ("2 classes", "learn"), ("10 classes", "learn"), ("ensemble", "learn"))


@dataclass(frozen=True)
class Cell:
    model: str
    method: str
    rows: int
    limit: float
    state: str = "warm"

    @property
    def name(self) -> str:
        return f"{self.model:24} {self.method:7} {self.rows:6} {self.state:5} {self.limit:6g}"


def cells() -> Iterator[Cell]:
    for model, (methods, sizes) in _GRID.items():
        for method in methods:
            for rows in sizes:
                for limit in _FEWER_LIMITS.get((model, rows)) or _LIMITS.get(rows, _ALL_LIMITS):
                    yield Cell(model, method, rows, limit)
    for model, method in _COLD:
        for limit in (1.0, 10.0):
            yield Cell(model, method, _MIDDLE, limit, "cold")


def data_of(cell: Cell) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping clouds, numbers with noise, rows of a few factors, pure noise, or digits."""
    rng, model = np.random.default_rng(0), cell.model
    if model.startswith("digits"):
        X, y = load_digits(return_X_y=True)
        if cell.rows < len(X):
            X, _, y, _ = train_test_split(X, y, train_size=cell.rows, random_state=0)
        return X, y
    X = rng.normal(size=(cell.rows, _N_FEATURES))
    if model.startswith("noise"):
        return X[:, :9], rng.integers(0, 2, cell.rows)
    if model == "regressor":
        return X, X @ rng.normal(size=_N_FEATURES) + rng.normal(size=cell.rows)
    if model == "autoencoder":
        X = rng.normal(size=(cell.rows, 4)) @ rng.normal(size=(4, _N_FEATURES)) + 0.3 * X
        return X, X
    n_classes = int(model.split()[0]) if model[0].isdigit() else {"ensemble": 10}.get(model, 2)
    y = np.arange(cell.rows) % n_classes
    if model.endswith("ordinal"):
        return X + y[:, None] * rng.normal(size=_N_FEATURES) / 3, y
    X += 0.5 * rng.normal(size=(n_classes, _N_FEATURES))[y]
    return np.round(10 * X) if model == "integers" else X, y


def quality(cell: Cell, model: object, X: np.ndarray, y: np.ndarray) -> float | None:
    """The score of the training rows, relative to a constant and a linear model; None for noise."""
    if cell.model.startswith("noise"):
        return None
    if cell.model == "autoencoder":
        return float(model.score(X) / 0.5)  # a few bits keep about half of the variance
    if cell.model == "regressor":
        return float(model.score(X, y) / LinearRegression().fit(X, y).score(X, y))
    constant = np.bincount(y).max() / len(y)
    linear = LinearDiscriminantAnalysis().fit(X, y).score(X, y)
    return float((model.score(X, y) - constant) / max(linear - constant, 1e-9))


def measure(cell: Cell) -> dict:
    """One fit, in this process."""
    warnings.simplefilter("ignore")
    X, y = data_of(cell)
    options = {"method": cell.method, "time_limit": cell.limit, "random_state": 0}
    if cell.state == "warm":
        few = (
            np.concatenate([np.flatnonzero(y == c)[:6] for c in (0, 1)])
            if y.ndim == 1 and y.dtype.kind == "i"
            else [*range(12)]
        )
        _MODELS[cell.model](**options | {"time_limit": 60}).fit(X[few], y[few])
    model = _MODELS[cell.model](**options)
    begin, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    taken, cpu = time.perf_counter() - begin, time.process_time() - cpu
    certificate = model.certificate_
    return {
        "taken": taken,
        "cpu": cpu,
        "said": certificate.runtime,
        "score": quality(cell, model, X, y),
        "margin": certificate.margin_in_words,
        "stopped": certificate.stop_reason,
    }


def run(cell: Cell) -> dict:
    """The measurement in another process, or what went wrong there."""
    with tempfile.TemporaryDirectory() as empty:
        cold = {"NUMBA_CACHE_DIR": empty} if cell.state == "cold" else {}
        command = [sys.executable, str(Path(__file__).resolve()), "--cell", json.dumps(asdict(cell))]
        patience = cell.limit + _PATIENCE + (60 if cell.state == "warm" else 0)
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=patience, env=os.environ | cold, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": f"killed after {patience:g} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:100]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def row(cell: Cell, found: dict) -> tuple[str, bool]:
    """A line of the table, and whether the cell is as it should be."""
    if "error" in found:
        return f"{cell.name} {found['error']}", False
    allowed = cell.limit + max(1.0, 0.05 * cell.limit)
    is_kept = found["taken"] <= allowed and found["said"] >= 0.98 * found["taken"] - 0.05
    is_good = found["score"] is None or found["score"] >= 0.5
    kept = "yes" if is_kept else "busy" if found["cpu"] <= allowed and found["taken"] > allowed else "NO"
    score = "-" if found["score"] is None else f"{found['score']:.2f}"
    numbers = f"{found['taken']:7.2f} {found['cpu']:7.2f} {found['said']:7.2f}  {kept:4} {score:>6}"
    return f"{cell.name} {numbers}  {found['margin']:>9}  {found['stopped']}", is_kept and is_good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="models", choices=list(_GRID))
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--limits", nargs="+", type=float)
    parser.add_argument("--rows", nargs="+", type=int)
    parser.add_argument("--states", nargs="+", choices=["warm", "cold"])
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.cell:
        print(json.dumps(measure(Cell(**json.loads(chosen.cell)))))
        return
    wanted = [
        cell
        for cell in cells()
        if (not chosen.only or cell.model in chosen.only)
        and (not chosen.methods or cell.method in chosen.methods)
        and (not chosen.limits or cell.limit in chosen.limits)
        and (not chosen.rows or cell.rows in chosen.rows)
        and (not chosen.states or cell.state in chosen.states)
    ]
    head = f"{'model':24} {'method':7} {'rows':>6} {'state':5} {'limit':>6} {'taken':>7} {'CPU':>7} {'said':>7}"
    lines = [f"{head}  kept  score  {'margin':>9}  stopped"]
    print(lines[0], flush=True)
    n_bad = 0
    for cell in wanted:
        line, is_right = row(cell, run(cell))
        n_bad += not is_right
        lines.append(line)
        print(line, flush=True)
    lines.append(f"{len(wanted) - n_bad} of {len(wanted)} cells keep their limit and are worth having")
    print(lines[-1])
    if not any((chosen.only, chosen.methods, chosen.limits, chosen.rows, chosen.states)):
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "limits.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
