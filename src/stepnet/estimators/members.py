"""Members of a committee: networks that are trained without some of the rows and answer with numbers.

The numbers are log-odds of classes, one for two classes and otherwise one per class, or the targets of a regression.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from stepnet.model.activations.identity import IDENTITY
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.model.trees import one_feature
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.search.boosting.bins import Bins
from stepnet.search.boosting.boosting import BoostingOptions, boosted_network
from stepnet.search.descent.descent import DescentOptions, descend_network

_CUTS = 8  # of a feature
_MOST_BITS = 500


class Kind(Protocol):
    """A way to train members."""

    def train(
        self, problem: Problem, kept: Floats, seed: list[int], seconds: float, should_stop: Callable[[], bool]
    ) -> Network:
        """A member trained on the rows of which so much weight is kept, in about so many seconds at the most."""


@dataclass(frozen=True)
class Oblique:
    """Networks of the problem's architecture: their first neurons look at all features."""

    options: DescentOptions

    def train(
        self, problem: Problem, kept: Floats, seed: list[int], seconds: float, should_stop: Callable[[], bool]
    ) -> Network:
        return _descended(replace(problem, dataset=_part(problem.dataset, kept)), self, seed, seconds, should_stop)


@dataclass(frozen=True)
class Trees:
    """Boosted trees: their first neurons look at one feature each. ``bins`` are those of all rows."""

    options: BoostingOptions
    bins: Bins

    def train(
        self, problem: Problem, kept: Floats, seed: list[int], seconds: float, should_stop: Callable[[], bool]
    ) -> Network:
        n_outputs = problem.architecture.n_outputs
        limits: Any = {"seconds": seconds, "should_stop": should_stop}
        dataset = problem.dataset
        counts = kept / dataset.weights * dataset.repetitions
        return boosted_network(dataset, self.bins, counts, n_outputs, options=self.options, **limits)


@dataclass(frozen=True)
class Bits:
    """Networks of the problem's architecture on bits ``x >= cut`` instead of features."""

    options: DescentOptions
    layer: Layer

    @classmethod
    def of(cls, options: DescentOptions, X: Any) -> Bits:
        most = max(2, min(_CUTS, _MOST_BITS // X.shape[1]) + 1)
        cuts = Bins.of(X, most).cuts
        questions = [(feature, float(cut)) for feature, own in enumerate(cuts) for cut in own]
        return cls(options, one_feature(questions[:_MOST_BITS] or [(0, math.inf)], X.shape[1]))

    def train(
        self, problem: Problem, kept: Floats, seed: list[int], seconds: float, should_stop: Callable[[], bool]
    ) -> Network:
        rows = _part(problem.dataset, kept)
        signals: Any = Network((self.layer,)).levels(rows.X)[0].astype(np.float32)
        bits = replace(rows, X=signals)
        architecture = replace(problem.architecture, n_features=self.layer.width)
        part = replace(problem, dataset=bits, architecture=architecture)
        network = _descended(part, self, seed, seconds, should_stop)
        return Network((self.layer, *network.layers))


def _part(dataset: Dataset, kept: Floats) -> Dataset:
    is_used = kept > 0
    return Dataset(dataset.X[is_used], dataset.y[is_used], kept[is_used], n_given=dataset.n_given)


def _descended(
    problem: Problem, kind: Oblique | Bits, seed: list[int], seconds: float, should_stop: Callable[[], bool]
) -> Network:
    network = descend_network(
        problem, seed=seed, options=kind.options, seconds=seconds, should_stop=should_stop, is_raw=True
    )
    *hidden, last = network.layers
    return Network((*hidden, Layer(last.weights, last.thresholds, IDENTITY)))
