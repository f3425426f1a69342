"""The methods that are compared: the paper's four, its DNN, and ours."""

from __future__ import annotations

import importlib.util
import math
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stepnet.bounds.conflicts import conflict_bound
from stepnet.certificate.result import Claim
from stepnet.estimators.classifier import BaseStepClassifier
from stepnet.estimators.step_classifier import StepClassifier
from stepnet.estimators.step_ensemble import StepEnsembleClassifier
from stepnet.experiments.as_printed import Claimed, alternate, solve_exactly
from stepnet.experiments.cell import Cell, CellRows
from stepnet.methods.exact import Exact
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.uncertainty.ball import Ball

SEED = 0  # of every method
EPOCHS = 100
BATCH = 32  # Keras's default, which the paper does not change
# How far rows may be moved where robust training stands beside the others.
RADII = {"breast_cancer": 0.5, "folds": 0.5, "random": 0.05}

Predict = Callable[[Any], Any]


@dataclass(frozen=True)
class Fitted:
    """What a method made of the rows: answers for others (None: no network), and what is known of it."""

    predict: Predict | None
    facts: dict[str, Any]
    note: str = ""


@dataclass(frozen=True)
class Contender:
    """A method by its name in tables; ``kind`` is "paper", "dnn" or "ours".

    ``takes_limit`` says that it often takes all of its time, for the estimate of the time that is left;
    ``lacks()`` is what it would need to run here, empty if it has all.
    """

    key: str
    title: str
    kind: str
    fit: Callable[[CellRows, Cell], Fitted]
    takes_limit: bool = False
    lacks: Callable[[], str] = lambda: ""


def _as_printed(threshold: str | float, *, is_exact: bool) -> Callable[[CellRows, Cell], Fitted]:
    def fit(rows: CellRows, cell: Cell) -> Fitted:
        problem = StepClassifier((cell.width,), threshold=threshold).problem(rows.X_train, rows.y_train)
        limit = cell.time_limit
        claimed = solve_exactly(problem, limit) if is_exact else alternate(problem, limit, SEED)
        facts = _facts_of_claim(problem, claimed)
        network = claimed.network
        note = ""
        if claimed.is_infeasible:
            note = "HiGHS calls the program infeasible; every constant network solves it"
        elif network is None:
            note = f"HiGHS found no solution within {cell.time_limit:g} s"
        elif not math.isfinite(claimed.loss):
            note = f"HiGHS found nothing within {cell.time_limit:g} s; the network is the random one it began with"
        return Fitted(None if network is None else network.predict, facts, note)

    return fit


def _facts_of_claim(problem: Problem, claimed: Claimed) -> dict[str, Any]:
    """What the solver says, and beside it the exact loss of its network and the bound that needs no solver."""
    free = conflict_bound(problem)
    facts: dict[str, Any] = {
        "total": problem.dataset.total_weight,
        "bound": free.value,
        "scope": str(free.scope),
        "proof": str(free.evidence),
        "is_finished": claimed.is_finished,
    }
    if claimed.is_infeasible:
        facts["claim_is_true"] = False
    if math.isfinite(claimed.loss):
        bound = max(claimed.bound, 0.0)
        facts |= {"claimed_loss": claimed.loss, "claimed_gap": problem.accuracy.gap(claimed.loss, bound)}
    if claimed.network is not None:
        loss = problem.evaluate(claimed.network)
        facts |= {"loss": loss, "gap": problem.accuracy.gap(loss, free.value)}
        facts["status"] = "OPTIMAL" if loss <= free.value else "FEASIBLE"
        if math.isfinite(claimed.loss):
            facts["claim_is_true"] = Claim("paper", "HiGHS", claimed.loss, loss).is_true
    return facts


def _ours(make: Callable[[Cell], BaseStepClassifier]) -> Callable[[CellRows, Cell], Fitted]:
    def fit(rows: CellRows, cell: Cell) -> Fitted:
        begin = time.perf_counter()
        classifier = make(cell).fit(rows.X_train, rows.y_train)
        seconds = time.perf_counter() - begin
        certificate = classifier.certificate_
        verification = classifier.verify(rows.X_train, rows.y_train)
        facts = {
            "total": certificate.total_weight,
            "loss": certificate.loss,
            "nominal_loss": certificate.nominal_loss,
            "bound": certificate.bound,
            "gap": certificate.gap,
            "status": certificate.status,
            "scope": str(certificate.scope),
            "proof": certificate.proof,
            "claimed_by": certificate.claimed_by,
            "claimed_loss": certificate.loss,
            "claimed_gap": certificate.gap,
            "claim_is_true": bool(verification),
            "is_finished": certificate.stop_reason in ("proven", "finished"),
            "stop_reason": certificate.stop_reason,
            "margin": certificate.margin if math.isfinite(certificate.margin) else None,
            "n_weights": certificate.n_weights,
            "seconds": seconds,
        }
        if certificate.uncertainty:
            facts |= {"rounds": certificate.rounds, "scenarios": certificate.scenarios}
        note = f"worst case of moves up to {_radius(cell):g}" if certificate.uncertainty else ""
        return Fitted(classifier.predict, facts, note)

    return fit


def _radius(cell: Cell) -> float:
    return cell.radius or RADII[cell.data]


