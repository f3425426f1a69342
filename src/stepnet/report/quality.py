"""How good answers are: on given rows, each of which counts once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    n_classes = len(names)
    confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(confusion, (truth, answers), 1)
    hits, actual, said = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    classes = tuple(
        ClassQuality(name, *_class_numbers(int(hits[c]), int(actual[c]), int(said[c]))) for c, name in enumerate(names)
    )
    recalls = [one.recall for one in classes if one.recall is not None]
    return Answers(
        len(truth),
        tuple(map(tuple, confusion.tolist())),
        float(hits.sum() / len(truth)),
        float(np.mean(recalls)),
        classes,
        _mcc(confusion.tolist()) if n_classes == 2 else None,
    )


def _class_numbers(hits: int, actual: int, said: int) -> tuple[int, float | None, float | None, float | None]:
    precision = hits / said if said else None
    recall = hits / actual if actual else None
    return actual, precision, recall, 2 * hits / (actual + said) if actual + said else None


def _mcc(confusion: list[list[int]]) -> float | None:
    (tn, fp), (fn, tp) = confusion
    scale = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / math.sqrt(scale) if scale else None


def quality_of_numbers(truth: Floats, answers: Floats, names: Sequence[str], codes: int | None = None) -> Numbers:
    """From (rows × outputs) numbers."""
    parts = tuple(_number(name, truth[:, [i]], answers[:, [i]]) for i, name in enumerate(names))
    return Numbers(len(truth), _number("all", truth, answers), parts if len(parts) > 1 else (), codes)


def _number(name: str, truth: Floats, answers: Floats) -> NumberQuality:
    errors = answers - truth
    spread = float(((truth - truth.mean(axis=0)) ** 2).sum())
    return NumberQuality(
        name,
        1.0 - float((errors**2).sum()) / spread if spread > 0 else None,
        float(np.abs(errors).mean()),
        math.sqrt(float((errors**2).mean())),
    )
