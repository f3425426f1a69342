"""Exports: files in C and ONNX answer as predict does, row for row; their size and their speed.

    python benchmarks/exports.py

Networks are trained with short limits. Rows are the data's own, 70,000 drawn uniformly from the range of the data, and
30,000 on the grid of its integers, where sums meet thresholds. The last column is the CPU time of predict in NumPy
divided by that of the C function, on one thread: the median of nine turns, the lowest and the highest. Columns
C and ONNX count differing answers, plain those of ONNX with exact=False, f32 those of float32. Writes
results/exports.txt.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from common import RESULTS
from stepnet import StepClassifier, StepEnsembleClassifier
from stepnet.datasets import load_breast_cancer_wisconsin
from stepnet.export import check_export, size_of, to_c, to_onnx

N_UNIFORM, N_GRID, REPEATS = 70_000, 30_000, 9
DRIVER = """
void stepnet_run(const {type} *rows, long n_rows, int *codes)
{{
    for (long i = 0; i < n_rows; i++)
        codes[i] = model_predict(rows + i * {n_features});
}}
"""


def breast_cancer():
    return load_breast_cancer_wisconsin(return_X_y=True)


def digits(*classes):
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, classes)
    return X[chosen], y[chosen]


def networks():
    """Name, inputs of the C file, data, estimator."""
    yield (
        "Breast Cancer, 25 neurons",
        "floats",
        breast_cancer(),
        StepClassifier((25,), method="prove", time_limit=10, random_state=0),
    )
    learned = StepClassifier((25,), method="learn", time_limit=10, random_state=0)
    yield "digits 4 and 9, 25 learned neurons", "floats", digits(4, 9), learned
    for inputs in ("floats", "integers"):
        ternary = StepClassifier((8,), weights="ternary", method="prove", time_limit=10, random_state=0)
        yield f"Breast Cancer, 8 ternary neurons, {inputs}", inputs, breast_cancer(), ternary
    pairs = StepClassifier((10,), method="learn", time_limit=20, random_state=0)
    yield "digits 0 to 4, 10 pairs of 10 neurons", "floats", digits(0, 1, 2, 3, 4), pairs
    deep = StepClassifier((10, 5), method="prove", time_limit=10, random_state=0)
    yield "Breast Cancer, 10 and 5 neurons", "floats", breast_cancer(), deep
    yield (
        "Breast Cancer, 9 networks of 25 neurons",
        "floats",
        breast_cancer(),
        StepEnsembleClassifier(time_limit=20, random_state=0),
    )


def rows_of(X, inputs, rng):
    low, high = X.min(axis=0), X.max(axis=0)
    uniform = rng.uniform(low, high, (N_UNIFORM, X.shape[1]))
    grid = rng.integers(low, high + 1, (N_GRID, X.shape[1])).astype(float)
    return np.vstack([X, np.round(uniform) if inputs == "integers" else uniform, grid])


def ratios_of_times(estimator, source, rows, inputs):
    """Time of predict over that of the C function for all rows, by turns, sorted; the codes of C are compared too."""
    kind, name = (np.int32, "int32_t") if inputs == "integers" else (np.float64, "double")
    given, found = np.ascontiguousarray(rows, dtype=kind), np.empty(len(rows), dtype=np.intc)
    with tempfile.TemporaryDirectory() as folder:
        path, library = Path(folder) / "model.c", Path(folder) / "model.so"
        path.write_text(source + DRIVER.format(type=name, n_features=rows.shape[1]))
        subprocess.run(["cc", "-std=c99", "-O2", "-shared", "-fPIC", "-o", library, path], check=True)
        run = ctypes.CDLL(str(library)).stepnet_run
        pointers = given.ctypes.data_as(ctypes.c_void_p), found.ctypes.data_as(ctypes.c_void_p)
        with threadpool_limits(1):
            ratios = [
                timed(lambda: estimator.predict(rows))
                / timed(lambda: run(pointers[0], ctypes.c_long(len(rows)), pointers[1]))
                for _ in range(REPEATS)
            ]
    assert (found == estimator.network_.predict(rows)).all()
    return sorted(ratios)


def timed(work) -> float:
    """Seconds of this process, whatever else the machine does."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main() -> None:
    lines = [
        f"{'network':42} {'rows':>7} {'C':>3} {'ONNX':>5} {'plain':>5} {'f32':>5} {'bytes':>7} {'mult.':>6} "
        f"{'add.':>6} {'comp.':>6} {'popc.':>6} {'predict / C':>11}"
    ]
    print(lines[0], flush=True)
    rng, n_differing = np.random.default_rng(0), 0
    for name, inputs, (X, y), estimator in networks():
        estimator.fit(X, y)
        rows, source = rows_of(X, inputs, rng), to_c(estimator, inputs=inputs)
        differing = [
            check_export(estimator, source, "c", rows),
            check_export(estimator, to_onnx(estimator), "onnx", rows),
            check_export(estimator, to_onnx(estimator, exact=False), "onnx", rows),
            check_export(estimator, to_onnx(estimator, dtype="float32"), "onnx", rows),
        ]
        n_differing += differing[0] + differing[1]
        ratios = ratios_of_times(estimator, source, rows, inputs)
        size = size_of(estimator, inputs)
        lines.append(
            f"{name:42} {len(rows):7} {differing[0]:3} {differing[1]:5} {differing[2]:5} {differing[3]:5} "
            f"{size.bytes:7} {size.multiplications:6} {size.additions:6} {size.comparisons:6} {size.popcounts:6} "
            f"{ratios[REPEATS // 2]:6.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )
        print(lines[-1], flush=True)
    lines.append(f"differing answers of C and of ONNX as it is by default: {n_differing}")
    print(lines[-1])
    (RESULTS / "exports.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
