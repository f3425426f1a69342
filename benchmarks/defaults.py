"""The default fit, as a user types it, on noisy tables of other people.

    python benchmarks/defaults.py [--splits 5] [--only german pima]

Tables of KEEL (benchmarks/tables.py), some of which settings were tuned on (TUNED of accuracy.py); stratified 70/30
splits; accuracy on the 30 %, and seconds per fit. The others are scikit-learn's defaults; logistic regression and the
MLP get scaled features.
The default must be at least as good as logistic regression on average, and on no table more than 3 points worse.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import RESULTS
from stepnet import StepClassifier
from tables import load_table

TABLES = (
    *("australian", "bands", "bupa", "contraceptive", "crx", "german", "haberman", "heart", "ionosphere"),
    *("mammographic", "phoneme", "pima", "saheart", "sonar", "tae", "titanic", "vehicle", "wisconsin", "yeast1"),
)
MODELS = {
    "default": lambda seed: StepClassifier(random_state=seed),
    'hidden="auto"': lambda seed: StepClassifier("auto", random_state=seed),
    "logistic": lambda seed: make_pipeline(StandardScaler(), LogisticRegression()),
    "MLP": lambda seed: make_pipeline(StandardScaler(), MLPClassifier(random_state=seed)),
    "forest": lambda seed: RandomForestClassifier(random_state=seed),
    "boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
}


def measure(name: str, n_splits: int) -> dict[str, tuple[float, float]]:
    """Mean accuracy and seconds of each model."""
    X, y = load_table(name, most=3_000)
    scores: dict[str, list[tuple[float, float]]] = {model: [] for model in MODELS}
    for seed, (train, test) in enumerate(StratifiedShuffleSplit(n_splits, test_size=0.3, random_state=0).split(X, y)):
        for model, make in MODELS.items():
            begin = time.perf_counter()
            fitted = make(seed).fit(X[train], y[train])
            seconds = time.perf_counter() - begin
            scores[model].append((fitted.score(X[test], y[test]), seconds))
    return {model: tuple(np.mean(found, axis=0)) for model, found in scores.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=TABLES, metavar="TABLE")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    StepClassifier().fit([[0.0], [1.0]], [0, 1])  # loads the kernels
    lines = [f"{'accuracy on new rows':20}" + "".join(f"{model:>15}" for model in MODELS)]
    print(lines[0], flush=True)
    found = {}
    for name in options.only:
        found[name] = measure(name, options.splits)
        lines.append(f"{name:20}" + "".join(f"{found[name][model][0]:15.3f}" for model in MODELS))
        print(lines[-1], flush=True)
    accuracy, seconds = np.moveaxis([[found[name][model] for model in MODELS] for name in found], 2, 0)
    lost = accuracy[:, list(MODELS).index("logistic")] - accuracy[:, 0]
    lines.append(f"{'mean':20}" + "".join(f"{mean:15.4f}" for mean in accuracy.mean(axis=0)))
    lines.append(f"{'seconds, mean':20}" + "".join(f"{mean:15.2f}" for mean in seconds.mean(axis=0)))
    lines.append(f"{'seconds, largest':20}" + "".join(f"{most:15.2f}" for most in seconds.max(axis=0)))
    lines.append(
        f"the default is behind logistic regression by at most {100 * lost.max():.1f} points "
        f"({list(found)[int(lost.argmax())]}), ahead by {-100 * lost.mean():.1f} points on average"
    )
    print("\n".join(lines[-4:]))
    if list(options.only) == list(TABLES):
        (RESULTS / "defaults.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
