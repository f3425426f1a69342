"""Proofs where labels are noisy: one, two and three neurons on public and on generated tables.

    python benchmarks/noisy.py [--seconds 60 300] [--widths 1 2 3] [--seeds 5] [--jobs 1] [--tables haberman ...]
    python benchmarks/noisy.py --only "A 200 x 5" --widths 1      # some of the instances
    python benchmarks/noisy.py --table                            # the table of what has been run so far

Loss and bound of method="prove" from scratch after each number of seconds, of one run with the last of them as its
limit; the time when loss and bound met, by the clock, and that of the CPU; and the way that got there. ``0.1.0`` is
what version 0.1.0 reached in 60 to 120 s, where that was measured. A run that was stopped goes on where it ended:
finished cells are in results/noisy.jsonl, each with the limit and the number of processes it had.

Public tables: haberman, bupa, pima, mammographic and titanic of KEEL, voicepath of the package e01loss. Four more
tables of the literature are not on the package index; tables with the same columns were drawn at random instead (blood:
502 rows whose third column is a multiple of the second; sepsis: 975 rows; cryotherapy: 90; caesarian: 80). A and B are
like those types of Santana, Serrano, Schiffer and Vidal (arXiv 2207.07690): A has normal rows, a random hyperplane and
labels that are flipped with a probability of 0.15; B has two normal classes that overlap.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator

import numpy as np

from common import RESULTS, make_problem
from stepnet import warm_up
from stepnet.methods.prove import Prove
from stepnet.methods.run import Run
from stepnet.runtime.limits import Budget
from tables import load_table

STORE = RESULTS / "noisy.jsonl"
SIZES = ((500, 2), (200, 5), (500, 5), (100, 10), (200, 10))
PUBLIC = {"haberman": None, "voicepath": None, "bupa": 193, "pima": 400, "mammographic": None, "titanic": None}
BEFORE = {
    ("haberman", 1): "66 >= 52", ("haberman", 2): "61 >= 16", ("bupa", 1): "36 >= 22", ("pima", 1): "94 >= 38",
    ("voicepath", 1): "19 >= 19", ("voicepath", 2): "16 >= 16",
}  # fmt: skip
Rows = tuple[np.ndarray, np.ndarray]


def generated(kind: str, m: int, n: int, seed: int) -> Rows:
    rng = np.random.default_rng([m, n, seed])
    if kind == "A":
        X = rng.normal(size=(m, n))
        is_flipped = rng.random(m) < 0.15
        return X, ((X @ rng.normal(size=n) > 0) != is_flipped).astype(int)
    y = np.arange(m) % 2
    return rng.normal(size=(m, n)) + (2 * y - 1)[:, None] / np.sqrt(n), y


def like_blood() -> Rows:
    """Months since the last donation, donations, blood given, months since the first one."""
    rng = np.random.default_rng(502)
    times = 1 + rng.geometric(0.18, 502)
    first = 2 + np.minimum(96, times * rng.integers(2, 8, 502))
    last = np.minimum(first, rng.choice([2, 4, 11, 14, 16, 21, 23], 502))
    chance = 1 / (1 + np.exp(0.8 + 0.1 * last - 0.12 * times + 0.01 * first))
    return np.column_stack([last, times, 250 * times, first]).astype(float), (rng.random(502) < chance).astype(int)


def like_cryotherapy() -> Rows:
    """Sex, age, months, warts, their type and area."""
    rng = np.random.default_rng(90)
    age, months = rng.integers(15, 68, 90), rng.integers(1, 49, 90) / 4
    X = np.column_stack([1 + rng.integers(0, 2, 90), age, months, rng.integers(1, 13, 90), rng.integers(1, 4, 90)])
    chance = 1 / (1 + np.exp(0.15 * (age - 32) + 0.9 * (months - 7)))
    return np.column_stack([X, rng.integers(4, 750, 90)]).astype(float), (rng.random(90) < chance).astype(int)


def like_caesarian() -> Rows:
    """Age, deliveries, time of delivery, blood pressure, heart problem."""
    rng = np.random.default_rng(80)
    parts = (rng.integers(17, 41, 80), 1 + rng.integers(0, 4, 80), rng.integers(0, 3, 80), rng.integers(0, 3, 80))
    X = np.column_stack([*parts, rng.integers(0, 2, 80)]).astype(float)
    chance = 1 / (1 + np.exp(0.4 - 1.2 * X[:, 4] - 0.5 * np.abs(X[:, 3] - 1)))
    return X, (rng.random(80) < chance).astype(int)


def like_sepsis() -> Rows:
    """Age, sex, episode."""
    rng = np.random.default_rng(975)
    age, sex = np.clip(rng.normal(62, 24, 975), 0, 100).round(), rng.integers(0, 2, 975)
    episode = np.minimum(5, rng.geometric(0.7, 975))
    chance = 1 / (1 + np.exp((62 - age) / 20 + 1.3 + 0.3 * sex - 0.2 * episode))
    return np.column_stack([age, sex, episode]).astype(float), (rng.random(975) < chance).astype(int)


LIKE = {
    "sepsis, alike": like_sepsis,
    "blood, alike": like_blood,
    "cryotherapy, alike": like_cryotherapy,
    "caesarian, alike": like_caesarian,
}


def instances(tables: list[str], seeds: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for name in tables:
        if name in LIKE:
            yield name, *LIKE[name]()
            continue
        X, y = load_table(name, most=PUBLIC.get(name))
        yield name, X, (y == y.max()).astype(int)
    for m, n in SIZES:
        for kind in "AB":
            for seed in range(seeds):
                yield f"{kind} {m} x {n}, seed {seed}", *generated(kind, m, n, seed)


def measured(name: str, X: np.ndarray, y: np.ndarray, width: int, limits: list[float], jobs: int) -> dict:
    run = Run(make_problem(X, y, (width,)), Budget(limits[-1]), n_jobs=jobs)
    begin = time.process_time()
    Prove().work(run)
    cpu, result = time.process_time() - begin, run.result()
    steps = [step for step in result.trace if step.loss < np.inf]
    reached = {
        f"{limit:g}": max((step.runtime, step.loss, step.bound) for step in steps if step.runtime <= limit)[1:]
        for limit in limits
        if steps[0].runtime <= limit
    }
    is_proven = result.stop_reason == "proven"
    proven = next(step.runtime for step in steps if step.bound >= step.loss) if is_proven else None
    way = result.reached[-1].split(":")[0] if result.reached else "search"
    return {
        "instance": name, "rows": len(y), "neurons": width, "jobs": jobs, "limit": limits[-1], "reached": reached,
        "proven": proven, "cpu": cpu, "way": way,
    }  # fmt: skip


def table(cells: list[dict]) -> list[str]:
    limits = sorted({limit for cell in cells for limit in cell["reached"]}, key=float)
    head = f"{'instance':22} {'rows':>4} {'neurons':>7} {'jobs':>4}" + "".join(f" {f'{one} s':>12}" for one in limits)
    lines = [f"{head} {'proven, s':>9} {'CPU s':>7}  way (0.1.0)"]
    for cell in cells:
        known = [cell["reached"].get(limit) for limit in limits]
        shown = "".join(f" {'' if pair is None else '{:g} >= {:g}'.format(*pair):>12}" for pair in known)
        proven = "" if cell["proven"] is None else f"{cell['proven']:.2f}"
        before = BEFORE.get((cell["instance"], cell["neurons"]))
        lines.append(
            f"{cell['instance']:22} {cell['rows']:4} {cell['neurons']:7} {cell['jobs']:4}{shown} {proven:>9} "
            f"{cell['cpu']:7.1f}  {cell['way']}" + (f" ({before})" if before else "")
        )
    n_proven = sum(cell["proven"] is not None for cell in cells)
    return [*lines, f"{n_proven} of {len(cells)} proven; CPU s is of the first process"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, nargs="*", default=[60.0, 300.0])
    parser.add_argument("--widths", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="processes that prove together")
    parser.add_argument("--tables", nargs="*", default=[*PUBLIC, *LIKE])
    parser.add_argument("--only", default="", help="instances whose names begin so")
    parser.add_argument("--table", action="store_true", help="run nothing")
    options = parser.parse_args()
    cells = [json.loads(line) for line in STORE.read_text().splitlines()] if STORE.exists() else []
    limits = sorted(options.seconds)
    done = {(cell["instance"], cell["neurons"], cell["jobs"], cell["limit"]) for cell in cells}
    if not options.table:
        warm_up()
        for width in options.widths:
            for name, X, y in instances(options.tables, options.seeds):
                if (name, width, options.jobs, limits[-1]) in done or not name.startswith(options.only):
                    continue
                cells.append(measured(name, X, y, width, limits, options.jobs))
                with STORE.open("a") as store:
                    store.write(json.dumps(cells[-1]) + "\n")
                print("\n".join(table(cells[-1:])[1:2]), flush=True)
    lines = table(sorted(cells, key=lambda cell: (cell["neurons"], cell["jobs"])))
    print("\n".join(lines))
    (RESULTS / "noisy.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
