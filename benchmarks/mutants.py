"""Mutants of proofs: small proofs of every kind, each changed in many ways, and judged by brute force.

    python benchmarks/mutants.py [--mutants 6000] [--seeds 4]

What is changed, and how it is judged, is in tests/proof_mutants.py. Every honest proof must be accepted, and no mutant
that claims anything false. The first one that is ends the run with an error.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

# isort: off
from common import RESULTS  # makes the tests' modules known
import proof_mutants


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=6000)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    n_each = -(-options.mutants // (len(proof_mutants.CASES) * options.seeds))
    lines = [
        f"{'proofs':34} {'honest':>6} {'mutants':>8} {'refused':>8} {'accepted, true':>15} {'accepted, false':>16}"
    ]
    totals = [0] * 5
    begin = time.process_time()
    for case in proof_mutants.CASES:
        with tempfile.TemporaryDirectory() as place:
            found = proof_mutants.tried(case, Path(place), range(options.seeds), n_each)
        for failure in found.failures:
            print(f"FAILED {case.title}: {failure}", flush=True)
        counts = [found.counts[name] for name in ("refused", "accepted and true", "accepted and false")]
        numbers = [found.honest, sum(found.counts.values()), *counts]
        totals = [a + b for a, b in zip(totals, numbers, strict=True)]
        lines.append(_line(case.title, numbers))
        print(lines[-1], flush=True)
        if found.failures:
            raise SystemExit("a false claim was accepted, an honest one refused, or a check broke")
    lines += [_line("all", totals), f"{time.process_time() - begin:.0f} s of CPU"]
    print("\n".join(lines[-2:]))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "mutants.txt").write_text("\n".join(lines) + "\n")


def _line(title: str, numbers: list[int]) -> str:
    return f"{title:34} {numbers[0]:6} {numbers[1]:8,} {numbers[2]:8,} {numbers[3]:15,} {numbers[4]:16,}"


if __name__ == "__main__":
    main()
