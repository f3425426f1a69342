"""What all estimators share: training within limits, certificates, online rows, and the checks of parameters."""

from __future__ import annotations

import math
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from stepnet.bounds.bound import Bound
from stepnet.certificate.certificate import Certificate, certify
from stepnet.certificate.result import Points, Result
from stepnet.certificate.verification import Verification
from stepnet.certificate.verify import require_same_data, verify
from stepnet.errors import InvalidInputError, SolverError
from stepnet.estimators.checkpoint import Checkpoint, Reached
from stepnet.methods.exact import Exact
from stepnet.methods.learn import Learn
from stepnet.methods.registry import method_of
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.constraint import Constraints
from stepnet.problem.dataset import Dataset
from stepnet.problem.losses.registry import loss_of
from stepnet.problem.problem import Problem
from stepnet.proof_files.written import write_proof
from stepnet.provers.pool import Pool
from stepnet.runtime.limits import Budget
from stepnet.runtime.memory import require
from stepnet.runtime.numbers import is_finite_number, is_integer
from stepnet.runtime.progress import Callback
from stepnet.runtime.view import showing
from stepnet.tables.columns import Columns
from stepnet.uncertainty.sets import Uncertainty, checked_radii

_COPIES = 3  # of the rows, that training needs at most: sorted, scaled, and at work
FLOATS = [np.float64, np.float32]  # other types become the first


