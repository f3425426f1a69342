"""Tradeoff: the best recall for every number of false alarms, proven from both sides."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stepnet.bounds.scope import Scope
from stepnet.constructions.moved_threshold import with_limits_met
from stepnet.errors import InvalidInputError
from stepnet.estimators.base import checked_limit, checked_n_jobs
from stepnet.estimators.step_classifier import StepClassifier
from stepnet.methods.prove import Prove
from stepnet.methods.run import Run
from stepnet.methods.search import Search
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.error_limits.limits import FalsePositives, Recall
from stepnet.problem.problem import Problem
from stepnet.provers.pool import Pool
from stepnet.runtime.limits import Budget
from stepnet.runtime.numbers import is_finite_number
from stepnet.runtime.plots import require_plots, write_plot

COLUMNS = ("false_positives_at_most", "false_positives", "recall", "recall_at_most", "status", "scope", "seconds")
_MOST_POINTS = 16


@dataclass(frozen=True)
class TradeoffPoint:
    """The best network with at most so many false positives.

    Attributes
    ----------
    at_most : float
        The weight of false positives that is allowed.
    false_positives : Fraction
        The weight of those that the network has.
    recall : Fraction
        Of the network, exactly.
    recall_at_most : Fraction
        No network within ``scope`` with so few false positives has a larger recall.
    scope : Scope
        The networks that this holds for.
    network : Network
    runtime : float
        Seconds.
    stop_reason : str
    """

    at_most: float
    false_positives: Fraction
    recall: Fraction
    recall_at_most: Fraction
    scope: Scope
    network: Network
    runtime: float
    stop_reason: str

    @property
    def status(self) -> str:
        """OPTIMAL if no network has a larger recall, otherwise FEASIBLE."""
        return "OPTIMAL" if self.recall >= self.recall_at_most else "FEASIBLE"

    def row(self) -> tuple[Any, ...]:
        """Its numbers, in the order of ``COLUMNS``."""
        shares = (float(self.false_positives), float(self.recall), float(self.recall_at_most))
        return (self.at_most, *shares, self.status, str(self.scope), self.runtime)


@dataclass(frozen=True)
class Tradeoff:
    """Recall against false positives.

    Attributes
    ----------
    positive : class
        The class that is to be found.
    hidden : tuple of int
        The widths of the networks.
    points : tuple of TradeoffPoint
        By the number of false positives that is allowed.
    """

    positive: Any
    hidden: tuple[int, ...]
    points: tuple[TradeoffPoint, ...]

    def __str__(self) -> str:
        lines = ["false positives <=  found    recall  at most  status    seconds  holds for"]
        for one in self.points:
            shares = f"{100 * float(one.recall):6.2f} %  {100 * float(one.recall_at_most):5.2f} %"
            found = f"{one.at_most:18g}  {float(one.false_positives):5g}  {shares}"
            lines.append(f"{found}  {one.status:8}  {one.runtime:7.1f}  {one.scope}")
        return "\n".join([*lines, self.answer])

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        n_proven = sum(one.status == "OPTIMAL" for one in self.points)
        last = self.points[-1]
        end = f"with at most {last.at_most:g} false positives the recall of {self.positive} is {_percent(last.recall)}"
        return f"{n_proven} of {len(self.points)} points are proven; {end}."

    def rows(self) -> list[tuple[Any, ...]]:
        """A row of numbers for every point, in the order of ``COLUMNS``."""
        return [one.row() for one in self.points]

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw recall, and what no network can reach, over the number of false positives."""
        require_plots(path)
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        limits = [one.at_most for one in self.points]
        found, bounds = (
            [100 * float(getattr(one, name)) for one in self.points] for name in ("recall", "recall_at_most")
        )
        axes.vlines(limits, found, bounds, color="0.6", zorder=1)
        axes.step(limits, found, "o-", where="post", label="best network, exact recall")
        axes.plot(limits, bounds, "_", color="black", markersize=14, label="no network has more")
        axes.set(xlabel="false positives, at most", ylabel=f"recall of {self.positive} in %")
        axes.set_title(f"hidden={self.hidden}\n{self.answer}", fontsize=9)
        axes.legend(frameon=False)
        write_plot(figure, path)


