"""Trains the demo's network and takes pictures of its report, in light and dark: pictures/report-*.png.

python docs/pictures.py        # needs Chromium
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from stepnet import StepClassifier
from stepnet.datasets import load_breast_cancer_wisconsin
from stepnet.report import Report, to_html

FOLDER = Path(__file__).with_name("pictures")
SCHEMES = {"dark": 0, "light": 1}  # as Chromium numbers them
SIZE, SCALE = "1200,1000", 0.8  # the top of the page, small enough for a document


def demo_report() -> Report:
    """That of the network which ``stepnet demo`` trains."""
    rows = load_breast_cancer_wisconsin()
    names = np.array(rows.target_names)[rows.target]
    X_train, X_test, y_train, y_test = train_test_split(rows.data, names, test_size=0.2, random_state=42)
    classifier = StepClassifier(hidden=(25,), time_limit=60, random_state=0).fit(X_train, y_train)
    classifier.feature_names_in_ = np.array(rows.feature_names, dtype=object)
    return Report.of(
        classifier,
        (X_train, y_train, None),
        (X_test, y_test),
        title="Breast Cancer Wisconsin: benign or malignant?",
        data_name="the training rows of stepnet demo",
    )


def shoot(chromium: str, page: Path, picture: Path, scheme: int, profile: Path) -> None:
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", f"--user-data-dir={profile}", f"--window-size={SIZE}",
             f"--force-device-scale-factor={SCALE}",
             f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={picture}"]  # fmt: skip
    subprocess.run([chromium, *flags, page.as_uri()], check=True, capture_output=True, timeout=120)


def main() -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("there is no Chromium on this machine; install it to take the pictures.")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(to_html(demo_report()), encoding="utf-8")
        for name, scheme in SCHEMES.items():
            picture = FOLDER / f"report-{name}.png"
            shoot(chromium, page, picture, scheme, Path(folder) / "profile")
            print(f"{picture}: {picture.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
