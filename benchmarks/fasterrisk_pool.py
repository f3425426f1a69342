"""The pool of FasterRisk for one table; run by `sparse_integer.py` and `scores.py` in an environment of its own.

    python fasterrisk_pool.py rows.npz pool.npz

FasterRisk with its own defaults: at most 5 non-zero weights from -5 to 5. It has no time limit.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from fasterrisk.fasterrisk import RiskScoreOptimizer


def main(given: str, wanted: str) -> None:
    table = np.load(given)
    begin = time.process_time()
    optimiser = RiskScoreOptimizer(X=table["X"], y=np.where(table["y"] == 1, 1.0, -1.0), k=5, lb=-5, ub=5)
    optimiser.optimize()
    multipliers, intercepts, weights = optimiser.get_models()
    seconds = time.process_time() - begin
    np.savez(wanted, weights=weights, intercepts=intercepts, multipliers=multipliers, seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
