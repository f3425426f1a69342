"""StepClassifierCV: width, method and strength chosen by cross-validation."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from stepnet.certificate.certificate import Certificate
from stepnet.errors import InvalidInputError
from stepnet.estimators.auto_hidden import mean_and_error
from stepnet.estimators.base import FLOATS, checked_limit, checked_n_jobs, checked_weights
from stepnet.estimators.step_classifier import StepClassifier
from stepnet.methods.learn import Learn
from stepnet.model.network import Network
from stepnet.problem.architecture import checked_hidden
from stepnet.runtime.limits import Budget
from stepnet.runtime.parallel import as_finished
from stepnet.runtime.progress import Progress
from stepnet.runtime.view import showing

_SHARE = 0.7  # of the time, for all folds; the rest is for the network itself


@dataclass(frozen=True)
class Candidate:
    """What was tried, and how it did on rows that its networks were not trained on."""

    hidden: tuple[int, ...]
    method: str
    strength: float | None
    error: float = math.nan
    standard_error: float = math.nan

    def __str__(self) -> str:
        strength = "" if self.strength is None else f", strength={self.strength:g}"
        held = f"held-out errors {100 * self.error:.1f} ± {100 * self.standard_error:.1f} %"
        return f"hidden={self.hidden}, method={self.method!r}{strength}: {held}"


@dataclass(eq=False, repr=False)
class StepClassifierCV(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The smallest step network that is as good as the best one on held-out rows.

    Every combination of width, method and strength is trained on all folds but one in turn. Of those within one
    standard error of the best, the one with the fewest neurons is trained on all rows.

    Parameters
    ----------
    widths : sequence of tuples of int, default=((), (2,), (5,), (10,), (25,), (50,))
        Hidden widths to try.
    methods : sequence of "learn", "search" and "prove", default=("learn",)
    strengths : sequence of float, default=(0.7,)
        Of regularisation, for ``"learn"``.
    cv : int, cross-validation generator or iterable, default=5
    class_weight : None, "balanced" or dict, default=None
    probability : "auto", "sigmoid", "isotonic" or None, default="auto"
        As of :class:`StepClassifier`.
    time_limit : float, default=600
        Seconds for the whole fit: up to 70 % of them for the folds, in equal shares.
    n_jobs : int, default=1
        Fits in parallel; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        1 shows a bar on standard error.

    Attributes
    ----------
    best_estimator_ : StepClassifier
        The chosen one, trained on all rows; give it to :func:`stepnet.save` and reports.
    candidates_ : tuple of Candidate
        All that were tried, the smallest first.
    best_ : Candidate
        The chosen one.
    network_, certificate_, classes_
        Those of the chosen one.

    Examples
    --------
    >>> from stepnet import StepClassifierCV, datasets
    >>> X, y = datasets.load_breast_cancer_wisconsin(return_X_y=True)
    >>> chosen = StepClassifierCV(widths=[(), (2,), (10,)], random_state=0).fit(X, y)
    >>> len(chosen.candidates_)
    3
    """

    widths: Any = ((), (2,), (5,), (10,), (25,), (50,))
    _: KW_ONLY
    methods: Any = ("learn",)
    strengths: Any = (0.7,)
    cv: Any = 5
    class_weight: Any = None
    probability: str | None = "auto"
    time_limit: float = 600.0
    n_jobs: int | None = 1
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose by cross-validation, and train on all rows."""
        budget = Budget(checked_limit(self.time_limit))
        rows, labels = validate_data(self, X, y, dtype=FLOATS)
        weights = checked_weights(sample_weight, rows)
        seed, candidates = StepClassifier(random_state=self.random_state)._seed(), self._candidates()
        folds = list(check_cv(self.cv, labels, classifier=True).split(rows, labels))
        tasks = [(number, fold) for fold in range(len(folds)) for number in range(len(candidates))]
        seconds = _SHARE * budget.remaining / max(1, len(tasks)) * max(1, abs(checked_n_jobs(self.n_jobs) or 1))
        wrong = np.full((len(candidates), len(rows)), np.nan)
        with budget.catching_interrupts(), showing(budget.remaining) if self.verbose else nullcontext() as show:
            given = [
                (self._estimator(candidates[number], seed, seconds), number, rows, labels, weights, folds[fold])
                for number, fold in tasks
            ]
            for done, (number, test, errors) in enumerate(as_finished(_errors, given, checked_n_jobs(self.n_jobs))):
                wrong[number, test] = errors
                if show is not None:
                    stage = f"cross-validation, {done + 1} of {len(tasks)} fits"
                    show(Progress(budget.elapsed, math.inf, 0.0, 1.0, stage, share=(done + 1) / len(tasks)))
                if budget.is_used_up() and done + 1 < len(tasks):
                    raise InvalidInputError("the time was too short for all folds; give more, or fewer candidates.")
        best = self._choose(candidates, wrong, weights)
        chosen = self._estimator(self.candidates_[best], seed, max(1.0, budget.remaining))
        self.best_, self.best_estimator_ = self.candidates_[best], chosen.fit(X, y, sample_weight)
        self.classes_ = self.best_estimator_.classes_
        return self

    def _candidates(self) -> list[Candidate]:
        if not len(list(self.widths)) or not len(list(self.methods)) or not len(list(self.strengths)):
            raise InvalidInputError("widths, methods and strengths need at least one entry each.")
        found = []
        for hidden, method in product(map(checked_hidden, self.widths), self.methods):
            strengths = [float(one) for one in self.strengths] if method == "learn" else [None]
            found += [Candidate(hidden, str(method), strength) for strength in strengths]
        # Of the same size, more regularisation is simpler.
        return sorted(found, key=lambda one: (sum(one.hidden), len(one.hidden), -(one.strength or 0.0)))

    def _estimator(self, candidate: Candidate, seed: int, seconds: float) -> StepClassifier:
        method: Any = candidate.method if candidate.strength is None else Learn(strength=candidate.strength)
        options: Any = {"class_weight": self.class_weight, "probability": self.probability, "random_state": seed}
        limit = None if math.isinf(seconds) else seconds
        return StepClassifier(candidate.hidden, method=method, time_limit=limit, **options)  # type: ignore[arg-type]

    def _choose(self, candidates: list[Candidate], wrong: NDArray[np.float64], weights: Any) -> int:
        """By the one-standard-error rule, on the rows that all of them were tested on."""
        tested = ~np.isnan(wrong).any(axis=0)
        shares = np.ones(int(tested.sum())) if weights is None else weights[tested]
        errors = [mean_and_error(one[tested], shares) for one in wrong]
        self.candidates_ = tuple(
            Candidate(one.hidden, one.method, one.strength, *error)
            for one, error in zip(candidates, errors, strict=True)
        )
        best = int(np.argmin([error for error, _ in errors]))
        for number in range(len(candidates)):
            worse, standard_error = mean_and_error(wrong[number, tested] - wrong[best, tested], shares)
            if worse <= standard_error:
                return number
        return best

    @property
    def network_(self) -> Network:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.network_

    @property
    def certificate_(self) -> Certificate:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.certificate_

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of every row, exact."""
        return self._chosen.predict(X)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The probability of each class, a column each."""
        return self._chosen.predict_proba(X)

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The logarithms of the probabilities of the classes."""
        return self._chosen.predict_log_proba(X)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """As of :class:`StepClassifier`."""
        return self._chosen.decision_function(X)

    @property
    def _chosen(self) -> StepClassifier:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_


def _errors(
    estimator: StepClassifier, number: int, rows: Any, labels: Any, weights: Any, fold: Any
) -> tuple[int, Any, NDArray[np.bool_]]:
    """Of one candidate on one fold."""
    train, test = fold
    estimator.probability = None
    estimator.fit(rows[train], labels[train], None if weights is None else weights[train])
    return number, test, np.asarray(estimator.predict(rows[test]) != labels[test])
