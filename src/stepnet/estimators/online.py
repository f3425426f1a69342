"""OnlineStep: an estimator that trains on all rows at once (fit) or as they come and go (partial_fit, forget).

With ``method="learn"`` a stream goes on with weights and moments and keeps no rows; other methods keep all rows, and
what was proven for fewer of them still holds.
"""

from __future__ import annotations

import copy
import math
import os
import sys
import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import Subset
from stepnet.errors import InvalidInputError
from stepnet.estimators.auto_hidden import choose_hidden
from stepnet.estimators.base import BaseStep, checked_n_jobs
from stepnet.estimators.checkpoint import Checkpoint
from stepnet.estimators.dask_answers import comes_in_blocks
from stepnet.estimators.dask_rows import DaskRows, fit_dask
from stepnet.estimators.fit_rows import fit_rows, is_rows
from stepnet.methods.base import Method
from stepnet.methods.learn import Learn, descends, streams
from stepnet.methods.registry import method_of
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.provers.pool import Pool
from stepnet.runtime.limits import Budget
from stepnet.runtime.memory import require
from stepnet.runtime.progress import Callback
from stepnet.runtime.view import showing
from stepnet.search.descent.stream import Stream
from stepnet.tables.rows import Rows

_A_BATCH = 20  # fewer rows may be of one class by chance
_COPIES = 3  # of the rows during training, at most: sorted, scaled, and in use


