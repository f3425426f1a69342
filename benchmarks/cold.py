"""The first fits after an installation, whose kernels are not compiled yet, against those of a warm machine.

    python benchmarks/cold.py
    python benchmarks/cold.py --tables noisy --methods prove

Every fit is the first one of a new process. "first" has an empty cache of kernels and a limit of 60 s, "cold" an empty
cache and a limit of 5 s, "second" comes right after it with the same cache, and "warm" has all kernels in its cache.
Before the next table, compilations in the background are waited for. Writes results/cold.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from stepnet import StepClassifier, StepRegressor
from stepnet.runtime.locks import is_held

RESULTS = Path(__file__).resolve().parent / "results"
LIMIT = 5.0
FITS = {"first": 60.0, "cold": LIMIT, "second": LIMIT, "warm": LIMIT}  # limits


def _noisy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=500) > 0).astype(int)


def _fours_and_nines():
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (4, 9))
    return X[chosen], y[chosen]


TABLES = {
    "breast cancer": (lambda: load_breast_cancer(return_X_y=True), (2,)),
    "breast cancer, 25 neurons": (lambda: load_breast_cancer(return_X_y=True), (25,)),
    "noisy, 2 neurons": (_noisy, (2,)),
    "noisy, 5 neurons": (_noisy, (5,)),
    "noisy, 25 neurons": (_noisy, (25,)),
    "digits 4 and 9": (_fours_and_nines, (5,)),
    "diabetes": (lambda: load_diabetes(return_X_y=True), (5,)),
}


def fit(table: str, method: str, limit: float) -> None:
    """In a process of its own: print the loss and the seconds."""
    rows, hidden = TABLES[table]
    X, y = rows()
    kind = StepRegressor if table == "diabetes" else StepClassifier
    begin = time.perf_counter()
    model = kind(hidden=hidden, method=method, time_limit=limit, random_state=0).fit(X, y)
    print(json.dumps([model.certificate_.loss, time.perf_counter() - begin]))


def run(cache: Path, *arguments: str) -> str:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def quiet(cache: Path) -> None:
    """Wait until nothing is compiled into a cache."""
    time.sleep(2)  # a process that has just been started holds no lock yet
    while any(is_held(lock) for lock in cache.rglob("*.lock")):
        time.sleep(0.2)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", default="", help="those whose name contains this")
    parser.add_argument("--methods", nargs="+", default=["learn", "prove"])
    parser.add_argument("--fit", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.fit:
        fit(chosen.fit[0], chosen.fit[1], float(chosen.fit[2]))
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        begin = time.perf_counter()
        run(Path(name, "warm"), "-m", "stepnet", "warm-up")
        lines = [
            f"stepnet warm-up on an empty cache: {time.perf_counter() - begin:.1f} s, {os.cpu_count()} cores",
            "",
            f"{'':32}" + "".join(f"{f'{fit}, {limit:.0f} s':>22}" for fit, limit in FITS.items()),
        ]
        print(*lines, sep="\n", flush=True)
        for table in (table for table in TABLES if chosen.tables in table):
            for method in chosen.methods:
                cells = []
                for which, limit in FITS.items():
                    cache = Path(name, f"{table} {method} {'cold' if which == 'second' else which}")
                    cache = Path(name, "warm") if which == "warm" else cache
                    out = run(cache, __file__, "--fit", table, method, str(limit))
                    loss, seconds = json.loads(out)
                    cells.append(f"{loss:.6g} in {seconds:.1f} s")
                    if which != "cold":
                        quiet(cache)
                lines.append(f"{table:26}{method:6}" + "".join(f"{cell:>22}" for cell in cells))
                print(lines[-1], flush=True)
    if not chosen.tables and len(chosen.methods) == 2:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "cold.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
