"""Proofs for one neuron where labels are noisy, with few and with many features: branches, cones and the set cover.

    python benchmarks/many_features.py [--seconds 120] [--seeds 5]

Each prover by itself, from the same short local search: the loss, the bound, CPU seconds, and the bounds of the first
prover after some seconds. Generated tables are those of noisy.py; pima and bupa are samples of KEEL's.
"""

from __future__ import annotations

import argparse
import time

from common import RESULTS, make_problem
from noisy import KEEL, generated
from stepnet import warm_up
from stepnet.certificate.certificate import certify
from stepnet.methods.exact import Exact
from stepnet.methods.run import Run
from stepnet.runtime.limits import Budget
from tables import load_table

SIZES = (("A", 200, 5), ("A", 500, 5), ("A", 100, 10), ("B", 100, 10), ("A", 200, 10), ("A", 100, 15), ("A", 100, 20))
TABLES = ("haberman", "bupa", "mammographic", "pima")
WAYS = ("branches", "cones", "one_neuron")


def instances(seeds: int):
    for name in TABLES:
        X, y = load_table(name, most=KEEL[name])
        yield f"{name} {len(y)} x {X.shape[1]}", X, (y == y.max()).astype(int)
    for kind, m, n in SIZES:
        for seed in range(seeds):
            yield f"{kind} {m} x {n}, seed {seed}", *generated(kind, m, n, seed)


def proven(problem, way: str, seconds: float) -> tuple[str, str]:
    """Loss, bound and CPU seconds of a prover; and the bounds on the way."""
    method = Exact(formulation=way, search_share=0.01)
    if not method.accepts(problem):
        return "-", ""
    begin, seen = time.process_time(), {}
    budget = Budget(seconds)
    run = Run(problem, budget)
    run.journal.callbacks = (lambda progress: bool(seen.setdefault(progress.bound, time.process_time()) < 0),)
    method.work(run)
    spent = time.process_time() - begin
    certificate = certify(problem, run.result())
    climbed = "  ".join(f"{bound:g}: {moment - begin:.1f}" for bound, moment in seen.items() if bound > 0)
    return f"{certificate.loss:g} >= {certificate.bound:g}, {spent:.1f} s", climbed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--others", type=float, default=20.0, help="the limit of the other provers")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warm_up()
    lines = [f"{'instance':22} " + "".join(f"{way:22}" for way in WAYS) + "bounds of branches: CPU seconds"]
    print(lines[0], flush=True)
    for name, X, y in instances(options.seeds):
        found = [
            proven(make_problem(X, y, (1,)), way, options.seconds if way == "branches" else options.others)
            for way in WAYS
        ]
        lines.append(f"{name:22} " + "".join(f"{answer:22}" for answer, _ in found) + found[0][1])
        print(lines[-1], flush=True)
    lines.append(f"limits: {options.seconds:g} s for branches, {options.others:g} s for the others, on a clock")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "many_features.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
