"""Real data proven: one, two and three neurons on the paper's Breast Cancer training split, with proofs to check.

    python benchmarks/breast_cancer.py

For every width, and for two of them with weights that balance the classes: the certificate, the time to it, the time to
write a proof, and what its verification says.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from sklearn.model_selection import train_test_split

from common import RESULTS
from stepnet import StepClassifier, verify_proof, warm_up
from stepnet.datasets import load_breast_cancer_wisconsin

CASES = [(1, None, 20), (2, None, 240), (3, None, 60), (1, "balanced", 60), (2, "balanced", 240)]


def main() -> None:
    warm_up()
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    X_train, _, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=42)
    lines = []
    for width, balance, seconds in CASES:
        classifier = StepClassifier(
            hidden=(width,), class_weight=balance, method="prove", random_state=0, time_limit=seconds
        )
        classifier.fit(X_train, y_train)
        case = "balanced classes" if balance else "all rows alike"
        lines += [f"{width} neurons, {case}, limit {seconds} s", str(classifier.certificate_)]
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            classifier.save_proof(Path(folder, "proof"), X_train, y_train)
            written = time.perf_counter()
            verification = verify_proof(Path(folder, "proof"))
            checked = time.perf_counter()
            size = sum(path.stat().st_size for path in Path(folder, "proof").iterdir())
        lines += [
            str(verification),
            f"proof of {size / 1e6:.1f} MB written in {written - begin:.1f} s, checked in {checked - written:.1f} s: "
            f"{'every claim holds' if verification else 'FALSE'}",
            "",
        ]
        print("\n".join(lines[-4:]), flush=True)
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "breast_cancer.txt").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
