"""Attacks and certificates: how many rows are decided, how fast, and how wide the intervals of the others are.

    python benchmarks/attacks.py [--only rows certified images soundness] [--short] [--seconds 10] [--images FOLDER]

"rows" attacks 50 test rows one at a time (digits 4 against 9 and ten classes, Breast Cancer; 10 to 200 neurons, two
layers, ensembles and a committee of all defaults; three norms): the share decided within some seconds a row, the median
CPU time, and the median of size / radius - 1 where they do not meet. "certified" decides one radius for all rows of
digits 4 against 9. "images" takes a folder with the binarised MNIST networks of the Max-SAT Evaluation 2020
(github.com/msakai/bnn-verification: mnist.npz, mnist_back_image.npz, mnist_rot.npz, and the images) and proves the
smallest ℓ∞ perturbation by whole numbers of five images; ℓ1, ℓ2 and ℓ0 with what is reached. "soundness" draws random
moves inside certified radii; the tests compare with all perturbations there are.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from common import RESULTS
from stepnet import Ball, Layer, Network, StepClassifier, StepEnsembleClassifier, attack, datasets
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.staircase import SIGN

NORMS = ("linf", "l2", "l1")
ROWS = 50
WIDTHS = ((10,), (25,), (50,), (100,), (200,), (50, 50))
IMAGES = (  # name, network, label, smallest ℓ∞ perturbation by whole numbers
    ("bnn_mnist_7_label9", "mnist", 9, 1),
    ("bnn_mnist_back_image_32_label3", "mnist_back_image", 3, 2),
    ("bnn_mnist_rot_16_label5", "mnist_rot", 5, 1),
    ("bnn_mnist_rot_8_label1", "mnist_rot", 1, 1),
    ("bnn_mnist_back_image_73_label5", "mnist_back_image", 5, 4),
)


def tables() -> dict[str, tuple]:
    X, y = load_digits(return_X_y=True)
    two = np.isin(y, (4, 9))
    return {
        "digits 4/9": (X[two], y[two]),
        "ten digits": (X, y),
        "Breast Cancer": datasets.load_breast_cancer_wisconsin(return_X_y=True),
    }


def models(short: bool) -> Iterator[tuple[str, str, object]]:
    for table in ("digits 4/9", "Breast Cancer", "ten digits"):
        for hidden in ((25,), (100,)) if short else WIDTHS:
            yield table, f"{hidden}", StepClassifier(hidden, method="learn", random_state=0)
            if table == "ten digits":
                break  # a vote of 45 pairs
    if not short:
        for table in ("digits 4/9", "Breast Cancer"):
            yield table, "ensemble of 9", StepEnsembleClassifier(random_state=0, n_estimators=9)
            yield table, "defaults", StepEnsembleClassifier(random_state=0)


def rows(short: bool, seconds: float) -> Iterator[str]:
    yield f"{ROWS if not short else 10} test rows, one at a time, at most {seconds:g} s each; CPU times"
    head = f"{'table':14} {'model':14} {'neurons':>7} {'norm':5} {'decided':>8} {'median s':>9}"
    yield f"{head} {'most s':>7} {'apart':>7}"
    data = tables()
    for table, name, model in models(short):
        X, y = data[table]
        X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.25, random_state=42, stratify=y)
        network = model.fit(X_train, y_train).network_
        for norm in NORMS[:1] if short else NORMS:
            spent, decided, apart = [], 0, []
            for row in X_test[: 10 if short else ROWS]:
                begin = time.process_time()
                found = attack(network, row[None], norm=norm, time_limit=seconds)
                spent.append(time.process_time() - begin)
                decided += bool(found.are_complete[0])
                if not found.are_complete[0] and found.radii[0] > 0:
                    apart.append(found.sizes[0] / found.radii[0] - 1)
            width = f"{100 * np.median(apart):.0f} %" if apart else "-"
            yield (
                f"{table:14} {name:14} {network.widths[0]:7} {norm:5} {100 * decided / len(spent):6.0f} % "
                f"{np.median(spent):9.3f} {max(spent):7.2f} {width:>7}"
            )


def certified(short: bool) -> Iterator[str]:
    X, y = tables()["digits 4/9"]
    for hidden in ((25,), (100,)) if short else ((25,), (100,), (200,), (50, 50)):
        classifier = StepClassifier(hidden, method="learn", random_state=0).fit(X, y)
        for norm, radius in (("linf", 0.5), ("l2", 2.0), ("l1", 4.0)):
            begin = time.process_time()
            found = attack(classifier, X[:60] if short else X, norm=norm, radius=radius)
            each = (time.process_time() - begin) / len(found.radii)
            yield (
                f"{hidden!s:10} {norm:5} radius {radius:<4g} certified {100 * found.certified(radius):5.1f} %, broken "
                f"{100 * found.broken(radius):5.1f} %, {1000 * each:7.1f} ms of CPU a row"
            )


def binarised(path: Path) -> Network:
    """Batch normalisation and sign are thresholds; a negative gamma turns a neuron around."""
    stored = np.load(path)

    def thresholds(name: str, bias: np.ndarray | float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        gamma, beta, mean, var = (
            stored[f"{name}/{part}"].astype(float) for part in ("gamma", "beta", "avg_mean", "avg_var")
        )
        signs = np.sign(gamma)
        return signs, signs * (mean - beta * np.sqrt(var + 2e-5) / gamma - bias)

    signs, ends = thresholds("input_bn")
    layers = [Layer(np.diag(signs), ends * 255, SIGN)]  # pixels are 0 to 255, the network's inputs 0 to 1
    for k in range(4):
        weights = np.where(stored[f"blocks/{k}/lin/W"] >= 0, 1.0, -1.0)
        signs, ends = thresholds(f"blocks/{k}/bn", stored[f"blocks/{k}/lin/b"].astype(float))
        layers.append(Layer(signs[:, None] * weights, ends, SIGN))
    weights = np.where(stored["output_lin/W"] >= 0, 1.0, -1.0)
    return Network((*layers, Layer(weights, -stored["output_lin/b"].astype(float), ARGMAX)))


def images(folder: Path, short: bool, seconds: float) -> Iterator[str]:
    from PIL import Image

    yield "images of the Max-SAT Evaluation 2020, perturbations by whole numbers, pixels stay in 0..255; CPU times"
    for name, network_name, label, optimum in IMAGES:
        network = binarised(folder / f"{network_name}.npz")
        pixels = np.array(Image.open(folder / f"{name}.png"), dtype=float)
        row = (pixels if network_name == "mnist" else pixels.T).ravel()  # the others are stored by columns
        if int(network.predict(row[None])[0]) != label:
            yield f"{name}: answered {network.predict(row[None])[0]}, not {label}"
            continue
        for norm in ("linf",) if short else ("linf", "l1", "l2", "l0"):
            begin, wall = time.process_time(), time.perf_counter()
            limit = 60.0 if norm == "linf" else seconds
            options = {"norm": norm, "integer": True, "low": 0, "high": 255, "time_limit": limit}
            found = attack(network, row[None], **options)
            proof = found.claimed_by[0] or "tried or bounded without a solver"
            known = f", known to be {optimum}" if norm == "linf" else ""
            yield (
                f"{name:32} {norm:5} [{found.radii[0]:g}, {found.sizes[0]:g}]{known}; radius: {proof}; "
                f"{time.process_time() - begin:.1f} s of CPU, {time.perf_counter() - wall:.1f} s"
            )


def soundness(short: bool) -> Iterator[str]:
    rng, n_moves, n_wrong = np.random.default_rng(0), 0, 0
    X, y = tables()["Breast Cancer"]
    classifier = StepClassifier((25,), method="learn", random_state=0).fit(X, y)
    network, some = classifier.network_, X[:: len(X) // (4 if short else 20)]
    for norm in NORMS:
        ball, found = Ball(norm), attack(classifier, some, norm=norm)
        for row, radius in zip(some, found.radii, strict=True):
            z = rng.normal(size=(20_000, len(row)))
            moves = z / ball.size(z)[:, None] * min(radius, 1e6) * (1 - 1e-9)
            n_wrong += int((network.predict(row + moves) != network.predict(row[None])).sum())
            n_moves += len(moves)
        assert (found.radii <= found.sizes).all()
    yield f"{n_moves:,} random moves on the spheres of certified radii: {n_wrong} change an answer; no interval crosses"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=["rows", "certified", "images", "soundness"])
    parser.add_argument("--short", action="store_true", help="few rows and models, printed only")
    parser.add_argument("--seconds", type=float, default=10.0, help="for a row")
    parser.add_argument("--image-seconds", type=float, default=300.0, help="for an image, in other norms than ℓ∞")
    parser.add_argument("--images", type=Path, help="folder with the binarised networks and their images")
    given = parser.parse_args()
    parts = {
        "rows": lambda: rows(given.short, given.seconds),
        "certified": lambda: certified(given.short),
        "images": lambda: images(given.images, given.short, given.image_seconds) if given.images else iter(()),
        "soundness": lambda: soundness(given.short),
    }
    lines: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in given.only:
            for line in parts[name]():
                print(line, flush=True)
                lines.append(line)
    if not given.short:
        (RESULTS / "attacks.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
