"""Report: everything that a report states about a model, computed once, as plain numbers."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import stepnet
from stepnet.certificate.certificate import Certificate
from stepnet.certificate.risk import Risk
from stepnet.certificate.verification import Verification
from stepnet.errors import InvalidInputError
from stepnet.estimators.base import BaseStep
from stepnet.estimators.classifier import BaseStepClassifier
from stepnet.estimators.step_autoencoder import StepAutoencoder
from stepnet.estimators.step_ensemble import StepEnsembleClassifier
from stepnet.estimators.step_score import StepScoreClassifier
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.report.format import clean
from stepnet.report.learned import (
    Feature,
    Margins,
    Names,
    NeuronLayer,
    decided_rows,
    features_of,
    layers_of,
    margins_of,
)
from stepnet.report.quality import Quality
from stepnet.report.robustness import Robustness, checked_radius, robustness_of
from stepnet.report.rows import Rows
from stepnet.report.size import ModelSize, size_of
from stepnet.scores.sheet import Sheet
from stepnet.tables.pipelines import before_last, unpacked

Trace = tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Report:
    """What a fitted model learned, how large, how good and how sure it is, and how to use it.

    Made by :meth:`of`; :func:`stepnet.report.to_html`, ``to_markdown`` and ``to_text`` show it.

    Attributes
    ----------
    train, test : Quality or None
        Of the answers for training and test rows; None if no such rows were given.
    verification : Verification or None
        The result of checking the certificate against the training rows.
    trace : tuple of (seconds, loss, bound)
        The course of the fit.
    """

    title: str
    data_name: str
    model_name: str
    target: str
    weight: str
    estimator: str
    has_names: bool  # whether the model has names of features
    columns: tuple[str, ...]  # that new tables need, if columns were encoded
    classes: tuple[str, ...]
    features: tuple[Feature, ...]
    layers: tuple[NeuronLayer, ...]
    size: ModelSize
    certificate: Certificate
    trace: Trace
    train: Quality | None
    test: Quality | None
    unseen: Quality | None  # of the test rows that equal no training row, if others do
    n_seen: int  # test rows with the features of a training row
    is_weighted: bool  # whether training rows have weights
    sheet: Sheet | None  # of a scorecard
    risk: Risk | None  # on new rows, from test rows that equal no training row
    margins: Margins | None
    robustness: Robustness | None
    verification: Verification | None
    versions: tuple[tuple[str, str], ...]

    @classmethod
    def of(
        cls,
        estimator: BaseStep | Pipeline,
        train: tuple[Any, ...] | None = None,
        test: tuple[Any, ...] | None = None,
        *,
        radius: float | None = None,
        norm: str = "linf",
        title: str = "",
        data_name: str = "",
        model_name: str = "model.json",
        target: str = "y",
        weight: str = "weight",
        absent: tuple[Sequence[int], Sequence[int]] = ((), ()),
    ) -> Report:
        """Compute a report.

        Parameters
        ----------
        estimator : fitted estimator, one from :func:`stepnet.load`, or a fitted Pipeline that ends with one
            Of a pipeline, rows are those that it takes.
        train : (X, y, sample_weight or None), optional
            The rows it was fitted on: the certificate is checked against them, and rows are counted per neuron.
            ``y`` is None for an autoencoder. A fourth entry holds the radii of rows, if fit was given any.
        test : (X, y), optional
            Rows it was not fitted on.
        radius : float, optional
            Attack rows (test rows, if given), and report how many no perturbation up to this size gets wrong.
        norm : "l1", "l2" or "linf"
            How perturbations are measured.
        title, data_name, model_name, target, weight : str
            Names to print: of the report, the data, the model file, the target column and the weight column.
        absent : two sequences of int
            Numbers of features that training and test rows do not really have; see :meth:`StepClassifier.verify`.
        """
        train, test = _last_rows(estimator, train), _last_rows(estimator, test)
        estimator = unpacked(estimator)
        if not isinstance(estimator, BaseStep):
            raise InvalidInputError(
                f"a report needs a fitted stepnet estimator; got {type(estimator).__name__}. Load one with "
                "stepnet.load."
            )
        check_is_fitted(estimator)
        network, names = estimator.network_, _names(estimator)
        rows, test_rows = Rows.of(estimator, train, "train", absent[0]), Rows.of(estimator, test, "test", absent[1])
        X = None if rows is None else rows.X
        new_rows = None if test_rows is None or rows is None else test_rows.without(rows)
        n_seen = 0 if test_rows is None or new_rows is None else len(test_rows.X) - len(new_rows.X)
        decided = None if X is None else decided_rows(network, X)
        layers = layers_of(network, names, X, decided)
        return cls(
            title=clean(title) or f"Report on a {type(estimator).__name__}",
            data_name=clean(data_name),
            model_name=model_name,
            target=target,
            weight=weight,
            estimator=type(estimator).__name__,
            has_names=hasattr(estimator, "feature_names_in_"),
            columns=_needed(estimator),
            classes=names.classes,
            features=tuple(features_of(network, names.features, _meanings(estimator, network), _without(X, absent[0]))),
            layers=tuple(layers),
            size=_size(estimator, layers, X),
            certificate=estimator.certificate_,
            trace=_trace(estimator),
            train=None if rows is None else rows.quality(names),
            test=None if test_rows is None else test_rows.quality(names),
            unseen=None if new_rows is None or not n_seen else new_rows.quality(names),
            n_seen=n_seen,
            is_weighted=rows is not None and rows.weights is not None,
            sheet=estimator._sheet() if isinstance(estimator, StepScoreClassifier) else None,
            risk=_risk(estimator, test_rows),
            margins=None if X is None or decided is None else margins_of(network, X, decided),
            robustness=_robustness(estimator, rows, test_rows, norm, radius),
            verification=None if rows is None else rows.verified(),
            versions=_versions(),
        )


def _risk(estimator: BaseStep, test_rows: Rows | None) -> Risk | None:
    """None without new rows, and for models that do not know their training rows."""
    if test_rows is None or not isinstance(estimator, BaseStepClassifier) or not hasattr(estimator, "row_prints_"):
        return None
    prints = estimator.row_prints_
    if prints is None or test_rows.absent or prints.know(test_rows.X).all():
        return None
    found: Risk = test_rows.estimator.risk(test_rows.X, estimator.classes_[test_rows.codes()], repeated="drop")
    return found


def _last_rows(model: Any, part: Any) -> Any:
    """Rows and targets as the last step of a pipeline sees them."""
    is_of_rows = isinstance(part, tuple) and part
    return (before_last(model, part[0]), *part[1:]) if is_of_rows else part


def _trace(estimator: Any) -> Trace:
    points = [(float(seconds), float(loss), float(bound)) for seconds, loss, bound in getattr(estimator, "trace_", ())]
    return tuple(sorted(points, key=lambda point: point[0]))


def _names(estimator: BaseStep) -> Names:
    n_features = estimator.network_.n_features
    given = getattr(estimator, "feature_names_in_", [f"x{i}" for i in range(n_features)])
    features = tuple(map(clean, given))
    if isinstance(estimator, BaseStepClassifier):
        return Names(features, classes=tuple(map(clean, estimator.classes_.tolist())))
    if isinstance(estimator, StepAutoencoder):
        return Names(features, targets=features)
    numbered = tuple(f"prediction {j + 1}" for j in range(estimator.network_.widths[-1]))
    return Names(features, targets=numbered if len(numbered) > 1 else ("prediction",))


def _needed(estimator: BaseStep) -> tuple[str, ...]:
    return tuple(estimator.columns_.needed(estimator.used_features)) if hasattr(estimator, "columns_") else ()


def _without(X: Floats | None, absent: Sequence[int]) -> Floats | None:
    """The rows, with NaN in the features that they lack."""
    if X is not None and len(absent):
        X = X.copy()
        X[:, list(absent)] = np.nan
    return X


def _meanings(estimator: Any, network: Network) -> list[str]:
    """A sentence per feature, empty unless the model encoded the columns of a table."""
    columns = getattr(estimator, "columns_", None)
    if columns is None:
        return [""] * network.n_features
    ways = zip(columns.describe(), columns.formulas(), columns.arithmetic, strict=True)
    return [clean(f"{sentence}; scaled: {formula}" if way else sentence) for sentence, formula, way in ways]


def _size(estimator: Any, layers: Sequence[NeuronLayer], X: Floats | None) -> ModelSize:
    are_compared = estimator.network_.layers[-1].activation.is_compared
    is_vote_of_pairs = are_compared and estimator._votes
    return size_of(
        estimator.network_,
        estimator.weights,
        [layer.title for layer in layers],
        estimator.certificate_.n_rows if X is None else len(X),
        are_distinct=X is None,
        is_vote=is_vote_of_pairs or (isinstance(estimator, StepEnsembleClassifier) and estimator.is_vote),
    )


def _robustness(
    estimator: BaseStep, rows: Rows | None, test_rows: Rows | None, norm: str, radius: float | None
) -> Robustness | None:
    if radius is None:
        return None
    checked = checked_radius(radius)
    if not isinstance(estimator, BaseStepClassifier):
        raise InvalidInputError(
            f"radius={radius!r} asks how far rows can be perturbed before their class changes; a "
            f"{type(estimator).__name__} predicts numbers. Leave radius out."
        )
    chosen = test_rows or rows
    if chosen is None:
        raise InvalidInputError(f"radius={radius!r} needs rows to perturb; give train= or test=.")
    part = "test" if test_rows is not None else "training"
    return robustness_of(estimator, chosen.X, chosen.codes(), norm, checked, part)


def _versions() -> tuple[tuple[str, str], ...]:
    packages = ((name, version(name)) for name in ("numpy", "scipy", "scikit-learn"))
    return ("stepnet", stepnet.__version__), ("Python", platform.python_version()), *packages
