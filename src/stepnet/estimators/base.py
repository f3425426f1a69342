"""What all estimators share: from data to a problem, the certificate of the result, and checks of parameters."""

from __future__ import annotations

import copy
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from stepnet.certificate.certificate import Certificate, certify
from stepnet.certificate.result import Points, Result
from stepnet.certificate.verification import Verification
from stepnet.certificate.verify import require_same_data, verify, verify_without
from stepnet.errors import InvalidInputError
from stepnet.estimators.auto_hidden import HeldOut
from stepnet.estimators.dask_answers import is_dask, lazily
from stepnet.estimators.dask_rows import DaskRows, verify_dask
from stepnet.estimators.fit_rows import each_block, is_rows, nameless, verify_rows
from stepnet.methods.exact import Exact
from stepnet.model.network import Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.constraint import Constraints
from stepnet.problem.dataset import Dataset
from stepnet.problem.losses.base import Loss
from stepnet.problem.losses.registry import loss_of
from stepnet.problem.problem import Problem
from stepnet.proof_files.written import write_proof
from stepnet.runtime.limits import Budget
from stepnet.runtime.numbers import is_finite_number, is_integer
from stepnet.tables.columns import Columns
from stepnet.uncertainty.sets import Uncertainty, checked_radii

FLOATS = [np.float64, np.float32]  # other types are converted to the first


