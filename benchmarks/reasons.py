"""Counterfactuals of Breast Cancer rows with learned neurons: CPU time per row, costs, and how many are proven.

python benchmarks/reasons.py                 # 100 rows, 25 neurons
python benchmarks/reasons.py --rows 10       # a short look
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd

from stepnet import StepClassifier, counterfactual
from stepnet.datasets import load_breast_cancer_wisconsin

RESULTS = Path(__file__).with_name("results") / "reasons.json"
DEMANDS = {
    "l1, integers 1 to 10": {"norm": "l1", "integer": "all", "low": 1, "high": 10},
    "l0, integers 1 to 10": {"norm": "l0", "integer": "all", "low": 1, "high": 10},
    "linf, integers 1 to 10": {"norm": "linf", "integer": "all", "low": 1, "high": 10},
    "l1, numbers 1 to 10": {"norm": "l1", "low": 1, "high": 10},
    "linf, numbers": {"norm": "linf"},
}


def measured(clf: StepClassifier, rows: pd.DataFrame, demand: dict) -> dict:
    seconds, found = [], []
    for i in range(len(rows)):
        begin = time.process_time()
        found.append(counterfactual(clf, rows.iloc[i], **demand))
        seconds.append(time.process_time() - begin)
    for one in found:
        assert clf.predict(pd.DataFrame([one.point], columns=rows.columns))[0] == one.becomes != one.answer
    return {
        "rows": len(rows),
        "seconds_mean": round(float(np.mean(seconds)), 4),
        "seconds_largest": round(float(np.max(seconds)), 4),
        "cost_mean": round(float(np.mean([one.price for one in found])), 4),
        "features_mean": round(float(np.mean([len(one.changes) for one in found])), 2),
        "proven": sum(one.is_cheapest for one in found),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--hidden", type=int, default=25)
    arguments = parser.parse_args()
    data = load_breast_cancer_wisconsin()
    X = pd.DataFrame(data.data, columns=data.feature_names)
    clf = StepClassifier(arguments.hidden, random_state=0).fit(X, np.array(data.target_names)[data.target])
    rows = X.iloc[np.random.default_rng(0).choice(len(X), arguments.rows, replace=False)]
    results = {}
    for name, demand in DEMANDS.items():
        results[name] = measured(clf, rows, demand)
        print(f"{name:24} {json.dumps(results[name])}", flush=True)
    if arguments.rows == 100 and arguments.hidden == 25:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
