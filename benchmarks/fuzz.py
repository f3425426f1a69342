"""Fuzzing the command line: damaged model files, odd tables, odd configurations, odd arguments.

    python benchmarks/fuzz.py [--cases 2000] [--seed 0]

What must hold is in tests/fuzzing.py: exit code 0, 1 or 2, no traceback, no half-written file, no wrong answer.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

# isort: off
from common import RESULTS  # makes the tests' modules known
import fuzzing


def tried(case, models: Path, n_cases: int, start: int) -> int:
    """How many cases held; the first that does not raises."""
    count = 0

    @seed(start)
    @settings(
        max_examples=n_cases,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(st.data())
    def check(data):
        nonlocal count
        with tempfile.TemporaryDirectory() as name:
            shutil.copytree(models, name, dirs_exist_ok=True)
            case(Path(name), data.draw)
        count += 1

    check()
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as models:
        fuzzing.make_models(Path(models))
        for kind, case in fuzzing.CASES.items():
            begin = time.perf_counter()
            fuzzing.OUTCOMES.clear()
            count = tried(case, Path(models), options.cases // len(fuzzing.CASES), options.seed)
            codes = ", ".join(f"{number} with {code}" for code, number in sorted(fuzzing.OUTCOMES.items()))
            seconds = time.perf_counter() - begin
            lines.append(f"{kind}: {count} cases, nothing broke; commands ended {codes} ({seconds:.0f} s)")
            print(lines[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "fuzz.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
