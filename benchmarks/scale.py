"""Many rows: `method="learn"` against the MLP, the search's moves and the memory, from 10^4 to 10^6 rows.

    python benchmarks/scale.py [--rows 10000 100000 1000000] [--search 60]

Rows × 20 features from a planted 8-neuron network with 10 % of the labels flipped; 20,000 clean test rows.
Peak memory is that of a process of its own that makes the data and fits them, less what it had before
the data, over the size of the data (rows and labels).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import RESULTS
from stepnet import StepClassifier
from stepnet.model.network import Layer, Network


def planted(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    hidden = Layer(rng.normal(size=(8, 20)), rng.normal(size=8))
    network = Network((hidden, Layer(rng.choice([-1.0, 1.0], (1, 8)), np.array([0.5]))))
    X = rng.normal(size=(n_rows + 20_000, 20))
    y = network.predict(X)
    flipped = rng.random(n_rows) < 0.1
    y[:n_rows] ^= flipped
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def classifier(method: str, seconds: float) -> StepClassifier:
    width = {"learn": 25, "search": 8}[method]
    return StepClassifier((width,), method=method, random_state=0, time_limit=seconds)


def memory(n_rows: int, method: str) -> None:
    """Peak memory of a fit over the size of the data; for a process of its own."""
    X, y = planted(6_000)[:2]
    classifier(method, 2).fit(X, y)
    before = resident("VmRSS")
    X, y = planted(n_rows)[:2]
    classifier(method, 40).fit(X, y)
    print((resident("VmHWM") - before) / (X.nbytes + y.nbytes))


def resident(name: str) -> int:
    """Bytes of memory in use now (VmRSS) or at most so far (VmHWM); Linux only."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def peak_memory(n_rows: int, method: str) -> float:
    command = [sys.executable, str(Path(__file__).resolve()), "--memory", str(n_rows), method]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--search", type=float, default=60.0, help="seconds of the search")
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        memory(int(options.memory[0]), options.memory[1])
        return
    classifier("learn", 60).fit([[0, 0], [1, 1]], [0, 1])
    classifier("search", 60).fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    print(f"{'rows':>9} {'learn':>17} {'MLP':>19} {'ratio':>6} {'memory':>7}", flush=True)
    timings, traces = [], {}
    for n_rows in options.rows:
        X, y, X_test, y_test = planted(n_rows)
        begin = time.perf_counter()
        learned = classifier("learn", 600).fit(X, y)
        ours = time.perf_counter() - begin
        begin = time.perf_counter()
        mlp = make_pipeline(StandardScaler(), MLPClassifier((25,), max_iter=200, random_state=0)).fit(X, y)
        theirs = time.perf_counter() - begin
        timings.append((n_rows, ours, theirs))
        print(
            f"{n_rows:9} {learned.score(X_test, y_test):8.4f} {ours:6.2f} s {mlp.score(X_test, y_test):9.4f} "
            f"{theirs:7.2f} s {theirs / ours:6.1f} {peak_memory(n_rows, 'learn'):7.2f}",
            flush=True,
        )
    print(f"\n{'rows':>9} {'Search: errors':>15} {'test':>7} {'ms a move':>10} {'memory':>7}   errors at seconds")
    for n_rows in options.rows:
        X, y, X_test, y_test = planted(n_rows)
        searched = classifier("search", options.search).fit(X, y)
        traces[n_rows] = [(p.runtime, p.loss / n_rows) for p in searched.result_.trace]
        steps = searched.result_.trace[:: max(1, len(searched.result_.trace) // 4)]
        print(
            f"{n_rows:9} {searched.certificate_.loss / n_rows:15.4f} {searched.score(X_test, y_test):7.4f} "
            f"{1e3 * seconds_a_move(searched, X, y):10.2f} {peak_memory(n_rows, 'search'):7.2f}   "
            + ", ".join(f"{p.loss / n_rows:.3f} at {p.runtime:.1f}" for p in steps),
            flush=True,
        )
    plot(timings, traces)


def seconds_a_move(model: StepClassifier, X: np.ndarray, y: np.ndarray) -> float:
    """Of moves at the end of a search, where the network is good."""
    from stepnet.search import kernels, local_search

    problem = model.problem(X, y)
    rows = problem.scaling.apply(problem.dataset.X)
    W, t = local_search._padded(problem, model.network_)
    state = local_search._state(problem, rows, W, t)
    buffers, n_moves = kernels.Buffers.of(state), max(10, 2_000_000 // len(rows))
    _, loss = kernels.search(state, buffers, W, t, np.inf, np.nan, True, True, 0, 200, 0, 0.0)
    begin = time.perf_counter()
    kernels.search(state, buffers, W, t, loss, loss, True, True, n_moves, 200, 0, 0.0)
    return (time.perf_counter() - begin) / n_moves


def plot(timings: list, traces: dict) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
    n_rows, ours, theirs = np.array(timings).T
    left.plot(n_rows, ours, "o-", label='method="learn"')
    left.plot(n_rows, theirs, "s-", label="MLP")
    left.plot(
        n_rows, ours[0] * n_rows * np.log(n_rows) / (n_rows[0] * np.log(n_rows[0])), "k:", label="rows · log rows"
    )
    left.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds", title="Time to fit")
    left.legend()
    for rows, trace in traces.items():
        right.step(*np.array(trace).T, where="post", label=f"{rows:,} rows")
    right.set(xscale="log", xlabel="seconds", ylabel="share of rows wrong", title='method="search"')
    right.legend()
    figure.tight_layout()
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "scale.png", dpi=120)


if __name__ == "__main__":
    main()
