"""Sizes and speed of committees: one network of thousands of weights, in files, in C and in predict.

    python benchmarks/committees.py [--tables pima magic]

Tables of KEEL, at most 5,000 rows; all rows are trained on. Bytes of C are those of the compiled object (code and
constants, gcc -O2, without the program that reads CSV). Answers per second are of CPU time on one thread for 20,000
rows drawn from the table, the best of five turns, with a random forest of scikit-learn (100 trees) in the same turns.
Answers of C are compared with those of predict. Writes results/committees.txt.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

from common import RESULTS
from exports import DRIVER, timed
from stepnet import StepEnsembleClassifier, save, warm_up
from stepnet.export import to_c
from tables import load_table

KINDS = (("oblique", "trees"), ("oblique", "bits"))
N_ROWS, MOST_ROWS, REPEATS = 20_000, 5_000, 5
SECTIONS = (".text", ".rodata")


def bytes_of_object(source: str, folder: Path) -> int:
    """Code and constants, compiled."""
    (folder / "model.c").write_text(source, encoding="utf-8")
    subprocess.run(["cc", "-std=c99", "-O2", "-c", "-o", folder / "model.o", folder / "model.c"], check=True)
    listed = subprocess.run(["size", "-A", folder / "model.o"], check=True, capture_output=True, text=True).stdout
    cells = [line.split() for line in listed.splitlines()]
    return sum(int(line[1]) for line in cells if line and line[0].startswith(SECTIONS))


def runner(source: str, folder: Path, n_features: int):
    """The C function for many rows."""
    (folder / "run.c").write_text(source + DRIVER.format(type="double", n_features=n_features), encoding="utf-8")
    command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", "-o", folder / "run.so", folder / "run.c"]
    subprocess.run(command, check=True)
    run = ctypes.CDLL(str(folder / "run.so")).stepnet_run

    def codes(rows: np.ndarray) -> np.ndarray:
        found = np.empty(len(rows), dtype=np.intc)
        pointers = (array.ctypes.data_as(ctypes.c_void_p) for array in (rows, found))
        run(next(pointers), ctypes.c_long(len(rows)), next(pointers))
        return found

    return codes


def line_of(name: str, kinds: tuple[str, ...], X: np.ndarray, y: np.ndarray) -> str:
    ensemble = StepEnsembleClassifier(kinds=kinds, random_state=0).fit(X, y)
    forest = RandomForestClassifier(random_state=0).fit(X, y)
    rows = np.ascontiguousarray(X[np.random.default_rng(0).integers(len(X), size=N_ROWS)])
    used = np.ascontiguousarray(rows[:, ensemble.used_features])
    network = ensemble.network_
    with tempfile.TemporaryDirectory() as place:
        folder, source = Path(place), to_c(ensemble)
        save(ensemble, folder / "model.json")
        n_file, n_object = (folder / "model.json").stat().st_size, bytes_of_object(source, folder)
        run = runner(source, folder, used.shape[1])
        assert (run(used) == network.predict(rows)).all()
        works = (lambda: ensemble.predict(rows), lambda: run(used), lambda: forest.predict(rows))
        turns = [[timed(work) for work in works] for _ in range(REPEATS)]
    speeds = " ".join(f"{N_ROWS / seconds:10,.0f}" for seconds in np.min(turns, axis=0))
    widths = "/".join(map(str, network.widths))
    return (
        f"{name:10} {len(X):5} {X.shape[1]:8} {' + '.join(kinds):16} {widths:>12} {network.n_weights:8,} {n_file:9,} "
        f"{n_object:9,} {speeds}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=["pima", "magic"])
    names = parser.parse_args().tables
    warnings.simplefilter("ignore")
    warm_up()
    shown = [
        f"{'table':10} {'rows':>5} {'features':>8} {'kinds':16} {'widths':>12} {'weights':>8} {'file':>9} {'C':>9} "
        f"{'predict/s':>10} {'C/s':>10} {'forest/s':>10}"
    ]
    print(shown[0])
    for name in names:
        for kinds in KINDS:
            shown.append(line_of(name, kinds, *load_table(name, MOST_ROWS)))
            print(shown[-1], flush=True)
    (RESULTS / "committees.txt").write_text("\n".join(shown) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
