"""Sums of signals that lie between two known ends."""

from __future__ import annotations

import numpy as np

from stepnet.model.arithmetic import Floats

_DOUBT = 1e-9  # relative: sums this close to a threshold may lie on either side


def ranges_of_sums(weights: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """The smallest and largest w·h, for each row of signals and of weights."""
    up, down = np.maximum(weights, 0.0).T, np.minimum(weights, 0.0).T
    return least @ up + most @ down, most @ up + least @ down


def doubt_of(weights: Floats, least: Floats, most: Floats, thresholds: Floats) -> Floats:
    """Sums of a neuron that are this close to its threshold are in doubt; one number per neuron, for all rows."""
    largest = np.maximum(np.abs(least).max(axis=0, initial=0.0), np.abs(most).max(axis=0, initial=0.0))
    return np.asarray(_DOUBT * (np.abs(weights) @ largest + np.abs(thresholds)))