class BaseStep(BaseEstimator, ABC):  # type: ignore[misc]
    """An estimator whose answers come from a step network."""

    network_: Network
    certificate_: Certificate
    result_: Result
    trace_: Points  # seconds, loss and bound
    columns_: Columns  # how the cells of a table became features, where the command line did that

    def verify(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        resolve: bool = False,
        time_limit: float | None = 60.0,
        radius: ArrayLike | None = None,
    ) -> Verification:
        """Check the certificate against the training data; with ``resolve`` repeat the solver's proof."""
        check_is_fitted(self)
        problem = self._certified_problem(self._problem(X, y, sample_weight, radius, reset=False))
        seconds, again = checked_limit(time_limit), None
        if resolve and self.certificate_.claimed_by:
            require_same_data(problem, self.certificate_)
            again = Exact().solve(problem, self.network_, time_limit=seconds)
        return verify(problem, self.network_, self.certificate_, again=again)

    def save_proof(
        self,
        directory: str | os.PathLike[str],
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        time_limit: float | None = 600.0,
    ) -> float:
        """Write a proof of the certificate's bound that others can check, given the training data.

        For one hidden layer of up to 5 neurons; see :func:`stepnet.verify_proof`. Returns the bound that is proven: a
        smaller one where the time was not enough, as may be for bounds of many rows that enumeration or a solver gave.
        """
        check_is_fitted(self)
        problem = self._certified_problem(self._problem(X, y, sample_weight, reset=False))
        require_same_data(problem, self.certificate_)
        budget, result = Budget(checked_limit(time_limit)), getattr(self, "result_", None)
        try:
            with budget.catching_interrupts():
                return write_proof(
                    directory,
                    problem,
                    self.network_,
                    self.certificate_.bound,
                    subsystems=() if result is None else result.subsystems,
                    budget=budget,
                )
        except SolverError:
            if budget.stop_reason == "interrupted":
                raise KeyboardInterrupt from None
            raise

    uncertainty: Any = None  # of estimators without this parameter

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
        """From a user's data; with ``reset`` what they say of features and targets is kept."""
        rows, targets, weights = self._checked(X, y, sample_weight, reset=reset)
        if reset:
            self._keep_targets(targets, weights)
        return self._problem_from(rows, targets, weights, self._radii(radius, len(rows)))

    def _radii(self, radius: Any, n_rows: int) -> Any:
        """One a row, where the caller gave some; None if all rows have that of the set."""
        if radius is None:
            return None
        if not isinstance(self.uncertainty, Uncertainty):
            raise InvalidInputError("radius= says how far rows may be moved; give uncertainty=Ball('linf') too.")
        return checked_radii(self.uncertainty, radius, n_rows)

    def _keep_targets(self, y: Any, weights: Any) -> None:
        """Remember what predictions must look like."""

    @abstractmethod
    def _problem_from(self, rows: Any, y: Any, weights: Any, radii: Any = None) -> Problem:
        """From checked data."""

    def _certified_problem(self, problem: Problem) -> Problem:
        """The problem that the certificate speaks of, given the one that was trained on."""
        return problem

    def _problem_of(self, dataset: Dataset, architecture: Architecture, task: str) -> Problem:
        columns = getattr(self, "columns_", None)
        names = getattr(self, "feature_names_in_", None if columns is None else columns.features)
        constraints = Constraints.of(architecture, self.sparsity, self.constraints, names)
        if self.uncertainty is not None:
            if not isinstance(self.uncertainty, Uncertainty):
                raise InvalidInputError(
                    f"uncertainty={self.uncertainty!r} must be a set of moves such as Ball('linf', 0.1), or None."
                )
            self.uncertainty.require(dataset.n_features)
        return Problem(dataset, architecture, loss_of(self.loss, task), constraints, self.uncertainty)

    def _checked(self, X: ArrayLike, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        """Rows, targets and weights (None if all weigh the same) as scikit-learn checks them."""
        rows, targets = validate_data(self, X, y, reset=reset, dtype=FLOATS, **self._target_checks)
        return rows, targets, checked_weights(sample_weight, rows)

    _target_checks: ClassVar[dict[str, Any]] = {}

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        start: Network | None,
        on_incumbent: Callback | None,
        radius: Any = None,
        checkpoint: Any = None,
        resume: bool = False,
    ) -> None:
        budget, method = self._budget(), method_of(self.method)
        if checkpoint is not None and isinstance(method, Learn):
            raise InvalidInputError(
                "method='learn' has no network to keep before it ends; leave the checkpoint out, or use method='prove'."
            )
        with self._all_or_nothing():
            rows, targets, weights = self._checked(X, y, sample_weight, reset=True)
            require(
                _COPIES * rows.nbytes,
                f"training on {len(rows)} rows × {rows.shape[1]} features",
                "Give them as float32, or fewer of them.",
            )
            self._keep_targets(targets, weights)
            problem = self._problem_from(rows, targets, weights, self._radii(radius, len(rows)))
            if checkpoint is not None:
                checkpoint = Checkpoint.opened(checkpoint, self, problem, resume=resume)
            self._solve(problem, budget, start, on_incumbent, checkpoint=checkpoint)
            self._remember(rows, targets, weights, problem)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Within it an error leaves the estimator as it was."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _remember(self, rows: Any, y: Any, weights: Any, problem: Problem) -> None:
        """Keep what a later call needs."""

    def _solve(
        self,
        problem: Problem,
        budget: Budget,
        start: Network | None,
        on_incumbent: Callback | None = None,
        known: Bound | None = None,
        pool: Pool | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """Run the method and keep what it found; ``known`` is a bound that holds from the outset."""
        method, seed = method_of(self.method), self._seed()
        run = Run(problem, budget, checked_n_jobs(self.n_jobs), seed, method.plan(problem), pool or Pool())
        if self.verbose > 1:
            sys.stderr.write(f"{run.plan}\n")
        reached = None if checkpoint is None else checkpoint.reached()
        if reached is not None:
            start, known, run.journal.earlier = reached.network, reached.bound, reached.trace
            run.budget = budget = budget.after(reached.seconds)
        with budget.catching_interrupts(), showing(budget.remaining) if self.verbose else nullcontext() as show:
            if known is not None:
                run.raise_bound(known)
            run.journal.callbacks = tuple(
                callback
                for callback in (_of_networks(_keeper(run, checkpoint)), show, _of_networks(on_incumbent))
                if callback is not None
            )
            method.work(run, start)
        result = run.result()
        if checkpoint is not None:
            checkpoint.keep(Reached.of(run))
        self._keep(result, problem)

    def _keep(self, result: Result, problem: Problem) -> None:
        """Certify what was found."""
        self.result_, self.network_ = result, result.network
        self.certificate_ = certify(problem, result)
        end = (self.certificate_.runtime, self.certificate_.loss, self.certificate_.bound)
        self.trace_ = (*result.points, end)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _budget(self) -> Budget:
        return Budget(checked_limit(self.time_limit), _checked_gap(self.gap))


def _keeper(run: Run, checkpoint: Checkpoint | None) -> Callback | None:
    return None if checkpoint is None else lambda progress: checkpoint.keep(Reached.of(run))


def _of_networks(callback: Callback | None) -> Callback | None:
    """Called once there is a network."""
    return callback and (lambda progress: progress.network is not None and callback(progress))


def checked_weights(sample_weight: Any, rows: Any) -> Any:
    return None if sample_weight is None else _check_sample_weight(sample_weight, rows, ensure_non_negative=True)


def checked_limit(time_limit: object) -> float:
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
