"""How good the answers for given rows are; every row counts once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics

from stepnet.model.arithmetic import Floats


@dataclass(frozen=True)
class ClassQuality:
    """One class; a measure is None where it is undefined (0 / 0)."""

    name: str
    rows: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True)
class Answers:
    """A classifier's answers: ``confusion[a][b]`` rows of class a were classified as b."""

    rows: int
    confusion: tuple[tuple[int, ...], ...]
    accuracy: float
    balanced_accuracy: float
    classes: tuple[ClassQuality, ...]
    mcc: float | None  # Matthews correlation, for two classes

    @property
    def wrong(self) -> int:
        return self.rows - sum(line[i] for i, line in enumerate(self.confusion))


@dataclass(frozen=True)
class NumberQuality:
    """One predicted number; R² is None where the true number does not vary."""

    name: str
    r2: float | None
    mae: float
    rmse: float


@dataclass(frozen=True)
class Numbers:
    """Predicted numbers: all of them together, and each of them if there are several."""

    rows: int
    overall: NumberQuality
    parts: tuple[NumberQuality, ...]
    codes: int | None = None  # distinct codes in use, for an autoencoder


Quality = Answers | Numbers


def quality_of_classes(truth: Any, answers: Any, names: Sequence[str]) -> Answers:
    """From class codes."""
    labels = np.arange(len(names))
    by_class = metrics.precision_recall_fscore_support(truth, answers, labels=labels, zero_division=np.nan)
    precision, recall, f1, rows = (numbers.tolist() for numbers in by_class)
    return Answers(
        len(truth),
        tuple(map(tuple, metrics.confusion_matrix(truth, answers, labels=labels).tolist())),
        float(metrics.accuracy_score(truth, answers)),
        float(np.nanmean(recall)),
        tuple(
            ClassQuality(name, int(count), *(None if math.isnan(share) else share for share in shares))
            for name, count, *shares in zip(names, rows, precision, recall, f1, strict=True)
        ),
        _mcc(truth, answers) if len(names) == 2 else None,
    )


def _mcc(truth: Any, answers: Any) -> float | None:
    has_two = len(np.unique(truth)) == len(np.unique(answers)) == 2
    return float(metrics.matthews_corrcoef(truth, answers)) if has_two else None


def quality_of_numbers(truth: Floats, answers: Floats, names: Sequence[str], codes: int | None = None) -> Numbers:
    """From arrays of numbers (rows × outputs)."""
    parts = tuple(_number(name, truth[:, [i]], answers[:, [i]]) for i, name in enumerate(names))
    return Numbers(len(truth), _number("all", truth, answers), parts if len(parts) > 1 else (), codes)


def _number(name: str, truth: Floats, answers: Floats) -> NumberQuality:
    centre = truth.mean(axis=0)  # per output; then all outputs are pooled
    r2 = metrics.r2_score((truth - centre).ravel(), (answers - centre).ravel()) if np.ptp(truth, axis=0).any() else None
    mae, mse = metrics.mean_absolute_error(truth, answers), metrics.mean_squared_error(truth, answers)
    return NumberQuality(name, r2, float(mae), math.sqrt(mse))