def tradeoff(
    X: ArrayLike,
    y: ArrayLike,
    *,
    positive: Any = None,
    hidden: tuple[int, ...] = (2,),
    false_positives: Sequence[float] | None = None,
    sample_weight: ArrayLike | None = None,
    time_limit: float | None = 600.0,
    n_jobs: int | None = 1,
    random_state: int = 0,
    show: Callable[[TradeoffPoint], None] | None = None,
    on_interrupt: str = "raise",
) -> Tradeoff:
    """The best recall with at most so many false positives, each with a bound that no network exceeds.

    Parameters
    ----------
    X, y : array-like
        Rows and their two classes.
    positive : class
        The class to be found; None is the second one.
    hidden : tuple of int
        The widths of the networks. Proofs for all networks go up to one hidden layer of 5 neurons.
    false_positives : sequence of float
        The numbers of false positives to allow, in weight of rows. None: 0, 1, 2, 3, 5, 8, ... until the recall is 1.
    time_limit : float or None
        Seconds in total. Each point gets an equal share of the time that is left; what points leave over is for
        those that are still open in the end.
    show : callable
        Called with every point when it is done, and once more if it is taken up again.
    on_interrupt : "raise" or "keep"
        What Ctrl-C does: raise KeyboardInterrupt, or return the points so far.

    Examples
    --------
    >>> from stepnet import tradeoff
    >>> X, y = [[0], [1], [2], [3], [4]], ["well", "ill", "well", "ill", "ill"]
    >>> curve = tradeoff(X, y, positive="ill", hidden=(1,), false_positives=[0, 1])
    >>> [(point.at_most, str(point.recall), point.status) for point in curve.points]
    [(0.0, '2/3', 'OPTIMAL'), (1.0, '1', 'OPTIMAL')]
    """
    curve = _Curve((X, y, sample_weight, hidden, positive), Budget(checked_limit(time_limit)), checked_n_jobs(n_jobs))
    curve.seed, whole, points = random_state, curve.whole, list[TradeoffPoint]()
    first = curve.problem(0.0)
    levels = _levels(first, false_positives)
    with whole.catching_interrupts(on_interrupt):
        curve.fewest_errors(first.without_limits, whole.remaining / (len(levels) + 1))
        for number, level in enumerate(levels):
            points.append(curve.point(level, whole.remaining / (len(levels) - number)))
            if show is not None:
                show(points[-1])
            is_done = false_positives is None and points[-1].recall == 1
            if is_done or whole.is_interrupted:
                break
        points = _sharpened(points)
        if math.isfinite(whole.remaining):
            points = curve.again(points, show)
    label = first.constraints.demands[0].name.removeprefix("recall of ")
    return Tradeoff(label, first.architecture.hidden, tuple(points))


@dataclass
class _Curve:
    """The points of a curve one by one; each begins with the best of all networks before it."""

    given: tuple[Any, ...]  # rows, classes, weights, widths and the class to be found
    whole: Budget
    n_jobs: int | None
    seed: int = 0
    pool: Pool = field(default_factory=Pool)
    networks: list[Network] = field(default_factory=list)

    def problem(self, level: float) -> Problem:
        X, y, weights, hidden, positive = self.given
        limits = [Recall(positive, at_least=0), FalsePositives(positive, at_most=level)]
        return StepClassifier(hidden=hidden, constraints=limits).problem(X, y, weights)

    def fewest_errors(self, problem: Problem, seconds: float) -> None:
        """A network with few errors of both kinds, which serves all levels."""
        run = Run(problem, self.whole.lasting(seconds))
        run.n_jobs, run.seed = self.n_jobs, self.seed
        Search(starts=4).work(run)
        self.networks.append(run.result().network)

    def point(self, level: float, seconds: float) -> TradeoffPoint:
        problem, begin = self.problem(level), self.whole.elapsed
        run = Run(_of_recall(problem), self.whole.lasting(seconds), pool=self.pool)
        run.n_jobs, run.seed = self.n_jobs, self.seed
        moved = [with_limits_met(run.problem, network) for network in self.networks]
        start = min((one for one in moved if one is not None), key=run.problem.evaluate, default=None)
        Prove().work(run, start)
        self.networks.append(run.result().network)
        return _point(problem, run, level, self.whole.elapsed - begin)

    def again(
        self, points: Sequence[TradeoffPoint], show: Callable[[TradeoffPoint], None] | None
    ) -> list[TradeoffPoint]:
        """Points that are open, with shares of the time that is left."""
        points = list(points)
        for i in range(len(points)):
            n_open = sum(one.status != "OPTIMAL" for one in points[i:])
            if points[i].status == "OPTIMAL" or self.whole.is_used_up() or self.whole.is_interrupted:
                continue
            found = self.point(points[i].at_most, self.whole.remaining / n_open)
            points[i] = _together(points[i], found)
            points = _sharpened(points)
            if show is not None:
                show(points[i])
        return points


