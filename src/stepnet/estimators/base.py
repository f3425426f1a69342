"""What the classifiers share: checks of the input, answers, and the way to a problem."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from stepnet.activation import ARGMAX, STEP, Activation, Staircase
from stepnet.bounds.conflicts import conflict_bound
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
from stepnet.result import Result
from stepnet.verify import Verification, verify

FLOATS = [np.float64, np.float32]  # other types become the first

OUTPUTS = ("one_vs_one", "one_hot", "ordinal")
_MOST_CLASSES = 1000

METHODS: dict[str, type[Method]] = {
    "prove": Prove,
    "learn": Learn,
    "search": Search,
    "exact": Exact,
    "alternating": Alternating,
}


class BaseStepClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose answers come from a step network."""

    network_: Network
    certificate_: Certificate
    classes_: NDArray[Any]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of every row, exact."""
        check_is_fitted(self)
        codes = self.network_.predict(validate_data(self, X, reset=False, dtype=FLOATS))
        return np.asarray(self.classes_[codes])

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Positive exactly where ``classes_[1]`` is predicted; with more classes a column each, the largest wins."""
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
        estimator = clone(self)
        problem: Problem = estimator._problem(X, y, sample_weight)
        if self.output == "one_vs_one" and len(estimator.classes_) > 2:
            raise InvalidInputError(
                f"with output='one_vs_one' {len(estimator.classes_)} classes are many problems, one a pair. "
                f"Use output='one_hot' or 'ordinal', or the rows of two classes."
            )
        return problem

    def _problem(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool = True) -> Problem:
        rows, labels = validate_data(self, X, y, reset=reset, dtype=FLOATS)
        check_classification_targets(labels)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        if self.class_weight is not None:
            factors = _class_factors(self.class_weight, labels)
            weights = factors if weights is None else weights * factors
        if reset:
            self.classes_ = _classes(labels if weights is None else labels[weights > 0])
        codes = _codes(labels, self.classes_, weights)
        return Problem(Dataset.from_rows(rows, codes, weights), self._architecture(rows.shape[1]))

    def _architecture(self, n_features: int) -> Architecture:
        """What is trained as a whole, or for each pair of classes."""
        kind, n_outputs = _output(self.output, len(self.classes_))
        return Architecture.of(n_features, self.hidden, self.threshold, self.weights, self.activation, kind, n_outputs)

    def _certified_problem(self, problem: Problem) -> Problem:
        """The problem that the certificate speaks of, given the one that was trained on."""
        is_vote = self.network_.layers[-1].activation == ARGMAX and problem.architecture.output != ARGMAX
        return Problem(problem.dataset, Architecture.of_network(self.network_)) if is_vote else problem

    def _budget(self) -> Budget:
        return Budget(_checked_limit(self.time_limit), _checked_gap(self.gap))


def _classes(y: NDArray[Any]) -> NDArray[Any]:
    classes = np.unique(y)
    if len(classes) < 2:
        raise InvalidInputError(f"y has one class only, {classes.tolist()}; a classifier needs rows of two classes.")
    if len(classes) > _MOST_CLASSES:
        raise InvalidInputError(f"y has {len(classes)} classes; at most {_MOST_CLASSES} are taken. Merge rare ones.")
    return classes


def _class_factors(class_weight: object, labels: NDArray[Any]) -> NDArray[np.float64]:
    if class_weight != "balanced" and not isinstance(class_weight, dict):
        raise InvalidInputError(
            f"class_weight={class_weight!r} must be None, 'balanced' or a dictionary of classes and their weights."
        )
    if isinstance(class_weight, dict) and not all(is_finite_number(v) and v >= 0 for v in class_weight.values()):
        raise InvalidInputError(f"class_weight={class_weight!r} must have finite weights that are not negative.")
    factors: NDArray[np.float64] = compute_sample_weight(class_weight, labels)
    return factors


def _output(output: object, n_classes: int) -> tuple[Activation, int]:
    """The last layer for so many classes; for one_vs_one that of each pair's network."""
    if output not in OUTPUTS:
        raise InvalidInputError(f"output={output!r} is not known; choose one of {', '.join(map(repr, OUTPUTS))}.")
    if n_classes == 2 or output == "one_vs_one":
        return STEP, 1
    if output == "one_hot":
        return ARGMAX, n_classes
    return Staircase(tuple(range(n_classes))), 1


def _codes(y: NDArray[Any], classes: NDArray[Any], weights: NDArray[np.float64] | None) -> NDArray[np.int64]:
    """0 and 1; other labels only for rows of weight zero, which count for nothing."""
    unknown = ~np.isin(y, classes)
    counted = unknown if weights is None else unknown & (weights > 0)
    if counted.any():
        raise InvalidInputError(
            f"y has the label {y[counted][0]!r}, which is not one of the classes {classes.tolist()} of the model."
        )
    return np.where(unknown, 0, np.searchsorted(classes, y).clip(0, len(classes) - 1)).astype(np.int64)


def vote_result(problem: Problem, network: Network, budget: Budget) -> Result:
    """Of a vote: its exact loss and the bound that holds for every classifier."""
    loss = Problem(problem.dataset, Architecture.of_network(network)).evaluate(network)
    bound = conflict_bound(problem)
    reason = "proven" if loss <= bound.value else budget.stop_reason or "finished"
    return Result(network, loss, bound, reason, budget.elapsed)


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
