"""Rows of Dask arrays and data frames: they stay where they are, and what is computed of them is added up.

All numbers are those of :class:`stepnet.Rows` with the same rows: statistics of stretches of rows, exact sums, hashes.
The tasks are pure functions of a partition, so a lost worker's partitions are computed again, and the result does not
depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.bounds.row_groups import Groups, RowGroups
from stepnet.certificate.tally import Tally
from stepnet.certificate.verification import Verification
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.estimators.dask_answers import is_dask
from stepnet.estimators.fit_rows import (
    Fitted,
    counted_result,
    keep,
    keep_features,
    learned_network,
    sample_problem,
)
from stepnet.estimators.large import Passes, Suspects, conflicts_of, merged
from stepnet.estimators.survey import Survey
from stepnet.methods.learn import Learn
from stepnet.methods.registry import method_of
from stepnet.problem.dataset import Dataset
from stepnet.problem.moments import STRETCH, Moments
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Callback
from stepnet.runtime.reservoir import Reservoir, Taken, keys
from stepnet.search.descent.shared import Course, SharedDescent
from stepnet.search.descent.supply import Supply
from stepnet.tables.piece import of_arrays
from stepnet.tables.rows import Piece

_TOGETHER = 2**20  # rows; as many are learned in one place
_PLACES = 8  # at most, that learn at the same time
_SAMPLE = 2**18  # rows of a place
_ROUNDS = 25  # after each of which weights are averaged
_SHARE = 2.0  # of the steps of one place, that all places make together
_BUCKETS = 16  # of hashes


class Counts(NamedTuple):
    """What must be known of a partition before its rows have numbers."""

    n_all: int
    n_rows: int  # of positive weight
    n_features: int
    labels: dict[Any, int]
    with_weight: set[Any]
    first_of: dict[type, str]


@dataclass(frozen=True)
class DaskRows:
    """Partitions of rows, targets and weights, as delayed pieces."""

    parts: list[Any]
    names: list[str] | None
    is_number: bool

    @classmethod
    def of(cls, X: Any, y: Any, weights: Any, *, is_number: bool) -> DaskRows:
        from dask import delayed

        columns = [_delayed(one) for one in (X, y, weights) if one is not None]
        if y is None or len({len(one) for one in columns}) > 1:
            raise InvalidInputError(
                f"rows, targets and weights must be Dask collections with the same partitions; they have "
                f"{' and '.join(str(len(one)) for one in columns)}."
            )
        piece = delayed(partial(_piece, is_number=is_number), pure=True)
        parts = [piece(i, *together) for i, together in enumerate(zip(*columns, strict=True))]
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        return cls(parts, names, is_number)

    def each(self, function: Any, *lists: Sequence[Any]) -> list[Any]:
        """A function of every partition, and of what belongs to it, computed."""
        import dask

        task = dask.delayed(function, pure=True)
        return list(dask.compute(*(task(*one) for one in zip(self.parts, *lists, strict=True))))


def _delayed(collection: Any) -> list[Any]:
    if not is_dask(collection):
        raise InvalidInputError("rows, targets and weights must all be Dask collections; convert the others.")
    if hasattr(collection, "numblocks"):
        if collection.ndim > 1 and collection.numblocks[1] > 1:
            collection = collection.rechunk({1: -1})
        return list(collection.to_delayed().ravel())
    return list(collection.to_delayed(optimize_graph=False))  # optimised, columns of one file differ in partitions


def _piece(number: int, X: Any, y: Any, weights: Any = None, *, is_number: bool) -> Piece:
    targets = np.asarray(y)
    if targets.dtype == object:
        targets = targets.astype(str)
    given = None if weights is None else np.asarray(weights)
    return of_arrays(np.asarray(X), targets, given, f"partition {number}", number, is_number=is_number)


def _counts(piece: Piece, *, counts_labels: bool) -> Counts:
    survey = Survey(Reservoir(1, 0), counts_labels)
    kept = survey._counted(piece)
    found = (survey.labels, survey.with_weight, survey.first_of)
    return Counts(len(piece.X), len(kept.X), piece.X.shape[1], *found)


class Stretched(NamedTuple):
    """The rows before the first whole stretch, the moments of whole ones, and the rows after them."""

    head: tuple[Any, Any]
    moments: list[Moments]
    tail: tuple[Any, Any]


def _stretched(values: Any, weights: Any, first: int) -> Stretched:
    """Of rows whose first one has this number among all."""
    begin = min(len(values), -first % STRETCH)
    end = begin + (len(values) - begin) // STRETCH * STRETCH
    cut = [(values[part], None if weights is None else weights[part]) for part in (slice(begin), slice(end, None))]
    moments = [
        Moments.of(values[i : i + STRETCH], None if weights is None else weights[i : i + STRETCH])
        for i in range(begin, end, STRETCH)
    ]
    return Stretched(cut[0], moments, cut[1])


def _combined(parts: Sequence[Stretched]) -> Moments:
    """Of all rows, in their order: rows between whole stretches make up stretches of their own."""
    total: Moments | None = None
    rest: list[tuple[Any, Any]] = []

    def close() -> None:
        nonlocal total, rest
        if not sum(len(values) for values, _ in rest):
            return
        weights = None if rest[0][1] is None else np.concatenate([one for _, one in rest])
        add(Moments.of(np.concatenate([values for values, _ in rest]), weights))
        rest = []

    def add(moments: Moments) -> None:
        nonlocal total
        if total is None:
            total = moments
        else:
            total.add(moments)

    for part in parts:
        rest.append(part.head)
        if part.moments or sum(len(values) for values, _ in rest) == STRETCH:
            close()
        for moments in part.moments:
            add(moments)
        if len(part.tail[0]):
            rest.append(part.tail)
    close()
    assert total is not None
    return total


def _surveyed(piece: Piece, first: int, limit: float, seed: int, *, is_number: bool) -> Any:
    """Moments of features and targets, and the rows whose keys are below a limit."""
    piece = piece.counted
    features = _stretched(piece.X, piece.weights, first)
    targets = _stretched(piece.y.reshape(len(piece.y), -1), piece.weights, first) if is_number else None
    return features, targets, _sampled(piece, first, limit, seed)


def _sampled(piece: Piece, first: int, limit: float, seed: int) -> Piece:
    piece = piece.counted
    kept = np.flatnonzero(keys(first, len(piece.X), seed) < limit)
    weights = None if piece.weights is None else piece.weights[kept]
    return piece._replace(X=piece.X[kept], y=piece.y[kept], weights=weights)


def _joined(*pieces: Piece) -> Piece:
    X, y, weights = (
        None if getattr(pieces[0], name) is None else np.concatenate([getattr(one, name) for one in pieces])
        for name in ("X", "y", "weights")
    )
    return pieces[0]._replace(X=X, y=y, weights=weights)


class _Closed(NamedTuple):
    """Moments that are known already, where a survey has some to close."""

    known: Any

    def closed(self) -> Any:
        return self.known


def survey_of(rows: DaskRows, seed: int, most: int) -> tuple[Survey, list[int]]:
    """The first pass, and the number of the first row of every partition."""
    counts = rows.each(partial(_counts, counts_labels=not rows.is_number))
    widths = {one.n_features for one in counts}
    if len(widths) > 1:
        raise InvalidInputError(f"partitions have {sorted(widths)} features; all need the same columns.")
    firsts = np.cumsum([0, *(one.n_rows for one in counts)]).tolist()
    n_rows = firsts.pop()
    if not n_rows:
        raise InvalidInputError("there are no rows of positive weight; give at least one.")
    found = rows.each(partial(_surveyed, limit=most / n_rows, seed=seed, is_number=rows.is_number), firsts)
    survey = Survey(Reservoir(most, seed), not rows.is_number)
    for one in counts:
        survey.add_counts(one.labels, one.with_weight, one.first_of, one.n_all)
    survey.n_features = widths.pop()
    survey.features = _Closed(_combined([one[0] for one in found]))  # type: ignore[assignment]
    if rows.is_number:
        survey.targets = _Closed(_combined([one[1] for one in found]))  # type: ignore[assignment]
    sample = _joined(*(one[2] for one in found))
    survey.sample = Taken([sample.X, sample.y, sample.weights], n_rows)  # type: ignore[assignment]
    return survey, firsts


def fit_dask(estimator: Any, rows: DaskRows, budget: Budget, callbacks: tuple[Callback, ...], seconds: float) -> None:
    """Train on the partitions, ``seconds`` at most, and keep the network with a certificate about all rows."""
    estimator._keep_columns()
    passes, seed = Passes(None, budget, callbacks), estimator._seed()  # type: ignore[arg-type]
    passes.tell(f"statistics of {len(rows.parts)} partitions", at_once=True)
    if not isinstance(method_of(estimator.method), Learn):
        raise NotAcceptedError(
            f"method={estimator.method!r} does not take rows of Dask. Use method='learn', Rows, or X.compute()."
        )
    survey, firsts = survey_of(rows, seed, _TOGETHER)
    keep_features(estimator, rows.names, survey.n_features)
    n_rows, moments = survey.n_rows, survey.moments()
    problem = sample_problem(estimator, survey, budget.lasting(seconds))
    before = budget.elapsed
    if n_rows <= _TOGETHER:
        supply = Supply((moments.mean, moments.scale), n_rows, n_rows, float(problem.dataset.weights.mean()))
        network, reason = learned_network(estimator, problem, supply, passes, seconds, seed)
    else:
        network, reason = _learned_in_places(estimator, rows, problem, moments, firsts, passes, seconds, seed)
    passes.tell("exact loss of all partitions", at_once=True)
    tally, groups, bound = tallied(estimator, rows, network, problem)
    result = counted_result(estimator, problem, tally, bound, reason, budget.elapsed - before)
    keep(estimator, Fitted(problem, result, tally, groups, bound), budget)


def _learned_in_places(
    estimator: Any,
    rows: DaskRows,
    problem: Problem,
    moments: Moments,
    firsts: list[int],
    passes: Passes,
    seconds: float,
    seed: int,
) -> Any:
    """Rounds of steps in every place, after each of which weights are averaged."""
    import dask

    n_places = min(_PLACES, len(rows.parts))
    limit, method = n_places * _SAMPLE / moments.n_rows, method_of(estimator.method)
    assert isinstance(method, Learn)
    sample, join = dask.delayed(_sampled, pure=True), dask.delayed(_problem_of_place, pure=True)
    small = replace(problem, dataset=_first_rows(problem.dataset))
    model = estimator._without_rows()
    places = []
    for place in range(n_places):
        chosen = range(place, len(rows.parts), n_places)  # neighbours are alike: each place gets some of everywhere
        places.append(join(model, small, *(sample(rows.parts[i], firsts[i], limit, seed + 1) for i in chosen)))
    places = list(dask.persist(*places))
    units = (moments.mean, moments.scale)
    shared = SharedDescent.of(problem, method.options, units, moments.n_rows, _SHARE / n_places, seed)
    course, descent = shared.start(problem), passes.budget.lasting(seconds)
    ends = np.linspace(0, shared.n_steps, _ROUNDS + 1).astype(int) + 1
    steps, reason = dask.delayed(_steps, pure=True), "finished"
    for number in range(_ROUNDS):
        if ends[number] == ends[number + 1]:
            continue
        first, end = int(ends[number]), int(ends[number + 1])
        tasks = [steps(shared, place, course, first, end, i) for i, place in enumerate(places)]
        course = Course.mean(dask.compute(*tasks))
        passes.tell("learning", (number + 1) / _ROUNDS)
        if descent.is_used_up():
            reason = passes.budget.stop_reason or descent.stop_reason or "time"
            break
    return shared.network(problem, course), reason


def _steps(shared: SharedDescent, problem: Problem, course: Course, first: int, end: int, place: int) -> Course:
    return shared.steps(problem, course, first, end, place)


def _first_rows(dataset: Dataset) -> Dataset:
    return Dataset(dataset.X[:2], dataset.y[:2], dataset.weights[:2])


def _problem_of_place(estimator: Any, problem: Problem, *pieces: Piece) -> Problem:
    return replace(problem, dataset=estimator._piece_dataset(_joined(*pieces)))


def _part_tally(piece: Piece, estimator: Any, tally: Tally) -> tuple[Tally, list[Any]]:
    """What a partition adds, and its hashes in buckets."""
    own = replace(tally, weights=set(), hashes=[])
    dataset = estimator._piece_dataset(piece)
    if not dataset.n_rows:
        return own, [None] * _BUCKETS
    own.add(dataset)
    (rows, wholes), own.hashes = own.hashes[0], []
    bucket = rows % np.uint64(_BUCKETS)
    return own, [(rows[bucket == i], wholes[bucket == i]) for i in range(_BUCKETS)]


def _bucket_groups(*hashes: Any) -> Groups:
    with RowGroups() as groups:
        for one in hashes:
            if one is not None and len(one[0]):
                groups.add(*one)
        return groups.groups()


def _part_suspects(piece: Piece, estimator: Any, hashes: Any) -> list[Dataset]:
    suspects = Suspects(hashes, 0)
    suspects.add(estimator._piece_dataset(piece))
    return [merged(suspects.datasets)] if suspects.datasets else []


def tallied(estimator: Any, rows: DaskRows, network: Any, problem: Problem) -> tuple[Tally, Groups, Bound]:
    """Exact sums of all partitions, and the bound of conflicting rows."""
    import dask

    small = replace(problem, dataset=_first_rows(problem.dataset))
    tally, model = Tally(network, small, estimator._mean_target), estimator._without_rows()
    task = dask.delayed(_part_tally, pure=True, nout=2)
    pairs = [task(part, model, tally) for part in rows.parts]
    buckets = [dask.delayed(_bucket_groups)(*(hashes[i] for _, hashes in pairs)) for i in range(_BUCKETS)]
    tallies, found = dask.compute([one for one, _ in pairs], buckets)
    for one in tallies:
        tally.add_tally(one)
    suspects = np.sort(np.concatenate([one.suspects for one in found]))
    groups = Groups(sum(one.n_distinct for one in found), suspects, sum(one.n_suspects for one in found))
    datasets: list[Dataset] = []
    if len(suspects):
        n_parts = len(rows.parts)
        found = rows.each(_part_suspects, [model] * n_parts, [suspects] * n_parts)
        datasets = [one for part in found for one in part]
    return tally, groups, conflicts_of(problem, datasets)


def verify_dask(estimator: Any, rows: DaskRows) -> Verification:
    """Recompute what the certificate says of all rows."""
    survey, _ = survey_of(rows, 0, 1_000)
    X, y, weights = survey.sample.taken()
    estimator = estimator._with_survey(survey)
    problem = estimator._certified_problem(estimator._problem_from(X, y, weights))
    problem = replace(problem, dataset=estimator._piece_dataset(Piece(X, y, weights, "the sample", 0)))
    tally, _, bound = tallied(estimator, rows, estimator.network_, problem)
    return tally.verification(estimator.certificate_, bound)
