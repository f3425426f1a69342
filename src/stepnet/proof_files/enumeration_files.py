"""Enumeration files: there are none, since the checker repeats the enumeration from the claim."""

from __future__ import annotations

import math

from stepnet.proof_files.enumeration import KERNELS, check_enumeration, dimension_of
from stepnet.proof_files.kind import Task
from stepnet.proof_files.question import Question, Watch
from stepnet.proof_files.repeated import Repeated

MOST_DIMENSIONS = 6  # not counting those that follow from others; there are too many hyperplanes in more
_MOST_PLANES = 2e9
_SECONDS, _SECONDS_PER_PRODUCT = 5e-7, 1.0e-9  # per hyperplane, and per row and dimension


class Enumeration(Repeated):
    """All sets of rows that neurons of few dimensions get wrong, and all choices of them below a gate."""

    name = "enumeration"
    kernels = KERNELS
    claimed = "no network loses less"

    def accepts(self, task: Task) -> bool:
        if task.question.form is not None or dimension_of(task.question, MOST_DIMENSIONS + 1) > MOST_DIMENSIONS:
            return False
        return _n_planes(task.question) <= _MOST_PLANES

    def seconds(self, task: Task) -> float:
        question = task.question
        per_plane = _SECONDS + _SECONDS_PER_PRODUCT * question.dataset.n_rows * (question.dataset.n_features + 1)
        return _n_planes(question) * per_plane

    def repeat(self, question: Question, watch: Watch) -> str:
        found = check_enumeration(question, watch)
        planes = f"enumeration of {found.n_planes:,} planes, repeated"
        return f"{planes}: no choice of {found.n_sets:,} sets below {found.n_gates} gates"


def _n_planes(question: Question) -> int:
    n_points = int(question.dataset.group[-1]) + 1
    return math.comb(n_points, min(n_points, dimension_of(question, MOST_DIMENSIONS + 1)))
