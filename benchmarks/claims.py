"""No false claim: every certificate against an independent forward pass, each other, and brute force.

    python benchmarks/claims.py [--instances 300] [--seconds 0.6] [--jobs 2]

Random, planted and contradictory labels; n 2-9, m 8-30, 1-3 neurons; raw scales and offsets; constant
columns and zero rows; all three threshold modes; row weights .1 to .3 for a fifth of the instances,
ternary weights for a tenth; every formulation on every installed solver that takes it. Counts
- certificates whose loss differs from a rational forward pass,
- OPTIMAL certificates that another network within the stated scope beats (by more than the stated
  tolerance, where row weights have no common grid),
- for brute-forced instances, how often the optimum over all networks is below the one with margin,
- how often the solver's own objective for the paper's program was false.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from common import brute_force, make_problem, solve
from stepnet.errors import SolverError
from stepnet.formulations.paper import Paper
from stepnet.formulations.registry import FORMULATIONS
from stepnet.methods.exact import Exact
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.solvers.backends.registry import BACKENDS

FORMS = {**FORMULATIONS, "paper, two-sided": Paper(two_sided=True)}


@dataclass(frozen=True)
class Row:
    instance: int
    formulation: str
    solver: str
    status: str
    loss: float
    rational: float
    margin: float  # of the scope; 0: all networks
    network: Network
    claims: tuple


def make_instance(number: int) -> Problem:
    rng = np.random.default_rng(number)
    n, m, d = int(rng.integers(2, 10)), int(rng.integers(8, 31)), int(rng.integers(1, 4))
    if number % 3 == 0:  # small enough for brute force
        n, m, d = int(rng.integers(2, 4)), int(rng.integers(8, 10)), int(rng.integers(1, 3))
    X = rng.normal(size=(m, n)) if number % 2 else rng.integers(-3, 4, (m, n)).astype(float)
    kind = ("random", "planted", "contradictory")[number % 3 if number % 2 else (number // 2) % 3]
    y = rng.integers(0, 2, m)
    if kind == "planted":
        y = ((X @ rng.normal(size=(n, d)) > rng.normal(size=d)).sum(axis=1) >= (d + 1) // 2).astype(int)
    elif kind == "contradictory":
        half = m // 2
        X[half : 2 * half] = X[:half]
    X = X * rng.choice([0.001, 1.0, 100.0]) + rng.choice([0.0, 1000.0])
    if rng.random() < 0.2:
        X[:, 0] = X[0, 0]
    if rng.random() < 0.2:
        X[0] = 0.0
    threshold = ["neuron", "layer", 0.0][int(rng.integers(3))]
    sample_weight = rng.choice([0.1, 0.2, 0.3], m) if number % 5 == 4 else None
    weights = "ternary" if number % 10 == 6 else "real"  # on integers, scaled and shifted ones among them
    return make_problem(X, y, (d,), threshold, weights, sample_weight)


def solve_all(number: int, seconds: float) -> list[Row]:
    problem = make_instance(number)
    rows = []
    runs = [(name, solver) for name in FORMS for solver, b in BACKENDS.items() if b.is_available()]
    for name, solver in [*runs, ("default", "auto")]:
        if name == "default":
            method = Exact()
            if not FORMS["tight"].accepts(problem):
                continue  # ternary weights on numbers that are no integers
        elif not FORMS[name].accepts(problem) or not BACKENDS[solver].accepts(FORMS[name].encode(problem)[0].model):
            continue
        else:
            method = Exact(formulation=FORMS[name], solver=solver, free_bounds=False, search_share=0)
        try:
            certificate, result = solve(problem, method, seconds)
        except SolverError as error:
            if "licence" not in str(error):
                raise
            continue
        layers = [(layer.weights, layer.thresholds) for layer in result.network.layers]
        data = problem.dataset
        rational = brute_force.rational_loss(layers, data.X, data.y, data.weights)
        margin = certificate.scope.margin
        rows.append(
            Row(
                number, name, solver, certificate.status, certificate.loss, rational, margin, result.network,
                result.claims,
            )
        )  # fmt: skip
    return rows


def is_within(problem: Problem, network: Network, rows: np.ndarray, margin: float) -> bool:
    """Whether some network with the same activations keeps the margin in the given units."""
    if not margin:
        return True
    threshold = problem.architecture.threshold
    signals = rows
    for layer, bits in zip(network.layers, network.levels(problem.dataset.X), strict=True):
        sign = None if threshold == "neuron" else int(np.sign(layer.thresholds[0]))
        for j in range(layer.width):
            if brute_force.margin_of(signals, bits[:, j].astype(bool), sign) < margin:
                return False
        signals = bits.astype(float)
    return True


def beaten(problem: Problem, rows: list[Row]) -> list[tuple[Row, Row]]:
    """OPTIMAL rows that another row's network beats within their scope."""
    scaled = problem.scaling.apply(problem.dataset.X)
    pairs = []
    for row, other in itertools.product(rows, rows):
        if row.status == "OPTIMAL" and other.loss < row.loss - problem.accuracy.tolerance:
            units = problem.dataset.X if row.formulation == "paper" else scaled
            if is_within(problem, other.network, units, row.margin):
                pairs.append((row, other))
    return pairs


