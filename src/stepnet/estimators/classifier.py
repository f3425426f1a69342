"""What the classifiers share: classes and their codes, predictions, and the problem."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from stepnet.bounds.bound import Bound
from stepnet.bounds.conflicts import conflict_bound
from stepnet.certificate.result import Result
from stepnet.certificate.verify import require_same_data
from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.estimators.cross_fit import held_out_values, unit_of
from stepnet.estimators.dask_answers import comes_in_blocks
from stepnet.estimators.reasons import Reasons
from stepnet.estimators.risk import WithRisk
from stepnet.estimators.survey import Survey
from stepnet.methods.learn import descends
from stepnet.methods.registry import method_of
from stepnet.model.activations.registry import output_of
from stepnet.model.activations.staircase import STEP
from stepnet.model.calibration import Calibration, Isotonic
from stepnet.model.network import Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.error_limits.counted import CountedRows
from stepnet.problem.problem import Problem
from stepnet.problem.row_prints import RowPrints
from stepnet.runtime.limits import Budget
from stepnet.runtime.numbers import is_finite_number
from stepnet.tables.rows import Piece

PROBABILITIES = ("auto", "sigmoid", "isotonic", None)
_ROWS_PER_WEIGHT = 20  # fewer rows per weight: the training loss is far below that of new rows
_MOVED = "moving a threshold"
_MOST_CLASSES = 1000
_MANY_NUMBERS = 20  # as classes: they are more likely meant as numbers
_CALIBRATED = 5_000  # rows are enough for one slope
_LEARNED, _OTHER_UNITS = 0.8, 4.0  # slope of learned networks, and one that says that their values are no log odds


class BaseStepClassifier(ClassifierMixin, Reasons, WithRisk):  # type: ignore[misc]
    """A classifier whose predictions come from a step network."""

    classes_: NDArray[Any]
    calibration_: Calibration | Isotonic | None  # None for a model from a file of an earlier version
    probability: Any = "auto"

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of every row, exact."""
        if comes_in_blocks(X):
            return self._by_block(X, "predict")  # type: ignore[no-any-return]
        rows = self._new_rows(X)
        return np.asarray(self.classes_[self.network_.predict(rows)])

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Positive exactly where ``classes_[1]`` is predicted; with more classes a column each, the largest wins."""
        if comes_in_blocks(X):
            return self._by_block(X, "decision_function")  # type: ignore[no-any-return]
        rows = self._new_rows(X)
        return self.network_.decision(rows)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The probability of each class, a column each; the most probable class is the one that is predicted.

        The values of :meth:`decision_function` times a slope, through a sigmoid; with several classes through a
        softmax. The slope was fitted by log loss; learned networks, whose values are log odds, have 0.8 or less. With
        few rows per weight, a network of the fewest errors is too sure of its training rows: there the values are
        those of networks that were trained without the row. ``probability`` chooses. After
        :meth:`with_threshold` the probabilities are those of before, and the class that is predicted may be the less
        probable one.
        """
        if comes_in_blocks(X):
            return self._by_block(X, "predict_proba")  # type: ignore[no-any-return]
        return self._known_calibration.probabilities(self.decision_function(X))

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The logarithms of the probabilities of the classes, finite also where :meth:`predict_proba` rounds to 0."""
        return self._known_calibration.log_probabilities(self.decision_function(X))

    @property
    def _known_calibration(self) -> Calibration | Isotonic:
        check_is_fitted(self)
        if self.calibration_ is None and self.probability is None:
            raise InvalidInputError("probability=None leaves probabilities out. Fit with probability='auto'.")
        if self.calibration_ is None:
            raise InvalidInputError(
                "this model is from a file without a calibration, so its values give no probabilities. Fit it again, "
                "or calibrate it with sklearn.calibration.CalibratedClassifierCV(FrozenEstimator(model))."
            )
        return self.calibration_

    def _keep(self, result: Result, problem: Problem, budget: Budget) -> None:
        self._calibrate(result, problem, budget)
        self.row_prints_ = RowPrints.of(problem.dataset.X)
        super()._keep(result, problem, budget)  # last, since it states how long the fit took

    def _calibrate(self, result: Result, problem: Problem, budget: Budget) -> None:
        self.calibration_ = self._calibration_of(result, problem, budget)

    def _calibration_of(self, result: Result, problem: Problem, budget: Budget) -> Calibration | Isotonic | None:
        """As ``probability`` says."""
        if self.probability is None or result.found_by == _MOVED:
            return None
        network, data = result.network, problem.dataset
        are_log_odds = result.found_by == "learning" and not problem.architecture.has_integers
        is_sure = network.n_weights * _ROWS_PER_WEIGHT > data.n_rows
        if self.probability == "auto" and (result.is_learned or not is_sure or not hasattr(self, "_solve")):
            return self._calibrated(network, data, are_log_odds=are_log_odds)
        is_whole = hasattr(self, "_solve") and not problem.constraints.need_rows  # limits name rows by their places
        held = held_out_values(self, data, budget, is_learned=result.is_learned) if is_whole else None
        unit = unit_of(network, data.X)
        if held is None:
            given: Any = (network.decision(data.X) / unit, data.y, data.weights)
            doubt = min(1.0 + network.n_weights / 2, 1.0 + data.n_rows / 20)
        else:
            given, doubt = (held.values, held.codes, held.weights), 1.0
        if self.probability == "isotonic":
            found = Isotonic.fitted(*given)
            return Isotonic(tuple(unit * one for one in found.values), found.shares)
        fitted = Calibration.fitted(*given, doubt=doubt)
        return Calibration(fitted.slope / unit, fitted.offsets)

    def _calibrated(self, network: Network, dataset: Dataset, *, are_log_odds: bool) -> Calibration:
        return _calibration(network, dataset, are_log_odds=are_log_odds)

    def with_threshold(
        self,
        threshold: float,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        radius: ArrayLike | None = None,
    ) -> Self:
        """A copy that predicts ``classes_[1]`` where :meth:`decision_function` is at least ``threshold``.

        Its network has another threshold in the output neuron, and its certificate states the loss of this network.
        The bound stays: it holds for all networks.

        Parameters
        ----------
        threshold : float
            In the units of :meth:`decision_function`; 0 changes nothing.
        X, y, sample_weight, radius
            The training data, as :meth:`fit` was given them.
        """
        check_is_fitted(self)
        if len(self.classes_) != 2:
            raise InvalidInputError(f"with_threshold is for two classes; this model has {len(self.classes_)}.")
        if not is_finite_number(threshold):
            raise InvalidInputError(f"threshold={threshold!r} must be a finite number.")
        problem = self._certified_problem(self._problem(X, y, sample_weight, radius, reset=False))
        require_same_data(problem, self.certificate_)
        network = self.network_.with_higher_output(float(threshold), problem.dataset.X)
        if (reason := problem.refuses(network)) is not None:
            way_out = "" if isinstance(self.threshold, str) else " Train with threshold='neuron', which learns it."
            raise InvalidInputError(f"the threshold cannot be moved by {threshold:g}: {reason}.{way_out}")
        moved, before = copy.copy(self), self.certificate_
        loss, bound = problem.evaluate(network), Bound(before.bound, before.scope, before.evidence)
        reason = "proven" if loss <= bound.value else "finished"
        is_learned = before.status == "LEARNED"
        found: Any = {"found_by": _MOVED, "is_learned": is_learned}
        moved._keep(
            Result(network, loss, bound, reason, before.runtime, **found), problem, Budget().after(before.runtime)
        )
        moved.calibration_ = None if self.calibration_ is None else self.calibration_.moved(float(threshold))
        return moved

    def _row_losses(self, rows: Any, y: Any) -> Any:
        return self.classes_[self.network_.predict(rows)] != y

    @property
    def _votes(self) -> bool:
        return self._output == "one_vs_one" and len(self.classes_) > 2

    @property
    def _output(self) -> str:
        """The choice that "auto" stands for: one output per class if these are learned, otherwise one vote per pair."""
        if self.output != "auto":
            return str(self.output)
        n_features, n_classes = self.n_features_in_, len(self.classes_)
        if n_classes == 2 or self.sparsity is not None:
            return "one_vs_one"  # two classes have one output anyway; so many weights are few for all classes at once
        rows = Dataset.from_rows(np.zeros((n_classes, n_features)), np.arange(n_classes))
        try:
            problem = self._problem_of(rows, self._architecture(n_features, "one_hot"), "classes")
        except InvalidInputError:  # such as a loss for two classes
            return "one_vs_one"
        return "one_hot" if descends(method_of(self.method), problem) else "one_vs_one"

    def _require_whole(self, problem: Problem) -> None:
        n_classes = int(problem.dataset.y.max()) + 1
        if n_classes > 2 and problem.architecture.output == STEP:
            raise InvalidInputError(
                f"with output={self.output!r} {n_classes} classes are several problems, one per pair. "
                f"Use output='one_hot' or 'ordinal', or the rows of two classes."
            )

    def _keep_targets(self, y: Any, weights: Any) -> None:
        check_classification_targets(y)
        weights = self._all_weights(y, weights)
        self.classes_ = _classes(y if weights is None else y[weights > 0])
        _check_probability(self.probability, len(self.classes_))
        if self.classes_.dtype.kind in "iuf" and len(self.classes_) > _MANY_NUMBERS:
            warnings.warn(
                f"y has {len(self.classes_)} different numbers, and each of them becomes a class. To predict numbers, "
                f"use StepRegressor (on the command line: --task regression).",
                UserWarning,
                stacklevel=2,
            )

    def _targets(self) -> dict[str, Any]:
        return {"dtype": self.classes_.dtype.str, "classes": self.classes_.tolist()}

    def _restore_targets(self, targets: dict[str, Any]) -> None:
        self.classes_ = np.array(targets["classes"], dtype=np.dtype(targets["dtype"]))
        last, kept = self.network_.layers[-1], self.classes_.tolist()
        if self.classes_.shape != (last.activation.n_answers(last.width),):
            raise ModelFileError("network and classes do not match")
        if kept != targets["classes"] or list(map(type, kept)) != list(map(type, targets["classes"])):
            raise ModelFileError("the classes do not match their type")
        if len(np.unique(self.classes_)) < len(kept):
            raise ModelFileError("a class occurs twice")

    def _problem_from(self, rows: Any, y: Any, weights: Any, radii: Any = None) -> Problem:
        check_classification_targets(y)
        row_weights, weights = weights, self._all_weights(y, weights)
        codes = _codes(y, self.classes_, weights)
        dataset = Dataset.from_rows(rows, codes, weights, radii, keep_places=self.constraints is not None)
        problem = self._problem_of(dataset, self._architecture(rows.shape[1]), "classes")
        if self._votes:
            _require_votes(problem)
        if not problem.constraints.limit_errors:
            return problem
        assert dataset.places is not None
        counted = CountedRows(rows, codes, self.classes_, row_weights, dataset.places, dataset.n_rows, self._names())
        return replace(problem, constraints=problem.constraints.for_rows(counted))

    # Rows that come block by block.

    _factors: dict[Any, float] | None = None  # weights of the classes of all rows

    @property
    def _needs_counts(self) -> bool:
        return isinstance(self.class_weight, str)

    _mean_target = None

    def _keep_survey(self, survey: Survey) -> None:
        self._keep_targets(survey.classes, None)
        self._keep_factors(survey)

    def _keep_factors(self, survey: Survey) -> None:
        if self.class_weight is None:
            self._factors = None
            return
        labels = sorted(survey.labels)
        factors = _class_factors(self.class_weight, np.array(labels))
        if isinstance(self.class_weight, str):  # as scikit-learn does, with the rows of weight 0
            factors = survey.n_all / (len(labels) * np.array([float(survey.labels[label]) for label in labels]))
        self._factors = dict(zip(labels, factors.tolist(), strict=True))

    def _with_survey(self, survey: Survey) -> Self:
        """A copy that knows how often classes come in all rows."""
        twin = copy.copy(self)
        twin._keep_factors(survey)
        return twin

    def _piece_dataset(self, piece: Piece) -> Dataset:
        """Codes and weights of some rows; nothing is merged or sorted."""
        piece = piece.counted
        X, y, weights = piece.X, piece.y, np.ones(len(piece.X)) if piece.weights is None else piece.weights
        factors = self._factors
        if factors is None and isinstance(self.class_weight, dict):
            factors = self.class_weight
        if factors is not None:
            labels, places = np.unique(y, return_inverse=True)
            weights = weights * np.array([factors.get(label, 1.0) for label in labels.tolist()])[places]
            if not (kept := weights > 0).all():
                X, y, weights = X[kept], y[kept], weights[kept]
        try:
            return Dataset(X, _codes(y, self.classes_, None).astype(np.int16), weights)
        except InvalidInputError as error:
            raise InvalidInputError(f"{piece.where}: {error}") from error

    def _all_weights(self, y: Any, weights: Any) -> Any:
        """The weights of the rows times those of their classes."""
        if self.class_weight is None:
            return weights
        factors = _class_factors(self.class_weight, y)
        return factors if weights is None else weights * factors

    def _architecture(self, n_features: int, output: str | None = None) -> Architecture:
        """Of the network, or of the network of each pair of classes."""
        output = output or self._output
        kind, n_outputs = output_of(output, len(self.classes_))
        choices: Any = (self.threshold, self.weights, self.activation, kind, n_outputs)
        architecture = Architecture.of(n_features, self._hidden, *choices)
        if self.output != "auto" or output != "one_hot":
            return architecture
        # As many neurons as classes need: the given ones are enough for two of them.
        hidden = tuple(-(-width * len(self.classes_) // 2) for width in architecture.hidden)
        return Architecture.of(n_features, hidden, *choices)

    def _certified_problem(self, problem: Problem) -> Problem:
        is_vote = self.network_.layers[-1].activation.is_compared and not problem.architecture.output.is_compared
        return vote_problem(problem, self.network_) if is_vote else problem


def _calibration(network: Network, dataset: Dataset, *, are_log_odds: bool) -> Calibration:
    """Of the values on the training rows; only a slope, so that probabilities agree with answers.

    Learned networks are too sure of the rows that they were trained on. Their values are log odds already, seen through
    noise in training; a little less than these is best on new rows.
    """
    some = slice(None, None, -(-dataset.n_rows // _CALIBRATED))
    fitted = Calibration.fitted(network.decision(dataset.X[some]), dataset.y[some], dataset.weights[some])
    is_too_sure = are_log_odds and _LEARNED < fitted.slope < _OTHER_UNITS
    return Calibration(_LEARNED, fitted.offsets) if is_too_sure else fitted


def _check_probability(choice: object, n_classes: int) -> None:
    if choice not in PROBABILITIES:
        names = ", ".join(map(repr, PROBABILITIES))
        raise InvalidInputError(f"probability={choice!r} is not known; choose one of {names}.")
    if choice == "isotonic" and n_classes > 2:
        raise InvalidInputError(
            f"probability='isotonic' is for two classes; y has {n_classes}. Use 'sigmoid', which is a softmax there."
        )


def _require_votes(problem: Problem) -> None:
    """Raise if training each pair does not achieve what is required of all classes."""
    if problem.loss.weighs_answers:
        raise InvalidInputError(
            f"loss={problem.loss.name!r} compares all classes, but each network of a vote knows only two. "
            f"Use output='one_hot' or 'ordinal'."
        )
    lost = [one for one in problem.constraints.restrictions if not one.holds_in_votes]
    if lost:
        raise InvalidInputError(
            f"{type(lost[0]).__name__} does not work with output='one_vs_one': a vote may violate what each of its "
            f"networks satisfies. Use output='one_hot' or 'ordinal'."
        )


def _classes(y: NDArray[Any]) -> NDArray[Any]:
    classes = np.unique(y)
    if not len(classes):
        raise InvalidInputError("no row has a positive weight; give at least one.")
    if len(classes) < 2:
        raise InvalidInputError(
            f"y has one class only, {classes.tolist()}; a classifier needs rows of at least two classes."
        )
    if len(classes) > _MOST_CLASSES:
        raise InvalidInputError(f"y has {len(classes)} classes; at most {_MOST_CLASSES} are accepted. Merge rare ones.")
    return classes


def _class_factors(class_weight: object, labels: NDArray[Any]) -> NDArray[np.float64]:
    if class_weight != "balanced" and not isinstance(class_weight, dict):
        raise InvalidInputError(
            f"class_weight={class_weight!r} must be None, 'balanced' or a dictionary of classes and their weights."
        )
    if isinstance(class_weight, dict) and not all(is_finite_number(v) and v >= 0 for v in class_weight.values()):
        raise InvalidInputError(f"class_weight={class_weight!r} must have finite, non-negative weights.")
    factors: NDArray[np.float64] = compute_sample_weight(class_weight, labels)
    return factors


def _codes(y: NDArray[Any], classes: NDArray[Any], weights: NDArray[np.float64] | None) -> NDArray[np.int64]:
    """The number of each label among the classes; unknown labels are allowed only for rows of weight zero."""
    unknown = ~np.isin(y, classes)
    counted = unknown if weights is None else unknown & (weights > 0)
    if counted.any():
        raise InvalidInputError(
            f"y has the label {y[counted].tolist()[0]!r}, which is not one of the classes {classes.tolist()} of the "
            f"model. Give the targets that it was trained on; for new classes give all of them as classes= to the "
            f"first partial_fit, or fit a new model."
        )
    return np.where(unknown, 0, np.searchsorted(classes, y).clip(0, len(classes) - 1)).astype(np.int64)


def vote_problem(problem: Problem, network: Network) -> Problem:
    """What a vote is evaluated by: its errors, whatever loss its members minimised."""
    return Problem(problem.dataset, Architecture.of_network(network), uncertainty=problem.uncertainty)


def vote_result(votes: Problem, network: Network, budget: Budget, *, is_learned: bool) -> Result:
    """The exact loss of a vote, and the bound that holds for every classifier; ``is_learned``: its members are."""
    loss, bound = votes.evaluate(network), conflict_bound(votes, should_stop=budget.is_used_up)
    reason = "proven" if loss <= bound.value else budget.stop_reason or "finished"
    return Result(network, loss, bound, reason, budget.elapsed, is_learned=is_learned)
