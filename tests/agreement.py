"""Random instances of few rows, and what independent ways say of them."""

from __future__ import annotations

import math

import numpy as np

import brute_force
from conftest import make_problem, solve
from stepnet.formulations.gates import Gates
from stepnet.methods.exact import Exact
from stepnet.provers.registry import PROVERS

KINDS = ("floats", "integers", "bits", "on a line", "repeated", "on few points")


def instance(seed: int):
    """One to five features, one to three neurons; weights, repeated and collinear points, integers and floats."""
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(1, 6)), int(rng.choice([1, 1, 2, 2, 2, 3]))
    m = int(rng.integers(4, {1: 10, 2: 9, 3: 8}[width]))
    kind = KINDS[seed % len(KINDS)]
    X = rng.normal(size=(m, n))
    if kind == "integers":
        X = rng.integers(-3, 4, (m, n)).astype(float)
    elif kind == "bits":
        X = rng.integers(0, 2, (m, n)).astype(float)
    elif kind == "on a line":
        X[: m // 2] = np.outer(rng.integers(-4, 5, m // 2), rng.integers(-2, 3, n)) / 8
    elif kind == "repeated":
        X[m // 2 :] = X[: m - m // 2]
    elif kind == "on few points":
        X = X[rng.integers(0, max(2, m // 2), m)]
    y = rng.permutation(np.arange(m) % 2)
    all_weights = [
        None,
        rng.integers(1, 5, m).astype(float),
        rng.choice([0.25, 0.5, 1.75], m),
        np.where(y, 0.7 / 3, 1 / 7),  # of classes, as for balanced ones
        rng.uniform(0.1, 1, m),
    ]
    return make_problem(X, y, (width,), sample_weight=all_weights[seed // len(KINDS) % len(all_weights)])


def disagreements(problem, *, with_gates: bool) -> list[str]:
    """What is wrong with the answers of proofs, programs and brute force, each without help of another."""
    data = problem.dataset
    best = brute_force.best_loss(data.X, data.y, problem.architecture.hidden, "neuron", data.weights)
    wrong = []
    for name in ("cells", "branches", "cones", "sat", "one_neuron"):
        if not PROVERS[name].accepts(problem):
            continue
        method = Exact(formulation=name, free_bounds=False, search_share=0)
        certificate, _ = solve(problem, method, time_limit=60)
        is_best = math.isclose(certificate.loss, best, rel_tol=1e-12) and certificate.bound >= best * (1 - 1e-9)
        if not is_best or (certificate.status, str(certificate.scope)) != ("OPTIMAL", "all networks"):
            wrong.append(f"{name} says {certificate.status} {certificate.loss} {certificate.bound}, not {best}")
    if with_gates and Gates().accepts(problem):
        certificate, _ = solve(problem, Exact(formulation="gates", free_bounds=False, search_share=0), time_limit=60)
        # Programs speak of networks with a margin: they may miss one that has none, and never find a better one.
        most = best * (1 + 1e-12)
        if certificate.loss * (1 + 1e-12) < best or (certificate.scope.is_all and certificate.bound > most):
            wrong.append(f"gates says {certificate.loss} with bound {certificate.bound}, not {best}")
    return wrong
