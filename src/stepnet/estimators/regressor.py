"""What the regressors share: numbers as targets, predictions, and the problem."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from stepnet.certificate.result import Result
from stepnet.estimators.base import BaseStep
from stepnet.estimators.dask_answers import comes_in_blocks
from stepnet.estimators.survey import Survey
from stepnet.model.activations.identity import IDENTITY
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.tables.rows import Piece


class BaseStepRegressor(RegressorMixin, BaseStep):  # type: ignore[misc]
    """A regressor whose predictions come from a step network with real weights in its last layer."""

    _target_checks: ClassVar[dict[str, Any]] = {"multi_output": True, "y_numeric": True}

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """The numbers of every row, accurate to the last digit; one column per target if there were several."""
        if comes_in_blocks(X):
            return self._by_block(X, "predict")  # type: ignore[no-any-return]
        rows = self._new_rows(X)
        numbers = self.network_.predict(rows)
        return np.asarray(numbers[:, 0] if self._is_flat else numbers)

    def _row_losses(self, rows: Any, y: Any) -> Any:
        errors = self.network_.predict(rows) - np.reshape(y, (len(y), -1))
        return (np.abs(errors) if self.loss == "absolute" else errors**2).sum(axis=1)

    def _keep_targets(self, y: Any, weights: Any) -> None:
        self._is_flat = y.ndim == 1

    # Rows that come block by block.

    _is_flat_target = True
    _needs_counts = False
    _mean_target: Any = None

    def _keep_survey(self, survey: Survey) -> None:
        moments = survey.targets.closed()
        Dataset.from_numbers(np.zeros((2, 1)), np.stack([moments.low, moments.high]))  # raises if they are too large
        self._is_flat, self._mean_target = len(moments.mean) == 1, moments.mean

    def _with_survey(self, survey: Survey) -> Self:
        twin = copy.copy(self)
        twin._mean_target = survey.targets.closed().mean
        return twin

    def _calibrate(self, result: Result, problem: Problem, budget: Budget) -> None:
        """Numbers need none."""

    def _piece_dataset(self, piece: Piece) -> Dataset:
        """Numbers and weights of some rows; nothing is merged or sorted."""
        piece = piece.counted
        weights = np.ones(len(piece.X)) if piece.weights is None else piece.weights
        return Dataset(piece.X, np.reshape(piece.y, (len(piece.y), -1)) + 0.0, weights)

    def _targets(self) -> dict[str, Any]:
        return {"is_flat": self._is_flat}

    def _restore_targets(self, targets: dict[str, Any]) -> None:
        self._is_flat = bool(targets["is_flat"])

    def _problem_from(self, rows: Any, y: Any, weights: Any, radii: Any = None) -> Problem:
        dataset = Dataset.from_numbers(rows, y, weights, radii)
        architecture = Architecture.of(
            rows.shape[1],
            self._hidden,
            self.threshold,
            self.weights,
            self.activation,
            IDENTITY,
            dataset.y.shape[1],
            bool(self.intercept),
        )
        return self._problem_of(dataset, architecture, "numbers")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
