"""Independent ways to an optimum: cells, cones, sat, one_neuron, gates and brute force on random instances.

    python benchmarks/ways.py [--instances 600] [--jobs 1]

One to five features, one to three neurons, weights of rows, repeated and collinear points, integers and floats.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

# isort: off
from common import RESULTS  # makes the tests' modules known
from agreement import disagreements, instance


def one(seed: int) -> list[str]:
    return [f"instance {seed}: {what}" for what in disagreements(instance(seed), with_gates=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=600)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as workers:
        found = [line for lines in workers.map(one, range(options.instances), chunksize=10) for line in lines]
    lines = [*found, f"{options.instances} instances, {len(found)} disagreements"]
    print("\n".join(lines))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "ways.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
