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
    # One hidden neuron and no hidden layer at all are the same networks, written as different programs.
    for hidden, formulation, solver, seconds in (
        ((1,), "auto", "highs", 60),
        ((), "tight", "highs", 300),
        ((1,), "gates", "scip", 600),
    ):
        problem = StepClassifier(hidden=hidden).problem(X_train, y_train)
        certificate, _ = solve(problem, Exact(formulation=formulation, solver=solver), seconds)
        print(
            f"hidden {hidden}, formulation {formulation}, solver {solver}, limit {seconds} s\n{certificate}", flush=True
        )


if __name__ == "__main__":
    main()
