"""StepClassifier: the scikit-learn skin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from stepnet.certify import certify
from stepnet.checks import is_finite_number, is_integer
from stepnet.data import Dataset
from stepnet.errors import InvalidInputError
from stepnet.limits import Budget
from stepnet.methods.base import Method, Run, logging_to_stderr
from stepnet.methods.exact import Exact
from stepnet.methods.prove import Prove
from stepnet.network import Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.problem import Problem
from stepnet.progress import Callback
from stepnet.verify import Verification, verify

_METHODS = {"prove": Prove}


class StepClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier for two classes made of step neurons, with a proof of how good it is.

    Parameters
    ----------
    hidden : tuple of int, default=(25,)
        Widths of the hidden layers; ``()`` is a single neuron.
    weights : "real", "ternary" or Integers(P), default="real"
        Values that the weights may take.
    threshold : "neuron", "layer" or float, default="neuron"
        One learned threshold a neuron, one a layer, or a fixed number for all.
    method : "prove" or a method object, default="prove"
        How to train: ``"prove"``, or for example ``Exact(formulation="tight", solver="scip")``.
    time_limit : float, default=60
        Seconds for the whole fit. The best verified network so far is kept.
    gap : float, default=0
        Stop when (loss - bound) / loss is not above it.
    n_jobs : int, default=1
        Threads; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        Same data, same number, one thread and no stop by the time limit: the same network.
    verbose : int, default=0
        1 logs every better network and bound to the logger ``stepnet``.

    Attributes
    ----------
    network_ : Network
        The trained network, in the units of ``X``.
    certificate_ : Certificate
        Verified loss, bound, gap, status, scope, proof.
    result_ : Result
        The certificate's raw material, with the trace of losses and bounds over time.
    classes_ : ndarray of shape (2,)
        The class of the output bit 0, then that of 1.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if ``X`` had them

    Examples
    --------
    >>> from stepnet import StepClassifier
    >>> xor = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = StepClassifier(hidden=(2,), random_state=0).fit(xor, ["even", "odd", "odd", "even"])
    >>> clf.certificate_.loss, clf.certificate_.status, clf.certificate_.scope
    (0.0, 'OPTIMAL', 'all networks')
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = (25,),
        *,
        weights: Any = "real",
        threshold: str | float = "neuron",
        method: str | Method = "prove",
        time_limit: float = 60.0,
        gap: float = 0.0,
        n_jobs: int | None = 1,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden = hidden
        self.weights = weights
        self.threshold = threshold
        self.method = method
        self.time_limit = time_limit
        self.gap = gap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        start: Network | None = None,
        on_incumbent: Callback | None = None,
    ) -> StepClassifier:
        """Train.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes of any type.
        sample_weight : array-like of shape (n_samples,), optional
            What it costs to misclassify a row.
        start : Network, optional
            A network to begin with.
        on_incumbent : callable, optional
            Called with a :class:`~stepnet.progress.Progress` for every better network or bound;
            returning True ends the fit.
        """
        budget = Budget(_checked_limit(self.time_limit), _checked_gap(self.gap))
        method = _checked_method(self.method)
        problem = self._problem(X, y, sample_weight)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        callbacks = [on_incumbent] if on_incumbent else []
        run = Run(problem, budget, _n_threads(self.n_jobs), seed, tuple(callbacks))
        with budget.catching_interrupts(), logging_to_stderr(self.verbose):
            method.work(run, start)
        self.result_ = run.result()
        self.network_ = self.result_.network
        self.certificate_ = certify(problem, self.result_)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of every row, exact."""
        check_is_fitted(self)
        codes = self.network_.predict(validate_data(self, X, reset=False, dtype=np.float64))
        return np.asarray(self.classes_[codes])

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Positive exactly where ``classes_[1]`` is predicted."""
        check_is_fitted(self)
        return self.network_.decision(validate_data(self, X, reset=False, dtype=np.float64))

    def verify(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        resolve: bool = False,
        time_limit: float = 60.0,
    ) -> Verification:
        """Check the certificate against the training data; with ``resolve`` repeat the solver's proof."""
        check_is_fitted(self)
        problem = self._problem(X, y, sample_weight, reset=False)
        exact = Exact() if resolve else None
        return verify(problem, self.network_, self.certificate_, resolve=exact, time_limit=time_limit)

    def problem(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Problem:
        """The problem that :meth:`fit` would solve, for use with formulations and searches."""
        problem: Problem = clone(self)._problem(X, y, sample_weight)
        return problem

    def _problem(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool = True) -> Problem:
        rows, labels = validate_data(self, X, y, reset=reset, dtype=np.float64)
        check_classification_targets(labels)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        if reset:
            self.classes_ = _two_classes(labels if weights is None else labels[weights > 0])
        codes = _codes(labels, self.classes_)
        architecture = Architecture.of(rows.shape[1], self.hidden, self.threshold, self.weights)
        return Problem(Dataset.from_rows(rows, codes, weights), architecture)

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


def _codes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """0 and 1; a label outside ``classes`` belongs to rows of weight zero, or is an error later."""
    unknown = ~np.isin(y, classes)
    return np.where(unknown, 0, np.searchsorted(classes, y).clip(0, len(classes) - 1)).astype(np.int64)


def _checked_method(method: object) -> Method:
    if isinstance(method, str) and method in _METHODS:
        return _METHODS[method]()
    if isinstance(method, Method):
        return method
    names = ", ".join(map(repr, _METHODS))
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


def _n_threads(n_jobs: object) -> int:
    if n_jobs is None:
        return 1
    if is_integer(n_jobs) and n_jobs != 0:
        return int(effective_n_jobs(int(n_jobs)))
    raise InvalidInputError(f"n_jobs={n_jobs!r} must be a positive integer, or -1 for all cores.")
