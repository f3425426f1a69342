"""What the regressors share: numbers as targets, predictions, and the problem."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from stepnet.estimators.base import BaseStep
from stepnet.model.activations.identity import IDENTITY
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem


class BaseStepRegressor(RegressorMixin, BaseStep):  # type: ignore[misc]
    """A regressor whose predictions come from a step network with real weights in its last layer."""

    _target_checks: ClassVar[dict[str, Any]] = {"multi_output": True, "y_numeric": True}

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """The numbers of every row, accurate to the last digit; one column per target if there were several."""
        rows = self._new_rows(X)
        numbers = self.network_.predict(rows)
        return np.asarray(numbers[:, 0] if self._is_flat else numbers)

    def _row_losses(self, rows: Any, y: Any) -> Any:
        errors = self.network_.predict(rows) - np.reshape(y, (len(y), -1))
        return (np.abs(errors) if self.loss == "absolute" else errors**2).sum(axis=1)

    def _keep_targets(self, y: Any, weights: Any) -> None:
        self._is_flat = y.ndim == 1

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
