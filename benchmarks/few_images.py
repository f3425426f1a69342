"""Few images: ten digits from 2, 6, 10 and 40 images of each, one network per pair of digits.

    python benchmarks/few_images.py [digits] [mnist] [--draws 5] [--images 2 6 10 40] [--models ...]

Images are drawn at random, as many of each digit: of scikit-learn's digits (8 × 8, tested on all others),
and of MNIST's training images (28 × 28, tested on its 10,000 test images; benchmarks/images.py says where they come
from). Pixels are divided by the largest. Linear SVM (one per pair) and logistic regression are scikit-learn's, with
their defaults. Networks have 25 neurons for each of the 45 pairs, and a vote, or one output per class.

Learning scales every pixel by its deviation, which few images know badly. "Noisy" models are trained on 20 copies of
each image with noise of half the range of a pixel, so that all pixels vary alike; the SVM is shown with them, too.
Beside MNIST stand published figures of networks with integer weights that mixed-integer programs trained, on as many
images. Accuracies are means over the draws, with their standard errors; the last column is the CPU time of a fit.
Models of one draw see the same images. Writes results/few_images.txt.
"""

from __future__ import annotations

import argparse
import functools
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from common import RESULTS
from images import load_mnist
from stepnet import Integers, StepClassifier, StepEnsembleClassifier, warm_up

PUBLISHED = {2: 0.495, 6: 0.637, 10: 0.684, 40: 0.818}  # integer weights, trained by MIP, MNIST
COPIES, NOISE = 20, 0.5
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def pairs(**choices: Any) -> Callable[[int], StepClassifier]:
    return network(output="one_vs_one", **choices)


def network(**choices: Any) -> Callable[[int], StepClassifier]:
    return lambda seed: StepClassifier((25,), random_state=seed, time_limit=600, **choices)


MODELS: dict[str, Callable[[int], Any]] = {  # by seed
    "pairs": pairs(),
    "pairs, Integers(3)": pairs(weights=Integers(3)),
    "pairs, noisy": pairs(),
    "pairs, Integers(3), noisy": pairs(weights=Integers(3)),
    "one output a class, noisy": network(),
    "committee, noisy": lambda seed: StepEnsembleClassifier(kinds=("oblique",), random_state=seed, time_limit=600),
    "linear SVM": lambda seed: SVC(kernel="linear"),
    "linear SVM, noisy": lambda seed: SVC(kernel="linear"),
    "logistic": lambda seed: LogisticRegression(max_iter=1000),
}


def noisy(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Copies of each image, with noise."""
    X, y = np.repeat(X, COPIES, axis=0), np.repeat(y, COPIES)
    return X + NOISE * np.random.default_rng(seed).normal(size=X.shape), y


images_of = functools.cache(load_mnist)


def digits(n_images: int, draw: int) -> Arrays:
    X, y = load_digits(return_X_y=True)
    train = _drawn(y, n_images, draw)
    test = np.setdiff1d(np.arange(len(y)), train)
    return X[train] / 16, y[train], X[test] / 16, y[test]


def mnist(n_images: int, draw: int) -> Arrays:
    X, y = images_of("train")
    train = _drawn(y, n_images, draw)
    X_new, y_new = images_of("t10k")
    return X[train].astype(float) / 255, y[train], X_new.astype(float) / 255, y_new


def _drawn(y: np.ndarray, n_images: int, draw: int) -> np.ndarray:
    rng = np.random.default_rng(draw)
    return np.concatenate([rng.permutation(np.flatnonzero(y == digit))[:n_images] for digit in range(10)])


def lines(data: str, n_images: int, names: list[str], n_draws: int) -> Iterator[str]:
    """A line per model."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for draw in range(n_draws):
        X, y, X_new, y_new = {"digits": digits, "mnist": mnist}[data](n_images, draw)
        for name in names:
            begin = time.process_time()
            model = MODELS[name](draw).fit(*(noisy(X, y, draw) if name.endswith("noisy") else (X, y)))
            seconds = time.process_time() - begin
            found[name].append((float((model.predict(X_new) == y_new).mean()), seconds))
    for name, values in found.items():
        accuracies, seconds = np.array(values).T
        error = accuracies.std(ddof=1) / n_draws**0.5 if n_draws > 1 else 0.0
        yield f"{data:7} {n_images:6}  {name:26} {accuracies.mean():.3f} ± {error:.3f} {seconds.mean():7.2f}"
    if data == "mnist" and n_images in PUBLISHED:
        yield f"{data:7} {n_images:6}  {'published, MIP':26} {PUBLISHED[n_images]:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", metavar="DATA", help="digits, mnist")
    parser.add_argument("--images", nargs="+", type=int, default=[*PUBLISHED])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--models", nargs="+", choices=[*MODELS], default=[*MODELS])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    warm_up()
    shown = [f"{'':7} {'images':>6}  {'':26} accuracy      CPU s"]
    print(shown[0])
    for data in options.data or ("digits", "mnist"):
        for n_images in options.images:
            for line in lines(data, n_images, options.models, options.draws):
                shown.append(line)
                print(line, flush=True)
    (RESULTS / "few_images.txt").write_text("\n".join(shown) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
