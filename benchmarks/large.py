"""Tables larger than memory: fit and verification in blocks, beside learners that also read blocks.

    python benchmarks/large.py generate --rows 100000000 --out /data/large    # Parquet, float32, 80 bytes a row
    python benchmarks/large.py table /data/large                    # stepnet, SGDClassifier, LightGBM, XGBoost
    python benchmarks/large.py growth /data/large --rows 100000 1000000 10000000 100000000
    python benchmarks/large.py steps /data/large --rows 10000000    # what more steps, rows at once and neurons buy
    python benchmarks/large.py dask /data/large --workers 1 2 4     # processes and TCP; one worker is killed

Rows × 20 features from a planted network of 8 neurons, 10 % of the labels flipped, in files of a million rows; 200,000
test rows with true labels. Each measurement is a process of its own: its peak of resident memory, CPU and wall seconds.
Throughput is beside that of reading the same columns into numpy in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from common import RESULTS
from stepnet import Learn, Rows, StepClassifier
from stepnet.model.network import Layer, Network

N_FEATURES, PER_FILE, GROUP = 20, 1_000_000, 125_000
NAMES = [f"x{i}" for i in range(N_FEATURES)]


def planted(n_rows: int, seed: int, flipped: float) -> tuple[np.ndarray, np.ndarray]:
    network, rng = _network(), np.random.default_rng([1, seed])
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    return X, (network.predict(X) ^ (rng.random(n_rows) < flipped)).astype(np.int8)


def _network() -> Network:
    rng = np.random.default_rng(0)
    hidden = Layer(rng.normal(size=(8, N_FEATURES)), rng.normal(size=8))
    return Network((hidden, Layer(rng.choice([-1.0, 1.0], (1, 8)), np.array([0.5]))))


def generate(folder: Path, n_rows: int) -> None:
    import pyarrow
    import pyarrow.parquet

    folder.mkdir(parents=True, exist_ok=True)
    free = os.statvfs(folder)
    if free.f_bavail * free.f_frsize < 100 * n_rows:
        sys.exit(f"{n_rows} rows take about {80 * n_rows / 1e9:.1f} GB, which {folder} does not have")
    for number, first in enumerate(range(0, n_rows, PER_FILE)):
        path = folder / f"{number:04}.parquet"
        X, y = planted(min(PER_FILE, n_rows - first), number, 0.1)
        if not path.exists():
            table = pyarrow.table(dict(zip(NAMES, X.T, strict=True)) | {"y": y})
            pyarrow.parquet.write_table(table, path, row_group_size=GROUP, compression="zstd", use_dictionary=False)


def files(folder: Path, n_rows: int | None) -> list[str]:
    found = [str(path) for path in sorted(folder.glob("*.parquet"))]
    return found if n_rows is None else found[: max(1, n_rows // PER_FILE)]


def blocks(paths: list[str], n_rows: int | None):
    """Row groups as arrays, up to so many rows."""
    import pyarrow.parquet

    n_seen = 0
    for path in paths:
        with pyarrow.parquet.ParquetFile(path) as file:
            for group in range(file.metadata.num_row_groups):
                table = file.read_row_group(group, use_threads=False)
                X = np.column_stack([table.column(name).to_numpy() for name in NAMES])
                yield X, table.column("y").to_numpy()
                n_seen += len(X)
                if n_rows is not None and n_seen >= n_rows:
                    return


def rows_of(paths: list[str], n_rows: int | None, memory: str) -> Rows:
    if n_rows is None or n_rows >= PER_FILE:
        return Rows.from_parquet(paths, target="y", memory_limit=memory)
    (X, y), *_ = blocks(paths, GROUP)
    return Rows.from_blocks(lambda block: (X[:n_rows], y[:n_rows]), 1, memory_limit=memory)


def measure(learner: str, paths: list[str], n_rows: int | None, memory: str) -> dict[str, float]:
    """Seconds, peak memory and test accuracy; for a process of its own."""
    facts, begin, cpu = {}, time.perf_counter(), time.process_time()
    if learner == "read":
        facts["rows"] = sum(len(y) for _, y in blocks(paths, n_rows))
    elif learner == "stepnet":
        stages: dict[str, float] = {}

        def watch(now):
            stages[now.stage.split(":")[0]] = now.runtime

        rows = rows_of(paths, n_rows, memory)
        model = StepClassifier(random_state=0, time_limit=600).fit(rows, on_incumbent=watch)
        facts |= {f"until the end of: {stage}": round(seconds, 2) for stage, seconds in stages.items()}
        facts |= {"rows": model.certificate_.total_weight, "training loss": model.certificate_.loss}
    elif learner == "verify":
        model = StepClassifier(method=Learn(epochs=1), random_state=0).fit(rows_of(paths[:1], 50_000, memory))
        from stepnet.estimators.fit_rows import _problem_of
        from stepnet.estimators.large import Passes, Tally
        from stepnet.runtime.limits import Budget

        rows = rows_of(paths, n_rows, memory)
        begin, cpu = time.perf_counter(), time.process_time()
        tally = Tally(model.network_, _problem_of(model, rows))
        Passes(rows, Budget()).tally(tally, model._piece_dataset)
        facts["rows"] = tally.n_rows
    elif learner == "memory":
        parts = list(blocks(paths, n_rows))
        X, y = np.concatenate([one for one, _ in parts]), np.concatenate([one for _, one in parts])
        del parts
        model = StepClassifier(random_state=0, time_limit=600).fit(X, y)
    else:
        model = _peer(learner, paths, n_rows)
    facts |= {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - cpu}
    facts["peak GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if learner not in ("read", "verify"):
        X, y = planted(200_000, 10**6, 0.0)
        names = np.asarray(X) if not hasattr(model, "feature_names_in_") else _frame(X)
        facts["accuracy"] = float((model.predict(names) == y).mean())
    return facts


def _frame(X: np.ndarray):
    import pandas

    return pandas.DataFrame(X, columns=NAMES)


def _peer(learner: str, paths: list[str], n_rows: int | None):
    if learner == "sgd":
        from sklearn.linear_model import SGDClassifier

        model = SGDClassifier(loss="log_loss", random_state=0)
        for X, y in blocks(paths, n_rows):
            model.partial_fit(X, y, classes=[0, 1])
        return model
    if learner == "lightgbm":
        import lightgbm

        parts = list(blocks(paths, n_rows))
        X, y = np.concatenate([one for one, _ in parts]), np.concatenate([one for _, one in parts])
        return lightgbm.LGBMClassifier(n_estimators=100, n_jobs=1, random_state=0, verbose=-1).fit(X, y)
    import xgboost

    class Blocks(xgboost.DataIter):
        def __init__(self):
            super().__init__(cache_prefix=os.path.join(os.environ.get("TMPDIR", "/tmp"), "xgboost-large"))
            self.reset()

        def reset(self):
            self.parts = blocks(paths, n_rows)

        def next(self, input_data):
            part = next(self.parts, None)
            if part is not None:
                input_data(data=part[0], label=part[1])
            return part is not None

    matrix = xgboost.ExtMemQuantileDMatrix(Blocks())
    options = {"objective": "binary:logistic", "tree_method": "hist", "nthread": 1}
    booster = xgboost.train(options, matrix, num_boost_round=100)

    class Model:
        def predict(self, X):
            return booster.predict(xgboost.DMatrix(X)) > 0.5

    return Model()


def measured(learner: str, folder: Path, n_rows: int | None, memory: str) -> dict[str, float] | None:
    """In a process of its own; None if the learner is not installed or fails."""
    command = [sys.executable, __file__, "measure", str(folder), "--learner", learner, "--memory", memory]
    command += [] if n_rows is None else ["--rows", str(n_rows)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{learner}: {done.stderr.strip().splitlines()[-1:]}", flush=True)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def table(folder: Path, n_rows: int | None, memory: str) -> list[str]:
    lines = [f"{'':28} {'wall s':>8} {'CPU s':>8} {'peak GB':>8} {'accuracy':>9}"]
    learners = {
        "read": "reading into numpy",
        "stepnet": f"stepnet, memory_limit={memory}",
        "verify": "stepnet, verification alone",
        "memory": "stepnet, a million rows",
        "sgd": "SGDClassifier.partial_fit",
        "xgboost": "XGBoost, external memory",
        "lightgbm": "LightGBM, in memory",
    }
    for learner, name in learners.items():
        found = measured(learner, folder, 1_000_000 if learner == "memory" else n_rows, memory)
        if found:
            score = f"{found['accuracy']:9.4f}" if "accuracy" in found else f"{'':9}"
            lines.append(f"{name:28} {found['seconds']:8.1f} {found['cpu']:8.1f} {found['peak GB']:8.2f} {score}")
            lines += [f"    {key} {value}" for key, value in found.items() if key.startswith("until")]
        print("\n".join(lines[-4:]) if found else "", flush=True)
    return lines


def growth(folder: Path, sizes: list[int], memory: str) -> list[str]:
    from matplotlib.figure import Figure

    lines, points = [f"{'rows':>10} {'fit CPU s':>10} {'verify CPU s':>13} {'read CPU s':>11} {'peak GB':>8}"], []
    for n_rows in sizes:
        found = [measured(learner, folder, n_rows, memory) for learner in ("stepnet", "verify", "read")]
        if not all(found):
            continue
        points.append((n_rows, *(one["cpu"] for one in found), found[0]["peak GB"]))
        lines.append("{:>10} {:>10.1f} {:>13.1f} {:>11.1f} {:>8.2f}".format(*points[-1]))
        print(lines[-1], flush=True)
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    time_axes, memory_axes = figure.subplots(1, 2)
    n_rows, *columns = zip(*points, strict=True)
    for name, seconds in zip(("fit", "verification", "reading"), columns[:3], strict=True):
        time_axes.loglog(n_rows, seconds, "o-", label=name)
    time_axes.set(xlabel="rows", ylabel="CPU seconds")
    time_axes.legend()
    memory_axes.semilogx(n_rows, columns[3], "o-")
    memory_axes.set(xlabel="rows", ylabel="peak memory, GB", ylim=(0, None))
    figure.savefig(RESULTS / "large.png", dpi=150)
    return lines


def steps(folder: Path, n_rows: int, memory: str) -> list[str]:
    """Accuracy and CPU seconds of the descent by steps, rows at once and neurons."""
    from stepnet.search.descent import descent

    lines = [f"{'most steps':>10} {'batch':>6} {'hidden':>7} {'accuracy':>9} {'CPU s':>7}"]
    X_test, y_test = planted(200_000, 10**6, 0.0)
    rows = rows_of(files(folder, n_rows), n_rows, memory)
    for hidden in (25, 100):
        for most, batch in ((50_000, 64), (200_000, 64), (400_000, 64), (50_000, 256), (200_000, 256)):
            descent._MOST_STEPS = (most, most)
            model = StepClassifier((hidden,), method=Learn(batch=batch), random_state=0, time_limit=3600)
            begin = time.process_time()
            model.fit(rows)
            score = float((model.predict(_frame(X_test)) == y_test).mean())
            lines.append(f"{most:>10} {batch:>6} {hidden:>7} {score:9.4f} {time.process_time() - begin:7.1f}")
            print(lines[-1], flush=True)
    return lines


def dask(folder: Path, n_rows: int | None, workers: list[int]) -> list[str]:
    import dask.dataframe
    from distributed import Client, LocalCluster

    lines, networks = [f"{'workers':>8} {'killed':>7} {'wall s':>8} {'same network':>13}"], []
    for n_workers, is_killed in [(one, False) for one in workers] + [(2, True)]:
        own = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(**own) as cluster, Client(cluster) as client:
            data = dask.dataframe.read_parquet(files(folder, n_rows))
            victim, told = next(iter(client.run(os.getpid).values())), []

            def watch(now, victim=victim, is_killed=is_killed, told=told):
                if is_killed and now.stage == "learning" and not told:
                    told.append(now)
                    threading.Thread(target=os.kill, args=(victim, signal.SIGKILL)).start()

            begin = time.perf_counter()
            model = StepClassifier(random_state=0, time_limit=3600)
            model.fit(data[NAMES], data["y"], on_incumbent=watch)
            seconds = time.perf_counter() - begin
        networks.append(model.network_)
        same = networks[-1] == networks[0]
        lines.append(f"{n_workers:>8} {'one' if is_killed else '-':>7} {seconds:8.1f} {same!s:>13}")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("generate", "table", "growth", "steps", "dask", "measure"))
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--rows", type=lambda text: int(float(text)), nargs="+")
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--learner", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder, n_rows = options.folder or options.out, options.rows[0] if options.rows else None
    if options.what == "generate":
        generate(folder, n_rows or 1_000_000)
        return
    if options.what == "measure":
        print(json.dumps(measure(options.learner, files(folder, n_rows), n_rows, options.memory)))
        return
    if options.what == "growth":
        lines = growth(folder, options.rows or [100_000, 1_000_000], options.memory)
    elif options.what == "dask":
        lines = dask(folder, n_rows, options.workers)
    else:
        lines = {"table": table, "steps": steps}[options.what](
            folder, n_rows or (10**7 if options.what == "steps" else None), options.memory
        )
    rows = " ".join(map(str, options.rows or ["all"]))
    title = f"large.py {options.what} --rows {rows} --memory {options.memory}"
    (RESULTS / f"large_{options.what}.txt").write_text("\n".join([title, *lines]) + "\n")


if __name__ == "__main__":
    main()