class BaseStep(BaseEstimator, ABC):  # type: ignore[misc]
    """An estimator whose predictions come from a step network."""

    network_: Network
    certificate_: Certificate
    result_: Result
    trace_: Points  # seconds, loss and bound
    hidden_: tuple[int, ...]  # the widths that hidden="auto" chose
    held_out_: tuple[HeldOut, ...]  # and how each did on held-out rows
    ranges_: tuple[tuple[float, float, bool], ...]  # of the training rows: least, most, and whether all are integers
    columns_: Columns  # how the cells of a table became features, if the rows came from one
    _columns_of_table: Columns  # those of the next fit

    uncertainty: Any = None  # for estimators without this parameter
    on_interrupt: str = "raise"

    @property
    def used_features(self) -> tuple[int, ...]:
        """The numbers of the features that an answer may depend on."""
        check_is_fitted(self)
        return self.network_.used_features

    def verify(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        resolve: bool = False,
        time_limit: float | None = 60.0,
        radius: ArrayLike | None = None,
        absent: Sequence[int] = (),
    ) -> Verification:
        """Check the certificate against the training data.

        Parameters
        ----------
        X, y, sample_weight, radius
            As for :meth:`fit`.
        resolve : bool
            Repeat the solver's proof.
        time_limit : float
            Seconds for that.
        absent : sequence of int
            Numbers of features that ``X`` does not really have: any finite number may stand there. The network must not
            use them. Then the loss is checked, but neither the fingerprint nor a bound above 0.
        """
        check_is_fitted(self)
        if is_dask(X):
            return verify_dask(self, DaskRows.of(X, y, sample_weight, is_number=hasattr(self, "_is_flat_target")))
        if is_rows(X):
            return self._verify_rows(X, y, sample_weight, resolve=resolve)
        problem = self._certified_problem(self._problem(X, y, sample_weight, radius, reset=False))
        seconds, again = checked_limit(time_limit), None
        if len(absent):
            self._require_unused(absent, resolve=resolve)
            names = self._names() or [f"x{i}" for i in range(self.n_features_in_)]
            return verify_without(problem, self.network_, self.certificate_, [names[i] for i in absent])
        if resolve and self.certificate_.claimed_by:
            require_same_data(problem, self.certificate_)
            again = self._solved_again(problem, seconds)
        return verify(problem, self.network_, self.certificate_, again=again)

    def _solved_again(self, problem: Problem, seconds: float) -> Result:
        """What solving the problem of the certificate once more gives."""
        return Exact().solve(problem, self.network_, time_limit=seconds)

    def _verify_rows(self, rows: Any, y: Any, sample_weight: Any, *, resolve: bool) -> Verification:
        if y is not None or sample_weight is not None or resolve:
            raise InvalidInputError(
                "Rows have their targets and weights inside, and no solver's proof; give them alone."
            )
        if not hasattr(self, "_piece_dataset"):
            raise InvalidInputError(f"{type(self).__name__} is verified with rows in memory.")
        return verify_rows(self, rows)

    def _require_unused(self, absent: Sequence[int], *, resolve: bool) -> None:
        """Raise if a loss cannot be checked without these features."""
        used = sorted({*absent} & {*self.used_features})
        if used:
            raise InvalidInputError(f"absent={list(absent)} has features that the network uses: {used}.")
        if resolve:
            raise InvalidInputError("a solver's proof is about all features; give the whole table to repeat it.")
        if self.uncertainty is not None and not getattr(self.uncertainty, "is_plain", False):
            raise InvalidInputError("perturbations of these features are tied to those of others; give all of them.")

    def save_proof(
        self,
        directory: str | os.PathLike[str],
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        time_limit: float | None = 600.0,
        radius: ArrayLike | None = None,
    ) -> float:
        """Write a proof of the certificate's bound that others can check, given the training data.

        For one hidden layer of up to 5 neurons, and scorecards of up to 6 rules; see :func:`stepnet.verify_proof`.
        Returns the proven bound. Limits on errors are part of the proof if one more right row never breaks them. The
        bound is smaller than the certificate's if the time was too short, and if restrictions on weights or
        thresholds, other limits or perturbations of rows cost something: the proof is one for all networks and for the
        rows as they are.
        """
        check_is_fitted(self)
        problem = self._certified_problem(self._problem(X, y, sample_weight, radius, reset=False))
        require_same_data(problem, self.certificate_)
        budget = Budget(checked_limit(time_limit))
        subsystems = self.result_.subsystems if hasattr(self, "result_") else ()
        with budget.catching_interrupts():
            bound = self.certificate_.bound
            return write_proof(
                directory, problem, self.network_, bound, subsystems=subsystems, budget=budget, form=self._proof_form
            )

    def problem(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        radius: ArrayLike | None = None,
    ) -> Problem:
        """The problem that :meth:`fit` would solve, for use with formulations and searches."""
        problem: Problem = clone(self)._problem(X, y, sample_weight, radius)
        self._require_whole(problem)
        return problem

    def _require_whole(self, problem: Problem) -> None:
        """Raise if fit would solve several problems instead."""

    def _problem(
        self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None, radius: Any = None, *, reset: bool = True
    ) -> Problem:
        """From a user's data; with ``reset``, features and classes are learned from them."""
        rows, targets, weights = self._checked(X, y, sample_weight, reset=reset)
        if reset:
            self._keep_targets(targets, weights)
        return self._problem_from(rows, targets, weights, self._radii(radius, len(rows)))

    def _radii(self, radius: Any, n_rows: int) -> Any:
        """One per row if the caller gave any; None if all rows have the radius of the set."""
        if radius is None:
            return None
        if not isinstance(self.uncertainty, Uncertainty):
            raise InvalidInputError("radius= limits the perturbation of rows; give uncertainty=Ball('linf') too.")
        return checked_radii(self.uncertainty, radius, n_rows)

    def _keep_targets(self, y: Any, weights: Any) -> None:
        """Remember what predictions must look like."""

    @property
    def _proof_form(self) -> dict[str, int] | None:
        """The form of the scorecards that bounds are about; None if they are about all networks."""
        return None

    @property
    def _hidden(self) -> Any:
        """The widths to train with."""
        return self.hidden

    @property
    def _votes(self) -> bool:
        """Whether there is one network per pair of classes."""
        return False

    def _all_weights(self, y: Any, weights: Any) -> Any:
        """What the errors of rows count; None if all count the same."""
        return weights

    def _targets(self) -> dict[str, Any]:
        """What a model file stores about predictions."""
        return {}

    def _restore_targets(self, targets: dict[str, Any]) -> None:
        """The inverse of :meth:`_targets`; raises if they do not match the network."""

    @abstractmethod
    def _problem_from(self, rows: Any, y: Any, weights: Any, radii: Any = None) -> Problem:
        """From checked data."""

    def _certified_problem(self, problem: Problem) -> Problem:
        """The problem that the certificate is about, given the one that was trained on."""
        return problem

    def _problem_of(self, dataset: Dataset, architecture: Architecture, task: str) -> Problem:
        constraints = Constraints.of(architecture, self.sparsity, self.constraints, self._names())
        if self.uncertainty is not None:
            if not isinstance(self.uncertainty, Uncertainty):
                raise InvalidInputError(
                    f"uncertainty={self.uncertainty!r} must be a set such as Ball('linf', 0.1), or None."
                )
            self.uncertainty.require(dataset.n_features)
            if self.uncertainty.is_discrete:
                raise InvalidInputError(
                    "whole steps (integer=True, step=) are for attacks; training takes the whole ball. Leave them out: "
                    "what holds for all perturbations holds for whole ones."
                )
        loss = loss_of(self.loss, task)
        if constraints.limit_errors:
            _require_counted_errors(loss, task, self.uncertainty)
        return Problem(dataset, architecture, loss, constraints, self.uncertainty)

    def _keep_columns(self) -> None:
        """Keep how columns became the features of this fit, if they came from a table; forget those of earlier fits."""
        self.__dict__.pop("columns_", None)
        if "_columns_of_table" in self.__dict__:
            self.columns_ = self.__dict__.pop("_columns_of_table")

    def _names(self) -> Any:
        """Of the features; None if they have none."""
        columns = getattr(self, "columns_", None)
        return getattr(self, "feature_names_in_", None if columns is None else columns.features)

    def _checked(self, X: ArrayLike, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        """Rows, targets and weights (None if all rows have the same), checked as scikit-learn does."""
        self._require_arrays(X)
        if reset:
            self._keep_columns()
        rows, targets = validate_data(self, X, y, reset=reset, dtype=FLOATS, **self._target_checks)
        return rows, targets, checked_weights(sample_weight, rows)

    _target_checks: ClassVar[dict[str, Any]] = {}

    def _require_arrays(self, X: Any) -> None:
        if is_rows(X):
            raise InvalidInputError(
                f"{type(self).__name__} takes arrays here. fit, predict and verify of StepClassifier and StepRegressor "
                f"take Rows; for partial_fit give batches of arrays."
            )

    def _by_block(self, rows: Any, answer: str) -> Any:
        """What a method says of rows that come block by block, or of a Dask collection."""
        check_is_fitted(self)
        if is_dask(rows):
            return lazily(self, rows, answer, getattr(nameless(self), answer)(np.zeros((1, self.n_features_in_))))
        return each_block(self, rows, getattr(nameless(self), answer))

    def _without_rows(self) -> Any:
        """A copy for other machines: what predicts, without what was trained on."""
        twin = copy.copy(self)
        for name in ("_seen", "_stream", "result_", "trace_", "held_out_"):
            twin.__dict__.pop(name, None)
        return twin

    def _new_rows(self, X: ArrayLike) -> Any:
        """Rows to predict."""
        check_is_fitted(self)
        self._require_arrays(X)
        return validate_data(self, X, reset=False, dtype=FLOATS)

    @contextmanager
    def _training(self) -> Iterator[Budget]:
        """The budget of a fit; an error inside leaves the estimator as it was.

        A Ctrl-C that ended the fit is raised again once the network is kept, unless ``on_interrupt`` is "keep".
        """
        budget = self._budget()
        with budget.catching_interrupts(self.on_interrupt), self._all_or_nothing():
            yield budget

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """An error inside leaves the estimator as it was."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _keep(self, result: Result, problem: Problem, budget: Budget) -> None:
        """Certify what was found; the budget's clock runs since the call of fit."""
        self.ranges_ = ranges_of(problem.dataset.X)
        self._keep_certificate(certify(problem, result, budget), result)

    def _keep_certificate(self, certificate: Certificate, result: Result) -> None:
        self.certificate_ = certificate
        self.result_, self.network_ = replace(result, runtime=self.certificate_.runtime), result.network
        end = (self.certificate_.runtime, self.certificate_.loss, self.certificate_.bound)
        self.trace_ = (*result.points, end)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _budget(self) -> Budget:
        if is_finite_number(self.gap) and 0 <= self.gap <= 1:
            return Budget(checked_limit(self.time_limit), float(self.gap))
        raise InvalidInputError(f"gap={self.gap!r} must be a number from 0 to 1, such as 0.05.")


def ranges_of(X: Any) -> tuple[tuple[float, float, bool], ...]:
    """For every feature the smallest and the largest number, and whether all are integers."""
    are_whole = [bool((column == np.floor(column)).all()) for column in X.T]
    return tuple(
        zip(X.min(axis=0).astype(float).tolist(), X.max(axis=0).astype(float).tolist(), are_whole, strict=True)
    )


def _require_counted_errors(loss: Loss, task: str, uncertainty: Any) -> None:
    """Raise where there are no errors that a limit could count."""
    reasons = {
        "are for classes; this is a regression": task != "classes",
        f"need answers, and loss={loss.name!r} reads values. Use loss='misclassified'": loss.reads_values,
        "are for rows that are certain. Use uncertainty=None": uncertainty is not None,
    }
    reason = next((one for one, is_so in reasons.items() if is_so), None)
    if reason is not None:
        raise InvalidInputError(f"limits on errors, such as Recall, {reason}.")


def checked_weights(sample_weight: Any, rows: Any) -> Any:
    return None if sample_weight is None else _check_sample_weight(sample_weight, rows, ensure_non_negative=True)


def checked_limit(time_limit: object) -> float:
    if time_limit is None:
        return math.inf
    if is_finite_number(time_limit) and time_limit > 0:
        return float(time_limit)
    raise InvalidInputError(f"time_limit={time_limit!r} must be a positive number of seconds, or None for no limit.")


def checked_n_jobs(n_jobs: Any) -> int | None:
    if n_jobs is None or (is_integer(n_jobs) and n_jobs != 0):
        return n_jobs
    raise InvalidInputError(f"n_jobs={n_jobs!r} must be a positive integer, or -1 for all cores.")
