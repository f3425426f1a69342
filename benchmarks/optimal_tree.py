"""An optimal tree for one table of 0 and 1; run by `scores.py` in an environment of its own.

    python optimal_tree.py given.npz wanted.npz depth

The tree with the fewest training errors of at most so many levels; its probabilities are the shares of the leaves.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from pystreed import STreeDClassifier


def main(given: str, wanted: str, depth: str) -> None:
    table = np.load(given)
    begin = time.process_time()
    tree = STreeDClassifier(max_depth=int(depth)).fit(table["X"].astype(int), table["y"])
    seconds = time.process_time() - begin
    chances = tree.predict_proba(table["new"].astype(int))[:, 1]
    errors = (tree.predict(table["X"].astype(int)) != table["y"]).sum()
    np.savez(wanted, chances=chances, errors=errors, seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
