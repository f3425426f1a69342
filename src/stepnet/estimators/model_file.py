"""Model files: a fitted estimator as JSON. Reading one runs no code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stepnet.certificate.certificate import Certificate
from stepnet.errors import InvalidInputError, ModelFileError, StepnetError
from stepnet.estimators.base import BaseStep
from stepnet.estimators.classifier import BaseStepClassifier
from stepnet.estimators.parameters import plain, restored
from stepnet.estimators.step_autoencoder import StepAutoencoder
from stepnet.estimators.step_classifier import StepClassifier
from stepnet.estimators.step_ensemble import StepEnsembleClassifier
from stepnet.estimators.step_regressor import StepRegressor
from stepnet.model.network import Network
from stepnet.problem.architecture import checked_hidden
from stepnet.runtime.files import write_atomically
from stepnet.tables.columns import Columns

FORMAT = "stepnet model"
VERSION = 4
READABLE = (3, VERSION)

_ESTIMATORS: dict[str, type[BaseStep]] = {
    kind.__name__: kind for kind in (StepClassifier, StepEnsembleClassifier, StepRegressor, StepAutoencoder)
}


def save(estimator: BaseStep, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a JSON file, whole or not at all."""
    if not isinstance(estimator, BaseStep):
        raise InvalidInputError(
            f"save takes an estimator of stepnet, not a {type(estimator).__name__}; give its last step."
        )
    check_is_fitted(estimator)
    try:
        text = json.dumps(_content(estimator), indent=1, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"this model cannot be written as JSON ({error}); classes and parameters must be numbers, text or booleans."
        ) from error
    write_atomically(path, text + "\n")


def _content(estimator: BaseStep) -> dict[str, Any]:
    certificate, columns = estimator.certificate_.to_dict(), getattr(estimator, "columns_", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "estimator": type(estimator).__name__,
        "params": {name: plain(value) for name, value in estimator.get_params(deep=False).items()},
        "targets": _targets(estimator),
        "n_features": estimator.n_features_in_,
        "feature_names": getattr(estimator, "feature_names_in_", np.array([])).tolist() or None,
        "columns": None if columns is None else columns.to_list(),
        "network": estimator.network_.to_dict(),
        "trace": [list(point) for point in getattr(estimator, "trace_", ())],
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
    if isinstance(content, dict) and content.get("format") == "stepnet network":
        raise ModelFileError(f"{str(path)!r} is an exported network; give the model file that fit wrote.")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError(_damaged(path, "it was not written by stepnet"))
    if content.get("version") not in READABLE:
        raise ModelFileError(
            f"the model file {str(path)!r} has version {content.get('version')!r}; this stepnet reads {READABLE}. "
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
    estimator = _ESTIMATORS[content["estimator"]](
        **{name: restored(value) for name, value in content["params"].items()}
    )
    network, targets = Network.from_dict(content["network"]), content["targets"]
    last = network.layers[-1]
    if network.n_features != content["n_features"] or last.activation.gives_numbers != ("classes" not in targets):
        raise ModelFileError("network, features and targets do not fit together")
    if isinstance(estimator, BaseStepClassifier):
        estimator.classes_ = np.array(targets["classes"], dtype=np.dtype(targets["dtype"]))
        n_answers = last.activation.n_answers(last.width)
        if estimator.classes_.shape != (n_answers,):
            raise ModelFileError("network and classes do not fit together")
        kept = estimator.classes_.tolist()
        if kept != targets["classes"] or list(map(type, kept)) != list(map(type, targets["classes"])):
            raise ModelFileError("the classes do not fit their type")
        if len(np.unique(estimator.classes_)) < n_answers:
            raise ModelFileError("a class is there twice")
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
    if content["columns"] is not None:
        estimator.columns_ = Columns.from_list(content["columns"])
        if estimator.columns_.features != names:
            raise ModelFileError("the columns do not fit the feature names")
    estimator.trace_ = tuple((float(seconds), float(loss), float(bound)) for seconds, loss, bound in content["trace"])
    margin = content["certificate"].get("margin")
    estimator.certificate_ = Certificate.from_dict(
        content["certificate"] | {"margin": np.inf if margin is None else margin}
    )
    estimator.network_ = network
    estimator.n_features_in_ = network.n_features
    return estimator


def _damaged(path: str | os.PathLike[str], why: str) -> str:
    return (
        f"the model file {str(path)!r} is damaged: {why.rstrip('.')}. Write it again with stepnet.save or stepnet fit."
    )
