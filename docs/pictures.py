"""Runs ``stepnet demo`` and takes pictures of its report, in light and dark: pictures/report-*.png.

python docs/pictures.py        # needs Chromium
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).with_name("pictures")
SCHEMES = {"dark": 0, "light": 1}  # as Chromium numbers them
SIZE, SCALE = "1200,1000", 0.8  # the top of the page, small enough for a document


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
        demo = ["demo", "--out", Path(folder) / "model.json", "--report", page]
        subprocess.run([sys.executable, "-m", "stepnet", *demo], check=True, capture_output=True)
        for name, scheme in SCHEMES.items():
            picture = FOLDER / f"report-{name}.png"
            shoot(chromium, page, picture, scheme, Path(folder) / "profile")
            print(f"{picture}: {picture.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
