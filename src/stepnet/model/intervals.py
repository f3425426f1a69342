"""Sums over signals that are known to lie between two ends."""

from __future__ import annotations

import numpy as np

from stepnet.model.arithmetic import Floats

_DOUBT = 1e-9  # relative: sums this close to a threshold may lie on either side


def ranges_of_sums(weights: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Between which w·h lies, for each row of signals and of weights."""
    up, down = np.maximum(weights, 0.0).T, np.minimum(weights, 0.0).T
    return least @ up + most @ down, most @ up + least @ down


def doubt_of(weights: Floats, least: Floats, most: Floats, thresholds: Floats) -> Floats:
    """How close to its threshold the sum of each neuron is in doubt, for all rows alike."""
    largest = np.maximum(np.abs(least).max(axis=0, initial=0.0), np.abs(most).max(axis=0, initial=0.0))
    return np.asarray(_DOUBT * (np.abs(weights) @ largest + np.abs(thresholds)))
