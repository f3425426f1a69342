"""CP-SAT pays: ternary weights on CP-SAT, HiGHS and SCIP in one run.

    python benchmarks/domains.py [--seconds 60]

Integer rows in [-4, 4], planted and random labels, n 3 to 9, m 12 to 40, 2 to 10 neurons. All three solve
the same program on one thread, without a search before it: CP-SAT gets its rows as implications, the others
with a big-M. Time-outs count as the limit; one small problem before the first loads the solvers. The table has
the time of the whole fit; the last lines also that within the solver alone, without encoding and verification.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from common import geometric_mean, make_problem, solve
from stepnet import Exact
from stepnet.model.network import Layer, Network
from stepnet.solvers.backends.registry import BACKENDS

SIZES = [  # n, m, neurons
    (3, 12, 2), (3, 20, 2), (3, 30, 2), (3, 40, 2), (5, 12, 2), (5, 20, 3), (5, 30, 3), (5, 40, 2),
    (7, 20, 3), (7, 30, 5), (7, 40, 5), (9, 20, 3), (9, 30, 5), (9, 40, 10),
]  # fmt: skip
CASES = [(*size, planted) for planted in (False, True) for size in SIZES]
SOLVERS = ("cpsat", "highs", "scip")


def instance(n: int, m: int, d: int, planted: bool):
    rng = np.random.default_rng(n * 100 + m)
    X = rng.integers(-4, 5, (m, n)).astype(float)
    if not planted:
        return make_problem(X, rng.integers(0, 2, m), (d,), weights="ternary")
    while True:  # a teacher that uses both classes
        hidden = Layer(rng.integers(-1, 2, (d, n)), rng.integers(-2, 3, d) - 0.5)
        y = Network((hidden, Layer(rng.integers(-1, 2, (1, d)), np.array([0.5])))).predict(X)
        if 0.25 <= y.mean() <= 0.75:
            return make_problem(X, y, (d,), weights="ternary")


def exact(solver: str) -> Exact:
    return Exact(formulation="tight", solver=solver, free_bounds=False, search_share=0)


def timed(backend) -> list[float]:
    """The seconds that a solver takes for each program from now on."""
    seconds, original = [], backend.solve

    def solve_timed(task):
        begin = time.perf_counter()
        outcome = original(task)
        seconds.append(time.perf_counter() - begin)
        return outcome

    backend.solve = solve_timed
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    print(f"{'n':>2} {'m':>3} {'d':>3} {'labels':>8}" + "".join(f" {name:>22}" for name in SOLVERS))
    whole: dict[str, list[float]] = {name: [] for name in SOLVERS}
    alone: dict[str, list[float]] = {name: [] for name in SOLVERS}
    clocks = {name: timed(BACKENDS[name]) for name in SOLVERS}
    n_false = 0
    for solver in SOLVERS:
        solve(instance(2, 4, 1, False), exact(solver), options.seconds)
    for n, m, d, planted in CASES:
        problem = instance(n, m, d, planted)
        line, best, bounds = "", np.inf, []
        for solver in SOLVERS:
            certificate, result = solve(problem, exact(solver), options.seconds)
            is_solved = certificate.status == "OPTIMAL"
            whole[solver].append(certificate.runtime if is_solved else options.seconds)
            alone[solver].append(clocks[solver][-1] if is_solved else options.seconds)
            n_false += sum(not claim.is_true for claim in result.claims)
            best = min(best, certificate.loss)
            bounds.append(certificate.bound)
            line += f" {certificate.loss:4g} >= {certificate.bound:2g}, {whole[solver][-1]:7.2f} s"
        n_false += max(bounds) > best
        print(f"{n:2} {m:3} {d:3} {'planted' if planted else 'random':>8}{line}", flush=True)
    for solver in SOLVERS[1:]:
        for name, times in (("fit", whole), ("solver alone", alone)):
            ratio = geometric_mean(np.array(times[solver]) / np.array(times["cpsat"]))
            print(f"geometric mean of time({solver}) / time(cpsat), {name}: {ratio:.1f}")
    print(f"false claims: {n_false}")


if __name__ == "__main__":
    main()
