"""Enumeration files: there are none, since the checker repeats the enumeration from the claim."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from stepnet.certificate.verification import Check
from stepnet.proof_files.claim import Claim
from stepnet.proof_files.enumeration import KERNELS, check_enumeration, dimension_of
from stepnet.proof_files.kind import BetterNetworkError, Kind, Parts, Task
from stepnet.proof_files.question import CheckError, LossError, Question, Watch
from stepnet.runtime.limits import Budget

MOST_DIMENSIONS = 6  # not counting those that follow from others; there are too many hyperplanes in more
_MOST_PLANES = 2e9
_SECONDS, _SECONDS_PER_PRODUCT = 5e-7, 1.0e-9  # per hyperplane, and per row and dimension


class Enumeration(Kind):
    """All sets of rows that neurons of few dimensions get wrong, and all choices of them below a gate."""

    name = "enumeration"

    def accepts(self, task: Task) -> bool:
        if task.question.form is not None or dimension_of(task.question, MOST_DIMENSIONS + 1) > MOST_DIMENSIONS:
            return False
        return _n_planes(task.question) <= _MOST_PLANES

    def seconds(self, task: Task) -> float:
        question = task.question
        per_plane = _SECONDS + _SECONDS_PER_PRODUCT * question.dataset.n_rows * (question.dataset.n_features + 1)
        return _n_planes(question) * per_plane

    def write(self, task: Task, budget: Budget) -> Parts | None:
        """What the checker would refuse, or has no time for, is not written."""
        if not KERNELS.is_done(budget.remaining):
            return None
        try:
            check_enumeration(task.question, Watch(budget))
        except LossError as error:
            raise BetterNetworkError(task.weights.loss_of(error.units)) from error
        except TimeoutError:
            return None
        return Parts()

    def checks(self, claim: Claim, watch: Watch) -> Iterator[Check]:
        words, begin = "no network loses less", time.monotonic()
        try:
            if not KERNELS.is_done(watch.budget.remaining):
                raise TimeoutError
            found = check_enumeration(claim.question, watch)
        except CheckError as error:
            yield Check(words, False, str(error))
        except TimeoutError:
            yield Check(words, None, "the time is up")
        else:
            planes = f"enumeration of {found.n_planes:,} planes, repeated"
            sets = f"no choice of {found.n_sets:,} sets below {found.n_gates} gates"
            yield Check(words, True, f"{planes}: {sets} ({time.monotonic() - begin:.1f} s)")


def _n_planes(question: Question) -> int:
    n_points = int(question.dataset.group[-1]) + 1
    return math.comb(n_points, min(n_points, dimension_of(question, MOST_DIMENSIONS + 1)))
