"""The training or test rows of a report: how good the answers are on them, and whether the certificate holds."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stepnet.certificate.verification import Verification
from stepnet.errors import InvalidInputError
from stepnet.estimators.base import BaseStep
from stepnet.estimators.step_autoencoder import StepAutoencoder
from stepnet.model.arithmetic import Floats
from stepnet.report.learned import Names
from stepnet.report.quality import Quality, quality_of_classes, quality_of_numbers


@dataclass(frozen=True)
class Rows:
    """Rows as the caller gave them and as checked, with an estimator that accepts them without a warning."""

    estimator: Any
    given: tuple[Any, ...]  # X, y, weights, radii
    X: Floats
    y: Any
    weights: Any
    absent: tuple[int, ...] = ()  # features that the rows do not really have, and the network does not use

    @classmethod
    def of(cls, estimator: BaseStep, part: Any, name: str, absent: Sequence[int] = ()) -> Rows | None:
        if part is None:
            return None
        if not isinstance(part, tuple) or len(part) not in ((2, 3, 4) if name == "train" else (2,)):
            wanted = "(X, y, sample_weight or None)" if name == "train" else "(X, y)"
            raise InvalidInputError(
                f"{name}= of a report must be the tuple {wanted}, or None; got {type(part).__name__}."
            )
        X, y, weights, radii = (*part, None, None)[:4]
        if not hasattr(X, "columns") and hasattr(estimator, "feature_names_in_"):
            estimator = copy.copy(estimator)
            del estimator.feature_names_in_
        rows, targets, checked = estimator._checked(X, y, weights, reset=False)
        counted = slice(None) if checked is None else checked > 0
        rows = np.asarray(rows, dtype=np.float64)[counted]
        return cls(estimator, (X, y, weights, radii), rows, targets[counted], checked, tuple(absent))

    def without(self, others: Rows) -> Rows:
        """The rows that equal none of the others."""
        absent = [*self.absent, *others.absent]
        mine, theirs = (np.delete(X, absent, axis=1) + 0.0 for X in (self.X, others.X))  # -0.0 becomes 0.0
        known = {row.tobytes() for row in theirs}
        chosen = np.array([row.tobytes() not in known for row in mine], dtype=bool)
        return replace(self, X=self.X[chosen], y=self.y[chosen])

    def quality(self, names: Names) -> Quality | None:
        if not len(self.X):
            return None
        answers = self.estimator.network_.predict(self.X)
        if names.classes:
            return quality_of_classes(self.codes(), answers, names.classes)
        truth = np.asarray(self.y, dtype=np.float64).reshape(len(self.X), -1)
        if truth.shape != answers.shape:
            raise InvalidInputError(f"y has the shape {np.shape(self.y)}; the model predicts {answers.shape}.")
        is_coder = isinstance(self.estimator, StepAutoencoder)
        codes = len(np.unique(self.estimator.transform(self.X), axis=0)) if is_coder else None
        return quality_of_numbers(truth, answers, names.targets, codes)

    def codes(self) -> Any:
        classes = self.estimator.classes_
        unknown = ~np.isin(self.y, classes)
        if unknown.any():
            raise InvalidInputError(
                f"y has the label {self.y[unknown][0]!r}, which is not one of the model's classes {classes.tolist()}. "
                "Leave these rows out, or fit a model that knows the class."
            )
        return np.searchsorted(classes, self.y)

    def verified(self) -> Verification:
        X, y, weights, radii = self.given
        try:
            found: Verification = self.estimator.verify(X, y, weights, radius=radii, absent=self.absent)
        except InvalidInputError as error:
            raise InvalidInputError(f"{error} Give rows that it was not trained on as --test FILE or test=.") from error
        return found
