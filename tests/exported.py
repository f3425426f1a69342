"""Fitted estimators around made-up networks, and rows that are hard for them, for tests of exports."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

from stepnet import StepAutoencoder, StepClassifier, StepRegressor
from stepnet.bounds.evidence import Stated
from stepnet.bounds.scope import ALL_NETWORKS
from stepnet.certificate.certificate import Certificate
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import SIGN, STEP, Staircase
from stepnet.model.network import Layer, Network

needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None and not os.environ.get("STEPNET_TEST_ALL"),
    reason="no C compiler here; `make test-all` requires it",
)

CERTIFICATE = Certificate(
    loss=3.0, measure="misclassified", bound=1.0, gap=2 / 3, status="FEASIBLE", scope=ALL_NETWORKS,
    evidence=Stated("made up"), found_by="", stop_reason="time", runtime=1.0, margin=0.25, n_weights=9,
    weights_bound=0, weights_scope=ALL_NETWORKS,
    fingerprint="0123", n_rows=20, total_weight=20.0, uncertainty="", nominal_loss=3.0, rounds=0, scenarios=0,
)  # fmt: skip

ACTIVATIONS = {
    "step": STEP,
    "sign": SIGN,
    "stairs": Staircase((0.0, 1.0, 2.0, 3.0)),
    "odd": Staircase((0.3, -1.7, 0.1)),
}


def fitted(*layers, classes=None, names=None, estimator=None):
    """An estimator with this network; classes are numbered if none are given."""
    network = Network(layers)
    last = network.layers[-1]
    if last.activation == IDENTITY:
        estimator = estimator or StepRegressor()
        estimator._is_flat = last.width == 1
    else:
        estimator = estimator or StepClassifier()
        n_classes = last.width if last.activation.name == "argmax" else len(last.activation.values)
        estimator.classes_ = np.arange(n_classes) if classes is None else np.array(classes)
    estimator.network_, estimator.certificate_ = network, CERTIFICATE
    estimator.n_features_in_ = network.n_features
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator


def autoencoder(*layers, code=0):
    estimator = fitted(*layers, estimator=StepAutoencoder())
    estimator.code_layer_ = code
    return estimator


def real(rng, width, n_inputs, activation=STEP, scale=1.0):
    """A layer of numbers with all their digits."""
    shape = width if activation.n_thresholds == 1 else (width, activation.n_thresholds)
    ends = np.sort(rng.normal(0, scale, shape), axis=-1) if activation.n_thresholds > 1 else rng.normal(0, scale, shape)
    return Layer(rng.normal(0, 1, (width, n_inputs)), ends, activation)


def whole(rng, width, n_inputs, activation=STEP, largest=1):
    """A layer of small integers, with thresholds that sums meet."""
    shape = width if activation.n_thresholds == 1 else (width, activation.n_thresholds)
    ends = rng.integers(-2, 3, shape)
    weights = rng.integers(-largest, largest + 1, (width, n_inputs))
    return Layer(weights, np.sort(ends, axis=-1) if ends.ndim > 1 else ends, activation)


def hard_rows(rng, layer: Layer, n: int = 60) -> np.ndarray:
    """Rows on hyperplanes as near as doubles come, beside them by one unit, and of all scales."""
    n_features = layer.weights.shape[1]
    rows = [rng.normal(0, 1, (n, n_features)), rng.integers(-3, 4, (n, n_features)).astype(float)]
    on = rng.normal(0, 1, (n, n_features))
    for row in on:
        j = rng.integers(layer.width)
        weights, end = layer.weights[j], layer.thresholds.reshape(layer.width, -1)[j][0]
        if layer.activation == ARGMAX:  # on the plane between two classes
            weights, end = weights - layer.weights[j - 1], end - layer.thresholds[j - 1]
        i = int(np.abs(weights).argmax())
        if weights[i]:
            row[i] = 0.0
            row[i] = (end - row @ weights) / weights[i]
    rows += [on, np.nextafter(on, np.inf), np.nextafter(on, -np.inf)]
    rows += [on[:10] * 2.0**power for power in (-1060, -500, 500, 1000)]
    mixed = rng.normal(0, 1, (n, n_features)) * 2.0 ** rng.integers(-1000, 1000, (n, n_features))
    extremes = rng.choice([5e-324, -5e-324, 1.7e308, -1.7e308, 0.0, 1.0], (n, n_features))
    return np.clip(np.vstack([*rows, mixed, extremes]), -1.7e308, 1.7e308)
