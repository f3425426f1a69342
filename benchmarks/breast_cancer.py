"""A real instance proven: one neuron on the paper's Breast Cancer training split, two ways.

python benchmarks/breast_cancer.py
"""

from __future__ import annotations

from sklearn.model_selection import train_test_split

from common import solve
from stepnet import Exact, StepClassifier
from stepnet.datasets import load_breast_cancer_wisconsin
from stepnet.search.local_search import kernels_ready


def main() -> None:
    kernels_ready(60)
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    X_train, _, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=42)
    problem = StepClassifier(hidden=(1,)).problem(X_train, y_train)
    for formulation, solver, seconds in (("auto", "highs", 60), ("tight", "highs", 600), ("gates", "scip", 600)):
        certificate, _ = solve(problem, Exact(formulation=formulation, solver=solver), seconds)
        print(f"formulation {formulation}, solver {solver}, limit {seconds} s\n{certificate}", flush=True)


if __name__ == "__main__":
    main()
