"""StepScoreClassifier: a scorecard."""

from __future__ import annotations

import math
import sys
from contextlib import nullcontext
from dataclasses import KW_ONLY, asdict, dataclass, replace
from html import escape
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from stepnet.certificate.result import Result
from stepnet.errors import InvalidInputError
from stepnet.estimators.classifier import BaseStepClassifier
from stepnet.methods.run import Run
from stepnet.methods.scorecards import Scoring
from stepnet.model.calibration import Calibration, Isotonic
from stepnet.model.network import Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.problem.weights import Integers
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Callback
from stepnet.runtime.view import showing
from stepnet.scores.card import Card
from stepnet.scores.cuts import CutPoints
from stepnet.scores.form import Form
from stepnet.scores.sheet import Counts, Sheet, sheet_of
from stepnet.scores.shown import FORMATS

_JUST_BELOW = 1 - 2.0**-20  # of the step from one total to the next
_TIE = float(np.nextafter(0.0, 1.0))  # what decision_function gives where the total is the threshold


@dataclass(eq=False, repr=False)
class StepScoreClassifier(BaseStepClassifier):
    """A scorecard: rules such as "age ≥ 53", points for them, and a threshold on the total.

    Cut points, points and threshold are learned together. A scorecard is a step network: each hidden neuron looks at
    one feature, and the weights of the output neuron are the points.

    Parameters
    ----------
    n_rules : int, default=5
        The most rules.
    points : int, default=5
        The most points of a rule, which has at least 1. A rule may point either way: "age ≥ 53" or "age ≤ 53".
    rules_per_feature : int or None, default=None
        The most rules on the same feature; None for any number.
    cut_points : "round", "middle" or float, default="round"
        Which number stands for the gap between two neighbouring rows: that with the fewest digits, the middle, or a
        multiple of the given number where there is one.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of rows by their class.
    probability : "auto", "sigmoid", "isotonic" or None, default="auto"
        How totals become probabilities: by a logistic fit to the training rows (``"auto"`` and ``"sigmoid"``), by
        shares that rise with the total, or not at all.
    method : "learn", "search" or "prove", default="learn"
        ``"learn"`` minimises the logistic loss of the total, for new rows; ``"search"`` looks for the fewest errors on
        the training rows; ``"prove"`` proves how few there can be, for up to 6 rules. Of scorecards with the same loss
        the one with fewer rules is preferred, then the one with smaller points.
    time_limit : float, default=60
        Seconds for the whole fit. The best verified scorecard so far is kept.
    gap : float, default=0
        Stop when (loss - bound) / loss is at most this.
    random_state : int, RandomState instance or None, default=None
        With an int and no stop by the time limit, the same data give the same scorecard.
    verbose : int, default=0
        1 shows progress on standard error; 2 also prints the plan.
    on_interrupt : "raise" or "keep", default="raise"
        Ctrl-C ends the fit with the best scorecard so far, and raises KeyboardInterrupt or returns as usual.

    Attributes
    ----------
    card_ : Card
        The rules, their points, and the threshold.
    counts_ : Counts
        The training rows of each total.
    network_ : Network
        The same as a step network.
    certificate_ : Certificate
        Verified loss, bound, gap, status, scope, proof. A proven bound is one for all scorecards of the form.
    classes_ : ndarray
        The two classes; ``classes_[1]`` is the answer where the total reaches the threshold.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if ``X`` had them

    See Also
    --------
    StepClassifier : Neurons that look at several features.

    Examples
    --------
    >>> from stepnet import StepScoreClassifier
    >>> ages, answers = [[31], [45], [52], [54], [60], [75]], ["no", "no", "no", "yes", "yes", "yes"]
    >>> score = StepScoreClassifier(n_rules=1, method="prove", random_state=0).fit(ages, answers)
    >>> score.card_.rules
    (Rule(feature=0, is_at_least=True, cut=53.0, points=1),)
    >>> score.certificate_.loss, score.certificate_.status
    (0.0, 'OPTIMAL')
    """

    n_rules: int = 5
    points: int = 5
    _: KW_ONLY
    rules_per_feature: int | None = None
    cut_points: str | float = "round"
    class_weight: Any = None
    probability: str | None = "auto"
    method: str = "learn"
    time_limit: float = 60.0
    gap: float = 0.0
    random_state: Any = None
    verbose: int = 0
    on_interrupt: str = "raise"

    # What other classifiers have as parameters.
    output, loss, sparsity, constraints = "auto", "misclassified", None, None
    threshold, activation, uncertainty = "neuron", "step", None

    @property
    def weights(self) -> Any:
        return "real", Integers(self.points)

    @property
    def hidden(self) -> tuple[int, ...]:
        return (self.n_rules,)

    @property
    def card_(self) -> Card:
        check_is_fitted(self)
        return Card.of_network(self.network_)

    @property
    def _form(self) -> Form:
        return Form.of(self.n_rules, self.points, self.rules_per_feature)

    @property
    def _proof_form(self) -> dict[str, int]:
        return asdict(self._form)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        on_incumbent: Callback | None = None,
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes of any type.
        sample_weight : array-like of shape (n_samples,), optional
            What it costs to misclassify a row.
        on_incumbent : callable, optional
            Called with a :class:`~stepnet.runtime.progress.Progress` for every better scorecard or bound and from time
            to time in a long stage; returning True ends the fit.
        """
        with self._training() as budget:
            rows, targets, weights = self._checked(X, y, sample_weight, reset=True)
            self._keep_targets(targets, weights)
            problem = self._problem_from(rows, targets, weights)
            scoring = Scoring(self.method, self._form, CutPoints.of(self.cut_points))
            run = Run(problem, budget, seed=self._seed(), plan=scoring.plan(problem))
            if self.verbose > 1:
                sys.stderr.write(f"{run.plan}\n")
            with showing(budget.remaining) if self.verbose else nullcontext() as show:
                told = None if on_incumbent is None else lambda now: now.network is not None and on_incumbent(now)
                run.journal.callbacks = tuple(filter(None, (show, told)))
                card = scoring.work(run)
                counted = slice(None) if weights is None else weights > 0
                self.counts_ = Counts.of(card.totals(rows[counted]), targets[counted] == self.classes_[1])
                self._keep_card(card, run.result(), problem, budget)
        return self

    def _keep_card(self, card: Card, result: Result, problem: Problem, budget: Budget) -> None:
        """As a network of the rules that there are."""
        result = replace(result, network=card.network(problem.dataset.n_features))
        self._keep(result, self._narrowed(problem, result.network.widths[0]), budget)

    def _narrowed(self, problem: Problem, width: int) -> Problem:
        return replace(problem, architecture=self._form.architecture(problem.dataset.n_features, width))

    def sheet(self, format: str = "text", *, confidence: float = 0.95) -> str:
        """The points table: rules and points, and for each total the answer, its probability and the training rows.

        Parameters
        ----------
        format : "text", "html", "markdown" or "latex"
        confidence : float
            Of the intervals of the observed shares.
        """
        if format not in FORMATS:
            raise InvalidInputError(f"format={format!r} is not known; choose {', '.join(map(repr, FORMATS))}.")
        return FORMATS[format](self._sheet(confidence))

    def _sheet(self, confidence: float = 0.95) -> Sheet:
        check_is_fitted(self)
        card, calibration = self.card_, self.calibration_
        names = self._names()
        names = [f"x{i}" for i in range(self.n_features_in_)] if names is None else list(map(str, names))

        def probabilities(totals: Any) -> Any:
            assert calibration is not None
            values = (totals - card.threshold).astype(float)
            return calibration.probabilities(np.where(values == 0, _TIE, values))[:, 1]

        classes = tuple(map(str, self.classes_.tolist()))
        given = None if calibration is None else probabilities
        return sheet_of(card, names, (classes[0], classes[1]), self.counts_, given, confidence)

    def __str__(self) -> str:
        return f"{self.sheet()}\n\n{self.certificate_}" if hasattr(self, "network_") else repr(self)

    def _repr_html_(self) -> str:
        if not hasattr(self, "network_"):
            return f"<pre>{escape(repr(self))}</pre>"
        certificate = f'<pre style="white-space:pre-wrap">{escape(str(self.certificate_))}</pre>'
        return f"{self.sheet('html')}\n{certificate}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _targets(self) -> dict[str, Any]:
        return super()._targets() | {"totals": self.counts_.to_list()}

    def _restore_targets(self, targets: dict[str, Any]) -> None:
        super()._restore_targets(targets)
        self.counts_ = Counts.from_list(targets["totals"])

    def _certified_problem(self, problem: Problem) -> Problem:
        if (reason := self._form.refuses(self.network_)) is not None:
            raise InvalidInputError(f"the network is not one of the {self._form}: {reason}.")
        return self._narrowed(problem, self.network_.widths[0])

    def _solved_again(self, problem: Problem, seconds: float) -> Result:
        scoring = Scoring("prove", self._form, CutPoints.of(self.cut_points))
        whole = self._narrowed(problem, self.n_rules)
        run = Run(whole, Budget(seconds), seed=self._seed())
        with run.budget.catching_interrupts():
            scoring.work(run)
        return run.result()

    def _architecture(self, n_features: int, output: str | None = None) -> Architecture:
        return self._form.architecture(n_features)

    def _keep_targets(self, y: Any, weights: Any) -> None:
        super()._keep_targets(y, weights)
        if len(self.classes_) > 2:
            raise InvalidInputError(
                f"Only binary classification is supported. The type of the target is multiclass: y has "
                f"{len(self.classes_)} classes. Use StepClassifier, or sklearn.multiclass.OneVsRestClassifier."
            )

    def _calibration_of(self, result: Result, problem: Problem, budget: Budget) -> Calibration | Isotonic | None:
        network, dataset = result.network, problem.dataset
        if self.probability == "isotonic":
            return Isotonic.fitted(network.decision(dataset.X), dataset.y, dataset.weights)
        return None if self.probability is None else self._calibrated(network, dataset, are_log_odds=False)

    def _calibrated(self, network: Network, dataset: Dataset, *, are_log_odds: bool) -> Calibration:
        """A slope and an offset, by which class 1 is the more probable one exactly from the threshold on."""
        values = Card.of_network(network).totals(dataset.X) - network.layers[-1].thresholds[0]
        given = (dataset.y, dataset.weights)
        fitted = Calibration.fitted(values, *given, with_offsets=True)
        if not 0 <= fitted.offsets[0] < fitted.slope:
            middle = 0.0 if fitted.offsets[0] < 0 else _JUST_BELOW
            fitted = Calibration.fitted(values + middle, *given)
            fitted = Calibration(fitted.slope, (fitted.slope * middle,))
        return fitted

    def with_threshold(self, threshold: float, *args: Any, **given: Any) -> Self:
        """A copy that predicts ``classes_[1]`` where :meth:`decision_function` is at least ``threshold``.

        The threshold on the total remains a whole number: the next one. See :meth:`StepClassifier.with_threshold`.
        """
        is_number = isinstance(threshold, int | float) and math.isfinite(threshold)
        return super().with_threshold(math.ceil(threshold) if is_number else threshold, *args, **given)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # a few rules on one feature each cannot follow every pattern
        return tags
