"""Autoencoder: digits as 16 and 32 bits, against the signs of as many principal components.

    python benchmarks/autoencoder.py

Three splits of scikit-learn's digits (8 × 8, values 0 to 16), 30 % of the rows for testing. The signs of principal
components are decoded by least squares. Writes results/autoencoder.png with originals and reconstructions.
"""

from __future__ import annotations

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from common import RESULTS
from stepnet import StepAutoencoder


def by_signs(train, test, n_bits):
    pca = PCA(n_bits).fit(train)
    decoder = LinearRegression().fit(pca.transform(train) > 0, train)
    return decoder.predict(pca.transform(test) > 0)


def main() -> None:
    X = load_digits().data
    print(f"{'bits':>4} {'split':>5} {'signs of PCA':>13} {'stepnet':>8} {'deep':>6} {'seconds':>8}")
    pictures = {}
    for n_bits in (16, 32):
        for seed in range(3):
            train, test = train_test_split(X, test_size=0.3, random_state=seed)
            begin = time.perf_counter()
            flat = StepAutoencoder(n_bits, random_state=0).fit(train)
            seconds = time.perf_counter() - begin
            deep = StepAutoencoder(n_bits, hidden=(64,), random_state=0).fit(train)
            restored = {
                "signs of PCA": by_signs(train, test, n_bits),
                "stepnet": flat.inverse_transform(flat.transform(test)),
                "deep": deep.inverse_transform(deep.transform(test)),
            }
            errors = [((rows - test) ** 2).mean() for rows in restored.values()]
            print(f"{n_bits:4} {seed:5} {errors[0]:13.3f} {errors[1]:8.3f} {errors[2]:6.3f} {seconds:8.2f}", flush=True)
            if seed == 0:
                pictures[n_bits] = {"original": test, **restored}
    draw(pictures)


def draw(pictures) -> None:
    names = [(n_bits, name) for n_bits, rows in pictures.items() for name in rows if name != "deep"]
    figure, axes = plt.subplots(len(names), 12, figsize=(10, 1.0 * len(names)))
    for line, (n_bits, name) in zip(axes, names, strict=True):
        for ax, row in zip(line, pictures[n_bits][name], strict=False):
            ax.imshow(np.asarray(row).reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
            ax.set(xticks=[], yticks=[])
        label = "original" if name == "original" else f"{name}\n{n_bits} bits"
        line[0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize=8)
    figure.tight_layout(pad=0.3)
    figure.savefig(RESULTS / "autoencoder.png", dpi=120)


if __name__ == "__main__":
    main()
