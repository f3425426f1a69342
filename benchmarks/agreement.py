"""Proofs agree: every prover against every other one, against rational arithmetic, and against brute force.

    python benchmarks/agreement.py [--instances 2000] [--seconds 20] [--jobs 1]

Small random tables of the kinds that break proofs: grids, repeated rows with both labels, rows on a line, columns that
follow from others, row weights with and without a common unit, scales from 1e-6 to 1e6, and offsets. One to three
neurons. Counted are

- losses that differ from a rational forward pass,
- bounds above a loss that any prover, or brute force, has reached,
- optima that differ,
- certificates that were left open.

Brute force (every third instance, up to nine rows) finds networks with a margin, so that its optimum may be larger.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter

import numpy as np
from joblib import Parallel, delayed

from common import RESULTS, brute_force, make_problem, solve
from stepnet import warm_up
from stepnet.methods.exact import Exact
from stepnet.problem.problem import Problem
from stepnet.provers.registry import PROVERS

KINDS = ("normal", "grid", "line", "dependent", "repeated", "tenths")
_EQUAL = 1e-5  # relative: losses of row weights without a common unit


def make_instance(number: int) -> tuple[Problem, str]:
    rng = np.random.default_rng([number, 7])
    is_tiny, kind = number % 3 == 0, KINDS[number % len(KINDS)]
    n, width = int(rng.integers(1, 5)), int(rng.choice([1, 1, 1, 2, 2, 3]))
    m = int(rng.integers(6, 10)) if is_tiny else int(rng.integers(10, 40 if width == 1 else 22))
    if is_tiny:
        n, width = min(n, 3), min(width, 2)
    X = _rows(kind, m, n, rng) * 10.0 ** rng.integers(-6, 7, n if rng.random() < 0.3 else 1)
    X += rng.choice([0.0, 0.0, 1000.0]) * np.abs(X).max()
    y = (X @ rng.normal(size=n) > np.median(X @ np.ones(n))) ^ (rng.random(m) < 0.3)
    weights = [None, rng.integers(1, 5, m).astype(float), rng.uniform(0.1, 2.0, m)][int(rng.choice([0, 0, 1, 2]))]
    return make_problem(X, y.astype(int), (width,), sample_weight=weights), kind


def _rows(kind: str, m: int, n: int, rng: np.random.Generator) -> np.ndarray:
    X = rng.normal(size=(m, n))
    if kind == "grid":
        return rng.integers(-2, 3, (m, n)).astype(float)
    if kind == "tenths":
        return rng.integers(0, 11, (m, n)) / 10
    if kind == "line":
        X[: 2 * m // 3] = rng.integers(-4, 5, (2 * m // 3, 1)) * np.round(rng.normal(size=n) * 8) / 8
    elif kind == "dependent" and n > 1:
        X = np.round(X * 16) / 16
        X[:, -1] = X[:, :-1].sum(axis=1)
    elif kind == "repeated":
        X[m // 2 : 2 * (m // 2)] = X[: m // 2]
    return X


def one(number: int, seconds: float) -> Counter[str]:
    """What was found out about one instance."""
    problem, kind = make_instance(number)
    warm_up()
    data, found = problem.dataset, Counter({f"instances: {kind}": 1})
    layers_of, losses, proven, bounds = rational_layers, {}, {}, {}
    for name, prover in PROVERS.items():
        if not (prover.is_available() and prover.accepts(problem)):
            continue
        certificate, result = solve(problem, Exact(formulation=name), seconds, seed=number)
        found[f"{name}: proven" if certificate.status == "OPTIMAL" else f"{name}: open"] += 1
        exact = brute_force.rational_loss(layers_of(result.network), data.X, data.y, data.weights)
        found["losses that differ from a rational forward pass"] += abs(exact - certificate.loss) > 1e-9 * exact
        losses[name], bounds[name] = certificate.loss, certificate.bound
        if certificate.status == "OPTIMAL":
            proven[name] = certificate.loss
    if number % 3 == 0:
        rows = problem.scaling.apply(data.X)
        losses["brute force"] = brute_force.best_loss(rows, data.y, problem.architecture.hidden, weights=data.weights)
        found["compared with brute force"] += 1
    for bound, loss in itertools.product(bounds.values(), losses.values()):
        found["bounds above a loss"] += bound > loss * (1 + _EQUAL)
    for a, b in itertools.combinations(proven.values(), 2):
        found["optima that differ"] += abs(a - b) > _EQUAL * max(a, b)
    if found["bounds above a loss"] or found["optima that differ"]:
        print(f"instance {number}: losses {losses}, bounds {bounds}", flush=True)
    return found


def rational_layers(network):
    return [(layer.weights, layer.thresholds) for layer in network.layers]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=20.0, help="per proof")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    jobs = (delayed(one)(number, options.seconds) for number in range(options.instances))
    total = sum(Parallel(options.jobs)(jobs), Counter())
    for name in ("losses that differ from a rational forward pass", "bounds above a loss", "optima that differ"):
        total[name] += 0
    lines = [f"{options.instances} instances, at most {options.seconds:g} s per proof"]
    lines += [f"{name:50} {total[name]:7}" for name in sorted(total)]
    print("\n".join(lines))
    if options.instances >= 2_000:
        (RESULTS / "agreement.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
