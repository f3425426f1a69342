"""Proofs by counting: the solver exact beside HiGHS and CaDiCaL over the same subsystems of rows.

    pip install 'stepnet[pb]'
    python benchmarks/counting.py [--seconds 60]

Each prover has the same start, the same time limit and one process, and proves the loss of a network that is known or
found on the way. CPU time counts that of the process in which the solver works. The second table is about proofs on
disk: sums in the format of VeriPB beside clauses in the format DRAT, for the same bound.
"""

from __future__ import annotations

import argparse
import gc
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from common import RESULTS, make_problem
from stepnet import Exact, verify_proof, warm_up
from stepnet.datasets import load_breast_cancer_wisconsin
from stepnet.methods.run import Run
from stepnet.problem.problem import Problem
from stepnet.proof_files import written
from stepnet.proof_files.clause_files import Clauses
from stepnet.proof_files.kind import Kind
from stepnet.proof_files.sum_files import Sums
from stepnet.proof_files.written import write_proof
from stepnet.runtime.limits import Budget
from tables import load_table

KEEL = ("wisconsin", "heart", "pima")
ALL, ONE, MORE = ("counting", "one_neuron", "sat"), ("counting", "one_neuron"), ("counting", "sat")


def breast_cancer(seed: int, width: int = 1) -> Problem:
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, test_size=0.2, random_state=seed)
    return make_problem(X, y, (width,))


def random_labels(m: int, n: int) -> Problem:
    rng = np.random.default_rng(0)
    return make_problem(rng.uniform(-1, 1, (m, n)), rng.integers(0, 2, m), (1,))


def noisy(m: int, n: int, share: float) -> Problem:
    """The labels of a random neuron, a share of them flipped."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n))
    y = rng.permutation(np.arange(m) < share * m) ^ (X @ rng.normal(size=n) > 0)
    return make_problem(X, y.astype(int), (1,))


def keel(name: str) -> Problem:
    X, y = load_table(name)
    return make_problem(X, (y == np.bincount(y).argmax()).astype(int), (1,))


CASES: dict[str, tuple[Callable[[], Problem], tuple[str, ...]]] = {
    "Breast Cancer, the paper's split": (lambda: breast_cancer(42), ALL),
    **{f"Breast Cancer, split {s}": (lambda s=s: breast_cancer(s), ONE) for s in range(5)},
    "the paper's split, 2 neurons": (lambda: breast_cancer(42, 2), MORE),
    "split 0, 2 neurons": (lambda: breast_cancer(0, 2), MORE),
    "random labels, 100 x 9": (lambda: random_labels(100, 9), ONE),
    "10 % noise, 100 x 10": (lambda: noisy(100, 10, 0.1), ONE),
    "10 % noise, 200 x 8": (lambda: noisy(200, 8, 0.1), ONE),
    **{f"KEEL, {name}": (lambda name=name: keel(name), ONE) for name in KEEL},
}


def cpu() -> float:
    gc.collect()  # ends solvers that are no longer needed
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def solved(problem: Problem, way: str, seconds: float) -> tuple[float, float, float, float]:
    """Loss, bound, seconds and CPU seconds; the search is part of it."""
    begin, run = cpu(), Run(problem, Budget(seconds), seed=0)
    Exact(formulation=way).work(run)
    found = run.loss, run.bound.value, run.budget.elapsed
    return *found, cpu() - begin


def compared(seconds: float) -> list[str]:
    lines = [f"{'one neuron, or as stated':33} {'prover':11} {'loss':>5} {'bound':>6} {'seconds':>8} {'CPU':>6}"]
    for name, (make, ways) in CASES.items():
        for way in ways:
            loss, bound, elapsed, used = solved(make(), way, seconds)
            lines.append(f"{name:33} {way:11} {loss:5g} {bound:6g} {elapsed:8.1f} {used:6.1f}")
            print(lines[-1], flush=True)
    return lines


def on_disk(seconds: float) -> list[str]:
    heads = f"{'bound':>5} {'bytes':>11} {'written':>8} {'checked':>8} (CPU seconds)"
    lines = ["", f"{'proof on disk':33} {'kind':9} {heads}"]
    for name in ("Breast Cancer, the paper's split", "Breast Cancer, split 0", "Breast Cancer, split 1"):
        problem = CASES[name][0]()
        run = Run(problem, Budget(seconds), seed=0)
        Exact(formulation="counting").work(run)
        kinds: tuple[Kind, ...] = (Sums(), Clauses())
        for kind in kinds:
            with tempfile.TemporaryDirectory() as folder:
                lines.append(f"{name:33} {kind.name:9} " + measured(kind, run, Path(folder, "proof"), seconds))
            print(lines[-1], flush=True)
    return lines


def measured(kind: Kind, run: Run, target: Path, seconds: float) -> str:
    written.KINDS, begin = (kind,), cpu()
    bound = write_proof(
        target, run.problem, run.network, run.bound.value, subsystems=run.pool.subsystems, budget=Budget(3 * seconds)
    )
    middle = cpu()
    holds = bool(verify_proof(target))
    size = sum(file.stat().st_size for file in target.iterdir())
    return f"{bound:5g} {size:11,} {middle - begin:8.1f} {cpu() - middle:8.1f}" + "   refused" * (not holds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    warm_up()
    lines = [*compared(options.seconds), *on_disk(options.seconds), f"limit {options.seconds:g} s"]
    (RESULTS / "counting.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