def brute(number: int, rows: list[Row]) -> tuple[float, float] | None:
    """The optimum over all networks, and over those with the default margin in scaled units."""
    problem = make_instance(number)
    if number % 3 or problem.architecture.has_integers:
        return None
    scaled = problem.scaling.apply(problem.dataset.X)
    data, architecture = problem.dataset, problem.architecture
    arguments = (scaled, data.y, architecture.hidden, architecture.threshold, data.weights)
    return brute_force.best_loss(*arguments), brute_force.best_loss(*arguments, margin=1e-4)


def check(number: int, seconds: float) -> tuple[list[Row], list[tuple[Row, Row]], tuple[float, float] | None]:
    rows = solve_all(number, seconds)
    return rows, beaten(make_instance(number), rows), brute(number, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=0.6)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    work = (delayed(check)(number, options.seconds) for number in range(options.instances))
    results = Parallel(n_jobs=options.jobs)(work)
    report(results)


def report(results) -> None:
    totals, optimal, false_losses, solver_claims, solver_false = (Counter() for _ in range(5))
    n_beaten = n_brute = n_brute_beaten = n_below = 0
    for rows, pairs, optima in results:
        n_beaten += len({(row.formulation, row.solver) for row, _ in pairs})
        for row, other in pairs:
            print(f"BEATEN: instance {row.instance}, {row.formulation} on {row.solver}: {row.loss} > {other.loss}")
        for row in rows:
            key = (row.formulation, row.solver)
            totals[key] += 1
            optimal[key] += row.status == "OPTIMAL"
            false_losses[key] += abs(row.loss - row.rational) > 1e-12 * row.rational
            solver_claims[key] += len(row.claims)
            solver_false[key] += sum(not claim.is_true for claim in row.claims)
            if optima is not None and row.status == "OPTIMAL" and row.formulation != "paper":
                best = optima[1] if row.margin else optima[0]
                if best < row.loss - make_instance(row.instance).accuracy.tolerance:
                    n_brute_beaten += 1
                    print(f"BEATEN BY BRUTE FORCE: instance {row.instance}, {key}: {row.loss} > {best}")
        if optima is not None:
            n_brute += 1
            n_below += optima[0] < optima[1]
    print(f"\n{len(results)} instances")
    print(
        f"{'formulation':18} {'solver':8} {'runs':>5} {'OPTIMAL':>8} {'false losses':>13} "
        f"{'solver claims':>14} {'of them false':>14}"
    )
    for key in sorted(totals):
        print(
            f"{key[0]:18} {key[1]:8} {totals[key]:5} {optimal[key]:8} {false_losses[key]:13} "
            f"{solver_claims[key]:14} {solver_false[key]:14}"
        )
    print(f"certificates: {sum(totals.values())}, false losses: {sum(false_losses.values())}")
    print(
        f"OPTIMAL certificates beaten within their scope: {n_beaten} by other formulations, "
        f"{n_brute_beaten} by brute force"
    )
    print(f"brute force: optimum over all networks below the one with margin in {n_below} of {n_brute} instances")


if __name__ == "__main__":
    main()
