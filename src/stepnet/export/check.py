"""Run exported files, and compare their answers with the estimator's row by row."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from stepnet.errors import InvalidInputError, StepnetError
from stepnet.export.described import COLUMNS, Described, describe
from stepnet.export.onnx_file import n_features_of, run_onnx
from stepnet.tables.pipelines import cells_of, unpacked

FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2")
_N_FEATURES = re.compile(r"^enum \{ \w+_n_features = (\d+) \};$", re.MULTILINE)
_SHOWN = 2000  # characters of an error message


class ExportError(StepnetError, RuntimeError):
    """An exported file does not run."""


def run_c(source: str, X: ArrayLike) -> NDArray[Any]:
    """Compile an exported C file and run it on the rows; returns names of classes, or rows of numbers."""
    lines = _output(source, np.asarray(X)).split("\n")[:-1]
    if "_classes[" in source:
        return np.array(lines[1:], dtype=object)
    return np.array([[float(cell) for cell in line.split(",")] for line in lines[1:]], dtype=np.float64)


def compile_c(source: str, folder: Path) -> Path:
    """Compile an exported C file; returns the path of the program."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise ExportError("no C compiler was found (cc, gcc or clang); install one to run the file.")
    path, program = folder / "model.c", folder / "model"
    path.write_text(source, encoding="utf-8")
    _run([compiler, *FLAGS, "-DSTEPNET_MAIN", "-o", str(program), str(path), "-lm"], "")
    return program


def rows_as_text(rows: NDArray[Any]) -> str:
    """CSV that holds the numbers exactly."""
    return "".join(",".join(_cell(value) for value in row) + "\n" for row in rows.tolist())


def check_export(estimator: Any, content: str | bytes, to: str, X: ArrayLike) -> int:
    """The number of rows for which the answers of a file differ from those of ``predict``.

    Parameters
    ----------
    estimator : fitted estimator
    content : str or bytes
        The result of :func:`to_c` or :func:`to_onnx`, for any ``columns``.
    to : "c" or "onnx"
    X : array-like of shape (n_rows, n_features)
        Rows of all features of the model, before they are scaled; of a pipeline the rows that it takes. The file gets
        those that it takes.
    """
    model = unpacked(estimator)
    if isinstance(estimator, Pipeline) and hasattr(model, "columns_"):
        X = model.columns_.before_operations(cells_of(X), "X")
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"X must be rows of numbers: {error}.") from error
    if not np.isfinite(rows).all():
        raise InvalidInputError("X has rows with NaN or infinity, for which no answer is defined; leave them out.")
    if to == "onnx" and isinstance(content, bytes):
        n_features = n_features_of(content)
    elif to == "c" and isinstance(content, str):
        n_features = int((_N_FEATURES.search(content) or ["", "0"])[1])
    else:
        raise InvalidInputError(
            f"to={to!r} with content of type {type(content).__name__} cannot be run; give 'c' and text, or 'onnx' and "
            f"bytes."
        )
    described = _described(model, n_features)
    expected, rows = described.answers(rows), described.rows(rows)
    if isinstance(content, bytes):
        return _differing(expected, run_onnx(content, rows))
    if described.classes is None:
        return _differing(expected, run_c(content, rows))
    names, text = [str(one) for one in expected], _output(content, rows)
    if text == "\n".join(["prediction", *names]) + "\n":  # names may contain line breaks
        return 0
    return max(1, _differing(np.array(names, dtype=object), np.array(text.split("\n")[1:-1], dtype=object)))


def _described(estimator: Any, n_features: int) -> Described:
    """The model with as many features as a file takes."""
    for columns in COLUMNS:
        described = describe(estimator, columns)
        if len(described.taken) == n_features:
            return described
    raise ExportError(f"the file takes {n_features} features; it is not one of this model.")


def _differing(expected: NDArray[Any], answers: NDArray[Any]) -> int:
    if len(answers) != len(expected):
        raise ExportError(f"the file gave {len(answers)} answers for {len(expected)} rows.")
    if not len(expected):
        return 0
    expected, answers = expected.reshape(len(expected), -1), answers.reshape(len(expected), -1)
    if expected.shape != answers.shape:
        raise ExportError(f"the file gave {answers.shape[1]} numbers per row, the model {expected.shape[1]}.")
    return int((expected != answers).any(axis=1).sum())


def _output(source: str, rows: NDArray[Any]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        program = compile_c(source, Path(folder))
        return _run([str(program)], rows_as_text(rows))


def _cell(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def _run(command: Iterable[str], text: str) -> str:
    done = subprocess.run(list(command), input=text.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        complaint = done.stderr.decode("utf-8", "replace").strip()[:_SHOWN]
        raise ExportError(f"the exported file does not run: {complaint or f'exit code {done.returncode}'}")
    return done.stdout.decode("utf-8", "surrogatepass")
