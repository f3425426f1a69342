"""Fits on rows that are read block by block: statistics, a descent on a sample that is refilled, and a certificate.

1. The first pass takes statistics of all rows, and a uniform sample of them.
2. A descent learns from the sample; from blocks in random order come rows that take the places of others.
3. The second pass evaluates the network on all rows in exact arithmetic; a third one compares rows whose hashes are
   equal and whose targets differ, if there are any.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.bounds.conflicts import conflict_bound
from stepnet.bounds.row_groups import Groups, RowGroups
from stepnet.certificate.tally import Tally
from stepnet.errors import InvalidInputError
from stepnet.estimators.survey import Survey
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.problem.row_hashes import row_hashes
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Callback, Progress
from stepnet.runtime.reservoir import Reservoir
from stepnet.search.descent.supply import Supply
from stepnet.tables.rows import Piece, Rows

_BUFFER = 0.45  # of the memory, for the sample
_COPIES = 2.3  # of the sample, while it is put together
_BESIDE = 64  # bytes of a row beside its features
_MOST_SAMPLED = 2**22
_SUSPECTS = 0.2  # of the memory, for rows that are compared
_MARGIN_ROWS = 200_000  # up to so many, the margin is computed
_SILENCE = 0.5  # seconds between two reports


@dataclass
class Passes:
    """Reads rows again and again, tells how it gets on, and notices if they change."""

    rows: Rows
    budget: Budget
    callbacks: tuple[Callback, ...] = ()
    digests: list[int] | None = None  # of the first pass
    n_rows: int = 0  # if known
    _told: float = 0.0

    def pieces(self, stage: str) -> Iterator[Piece]:
        """All rows in order; they must be those of the first pass."""
        number, n_seen, begin, digests = -1, 0, time.perf_counter(), self.digests
        for number, piece in enumerate(self.rows.pieces()):
            if digests is not None and (number >= len(digests) or digests[number] != piece.digest):
                raise _changed(piece.where)
            n_seen += len(piece.X)
            yield piece
            rate = n_seen / max(time.perf_counter() - begin, 1e-9)
            share = n_seen / self.n_rows if self.n_rows else None
            self.tell(f"{stage}: {in_millions(n_seen)} rows, {in_millions(rate)} a second", share)
        rate = n_seen / max(time.perf_counter() - begin, 1e-9)
        self.tell(f"{stage}: {in_millions(n_seen)} rows, {in_millions(rate)} a second", 1.0, at_once=True)
        if digests is not None and number + 1 < len(digests):
            raise _changed(self.rows.name)

    def tell(self, stage: str, share: float | None = None, *, at_once: bool = False) -> None:
        """Report what is going on, if the last report is long ago."""
        now = time.perf_counter()
        if not at_once and now - self._told < _SILENCE:
            return
        self._told = now
        progress = Progress(self.budget.elapsed, np.inf, 0.0, 1.0, stage, share=share, is_learned=True)
        for callback in self.callbacks:
            if callback(progress):
                self.budget.stop("callback")

    def survey(self, *, counts_labels: bool, seed: int, size: int | None = None) -> Survey:
        """The first pass."""
        survey: Survey | None = None
        for piece in self.pieces("first pass"):
            if survey is None:
                n_kept = self._sample_size(piece) if size is None else size
                survey = Survey(Reservoir(n_kept, seed), counts_labels)
            survey.add(piece)
            if self.budget.is_interrupted:
                raise KeyboardInterrupt("interrupted before there was a result.")
        if survey is None or not survey.n_rows:
            raise InvalidInputError(f"{self.rows.name} has no rows of positive weight; it needs at least one.")
        self.digests, self.n_rows = survey.digests, survey.n_all
        return survey

    def _sample_size(self, piece: Piece) -> int:
        row = _COPIES * piece.X.shape[1] * piece.X.itemsize + _BESIDE
        most = int(min(_MOST_SAMPLED, _BUFFER * self.rows.working_memory / row))
        power = 1 << (most.bit_length() - 1)  # free memory varies a little from fit to fit, the sample should not
        return power * 3 // 2 if most >= power * 3 // 2 else power

    def tally(
        self,
        tally: Tally,
        dataset_of: Callable[[Piece], Dataset],
        look: Callable[[Piece], None] = lambda piece: None,
    ) -> tuple[Groups, Bound]:
        """The second pass, and the bound of conflicting rows; somebody else may have a look at the pieces."""
        has_margin = bool(self.n_rows) and self.n_rows <= _MARGIN_ROWS
        with RowGroups() as groups:
            for piece in self.pieces("second pass, exact loss"):
                look(piece)
                if (dataset := dataset_of(piece)).n_rows:
                    tally.add(dataset, margin=has_margin)
                    groups.add(*tally.hashes.pop())
            found = groups.groups()
        return found, self._conflicts(tally.problem, found, dataset_of)

    def _conflicts(self, problem: Problem, found: Groups, dataset_of: Callable[[Piece], Dataset]) -> Bound:
        """Rows with the same hash and several targets are compared, as many at a time as fit into memory."""
        if not len(found.suspects):
            return conflicts_of(problem, [])
        row = 8.0 * problem.architecture.n_features + _BESIDE
        n_passes = int(np.ceil(3 * found.n_suspects * row / (_SUSPECTS * self.rows.working_memory)))
        bounds = []
        for number, part in enumerate(np.array_split(found.suspects, n_passes), 1):
            stage = "comparing equal rows" + (f", {number} of {n_passes}" if n_passes > 1 else "")
            kept = Suspects(part, int(1 + 2 * found.n_suspects / n_passes))
            for piece in self.pieces(stage):
                kept.add(dataset_of(piece))
            bounds.append(conflicts_of(problem, kept.datasets))
        return replace(bounds[0], value=math.fsum(bound.value for bound in bounds))


class Suspects:
    """The rows whose hashes are among some; equal ones are merged when they get many."""

    def __init__(self, hashes: Any, most: int) -> None:
        self.datasets: list[Dataset] = []
        self._hashes, self._most, self._n_kept = hashes, max(most, 100_000), 0

    def add(self, dataset: Dataset) -> None:
        of_rows = row_hashes(dataset.X)
        places = np.searchsorted(self._hashes, of_rows).clip(0, len(self._hashes) - 1)
        chosen = np.flatnonzero(self._hashes[places] == of_rows)
        if not len(chosen):
            return
        self.datasets.append(Dataset(dataset.X[chosen], dataset.y[chosen], dataset.weights[chosen]))
        self._n_kept += len(chosen)
        if self._n_kept > self._most:
            self.datasets = [merged(self.datasets)]
            self._n_kept = self.datasets[0].n_rows


def merged(datasets: list[Dataset]) -> Dataset:
    """One data set, without equal rows."""
    X, y, weights = (np.concatenate([getattr(one, name) for one in datasets]) for name in ("X", "y", "weights"))
    return Dataset.from_rows(X, y, weights) if y.ndim == 1 else Dataset.from_numbers(X, y, weights)


def conflicts_of(problem: Problem, suspects: list[Dataset]) -> Bound:
    """The bound of conflicting rows, given all rows that may be in conflict."""
    if suspects:
        return conflict_bound(replace(problem, dataset=merged(suspects)))
    reads_values = problem.loss.reads_values
    dataset = Dataset(problem.dataset.X[:1], problem.dataset.y[:1], problem.dataset.weights[:1])
    return conflict_bound(replace(problem, dataset=dataset)) if reads_values else Bound()


def supply_of(passes: Passes, survey: Survey, sample: Dataset, seed: int, dataset_of: Any) -> Supply:
    """What a descent on the sample needs of all rows."""
    moments, rows = survey.moments(), passes.rows

    def read(block: int, number: int, seed: int) -> Dataset:
        kept = Reservoir(number, seed + block + 1)
        for piece in (one.counted for one in rows.pieces([block])):
            kept.add(piece.X, piece.y, piece.weights)
        X, y, weights = kept.taken()
        dataset: Dataset = dataset_of(Piece(X, y, weights, f"block {block}", block))
        return dataset

    return Supply(
        (moments.mean, moments.scale),
        survey.n_rows,
        sample.n_rows,
        float(sample.weights.mean()),
        rows.source.n_blocks if rows.source.can_jump else 0,
        read if rows.source.can_jump else None,
        seed,
    )


def _changed(where: str) -> InvalidInputError:
    return InvalidInputError(
        f"{where} has changed since it was first read: its rows must be the same, in the same order, in every pass."
    )


def in_millions(number: float) -> str:
    return f"{number / 1e6:.2f} million" if number >= 1e6 else f"{number:.0f}"
