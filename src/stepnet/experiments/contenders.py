"""The methods compared: the paper's four, its DNN, and ours."""

from __future__ import annotations

import importlib.util
import math
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
from stepnet.methods.base import Method
from stepnet.methods.exact import Exact
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.uncertainty.ball import Ball

SEED = 0  # every method's
EPOCHS = 100
BATCH = 32  # Keras's default, which the paper keeps
# How far rows may be perturbed where robust training is compared with the other methods.
RADII = {"breast_cancer": 0.5, "folds": 0.5, "random": 0.05}

# What a record takes from a certificate as it is.
_CERTIFIED = ("loss", "nominal_loss", "bound", "gap", "status", "proof", "claimed_by", "stop_reason", "n_weights")

Predict = Callable[[Any], Any]


@dataclass(frozen=True)
class Fitted:
    """A trained model: how it predicts (None without a network), and the facts about it that go into the record."""

    predict: Predict | None
    facts: dict[str, Any]
    note: str = ""


@dataclass(frozen=True)
class Contender:
    """A method and its title in tables.

    ``takes_limit``: it often runs until its time limit, which the estimate of the remaining time needs to know.
    ``lacks()``: what has to be installed before it can run; empty if nothing.
    """

    title: str
    fit: Callable[[CellRows, Cell], Fitted]
    takes_limit: bool = False
    lacks: Callable[[], str] = lambda: ""


def _as_printed(threshold: str | float, *, is_exact: bool) -> Callable[[CellRows, Cell], Fitted]:
    def fit(rows: CellRows, cell: Cell) -> Fitted:
        problem = StepClassifier((cell.width,), threshold=threshold).problem(rows.X_train, rows.y_train)
        limit = cell.time_limit
        claimed = solve_exactly(problem, limit) if is_exact else alternate(problem, limit, SEED)
        note = ""
        if claimed.is_infeasible:
            note = "HiGHS calls the program infeasible; every constant network solves it"
        elif claimed.network is None:
            note = f"HiGHS found no solution within {limit:g} s"
        elif not math.isfinite(claimed.loss):
            note = f"HiGHS found nothing within {limit:g} s; the network is the random one it started from"
        predict = None if claimed.network is None else claimed.network.predict
        return Fitted(predict, _facts_of_claim(problem, claimed), note)

    return fit


def _facts_of_claim(problem: Problem, claimed: Claimed) -> dict[str, Any]:
    """The solver's claims, the exact loss of its network, and a bound that needs no solver."""
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
        facts = {name: getattr(certificate, name) for name in _CERTIFIED} | {
            "total": certificate.total_weight,
            "scope": str(certificate.scope),
            "claimed_loss": certificate.loss,
            "claimed_gap": certificate.gap,
            "claim_is_true": bool(verification),
            "is_finished": certificate.stop_reason in ("proven", "finished"),
            "margin": None if certificate.margin in (None, math.inf) else certificate.margin,
            "seconds": seconds,
        }
        if not certificate.uncertainty:
            return Fitted(classifier.predict, facts)
        facts |= {"rounds": certificate.rounds, "scenarios": certificate.scenarios}
        return Fitted(classifier.predict, facts, f"worst case of perturbations up to {_radius(cell):g}")

    return fit


def _radius(cell: Cell) -> float:
    return cell.radius or RADII[cell.data]


def _plain(cell: Cell, method: str | Method = "prove", **options: Any) -> StepClassifier:
    return StepClassifier((cell.width,), method=method, time_limit=cell.time_limit, random_state=SEED, **options)


def _robust(cell: Cell, **options: Any) -> StepClassifier:
    return _plain(cell, uncertainty=Ball("linf", _radius(cell)), **options)


def _vote(cell: Cell) -> StepEnsembleClassifier:
    return StepEnsembleClassifier(hidden=(cell.width,), time_limit=cell.time_limit, random_state=SEED)


def _joint(cell: Cell) -> StepClassifier:
    """The paper's column-and-constraint generation: joint scenarios of all rows, no search, no free bounds."""
    generation = Exact(formulation="paper", solver="highs", free_bounds=False, search_share=0, scenarios="joint")
    return _robust(cell, threshold="layer", method=generation)


def _perturbed_afterwards(rows: CellRows, cell: Cell) -> Fitted:
    """Plain training, and the worst-case loss of its network when rows are perturbed."""
    fitted = _ours(_plain)(rows, cell)
    network: Network = fitted.predict.__self__.network_  # type: ignore[union-attr]
    problem = _robust(cell).problem(rows.X_train, rows.y_train)
    facts = fitted.facts | {"loss": problem.evaluate(network), "bound": None, "gap": None, "status": "", "proof": ""}
    return Fitted(fitted.predict, facts, f"trained on the rows as they are, then perturbed by up to {cell.radius:g}")


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
            warnings.simplefilter("ignore", ConvergenceWarning)  # it stops after 100 epochs, like the paper's
            model.fit(rows.X_train, rows.y_train)
        return Fitted(model.predict, _errors(model.predict, rows))

    return fit


def _keras(rows: CellRows, cell: Cell) -> Fitted:
    """The paper's DNN: ReLU, softmax, binary cross entropy, 100 epochs, and Keras's defaults."""
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
    "exact": Contender("BDNN", _as_printed("layer", is_exact=True), takes_limit=True),
    "exact_0": Contender("BDNN₀", _as_printed(0.0, is_exact=True), takes_limit=True),
    "heuristic": Contender("BDNN heur.", _as_printed("layer", is_exact=False), takes_limit=True),
    "heuristic_0": Contender("BDNN₀ heur.", _as_printed(0.0, is_exact=False), takes_limit=True),
    "dnn": Contender("DNN", _mlp(is_scaled=False)),
    "dnn_keras": Contender("DNN (Keras)", _keras, lacks=_lacks_keras),
    "dnn_scaled": Contender("DNN, scaled rows", _mlp(is_scaled=True)),
    "prove": Contender("stepnet prove", _ours(_plain)),
    "learn": Contender("stepnet learn", _ours(partial(_plain, method="learn"))),
    "ensemble": Contender("stepnet ensemble", _ours(_vote)),
    "robust": Contender("stepnet robust", _ours(_robust), takes_limit=True),
    "joint": Contender("joint scenarios", _ours(_joint), takes_limit=True),
    "moved": Contender("stepnet prove, then perturbed", _perturbed_afterwards),
}

FOUR = ("exact", "exact_0", "heuristic", "heuristic_0")
DNNS = ("dnn", "dnn_keras", "dnn_scaled")
OURS = ("prove", "learn", "ensemble", "robust")
