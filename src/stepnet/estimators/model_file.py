"""Model files: a fitted estimator as JSON. Reading one runs no code."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stepnet.activation import ARGMAX, IDENTITY, Staircase
from stepnet.certify import Certificate
from stepnet.errors import InvalidInputError, ModelFileError, StepnetError
from stepnet.estimators.base import BaseStep
from stepnet.estimators.classifier import BaseStepClassifier
from stepnet.estimators.step_autoencoder import StepAutoencoder
from stepnet.estimators.step_classifier import StepClassifier
from stepnet.estimators.step_ensemble import StepEnsembleClassifier
from stepnet.estimators.step_regressor import StepRegressor
from stepnet.files import write_atomically
from stepnet.formulations.base import Formulation
from stepnet.formulations.paper import Paper
from stepnet.methods.alternating import Alternating
from stepnet.methods.exact import Exact
from stepnet.methods.learn import Learn
from stepnet.methods.prove import Prove
from stepnet.methods.search import Search
from stepnet.network import Network
from stepnet.problem.architecture import checked_hidden
from stepnet.problem.constraint import Constraint, Lowers, Raises
from stepnet.problem.loss import Absolute, Hinge, Squared
from stepnet.problem.weights import Integers, Real
from stepnet.uncertainty.sets import Ball, Polyhedron

FORMAT = "stepnet model"
VERSION = 2

_ESTIMATORS: dict[str, type[BaseStep]] = {
    kind.__name__: kind for kind in (StepClassifier, StepEnsembleClassifier, StepRegressor, StepAutoencoder)
}
_METHODS = {kind.__name__: kind for kind in (Alternating, Exact, Learn, Prove, Search)}
_PARTS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Absolute, Ball, Constraint, Hinge, Lowers, Paper, Polyhedron, Raises, Squared, Staircase)
}


def save(estimator: BaseStep, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a JSON file, whole or not at all."""
    check_is_fitted(estimator)
    try:
        text = json.dumps(_content(estimator), indent=1, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"this model cannot be written as JSON ({error}); classes and parameters must be numbers, text or booleans."
        ) from error
    write_atomically(path, text + "\n")


