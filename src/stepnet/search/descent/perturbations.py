"""Perturbations that a descent trains against: balls of the norms whose duals the kernel knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepnet.errors import YES, Answer
from stepnet.model.arithmetic import Floats
from stepnet.problem.problem import Problem
from stepnet.search.descent.kernel import L1, L2, LINF
from stepnet.uncertainty.ball import Ball

_NORMS = {"l1": L1, "l2": L2, "linf": LINF}


def accepts_perturbations(problem: Problem) -> Answer:
    """Balls without a transform. Ranges of features are left out in training, which is then too careful."""
    if problem.uncertainty is None:
        return YES
    ball = problem.uncertainty
    if not isinstance(ball, Ball) or ball.transform is not None or ball.norm not in _NORMS:
        return Answer(f"descent knows the worst case of balls in {', '.join(_NORMS)} without a transform")
    if not (problem.architecture.hidden or problem.architecture.output.has_levels):
        return Answer("descent takes uncertain rows of several outputs with a hidden layer below these")
    return YES


def norm_of(problem: Problem) -> int:
    """The code of the norm for the kernel, 0 if rows do not move."""
    return _NORMS[problem.uncertainty.norm] if isinstance(problem.uncertainty, Ball) else 0


def reach_of(problem: Problem, scale: Floats) -> Any:
    """How far a unit of the radius moves each standardised feature."""
    if not isinstance(problem.uncertainty, Ball):
        return np.zeros(len(scale), dtype=np.float32)
    return (problem.uncertainty.scales(len(scale)) / scale).astype(np.float32)
