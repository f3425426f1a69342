"""kill -9 at random moments of a checkpointed fit: the file is never damaged, what was reached is never lost.

    python benchmarks/kills.py [--kills 10]

Breast Cancer, two neurons, the paper's training rows: every run is killed after up to 15 s and the next goes on
from the checkpoint; the last one may end.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sklearn.model_selection import train_test_split

from common import RESULTS
from stepnet.datasets import load_breast_cancer_wisconsin

COMMAND = [sys.executable, "-m", "stepnet", "fit", "rows.csv", "--target", "y", "--hidden", "2", "--method", "prove"]
COMMAND += ["--checkpoint", "c.json", "--resume", "--time-limit"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    moments, lines = random.Random(0), []
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, test_size=0.2, random_state=42)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [",".join([*map(str, row), str(code)]) for row, code in zip(X.tolist(), y.tolist(), strict=True)]
        (folder / "rows.csv").write_text("\n".join(["a,b,c,d,e,f,g,h,i,y", *rows]) + "\n")
        best, bound = float("inf"), 0.0
        for _ in range(options.kills):
            after = moments.uniform(0.0, 15.0)
            process = subprocess.Popen([*COMMAND, "600"], cwd=folder, stderr=subprocess.PIPE, text=True)
            begin = process.stderr.readline()
            time.sleep(after)
            process.kill()
            reports = (begin + process.communicate()[1]).splitlines()
            reached = [(number(line, "loss"), number(line, "bound")) for line in reports if line.count("gap") == 1]
            kept = json.loads((folder / "c.json").read_text())["parts"]["all"]
            is_kept = reached[0][0] <= best and kept["loss"] <= min(loss for loss, _ in reached)
            is_kept = is_kept and kept["bound"]["value"] >= max(bound, *(low for _, low in reached))
            assert is_kept, (best, bound, reached, kept["loss"], kept["bound"])
            best, bound = kept["loss"], kept["bound"]["value"]
            lines.append(f"killed after {after:4.1f} s: loss {best:g}, bound {bound:g}, file whole, nothing lost")
            print(lines[-1], flush=True)
        done = subprocess.run([*COMMAND, "240", "--json"], cwd=folder, capture_output=True, text=True, check=True)
        certificate = json.loads(done.stdout)["certificate"]
        assert certificate["loss"] <= best
        lines.append(
            f"left to end: loss {certificate['loss']:g}, bound {certificate['bound']:g}, {certificate['status']}"
        )
        print(lines[-1])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "kills.txt").write_text("\n".join(lines) + "\n")


def number(line: str, word: str) -> float:
    return float(line.split(f"{word} ")[1].split()[0])


if __name__ == "__main__":
    main()