def _content(estimator: BaseStep) -> dict[str, Any]:
    certificate = estimator.certificate_.to_dict()
    return {
        "format": FORMAT,
        "version": VERSION,
        "estimator": type(estimator).__name__,
        "params": {name: _plain(value) for name, value in estimator.get_params(deep=False).items()},
        "targets": _targets(estimator),
        "n_features": estimator.n_features_in_,
        "feature_names": getattr(estimator, "feature_names_in_", np.array([])).tolist() or None,
        "network": estimator.network_.to_dict(),
        "certificate": certificate | {"margin": None if np.isinf(certificate["margin"]) else certificate["margin"]},
    }


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator that :func:`save` wrote."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(f"cannot read the model file {str(path)!r}: {error.strerror}.") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ModelFileError(_damaged(path, f"it is not JSON ({error})")) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError(_damaged(path, "it was not written by stepnet"))
    if content.get("version") != VERSION:
        raise ModelFileError(
            f"the model file {str(path)!r} has version {content.get('version')!r}; this stepnet reads {VERSION}. "
            f"Install the version of stepnet that wrote it."
        )
    try:
        return _estimator(content)
    except ModelFileError as error:
        raise ModelFileError(_damaged(path, str(error))) from error
    except (StepnetError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise ModelFileError(_damaged(path, f"{type(error).__name__}: {error}")) from error


def _targets(estimator: BaseStep) -> dict[str, Any]:
    """What predictions look like: the classes, or whether numbers come as one column."""
    if isinstance(estimator, BaseStepClassifier):
        return {"dtype": estimator.classes_.dtype.str, "classes": estimator.classes_.tolist()}
    return {"is_flat": estimator._is_flat} if isinstance(estimator, StepRegressor) else {}


def _estimator(content: dict[str, Any]) -> BaseStep:
    estimator = _ESTIMATORS[content["estimator"]](**{name: _object(value) for name, value in content["params"].items()})
    network, targets = Network.from_dict(content["network"]), content["targets"]
    last = network.layers[-1]
    if network.n_features != content["n_features"] or (last.activation == IDENTITY) != ("classes" not in targets):
        raise ModelFileError("network, features and targets do not fit together")
    if isinstance(estimator, BaseStepClassifier):
        estimator.classes_ = np.array(targets["classes"], dtype=np.dtype(targets["dtype"]))
        n_answers = last.width if last.activation == ARGMAX else last.activation.n_thresholds + 1
        if estimator.classes_.shape != (n_answers,):
            raise ModelFileError("network and classes do not fit together")
    elif isinstance(estimator, StepRegressor):
        estimator._is_flat = bool(targets["is_flat"])
    elif isinstance(estimator, StepAutoencoder):
        estimator.code_layer_ = len(checked_hidden(estimator.hidden))
        if network.widths[estimator.code_layer_] != estimator.n_components or last.width != network.n_features:
            raise ModelFileError("network and code do not fit together")
    names = content["feature_names"]
    if names is not None:
        if len(names) != network.n_features:
            raise ModelFileError("the feature names do not fit the network")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    margin = content["certificate"].get("margin")
    estimator.certificate_ = Certificate.from_dict(
        content["certificate"] | {"margin": np.inf if margin is None else margin}
    )
    estimator.network_ = network
    estimator.n_features_in_ = network.n_features
    return estimator


def _plain(value: Any) -> Any:
    """A parameter as JSON: numbers and strings as they are, option objects by name and fields."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Integers):
        return {"object": "Integers", "fields": {"largest": value.largest}}
    if isinstance(value, Real):
        return value.name
    if isinstance(value, Constraint):
        terms = [[*map(_plain, weight), float(coefficient)] for weight, coefficient in value.terms.items()]
        ends = {
            end: None if np.isinf(getattr(value, end)) else float(getattr(value, end)) for end in ("lower", "upper")
        }
        return {"object": "Constraint", "fields": {"terms": terms, "name": value.name, **ends}}
    if type(value).__name__ in _PARTS:
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value) if field.init}
        return {"object": type(value).__name__, "fields": fields}
    if isinstance(value, Formulation):
        return value.name
    if type(value).__name__ in _METHODS:
        fields = value.get_params(deep=False)
        return {"object": type(value).__name__, "fields": {name: _plain(item) for name, item in fields.items()}}
    if isinstance(value, dict):
        return {"object": "dict", "fields": {"items": [[_plain(key), _plain(item)] for key, item in value.items()]}}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None  # a state that has moved on since
    if isinstance(value, float) and not np.isfinite(value):
        return {"object": "float", "fields": {"text": str(value)}}
    if isinstance(value, str | int | float | bool | None):
        return value
    raise TypeError(f"the parameter {value!r} has no form in a file")


def _object(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_object(item) for item in value)
    if not isinstance(value, dict):
        return value
    name, fields = value["object"], {name: _object(item) for name, item in value["fields"].items()}
    if name == "Constraint":
        terms = {(layer, neuron, source): coefficient for layer, neuron, source, coefficient in fields["terms"]}
        lower, upper = fields["lower"], fields["upper"]
        return Constraint(
            terms, -np.inf if lower is None else lower, np.inf if upper is None else upper, fields["name"]
        )
    if name == "Integers":
        return Integers(**fields)
    if name == "float":
        return float(fields["text"])
    if name == "dict":
        return dict(fields["items"])
    return (_METHODS | _PARTS)[name](**fields)


def _damaged(path: str | os.PathLike[str], why: str) -> str:
    return (
        f"the model file {str(path)!r} is damaged: {why.rstrip('.')}. Write it again with stepnet.save or stepnet fit."
    )
