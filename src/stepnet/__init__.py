"""Neural networks of step neurons, trained with a proof of how good they are."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from stepnet import datasets as datasets
    from stepnet.certificate.certificate import Certificate as Certificate
    from stepnet.estimators.model_file import load as load
    from stepnet.estimators.model_file import save as save
    from stepnet.estimators.step_autoencoder import StepAutoencoder as StepAutoencoder
    from stepnet.estimators.step_classifier import StepClassifier as StepClassifier
    from stepnet.estimators.step_classifier_cv import StepClassifierCV as StepClassifierCV
    from stepnet.estimators.step_ensemble import StepEnsembleClassifier as StepEnsembleClassifier
    from stepnet.estimators.step_ensemble_regressor import StepEnsembleRegressor as StepEnsembleRegressor
    from stepnet.estimators.step_regressor import StepRegressor as StepRegressor
    from stepnet.estimators.step_score import StepScoreClassifier as StepScoreClassifier
    from stepnet.estimators.tradeoff import tradeoff as tradeoff
    from stepnet.estimators.warm_up import warm_up as warm_up
    from stepnet.estimators.widths import smallest_width as smallest_width
    from stepnet.formulations.paper import Paper as Paper
    from stepnet.methods.alternating import Alternating as Alternating
    from stepnet.methods.exact import Exact as Exact
    from stepnet.methods.learn import Learn as Learn
    from stepnet.methods.prove import Prove as Prove
    from stepnet.methods.search import Search as Search
    from stepnet.model.activations.staircase import Staircase as Staircase
    from stepnet.model.network import Layer as Layer
    from stepnet.model.network import Network as Network
    from stepnet.problem.constraint import Constraint as Constraint
    from stepnet.problem.constraint import Lowers as Lowers
    from stepnet.problem.constraint import Raises as Raises
    from stepnet.problem.error_limits.limits import FalsePositiveRate as FalsePositiveRate
    from stepnet.problem.error_limits.limits import FalsePositives as FalsePositives
    from stepnet.problem.error_limits.limits import Parity as Parity
    from stepnet.problem.error_limits.limits import Precision as Precision
    from stepnet.problem.error_limits.limits import Recall as Recall
    from stepnet.problem.losses.absolute import Absolute as Absolute
    from stepnet.problem.losses.hinge import Hinge as Hinge
    from stepnet.problem.losses.squared import Squared as Squared
    from stepnet.problem.problem import Problem as Problem
    from stepnet.problem.weights import Integers as Integers
    from stepnet.proof_files.checked import verify_proof as verify_proof
    from stepnet.reasons.counterfactual import counterfactual as counterfactual
    from stepnet.reasons.explanation import explain as explain
    from stepnet.reasons.importance import importance as importance
    from stepnet.tables.grid import Grid as Grid
    from stepnet.tables.rows import Rows as Rows
    from stepnet.tables.training import Table as Table
    from stepnet.uncertainty.attack import attack as attack
    from stepnet.uncertainty.attack import certified_radius as certified_radius
    from stepnet.uncertainty.ball import Ball as Ball
    from stepnet.uncertainty.polyhedron import Polyhedron as Polyhedron
    from stepnet.vnnlib.check import check as check

# Names are imported when first used: `import stepnet` costs nothing, the command line starts fast.
_WHERE = {
    "attack": "stepnet.uncertainty.attack",
    "certified_radius": "stepnet.uncertainty.attack",
    "Ball": "stepnet.uncertainty.ball",
    "Polyhedron": "stepnet.uncertainty.polyhedron",
    "Absolute": "stepnet.problem.losses.absolute",
    "Alternating": "stepnet.methods.alternating",
    "Certificate": "stepnet.certificate.certificate",
    "Constraint": "stepnet.problem.constraint",
    "Exact": "stepnet.methods.exact",
    "FalsePositiveRate": "stepnet.problem.error_limits.limits",
    "FalsePositives": "stepnet.problem.error_limits.limits",
    "Grid": "stepnet.tables.grid",
    "Hinge": "stepnet.problem.losses.hinge",
    "Integers": "stepnet.problem.weights",
    "Layer": "stepnet.model.network",
    "Learn": "stepnet.methods.learn",
    "Lowers": "stepnet.problem.constraint",
    "Network": "stepnet.model.network",
    "Paper": "stepnet.formulations.paper",
    "Parity": "stepnet.problem.error_limits.limits",
    "Precision": "stepnet.problem.error_limits.limits",
    "Problem": "stepnet.problem.problem",
    "Prove": "stepnet.methods.prove",
    "Raises": "stepnet.problem.constraint",
    "Recall": "stepnet.problem.error_limits.limits",
    "Rows": "stepnet.tables.rows",
    "Search": "stepnet.methods.search",
    "Squared": "stepnet.problem.losses.squared",
    "Staircase": "stepnet.model.activations.staircase",
    "StepAutoencoder": "stepnet.estimators.step_autoencoder",
    "StepClassifier": "stepnet.estimators.step_classifier",
    "StepClassifierCV": "stepnet.estimators.step_classifier_cv",
    "StepEnsembleClassifier": "stepnet.estimators.step_ensemble",
    "StepEnsembleRegressor": "stepnet.estimators.step_ensemble_regressor",
    "StepRegressor": "stepnet.estimators.step_regressor",
    "StepScoreClassifier": "stepnet.estimators.step_score",
    "Table": "stepnet.tables.training",
    "check": "stepnet.vnnlib.check",
    "counterfactual": "stepnet.reasons.counterfactual",
    "explain": "stepnet.reasons.explanation",
    "importance": "stepnet.reasons.importance",
    "load": "stepnet.estimators.model_file",
    "save": "stepnet.estimators.model_file",
    "smallest_width": "stepnet.estimators.widths",
    "tradeoff": "stepnet.estimators.tradeoff",
    "verify_proof": "stepnet.proof_files.checked",
    "warm_up": "stepnet.estimators.warm_up",
}

__all__ = [*_WHERE, "datasets", "plot"]


def __getattr__(name: str) -> Any:
    if name in ("datasets", "plot"):
        return importlib.import_module(f"stepnet.{name}")
    if name in _WHERE:
        value = getattr(importlib.import_module(_WHERE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'stepnet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
