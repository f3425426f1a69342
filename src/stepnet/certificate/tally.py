"""Tally: all that a certificate says about rows, added up piece by piece, without rounding.

The loss is a sum of exact sums, the fingerprint a sum over rows, and conflicts come from hashes of rows. So neither the
pieces nor their order matter, and what several machines count can be added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.bounds.row_groups import Groups
from stepnet.certificate.certificate import Certificate, status_of
from stepnet.certificate.result import Result
from stepnet.certificate.verification import Verification
from stepnet.certificate.verify import claims
from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.accuracy import Accuracy
from stepnet.problem.dataset import Dataset, common_step
from stepnet.problem.exact_sum import exact_sum
from stepnet.problem.losses.base import WeightFacts
from stepnet.problem.problem import Problem
from stepnet.problem.row_hashes import Hashes, fingerprint_of, row_hashes, weighted_sum, with_targets

_MOST_WEIGHTS = 100_000  # different ones; with more there is no useful unit


@dataclass
class Tally:
    """Of the rows so far: their exact loss and weight, their fingerprint, and what weights there are."""

    network: Network
    problem: Problem
    mean: Floats | None = None  # of numbers to predict
    n_rows: int = 0
    loss: Fraction = Fraction(0)
    total: Fraction = Fraction(0)
    cost_of_mean: Fraction = Fraction(0)
    row_sum: int = 0
    weights: set[float] = field(default_factory=set)
    margin: float | None = None  # None: not computed
    hashes: list[tuple[Hashes, Hashes]] = field(default_factory=list)  # those of rows, and of rows with targets

    def add(self, dataset: Dataset, *, margin: bool = False) -> None:
        """Some rows."""
        loss = self.problem.loss
        self.n_rows += dataset.n_rows
        self.loss += exact_sum(loss.terms(dataset, self.network))
        self.total += exact_sum(dataset.weights)
        if loss.of_values is not None and self.mean is not None:
            costs = loss.of_values.costs(np.broadcast_to(self.mean, dataset.y.shape), dataset.y)
            self.cost_of_mean += exact_sum((dataset.weights[:, None] * costs).ravel())
        if len(self.weights) <= _MOST_WEIGHTS:
            is_plain = dataset.weights[0] == dataset.weights[-1] and (dataset.weights == dataset.weights[0]).all()
            self.weights.update(dataset.weights[:1].tolist() if is_plain else np.unique(dataset.weights).tolist())
        rows = row_hashes(dataset.X)
        wholes = with_targets(rows, list(np.atleast_2d(dataset.y.T)))
        self.row_sum += weighted_sum(wholes, dataset.weights)
        self.hashes.append((rows, wholes))
        if margin:
            smallest = self.network.margin_unless(dataset.X, lambda: False)
            self.margin = smallest if self.margin is None else min(self.margin, smallest or 0.0)

    def add_tally(self, other: Tally) -> None:
        """What somebody else has counted."""
        self.n_rows, self.loss, self.total = (
            self.n_rows + other.n_rows,
            self.loss + other.loss,
            self.total + other.total,
        )
        self.cost_of_mean += other.cost_of_mean
        self.row_sum += other.row_sum
        self.weights |= other.weights
        self.hashes += other.hashes
        margins = [one for one in (self.margin, other.margin) if one is not None]
        self.margin = min(margins) if margins else None

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self.row_sum, self.network.n_features)

    @property
    def whole_loss(self) -> float:
        """The loss of all rows, rounded once, with the cost of weights."""
        return float(self.loss) + self.problem.loss.penalty(self.network.layers[-1].weights)

    @property
    def accuracy(self) -> Accuracy:
        """Which losses count as different."""
        weights, total = np.array(sorted(self.weights)), float(self.total)
        step = common_step(weights, total) if len(weights) <= _MOST_WEIGHTS else 0.0
        facts = WeightFacts(self.n_rows, total, float(weights[0]), float(weights[-1]), step)
        return self.problem.loss.accuracy_of(facts, float(self.cost_of_mean))

    def certificate(self, result: Result, groups: Groups, bound: Bound, runtime: float) -> Certificate:
        """Of the network, on all rows."""
        accuracy, loss = self.accuracy, self.whole_loss
        least = min(bound.value, loss)
        return Certificate(
            loss=loss,
            measure=self.problem.loss.measure,
            bound=least,
            gap=accuracy.gap(loss, least),
            status=status_of(accuracy, loss, least, is_learned=result.is_learned),
            scope=bound.scope,
            evidence=bound.evidence,
            found_by=result.found_by,
            stop_reason=result.stop_reason,
            runtime=runtime,
            margin=self.margin,
            n_weights=self.network.n_weights,
            weights_bound=0,
            weights_scope=Bound().scope,
            fingerprint=self.fingerprint,
            n_rows=groups.n_distinct,
            total_weight=float(self.total),
            uncertainty="",
            nominal_loss=loss,
            rounds=0,
            scenarios=0,
        )

    def verification(self, certificate: Certificate, free: Bound) -> Verification:
        """Whether a certificate is true, given the bound of conflicting rows.

        Raises
        ------
        InvalidInputError
            If these are not the rows of the certificate.
        """
        if self.fingerprint != certificate.fingerprint:
            is_close = math.isclose(float(self.total), certificate.total_weight, rel_tol=1e-9)
            old = " If the model is from an earlier version, verify it with the rows in memory." if is_close else ""
            raise InvalidInputError(
                f"these are not the data of the certificate: fingerprint {self.fingerprint}, not "
                f"{certificate.fingerprint}. Verify with the rows, classes and weights (--sample-weight) that the "
                f"model was fitted on.{old}"
            )
        return Verification(tuple(claims(certificate, self.whole_loss, self.accuracy, free.value)))
