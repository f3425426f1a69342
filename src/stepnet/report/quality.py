"""How good answers are: on given rows, each of which counts once."""

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
    """One class; None where a share has nothing to be a share of."""

    name: str
    rows: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True)
class Answers:
    """Of a classifier: ``confusion[a][b]`` rows of class a were said to be b."""

    rows: int
    confusion: tuple[tuple[int, ...], ...]
    accuracy: float
    balanced_accuracy: float
    classes: tuple[ClassQuality, ...]
    mcc: float | None  # Matthews' correlation, of two classes

    @property
    def wrong(self) -> int:
        return self.rows - sum(line[i] for i, line in enumerate(self.confusion))


@dataclass(frozen=True)
class NumberQuality:
    """Of one predicted number; R² is None where it does not vary."""

    name: str
    r2: float | None
    mae: float
    rmse: float


@dataclass(frozen=True)
class Numbers:
    """Of predicted numbers: all of them together, and each for itself where there are several."""

    rows: int
    overall: NumberQuality
    parts: tuple[NumberQuality, ...]
    codes: int | None = None  # different codes of an autoencoder that occur


Quality = Answers | Numbers


def quality_of_classes(truth: Any, answers: Any, names: Sequence[str]) -> Answers:
    """From codes."""
    labels = np.arange(len(names))
    by_class = metrics.precision_recall_fscore_support(truth, answers, labels=labels, zero_division=np.nan)
    precision, recall, f1, rows = (numbers.tolist() for numbers in by_class)
    return Answers(
        len(truth),
        tuple(map(tuple, metrics.confusion_matrix(truth, answers, labels=labels).tolist())),
        float(metrics.accuracy_score(truth, answers)),
        float(np.nanmean(recall)),
        tuple(
            ClassQuality(name, int(count), *map(_share, shares))
            for name, count, *shares in zip(names, rows, precision, recall, f1, strict=True)
        ),
        _mcc(truth, answers) if len(names) == 2 else None,
    )


def _share(share: float) -> float | None:
    return None if math.isnan(share) else share


def _mcc(truth: Any, answers: Any) -> float | None:
    has_two = len(np.unique(truth)) == len(np.unique(answers)) == 2
    return float(metrics.matthews_corrcoef(truth, answers)) if has_two else None


def quality_of_numbers(truth: Floats, answers: Floats, names: Sequence[str], codes: int | None = None) -> Numbers:
    """From (rows × outputs) numbers."""
    parts = tuple(_number(name, truth[:, [i]], answers[:, [i]]) for i, name in enumerate(names))
    return Numbers(len(truth), _number("all", truth, answers), parts if len(parts) > 1 else (), codes)


def _number(name: str, truth: Floats, answers: Floats) -> NumberQuality:
    centre = truth.mean(axis=0)  # of each number by itself; then all of them count as one
    r2 = metrics.r2_score((truth - centre).ravel(), (answers - centre).ravel()) if np.ptp(truth, axis=0).any() else None
    return NumberQuality(
        name,
        r2,
        float(metrics.mean_absolute_error(truth, answers)),
        math.sqrt(metrics.mean_squared_error(truth, answers)),
    )
