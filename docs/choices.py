"""Writes choices.md: which choice works with which prover, formulation, solver and method, according to the code.

python docs/choices.py
"""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np

from stepnet import (
    Absolute,
    Alternating,
    Ball,
    Constraint,
    Exact,
    Hinge,
    Integers,
    Learn,
    Parity,
    Polyhedron,
    Prove,
    Raises,
    Recall,
    Search,
    Squared,
    Staircase,
    StepClassifier,
    StepRegressor,
)
from stepnet.errors import Answer
from stepnet.formulations.registry import FORMULATIONS
from stepnet.methods.generation import nominal_master
from stepnet.problem.problem import Problem
from stepnet.provers.counting import Counting
from stepnet.provers.registry import PROVERS
from stepnet.search.descent.descent import accepts_descent
from stepnet.solvers.backends.registry import BACKENDS

PAGE = Path(__file__).with_name("choices.md")

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [1.0, 3.0], [0.0, 3.0]])
TWO, THREE, NUMBERS = [0, 1, 0, 1, 0, 1], [0, 1, 2, 0, 1, 2], [0.0, 1.5, 2.0, 3.5, 4.0, 5.5]
BALL = Ball("linf", 0.1)
BETWEEN = Constraint({(1, 0, 0): 1.0, (1, 0, 1): -1.0}, lower=0.0)


def classify(labels=TWO, **options) -> Problem:
    return StepClassifier(**{"hidden": (2,)} | options).problem(X, labels)


def predict(targets=NUMBERS, **options) -> Problem:
    return StepRegressor(**{"hidden": (2,)} | options).problem(X, targets)


CHOICES: dict[str, Problem] = {
    "two classes, real weights, steps": classify(),
    "no hidden layer": classify(hidden=()),
    "two hidden layers": classify(hidden=(2, 2)),
    "six neurons": classify(hidden=(6,)),
    'threshold="layer"': classify(threshold="layer"),
    "threshold=0.0": classify(threshold=0.0),
    "threshold=0.5": classify(threshold=0.5),
    'weights="binary"': classify(weights="binary"),
    'weights="sign"': classify(weights="sign"),
    'weights="ternary"': classify(weights="ternary"),
    "weights=Integers(3)": classify(weights=Integers(3)),
    'weights=("real", "ternary")': classify(weights=("real", "ternary")),
    'activation="sign"': classify(activation="sign"),
    "Staircase, learned thresholds": classify(activation=Staircase((0, 1, 2))),
    "Staircase, fixed thresholds": classify(activation=Staircase((0, 1, 2), (-0.5, 1.0))),
    'three classes, output="one_hot"': classify(THREE, output="one_hot"),
    'three classes, output="ordinal"': classify(THREE, output="ordinal"),
    'loss="hinge"': classify(loss=Hinge()),
    "sparsity=4": classify(sparsity=4),
    'sparsity="fewest"': classify(sparsity="fewest"),
    "constraints=[Raises(0)]": classify(constraints=[Raises(0)]),
    "constraints=[Constraint(...)]": classify(constraints=[BETWEEN]),
    "constraints=[Recall(...)]": classify(constraints=[Recall(at_least=0.9)]),
    "constraints=[Parity(...)]": classify(constraints=[Parity(by=[0, 0, 1, 1, 1, 0], within=0.1)]),
    "regression, squared errors": predict(loss=Squared()),
    "regression, absolute errors": predict(loss=Absolute()),
    "regression, several outputs": predict(np.column_stack([NUMBERS, NUMBERS[::-1]])),
    'regression, weights="ternary"': predict(weights="ternary"),
    "regression, sparsity=5": predict(sparsity=5),
    "uncertainty=Ball(...)": classify(uncertainty=BALL),
    "uncertainty=Polyhedron(...)": classify(uncertainty=Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [0.1] * 4)),
    "Ball, two hidden layers": classify(hidden=(2, 2), uncertainty=BALL),
    'Ball, weights="ternary"': classify(weights="ternary", uncertainty=BALL),
    'Ball, weights=("real", "ternary")': classify(weights=("real", "ternary"), uncertainty=BALL),
    "Ball, Staircase": classify(activation=Staircase((0, 1, 2)), uncertainty=BALL),
    'Ball, output="one_hot"': classify(THREE, output="one_hot", uncertainty=BALL),
    'Ball, loss="hinge"': classify(loss=Hinge(), uncertainty=BALL),
    "Ball, sparsity=4": classify(sparsity=4, uncertainty=BALL),
    "Ball, regression": predict(uncertainty=BALL),
    "Ball, regression, several outputs": predict(np.column_stack([NUMBERS, NUMBERS[::-1]]), uncertainty=BALL),
}
METHODS = {
    "prove": Prove(),
    "learn": Learn(),
    "search": Search(),
    "exact": Exact(),
    "alternating": Alternating(),
}


def answers(problem: Problem) -> dict[str, Answer]:
    """What formulations, solvers (with the formulation ``tight``), the descent and methods say of a problem."""
    # Where rows are uncertain, a formulation writes the master problem of column-and-constraint generation.
    asked = nominal_master(problem) if problem.is_uncertain else problem
    with patch.object(Counting, "package", ""):  # as where its solver is installed
        found = {name: Exact(formulation=name).accepts(problem) for name in (*PROVERS, *FORMULATIONS)}
    model = FORMULATIONS["tight"].encode(asked)[0].model if found["tight"] else None
    for name, backend in BACKENDS.items():
        found[name] = found["tight"] if model is None else backend.accepts(model)
    descent = accepts_descent(problem)
    found["descent"] = descent or Answer(
        f"{descent.reason}. Use method='learn' all the same: another method takes over."
    )
    return found | {name: method.accepts(problem) for name, method in METHODS.items()}


def page() -> str:
    columns = [*PROVERS, *FORMULATIONS, *BACKENDS, "descent", *METHODS]
    lines = [
        "# What works with what",
        "",
        "The table is generated from the code by `python docs/choices.py`, and a test keeps it up to date. Columns are",
        "provers and formulations, then solvers (with the formulation `tight`), then the descent of `learn` (what it",
        "does not take goes to a search or a proof), then methods. A number refers to the message below, which gives",
        "the reason and names an alternative.",
        'With `output="one_vs_one"`, which is "auto" for several classes that are not learned, every pair is a',
        "problem of two classes.",
        "",
        "| choice | " + " | ".join(columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    reasons: list[str] = []
    for choice, problem in CHOICES.items():
        cells = []
        for answer in answers(problem).values():
            if not answer and answer.reason not in reasons:
                reasons.append(answer.reason)
            cells.append("yes" if answer else f"({reasons.index(answer.reason) + 1})")
        lines.append(f"| {choice} | " + " | ".join(cells) + " |")
    lines += ["", *(f"{number}. {reason}" for number, reason in enumerate(reasons, start=1))]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name} written")