@dataclass(frozen=True)
class Seen:
    """All rows so far, in the order they came; after fit the caller's own arrays, not copies."""

    X: NDArray[Any]
    y: NDArray[Any]
    weights: NDArray[np.float64]
    by_fit: bool = False
    has_radii: bool = False

    @classmethod
    def of(cls, X: Any, y: Any, weights: Any, *, by_fit: bool = False, has_radii: bool = False) -> Seen:
        return cls(X, y, np.ones(len(X)) if weights is None else weights, by_fit, has_radii)

    def with_(self, other: Seen) -> Seen:
        if self.y.shape[1:] != other.y.shape[1:]:
            raise InvalidInputError(
                f"y has shape {other.y.shape}, that of the earlier rows was {self.y.shape}; give it in the same form."
            )
        return Seen(
            np.vstack([self.X, other.X]), np.concatenate([self.y, other.y]), np.append(self.weights, other.weights)
        )

    def without(self, rows: ArrayLike) -> Seen:
        kept = np.ones(len(self.X), dtype=bool)
        chosen = np.asarray(rows)
        try:
            kept[chosen if chosen.size else []] = False
        except IndexError as error:
            raise InvalidInputError(
                f"forget() takes row numbers from 0 to {len(kept) - 1}, in the order the rows came, or one boolean per "
                f"row; {error}."
            ) from error
        if not kept.any():
            raise InvalidInputError("forget() must leave at least one row; to start over, use a new estimator.")
        return Seen(self.X[kept], self.y[kept], self.weights[kept])


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineStep(BaseStep):
    """Rows can be added to an earlier fit: its network is the warm start, and its bound still holds.

    More rows never make a network cheaper, so a bound for the earlier rows is a bound for all.
    """

    weights: Any = "real"
    threshold: str | float = "neuron"
    activation: Any = "step"
    sparsity: Any = None
    constraints: Any = None
    method: str | Method = "learn"
    time_limit: float = 60.0
    gap: float = 0.0
    n_jobs: int | None = 1
    random_state: Any = None
    verbose: int = 0
    on_interrupt: str = "raise"

    def fit(
        self,
        X: ArrayLike | Rows,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        start: Network | None = None,
        radius: ArrayLike | None = None,
        on_incumbent: Callback | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Rows, or a Dask array or data frame
            :class:`~stepnet.Rows` are read block by block and have their targets and weights inside; rows of Dask stay
            where they are, and ``y`` and ``sample_weight`` are of Dask too. Both need ``method="learn"``. Then
            ``time_limit`` is that of the descent; passes over all rows come on top.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Two or more classes of any type; for regression, numbers.
        sample_weight : array-like of shape (n_samples,), optional
            What it costs to misclassify a row; for regression, factors on the losses of rows.
        start : Network, optional
            The warm start.
        radius : float or array-like of shape (n_samples,), optional
            How far each row may be perturbed, in place of the radius of ``uncertainty``.
        on_incumbent : callable, optional
            Called with a :class:`~stepnet.runtime.progress.Progress` for every better network or bound and
            from time to time in a long stage; returning True ends the fit. With several classes and
            ``output="one_vs_one"``, called for every pair that is done, without a loss.
        checkpoint : path, optional
            A file that always holds the best verified network, bound and trace; written whole or not at all.
        resume : bool
            Whether to resume from the checkpoint if it exists; data and options must be the same.
        """
        if comes_in_blocks(X) and (is_rows(X) or hasattr(self, "_piece_dataset")):
            self._fit_blocks(X, y, sample_weight, (start, radius, checkpoint), on_incumbent)
            return self
        with self._training() as budget:
            rows, targets, weights = self._checked(cast("ArrayLike", X), y, sample_weight, reset=True)
            require(
                _COPIES * rows.nbytes,
                f"training on {len(rows)} rows × {rows.shape[1]} features",
                "Give them as float32, or fewer of them.",
            )
            self._keep_targets(targets, weights)
            radii = self._radii(radius, len(rows))
            if self._is_auto:
                if start is not None or checkpoint is not None:
                    raise InvalidInputError(
                        "hidden='auto' chooses the width anew in every fit; with start= or checkpoint= give it, such "
                        "as hidden=(25,)."
                    )
                self._choose_hidden(Seen.of(rows, targets, weights), radii, budget, on_incumbent)
            problem = self._problem_from(rows, targets, weights, radii)
            kept = None
            if checkpoint is not None:
                self._require_steps(problem)
                kept = Checkpoint.opened(checkpoint, self, problem, resume=resume)
            self._solve(problem, budget, start, on_incumbent, kept)
            has_radii = problem.dataset.radii is not None
            self._remember(Seen.of(rows, targets, weights, by_fit=True, has_radii=has_radii), problem)
        return self

    def _fit_blocks(
        self, rows: Any, y: Any, sample_weight: Any, given: tuple[Any, ...], on_incumbent: Callback | None
    ) -> None:
        """Learn from rows that are read block by block, or that lie on the workers of Dask."""
        if not hasattr(self, "_piece_dataset"):
            self._require_arrays(rows)
        if any(one is not None for one in given):
            raise InvalidInputError("rows in blocks take no start=, radius= and checkpoint=; give arrays for these.")
        if is_rows(rows) and not (y is None and sample_weight is None):
            raise InvalidInputError("Rows have their targets and weights inside; give them alone.")
        with self._training() as budget:
            budget.time_limit, limit = math.inf, budget.time_limit
            with showing(math.inf) if self.verbose else nullcontext() as show:
                told = tuple(filter(None, (show, on_incumbent)))
                if is_rows(rows):
                    fit_rows(self, rows, budget, told, limit)
                else:
                    is_number = hasattr(self, "_is_flat_target")
                    fit_dask(self, DaskRows.of(rows, y, sample_weight, is_number=is_number), budget, told, limit)
            self.__dict__.pop("_stream", None)
            self.__dict__.pop("_seen", None)

    def _chosen_hidden(self, X: Any, y: Any, weights: Any, budget: Budget) -> Any:
        return choose_hidden(self, X, y, weights, None, budget)

    def _require_steps(self, problem: Problem) -> None:
        """Raise if there is nothing to keep in a checkpoint before the fit ends."""
        if descends(method_of(self.method), problem):
            raise InvalidInputError(
                "method='learn' has no network to keep before it ends; omit the checkpoint, or use method='prove'."
            )

    def forget(self, rows: ArrayLike) -> Self:
        """Drop rows that :meth:`partial_fit` was given and train again, with the current network as warm start.

        Parameters
        ----------
        rows : array-like of int or bool
            Their numbers in the order they came, or one boolean per row so far.
        """
        with self._training() as budget:
            self._fit_seen(self._rows_so_far().without(rows), budget, keeps_bound=False)
        return self

    def _add(self, X: Any, y: Any, sample_weight: Any, classes: ArrayLike | None = None) -> Self:
        """Train on all rows so far and these."""
        is_first = not hasattr(self, "network_")
        with self._training() as budget:
            rows, targets, weights = self._checked(X, y, sample_weight, reset=is_first)
            if is_first:
                self._keep_targets(*((targets, weights) if classes is None else (np.asarray(classes), None)))
            new = Seen.of(rows, targets, weights)
            if self._streams(new, budget):
                self._go_on(new, budget)
                return self
            self._fit_seen(new if is_first else self._rows_so_far().with_(new), budget, keeps_bound=not is_first)
        return self

    def _streams(self, new: Seen, budget: Budget) -> bool:
        """Whether new rows are learned from without the earlier ones."""
        if self._is_auto and not hasattr(self, "hidden_"):
            self._choose_hidden(new, None, budget)
        return not self._votes and streams(method_of(self.method), self._problem_from(new.X, new.y, new.weights))

    def _go_on(self, new: Seen, budget: Budget) -> None:
        """Learn from these rows with the weights and moments of earlier calls; no rows are kept."""
        if getattr(self, "class_weight", None) == "balanced":
            raise InvalidInputError(
                "class_weight='balanced' needs all rows, which partial_fit with method='learn' does not keep; give a "
                "dictionary of classes and their weights."
            )
        problem, method = self._problem_from(new.X, new.y, new.weights), method_of(self.method)
        assert isinstance(method, Learn)
        stream, kind = copy.deepcopy(getattr(self, "_stream", None)), _kind(problem)  # an error leaves the old one
        if stream is None or getattr(self, "_kind", kind) != kind:
            network = getattr(self, "network_", None)
            is_same = network is not None and problem.refuses(network) is None
            stream = Stream.begun(problem, np.random.default_rng(self._seed()), network if is_same else None)
        self._warn_of_order(problem)
        run = Run(problem, budget, seed=self._seed(), plan=method.plan(problem))
        method.go_on(run, stream)
        before = getattr(self, "row_prints_", None)
        self._keep(run.result(), problem, budget)
        if before is not None:  # the network comes from earlier rows, too
            self.__dict__["row_prints_"] = before.with_(self.__dict__["row_prints_"])
        self.certificate_ = replace(self.certificate_, remark=_remark(stream))
        self._stream, self._kind = stream, kind
        self.__dict__.pop("_seen", None)

    def _warn_of_order(self, problem: Problem) -> None:
        """Rows that come sorted by class make a stream forget the other classes."""
        dataset = problem.dataset
        if problem.architecture.output.gives_numbers or dataset.n_rows < _A_BATCH or len(np.unique(dataset.y)) > 1:
            return
        warnings.warn(
            f"all {dataset.n_rows} rows of this batch are of one class; from rows that are sorted by class, a network "
            f"forgets the other classes. Give rows in random order, or all of them to fit.",
            UserWarning,
            stacklevel=4,
        )

    def _rows_so_far(self) -> Seen:
        check_is_fitted(self)
        seen: Seen | None = getattr(self, "_seen", None)
        if seen is None:
            raise InvalidInputError(
                "this model has no rows to add to or to drop: it comes from a file, was pickled after fit, or learned "
                "with partial_fit, which keeps none. Call fit on all rows with start=estimator.network_, or begin with "
                "partial_fit and method='prove'."
            )
        if seen.has_radii:
            raise InvalidInputError(
                "no rows can be added after a fit with radius=. Call fit on all rows with all radii and "
                "start=estimator.network_."
            )
        return seen

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.hidden, str) and self.hidden == "auto"

    @property
    def _hidden(self) -> Any:
        if not self._is_auto:
            return self.hidden
        if not hasattr(self, "hidden_"):
            raise InvalidInputError("hidden='auto' is chosen by fit; call fit first, or give widths such as (25,).")
        return self.hidden_

    def _choose_hidden(self, seen: Seen, radii: Any, budget: Budget, on_fold: Callback | None = None) -> None:
        found = choose_hidden(self, seen.X, seen.y, seen.weights, radii, budget, on_fold)
        self.hidden_, self.held_out_ = found

    def _fit_seen(self, seen: Seen, budget: Budget, *, keeps_bound: bool) -> None:
        """Train on rows."""
        if self._is_auto and not hasattr(self, "hidden_"):
            self._choose_hidden(seen, None, budget)
        problem = self._problem_from(seen.X, seen.y, seen.weights)
        is_same = getattr(self, "_kind", None) == _kind(problem)  # parameters may have been changed
        before = self._earlier_data()
        known = self._known_bound(problem) if before is not None and keeps_bound and is_same else None
        pool = None if before is None else Pool(self.result_.subsystems).moved(before, problem.dataset)
        self._solve(problem, budget, self.network_ if is_same else None, known=known, pool=pool)
        self._remember(seen, problem)

    def _solve(
        self,
        problem: Problem,
        budget: Budget,
        start: Network | None,
        on_incumbent: Callback | None = None,
        checkpoint: Checkpoint | None = None,
        *,
        known: Bound | None = None,
        pool: Pool | None = None,
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
        with showing(budget.remaining) if self.verbose else nullcontext() as show:
            if known is not None:
                run.raise_bound(known)
            write = None if checkpoint is None else lambda progress: checkpoint.keep_run(run)
            told = None if on_incumbent is None else lambda now: now.network is not None and on_incumbent(now)
            run.journal.callbacks = tuple(filter(None, (write, show, told)))
            method.work(run, start)
            result = run.result()
            if checkpoint is not None:
                checkpoint.keep_run(run)
            self._keep(result, problem, budget)

    def _remember(self, seen: Seen, problem: Problem) -> None:
        """Keep what a later call needs."""
        self._seen, self._kind, self._scaling = seen, _kind(problem), problem.scaling
        self.__dict__.pop("_stream", None)

    def __getstate__(self) -> Any:
        """Without the rows of a fit: they may be many, and confidential."""
        state = super().__getstate__()
        seen = state.get("_seen")
        return state | {"_seen": None} if seen is not None and seen.by_fit else state

    def _earlier_data(self) -> Dataset | None:
        """The data of the current certificate; None if there are none, or the arrays were changed since."""
        if not hasattr(self, "network_"):
            return None
        seen = self._rows_so_far()
        before = self._problem_from(seen.X, seen.y, seen.weights).dataset
        return before if before.has_fingerprint(self.certificate_.fingerprint) else None

    def _known_bound(self, problem: Problem) -> Bound | None:
        """The bound of the earlier rows as one for all; its scope is the same if a margin has the same units."""
        if getattr(self, "class_weight", None) == "balanced" or problem.constraints.need_rows:
            return None  # new rows change the weights of the earlier ones, or which networks are admitted
        certificate = self.certificate_
        is_same = self._scaling.equals(problem.scaling) and not problem.loss.reads_values
        scope = certificate.scope if is_same else certificate.scope.of_earlier_rows()
        return Bound(certificate.bound, scope, Subset.of(certificate.evidence))


def _remark(stream: Stream) -> str:
    """What the certificate of a stream is about."""
    batches = "1 batch" if stream.n_batches == 1 else f"{stream.n_batches} batches"
    return f"learned from {stream.n_rows} rows in {batches}, not kept; loss, bound and data are those of the last batch"


def _kind(problem: Problem) -> Any:
    return problem.architecture, problem.loss, problem.constraints, problem.uncertainty
