"""Building Theorem 2 for n=9, d_1=50, m=559: seconds and memory.

python benchmarks/build.py
"""

from __future__ import annotations

import resource
import time
import tracemalloc

import numpy as np

from common import make_problem
from stepnet.formulations.paper import Paper


def main() -> None:
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(559, 9)), rng.integers(0, 2, 559), (50,))
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        (encoding,) = Paper().encode(problem)
        times.append(time.perf_counter() - begin)
    tracemalloc.start()
    Paper().encode(problem)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    model = encoding.model
    print(f"{model.n_rows} rows, {model.n_columns} columns, {model.matrix.nnz} entries")
    print(
        f"built in {min(times):.2f} to {max(times):.2f} s; "
        f"peak of the build {peak:.0f} MB, of the process {process:.0f} MB"
    )


if __name__ == "__main__":
    main()