def _of_recall(problem: Problem) -> Problem:
    """The weight of missed rows of the class is what is minimised, under the limit on false positives."""
    recall, alarms = problem.constraints.demands
    data, constraints = problem.dataset, problem.constraints.with_demands(lambda one: one is alarms)
    weights, _ = recall.inequalities[0].scaled(2.0**40)
    return replace(problem, dataset=Dataset(data.X, data.y, weights), constraints=constraints)


def _levels(problem: Problem, given: Sequence[float] | None) -> list[float]:
    alarms = problem.constraints.demands[1].shares[0]
    most = float(Fraction(int(alarms.rises.sum()), alarms.bottom))
    if given is not None:
        levels = sorted({float(level) for level in given if is_finite_number(level) and level >= 0})
        if len(levels) < len(set(given)) or not levels:
            raise InvalidInputError(f"false_positives={given!r} must be non-negative numbers.")
        return levels
    levels, step = [0.0, 1.0], (1.0, 2.0)
    while len(levels) < _MOST_POINTS - 1:
        levels.append(step[1])
        step = (step[1], step[0] + step[1])
    return [*(level for level in levels if level < most), most]


def _point(problem: Problem, run: Run, level: float, seconds: float) -> TradeoffPoint:
    """What is known about one level; the bound of missed rows is one of the recall."""
    network = run.result().network
    recall, alarms = problem.constraints.demands
    wrong = network.predict(problem.dataset.X) != problem.dataset.y
    share, unit = recall.shares[0], int(recall.inequalities[0].coefficients.max())
    found, missed, bound = share.value(wrong), run.problem.evaluate(network), run.best_bound
    false_positives = alarms.shares[0].value(wrong)
    assert found is not None
    assert false_positives is not None
    largest = found
    if not run.is_proven:
        size = Fraction(int(np.abs(share.rises).max()), unit)  # units of the inequality in those of the share
        least = Fraction(math.ceil(bound.value - 1e-9 * missed)) if run.problem.accuracy.step else Fraction(bound.value)
        largest = max(found, 1 - size * least / share.bottom)
    reason = run.result().stop_reason
    return TradeoffPoint(level, false_positives, found, largest, bound.scope, network, seconds, reason)


def _together(one: TradeoffPoint, other: TradeoffPoint) -> TradeoffPoint:
    """What two runs at one level know; where their bounds are for different networks, that of the second."""
    best = max(one, other, key=lambda point: point.recall)
    most = other.recall_at_most
    if one.scope == other.scope:
        most = min(one.recall_at_most, most)
    both = replace(other, network=best.network, recall=best.recall, false_positives=best.false_positives)
    return replace(both, recall_at_most=max(best.recall, most), runtime=one.runtime + other.runtime)


def _sharpened(points: Sequence[TradeoffPoint]) -> list[TradeoffPoint]:
    """A network counts for all levels that allow it; a bound holds for all levels below its own."""
    result: list[TradeoffPoint] = []
    for one in reversed(points):
        allowed = [other for other in points if other.false_positives <= one.at_most]
        best = max([one, *allowed], key=lambda point: point.recall)
        most = one.recall_at_most
        if result and result[-1].scope == one.scope:
            most = min(most, result[-1].recall_at_most)
        found = replace(one, network=best.network, recall=best.recall, false_positives=best.false_positives)
        result.append(replace(found, recall_at_most=max(best.recall, most)))
    return result[::-1]


def _percent(share: Fraction) -> str:
    return f"{100 * float(share):.4g} %"
