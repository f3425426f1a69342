"""What the classifiers share: checks of the input, answers, and the way to a problem."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from stepnet.certify import Certificate
from stepnet.checks import is_finite_number, is_integer
from stepnet.data import Dataset
from stepnet.errors import InvalidInputError
from stepnet.limits import Budget
from stepnet.methods.alternating import Alternating
from stepnet.methods.base import Method
from stepnet.methods.exact import Exact
from stepnet.methods.learn import Learn
from stepnet.methods.prove import Prove
from stepnet.methods.search import Search
from stepnet.network import Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.problem import Problem
from stepnet.verify import Verification, verify

FLOATS = [np.float64, np.float32]  # other types become the first

METHODS: dict[str, type[Method]] = {
    "prove": Prove,
    "learn": Learn,
    "search": Search,
    "exact": Exact,
    "alternating": Alternating,
}


class BaseStepClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier for two classes whose answers come from a step network."""

    network_: Network
    certificate_: Certificate
    classes_: NDArray[Any]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of every row, exact."""
        check_is_fitted(self)
        codes = self.network_.predict(validate_data(self, X, reset=False, dtype=FLOATS))
        return np.asarray(self.classes_[codes])

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Positive exactly where ``classes_[1]`` is predicted."""
        check_is_fitted(self)
        return self.network_.decision(validate_data(self, X, reset=False, dtype=FLOATS))

    def verify(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        resolve: bool = False,
        time_limit: float | None = 60.0,
    ) -> Verification:
        """Check the certificate against the training data; with ``resolve`` repeat the solver's proof."""
        check_is_fitted(self)
        problem = self._problem(X, y, sample_weight, reset=False)
        exact = Exact() if resolve else None
        time_limit = _checked_limit(time_limit)
        problem = self._certified_problem(problem)
        return verify(problem, self.network_, self.certificate_, resolve=exact, time_limit=time_limit)

    def problem(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Problem:
        """The problem that :meth:`fit` would solve, for use with formulations and searches."""
        problem: Problem = clone(self)._problem(X, y, sample_weight)
        return problem

    def _problem(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool = True) -> Problem:
        rows, labels = validate_data(self, X, y, reset=reset, dtype=FLOATS)
        check_classification_targets(labels)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        if reset:
            self.classes_ = _two_classes(labels if weights is None else labels[weights > 0])
        codes = _codes(labels, self.classes_, weights)
        architecture = Architecture.of(rows.shape[1], self.hidden, self.threshold, self.weights)
        return Problem(Dataset.from_rows(rows, codes, weights), architecture)

    def _certified_problem(self, problem: Problem) -> Problem:
        """The problem that the certificate speaks of, given the one that was trained on."""
        return problem

    def _budget(self) -> Budget:
        return Budget(_checked_limit(self.time_limit), _checked_gap(self.gap))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _two_classes(y: NDArray[Any]) -> NDArray[Any]:
    classes = np.unique(y)
    if len(classes) == 2:
        return classes
    if len(classes) < 2:
        raise InvalidInputError(f"y has one class only, {classes.tolist()}; a classifier needs rows of two classes.")
    raise InvalidInputError(
        f"Only binary classification is supported. The type of the target is multiclass: y has {len(classes)} "
        f"classes. Merge them into two, or train one classifier against the rest for each: "
        f"sklearn.multiclass.OneVsRestClassifier(StepClassifier())."
    )


def _codes(y: NDArray[Any], classes: NDArray[Any], weights: NDArray[np.float64] | None) -> NDArray[np.int64]:
    """0 and 1; other labels only for rows of weight zero, which count for nothing."""
    unknown = ~np.isin(y, classes)
    counted = unknown if weights is None else unknown & (weights > 0)
    if counted.any():
        raise InvalidInputError(
            f"y has the label {y[counted][0]!r}, which is not one of the classes {classes.tolist()} of the model."
        )
    return np.where(unknown, 0, np.searchsorted(classes, y).clip(0, len(classes) - 1)).astype(np.int64)


def checked_method(method: object) -> Method:
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    if isinstance(method, Method):
        return method
    names = ", ".join(map(repr, METHODS))
    raise InvalidInputError(f"method={method!r} is not known; choose {names}, or an object such as Exact().")


def _checked_limit(time_limit: object) -> float:
    if time_limit is None:
        return math.inf
    if is_finite_number(time_limit) and time_limit > 0:
        return float(time_limit)
    raise InvalidInputError(f"time_limit={time_limit!r} must be a positive number of seconds, or None for no limit.")


def _checked_gap(gap: object) -> float:
    if is_finite_number(gap) and 0 <= gap <= 1:
        return float(gap)
    raise InvalidInputError(f"gap={gap!r} must be a number from 0 to 1, such as 0.05.")


def checked_n_jobs(n_jobs: Any) -> int | None:
    if n_jobs is None or (is_integer(n_jobs) and n_jobs != 0):
        return n_jobs
    raise InvalidInputError(f"n_jobs={n_jobs!r} must be a positive integer, or -1 for all cores.")
