"""What the benchmarks share."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))  # brute_force, the referee

import brute_force  # noqa: F401
from stepnet.certificate.certificate import Certificate, certify
from stepnet.certificate.result import Result
from stepnet.methods.base import Method
from stepnet.methods.run import Run
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget

RESULTS = Path(__file__).resolve().parent / "results"


def make_problem(X, y, hidden, threshold="neuron", weights="real", sample_weight=None) -> Problem:
    X = np.asarray(X, dtype=float)
    return Problem(Dataset.from_rows(X, y, sample_weight), Architecture.of(X.shape[1], hidden, threshold, weights))


def solve(problem: Problem, method: Method, time_limit: float, seed: int = 0) -> tuple[Certificate, Result]:
    run = Run(problem, Budget(time_limit), seed=seed)
    method.work(run)
    result = run.result()
    return certify(problem, result), result


def geometric_mean(values) -> float:
    return float(np.exp(np.mean(np.log(np.asarray(values, dtype=float)))))
