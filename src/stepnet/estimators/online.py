"""Rows that come and go: partial_fit and forget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import Subset
from stepnet.certificate.certificate import Certificate
from stepnet.errors import InvalidInputError
from stepnet.estimators.base import BaseStep
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.problem.scaling import Scaling
from stepnet.provers.pool import Pool


@dataclass(frozen=True)
class Seen:
    """All rows so far, in the order they came; of a fit the caller's own arrays, not copies."""

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
                f"y has the shape {other.y.shape}, that of the earlier rows was {self.y.shape}; give it the same way."
            )
        return Seen(
            np.vstack([self.X, other.X]), np.concatenate([self.y, other.y]), np.append(self.weights, other.weights)
        )

    def without(self, rows: ArrayLike) -> Seen:
        kept = np.ones(len(self.X), dtype=bool)
        chosen = np.asarray(rows)
        chosen = chosen if chosen.size else chosen.astype(np.int64)
        try:
            kept[chosen] = False
        except IndexError as error:
            raise InvalidInputError(
                f"forget() takes the numbers of rows from 0 to {len(kept) - 1}, in the order they came, or one boolean "
                f"a row; {error}."
            ) from error
        if not kept.any():
            raise InvalidInputError("forget() must leave at least one row; use a new estimator to begin anew.")
        return Seen(self.X[kept], self.y[kept], self.weights[kept])


class OnlineMixin(BaseStep):
    """Adds rows to those it has seen; the network so far is the start, what it proved still holds.

    A network can only cost more on more rows, so a bound for the earlier rows is one for all.
    """

    _seen: Seen | None
    _kind: Any
    _scaling: Scaling

    def forget(self, rows: ArrayLike) -> Any:
        """Drop rows that :meth:`partial_fit` was given and train again, beginning with the network so far.

        Parameters
        ----------
        rows : array-like of int or bool
            Their numbers in the order they came, or one boolean for each row so far.
        """
        with self._all_or_nothing():
            self._fit_seen(self._rows_so_far().without(rows), keeps_bound=False)
        return self

    def _add(self, X: Any, y: Any, sample_weight: Any, classes: ArrayLike | None = None) -> None:
        """Train on all rows so far and these."""
        is_first = not hasattr(self, "network_")
        with self._all_or_nothing():
            rows, targets, weights = self._checked(X, y, sample_weight, reset=is_first)
            if is_first:
                self._keep_targets(*((targets, weights) if classes is None else (np.asarray(classes), None)))
            new = Seen.of(rows, targets, weights)
            self._fit_seen(new if is_first else self._rows_so_far().with_(new), keeps_bound=not is_first)

    def _rows_so_far(self) -> Seen:
        check_is_fitted(self)
        seen: Seen | None = getattr(self, "_seen", None)
        if seen is None:
            raise InvalidInputError(
                "a model from a file, or pickled after fit, has no rows to add to. Begin with partial_fit, or call fit "
                "on all rows with start=estimator.network_."
            )
        if seen.has_radii:
            raise InvalidInputError(
                "rows that came with radii of their own cannot be added to. Call fit on all rows with all radii and "
                "start=estimator.network_."
            )
        return seen

    def _fit_seen(self, seen: Seen, *, keeps_bound: bool) -> None:
        """Train on rows."""
        problem = self._problem_from(seen.X, seen.y, seen.weights)
        is_same = getattr(self, "_kind", None) == _kind(problem)  # parameters may have been set anew
        before = self._earlier_data()
        known = self._known_bound(problem) if before is not None and keeps_bound and is_same else None
        pool = None if before is None else Pool(self.result_.subsystems).moved(before, problem.dataset)
        self._solve(problem, self._budget(), self.network_ if is_same else None, None, known, pool)
        self._seen, self._kind, self._scaling = seen, _kind(problem), problem.scaling

    def _remember(self, rows: Any, y: Any, weights: Any, problem: Problem) -> None:
        self._seen = Seen.of(rows, y, weights, by_fit=True, has_radii=problem.dataset.radii is not None)
        self._kind, self._scaling = _kind(problem), problem.scaling

    def __getstate__(self) -> Any:
        """Rows that came by fit are not pickled: they may be many, and not for everyone's eyes."""
        state = super().__getstate__()
        seen = state.get("_seen")
        return state | {"_seen": None} if seen is not None and seen.by_fit else state

    def _earlier_data(self) -> Dataset | None:
        """The data of the certificate so far; None if there is none, or someone wrote into the arrays since."""
        if not hasattr(self, "network_"):
            return None
        seen = self._rows_so_far()
        before = self._problem_from(seen.X, seen.y, seen.weights).dataset
        return before if before.fingerprint == self.certificate_.fingerprint else None

    def _known_bound(self, problem: Problem) -> Bound | None:
        """What the earlier rows prove for all; the units that a margin is meant in must be the same."""
        if getattr(self, "class_weight", None) == "balanced" or problem.constraints.need_rows:
            return None  # new rows change the weights of the earlier ones, or which networks are admitted
        is_same = self._scaling.equals(problem.scaling) and not problem.loss.reads_values
        return carried(self.certificate_, is_same_scope=is_same)


def _kind(problem: Problem) -> Any:
    return problem.architecture, problem.loss, problem.constraints, problem.uncertainty


def carried(certificate: Certificate, *, is_same_scope: bool) -> Bound:
    """A bound for some rows as one for more rows."""
    scope = certificate.scope if is_same_scope else certificate.scope.of_earlier_rows()
    return Bound(certificate.bound, scope, Subset.of(certificate.evidence))