def _plain(cell: Cell, **options: Any) -> StepClassifier:
    return StepClassifier((cell.width,), time_limit=cell.time_limit, random_state=SEED, **options)


def _moved(cell: Cell, **options: Any) -> StepClassifier:
    return _plain(cell, uncertainty=Ball("linf", _radius(cell)), **options)


def _vote(cell: Cell) -> StepEnsembleClassifier:
    return StepEnsembleClassifier(hidden=(cell.width,), time_limit=cell.time_limit, random_state=SEED)


def _joint(cell: Cell) -> StepClassifier:
    """The paper's column-and-constraint generation: scenarios of all rows at once, no search and no free bounds."""
    generation = Exact(formulation="paper", solver="highs", free_bounds=False, search_share=0, scenarios="joint")
    return _moved(cell, threshold="layer", method=generation)


def _moved_afterwards(rows: CellRows, cell: Cell) -> Fitted:
    """Plain training, and what it costs when rows are moved."""
    fitted = _ours(lambda cell: _plain(cell))(rows, cell)
    network: Network = fitted.predict.__self__.network_  # type: ignore[union-attr]
    problem = _moved(cell).problem(rows.X_train, rows.y_train)
    facts = fitted.facts | {"loss": problem.evaluate(network), "bound": None, "gap": None, "status": "", "proof": ""}
    return Fitted(fitted.predict, facts, f"trained on the rows as they are, then moved up to {cell.radius:g}")


def _mlp(*, is_scaled: bool) -> Callable[[CellRows, Cell], Fitted]:
    def fit(rows: CellRows, cell: Cell) -> Fitted:
        layers = MLPClassifier(
            (cell.width,),
            batch_size=min(BATCH, len(rows.X_train)),
            alpha=0.0,
            max_iter=EPOCHS,
            tol=0.0,
            n_iter_no_change=EPOCHS,
            random_state=SEED,
        )
        model = make_pipeline(StandardScaler(), layers) if is_scaled else layers
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it ends after 100 epochs, as the paper's does
            model.fit(rows.X_train, rows.y_train)
        return Fitted(model.predict, _errors(model.predict, rows))

    return fit


def _keras(rows: CellRows, cell: Cell) -> Fitted:
    """The paper's: ReLU, softmax, binary cross entropy, 100 epochs, everything else as Keras has it."""
    os.environ.setdefault("KERAS_BACKEND", _keras_backends()[0])
    import keras

    keras.utils.set_random_seed(SEED)
    model = keras.Sequential(
        [keras.layers.Dense(cell.width, activation="relu"), keras.layers.Dense(2, activation="softmax")]
    )
    model.compile(loss="binary_crossentropy", optimizer="adam")
    model.fit(rows.X_train, np.eye(2)[rows.y_train], epochs=EPOCHS, batch_size=BATCH, verbose=0)

    def predict(X: Any) -> Any:
        return np.asarray(model.predict(X, verbose=0)).argmax(axis=1)

    return Fitted(predict, _errors(predict, rows))


def _errors(predict: Predict, rows: CellRows) -> dict[str, Any]:
    wrong = int((predict(rows.X_train) != rows.y_train).sum())
    return {"total": float(len(rows.y_train)), "loss": float(wrong), "is_finished": True}


def _lacks_keras() -> str:
    if importlib.util.find_spec("keras") and _keras_backends():
        return ""
    return "Keras is not installed (pip install 'stepnet[keras]')"


def _keras_backends() -> list[str]:
    return [name for name in ("tensorflow", "jax", "torch") if importlib.util.find_spec(name)]


CONTENDERS: dict[str, Contender] = {
    contender.key: contender
    for contender in (
        Contender("exact", "BDNN", "paper", _as_printed("layer", is_exact=True), takes_limit=True),
        Contender("exact_0", "BDNN₀", "paper", _as_printed(0.0, is_exact=True), takes_limit=True),
        Contender("heuristic", "BDNN heur.", "paper", _as_printed("layer", is_exact=False), takes_limit=True),
        Contender("heuristic_0", "BDNN₀ heur.", "paper", _as_printed(0.0, is_exact=False), takes_limit=True),
        Contender("dnn", "DNN", "dnn", _mlp(is_scaled=False)),
        Contender("dnn_keras", "DNN (Keras)", "dnn", _keras, lacks=_lacks_keras),
        Contender("dnn_scaled", "DNN, scaled rows", "dnn", _mlp(is_scaled=True)),
        Contender("prove", "stepnet prove", "ours", _ours(_plain)),
        Contender("learn", "stepnet learn", "ours", _ours(lambda cell: _plain(cell, method="learn"))),
        Contender("ensemble", "stepnet ensemble", "ours", _ours(_vote)),
        Contender("robust", "stepnet robust", "ours", _ours(_moved), takes_limit=True),
        Contender("joint", "joint scenarios", "paper", _ours(_joint), takes_limit=True),
        Contender("moved", "stepnet prove, then moved", "ours", _moved_afterwards),
    )
}

FOUR = ("exact", "exact_0", "heuristic", "heuristic_0")
OURS = ("prove", "learn", "ensemble", "robust")

DNNS = ("dnn", "dnn_keras", "dnn_scaled")
