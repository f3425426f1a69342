"""Model files: a fitted estimator as JSON. Reading one runs no code."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from stepnet.certificate.certificate import Certificate
from stepnet.errors import InvalidInputError, ModelFileError, StepnetError
from stepnet.estimators.base import BaseStep
from stepnet.estimators.classifier import BaseStepClassifier
from stepnet.estimators.parameters import plain, restored
from stepnet.estimators.step_autoencoder import StepAutoencoder
from stepnet.estimators.step_classifier import StepClassifier
from stepnet.estimators.step_ensemble import StepEnsembleClassifier
from stepnet.estimators.step_ensemble_regressor import StepEnsembleRegressor
from stepnet.estimators.step_regressor import StepRegressor
from stepnet.estimators.step_score import StepScoreClassifier
from stepnet.model.calibration import Calibration, Isotonic, calibration_from
from stepnet.model.network import Network
from stepnet.problem.row_prints import RowPrints
from stepnet.runtime.files import write_atomically
from stepnet.tables.columns import Columns
from stepnet.tables.pipelines import unpacked

FORMAT = "stepnet model"
VERSION = 6
READABLE = (3, 4, 5, VERSION)

_ESTIMATORS: dict[str, type[BaseStep]] = {
    kind.__name__: kind
    for kind in (
        StepClassifier,
        StepScoreClassifier,
        StepEnsembleClassifier,
        StepRegressor,
        StepEnsembleRegressor,
        StepAutoencoder,
    )
}


def save(estimator: BaseStep | Pipeline, path: str | os.PathLike[str], *, columns: Columns | None = None) -> None:
    """Write a fitted estimator to a JSON file, whole or not at all.

    Parameters
    ----------
    estimator : fitted estimator, or a fitted Pipeline that ends with one
        Of a pipeline, the file holds the last step and what the others do to the columns of a table, so that
        ``stepnet predict`` reads tables as they were before the pipeline.
    path : path
    columns : Columns, optional
        How columns of a table became the features that the estimator was fitted on: ``columns`` of
        :class:`stepnet.Table`.
    """
    is_pipeline = isinstance(estimator, Pipeline)
    estimator = unpacked(estimator, columns)
    if not isinstance(estimator, BaseStep):
        raise InvalidInputError(
            f"save takes a stepnet estimator or a pipeline that ends with one, got a {type(estimator).__name__}; of a "
            f"search, give best_estimator_."
        )
    check_is_fitted(estimator)
    if columns is not None and not is_pipeline:
        estimator = with_columns(estimator, columns)
    try:
        text = json.dumps(_content(estimator), indent=1, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"this model cannot be written as JSON ({error}); classes and parameters must be numbers, text or booleans."
        ) from error
    write_atomically(path, text + "\n")


def with_columns(estimator: BaseStep, columns: Columns) -> BaseStep:
    """A copy that knows how the columns of a table become its features."""
    if len(columns.features) != estimator.n_features_in_:
        raise InvalidInputError(
            f"the columns give {len(columns.features)} features, the estimator was fitted on "
            f"{estimator.n_features_in_}. Give the columns of the table that it was fitted on."
        )
    estimator = copy.copy(estimator)
    estimator.columns_ = columns
    return estimator


def _content(estimator: BaseStep) -> dict[str, Any]:
    columns = getattr(estimator, "columns_", None)
    has_places = columns is not None and columns.has_places
    names = [] if columns is None or has_places else columns.features
    if columns is not None and columns.is_plain and not has_places:
        columns = None  # the names say it all
    return {
        "format": FORMAT,
        "version": VERSION,
        "estimator": type(estimator).__name__,
        "params": {name: plain(value) for name, value in estimator.get_params(deep=False).items()},
        "hidden": getattr(estimator, "hidden_", None),
        "targets": estimator._targets(),
        "n_features": estimator.n_features_in_,
        "feature_names": getattr(estimator, "feature_names_in_", np.array(names, dtype=object)).tolist() or None,
        "columns": None if columns is None else columns.to_list(),
        "ranges": getattr(estimator, "ranges_", None),
        "network": estimator.network_.to_dict(),
        "calibration": None if (known := getattr(estimator, "calibration_", None)) is None else known.to_dict(),
        "rows": None if (prints := getattr(estimator, "row_prints_", None)) is None else prints.to_dict(),
        "trace": [list(point) for point in getattr(estimator, "trace_", ())],
        "certificate": estimator.certificate_.to_dict(),
    }


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator that :func:`save` wrote."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(f"cannot read the model file {str(path)!r}: {error.strerror}.") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise _damaged(path, f"it is not JSON ({error})") from error
    if isinstance(content, dict) and content.get("format") == "stepnet network":
        raise ModelFileError(f"{str(path)!r} is an exported network; give the model file that fit wrote.")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _damaged(path, "it was not written by stepnet")
    if content.get("version") not in READABLE:
        raise ModelFileError(
            f"the model file {str(path)!r} has version {content.get('version')!r}; this stepnet reads {READABLE}. "
            f"Install the version of stepnet that wrote it."
        )
    try:
        return _estimator(content)
    except ModelFileError as error:
        raise _damaged(path, str(error)) from error
    except (StepnetError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error


def _estimator(content: dict[str, Any]) -> BaseStep:
    parameters = {name: restored(value) for name, value in content["params"].items()}
    estimator = _ESTIMATORS[content["estimator"]](**parameters)
    network, targets, names = Network.from_dict(content["network"]), content["targets"], content["feature_names"]
    is_of_numbers = network.layers[-1].activation.gives_numbers
    if network.n_features != content["n_features"] or is_of_numbers != ("classes" not in targets):
        raise ModelFileError("network, features and targets do not match")
    estimator.network_, estimator.n_features_in_ = network, network.n_features
    estimator._restore_targets(targets)
    if isinstance(estimator, BaseStepClassifier):
        estimator.calibration_ = _calibration(content.get("calibration"), network)
        estimator.row_prints_ = None if content.get("rows") is None else RowPrints.from_dict(content["rows"])
    if content.get("hidden") is not None:
        estimator.hidden_ = tuple(content["hidden"])
    if names is not None:
        if len(names) != network.n_features:
            raise ModelFileError("the feature names do not match the network")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if content.get("ranges") is not None:  # not in files of earlier versions
        estimator.ranges_ = _ranges(content["ranges"], network.n_features)
    if content["columns"] is not None:
        estimator.columns_ = Columns.from_list(content["columns"])
        features = estimator.columns_.features
        if len(features) != network.n_features or names not in (None, features):
            raise ModelFileError("the columns do not match the feature names")
    estimator.trace_ = tuple((float(seconds), float(loss), float(bound)) for seconds, loss, bound in content["trace"])
    certificate = content["certificate"]
    if content["version"] < 5 and certificate.get("margin") is None:  # then null was infinite
        certificate |= {"margin": np.inf}
    estimator.certificate_ = Certificate.from_dict(certificate)
    return estimator


def _ranges(plain: Any, n_features: int) -> tuple[tuple[float, float, bool], ...]:
    found = tuple((float(low), float(high), bool(is_whole)) for low, high, is_whole in plain)
    if len(found) != n_features or not all(-np.inf < low <= high < np.inf for low, high, _ in found):
        raise ModelFileError("the ranges do not match the features")
    return found


def _calibration(plain: Any, network: Network) -> Calibration | Isotonic | None:
    """None in files of earlier versions."""
    if plain is None:
        return None
    calibration = calibration_from(plain)
    if len(calibration.offsets) != network.decision(np.zeros((1, network.n_features))).size:
        raise ModelFileError("network and calibration do not match")
    return calibration


def _damaged(path: str | os.PathLike[str], why: str) -> ModelFileError:
    why = why.rstrip(".")
    return ModelFileError(
        f"the model file {str(path)!r} is damaged: {why}. Write it again with stepnet.save or stepnet fit."
    )
