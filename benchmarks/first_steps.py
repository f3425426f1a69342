"""A new user's way, typed in an empty directory and timed: install, fit on a CSV, report, C, the same answers.

    python benchmarks/first_steps.py

Writes results/first_steps.txt, which the documentation shows. It needs a package index and a C compiler.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RESULTS, ROOT = Path(__file__).resolve().parent / "results", Path(__file__).resolve().parent.parent

COMMANDS = [
    "python3 -m venv venv && . venv/bin/activate",
    "pip install --quiet './stepnet[report]'",
    "stepnet warm-up",
    "stepnet demo --data tumours.csv",
    "head -2 tumours.csv",
    "stepnet fit tumours.csv --target class --hidden 3 --out model.json",
    "stepnet predict model.json tumours.csv --out answers.csv",
    "stepnet verify model.json tumours.csv --target class",
    "stepnet report model.json tumours.csv --target class --out report.html",
    "stepnet export model.json --to c --out model.c --check tumours.csv",
    "cc -std=c99 -Wall -Wextra -Werror -pedantic -O2 -DSTEPNET_MAIN -o model model.c",
    "cut -d, -f1-9 tumours.csv | ./model > c-answers.csv",
    "cmp answers.csv c-answers.csv && echo the same answers",
]


def main() -> None:
    lines, total = [], 0.0
    with tempfile.TemporaryDirectory() as name:
        files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
            "\n"
        )
        for file in filter(None, files):  # as a clone has it
            target = Path(name, "stepnet", file)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, target)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
        environment["NUMBA_CACHE_DIR"] = str(Path(name, "numba"))  # a fresh installation has compiled nothing
        for number, command in enumerate(COMMANDS):
            begin = time.perf_counter()
            typed = command if number == 0 else f". venv/bin/activate && {command}"
            done = subprocess.run(
                ["bash", "-c", typed], cwd=name, env=environment, capture_output=True, text=True, check=False
            )
            seconds = time.perf_counter() - begin
            if done.returncode:
                sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
            total += seconds
            lines += [f"$ {command}", *done.stdout.rstrip().splitlines(), f"# {seconds:.1f} s", ""]
            print("\n".join(lines[-3 - done.stdout.count("\n") :]), flush=True)
        lines.append(f"# {total:.0f} s in all")
    print(lines[-1])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "first_steps.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
