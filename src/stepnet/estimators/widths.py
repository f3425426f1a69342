"""Widths: the fewest neurons that reach a loss, and the best loss of every width, proven from both sides."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from stepnet.bounds.conflicts import conflict_bound
from stepnet.certificate.certificate import Certificate, certify
from stepnet.errors import InvalidInputError
from stepnet.estimators.base import checked_limit, checked_n_jobs
from stepnet.estimators.step_classifier import StepClassifier
from stepnet.methods.prove import Prove
from stepnet.methods.run import Run
from stepnet.model.network import Layer, Network
from stepnet.provers.pool import Pool
from stepnet.runtime.limits import Budget
from stepnet.runtime.numbers import is_finite_number, is_integer
from stepnet.runtime.plots import require_plots, write_plot


@dataclass(frozen=True)
class Width:
    """The best network of one width, and its certificate."""

    width: int
    certificate: Certificate
    network: Network

    @property
    def loss(self) -> float:
        return self.certificate.loss

    @property
    def bound(self) -> float:
        """No network of this width within the scope of the certificate has a smaller loss."""
        return self.certificate.bound


@dataclass(frozen=True)
class Widths:
    """The curve of best loss over width, and the fewest neurons that reach a loss.

    Attributes
    ----------
    loss : float
        The loss to reach.
    curve : tuple of Width
        From one neuron to the first width that reaches it; one neuron alone if no width can.
    least : float
        The smallest loss of any classifier: equal rows of different classes cannot all be right.
    """

    loss: float
    curve: tuple[Width, ...]
    least: float = 0.0

    @property
    def is_possible(self) -> bool:
        """Whether equal rows of different classes leave the loss possible at all."""
        return self.least <= self.loss

    @property
    def enough(self) -> int | None:
        """The fewest neurons with which a network reached the loss; None if none did."""
        return next((one.width for one in self.curve if one.loss <= self.loss), None)

    @property
    def needed(self) -> int | None:
        """The fewest neurons that the bounds leave possible; None if no number of neurons is enough."""
        if not self.is_possible:
            return None
        return next((one.width for one in self.curve if one.bound <= self.loss), len(self.curve) + 1)

    @property
    def smallest(self) -> int | None:
        """The fewest neurons that reach the loss, if there are any and that is proven."""
        return self.enough if self.enough == self.needed else None

    def __str__(self) -> str:
        lines = ["neurons    loss   bound  status    seconds  holds for"]
        for one in self.curve:
            c = one.certificate
            lines.append(f"{one.width:7}  {c.loss:6.6g}  {c.bound:6.6g}  {c.status:8}  {c.runtime:7.1f}  {c.scope}")
        return "\n".join([*lines, self.answer])

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        if not self.is_possible:
            least = f"{self.least:g}" if float(f"{self.least:g}") == self.least else repr(self.least)
            return (
                f"No width reaches loss {self.loss:g}: equal rows have different classes, so no classifier has a loss "
                f"below {least}. Give a loss of {least} or more, or correct these rows."
            )
        if self.enough == 1:
            return f"1 neuron reaches loss {self.loss:g}."
        if self.smallest is not None:
            return f"{self.smallest} neurons reach loss {self.loss:g}, and no fewer do."
        needed = f"at least {self.needed} {'is' if self.needed == 1 else 'are'} needed"
        if self.enough is not None:
            return f"{self.enough} neurons reach loss {self.loss:g}; {needed}."
        tried = "1 neuron" if len(self.curve) == 1 else f"{len(self.curve)} neurons"
        return f"Loss {self.loss:g} was not reached with {tried}; {needed}."

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw losses and bounds over the width."""
        require_plots(path)
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator

        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        widths, losses, bounds = zip(*((one.width, one.loss, one.bound) for one in self.curve), strict=True)
        axes.vlines(widths, bounds, losses, color="0.6", zorder=1)
        axes.plot(widths, losses, "o-", label="best network, exact loss")
        axes.plot(widths, bounds, "_", color="black", markersize=14, label="proven bound")
        axes.axhline(self.loss, color="0.6", linestyle=":", linewidth=1)
        axes.set(xlabel="hidden neurons", ylabel="weight of misclassified rows", ylim=(-0.02 * losses[0] - 0.1, None))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_title(self.answer, fontsize=10)
        axes.legend(frameon=False)
        write_plot(figure, path)


def smallest_width(
    X: ArrayLike,
    y: ArrayLike,
    loss: float = 0.0,
    *,
    sample_weight: ArrayLike | None = None,
    most: int = 5,
    time_limit: float | None = 600.0,
    n_jobs: int | None = 1,
    random_state: int = 0,
    show: Callable[[Width], None] | None = None,
    on_interrupt: str = "raise",
) -> Widths:
    """The fewest neurons of one hidden layer that reach a loss, and the best loss of every width on the way.

    Parameters
    ----------
    X, y : array-like
        Rows and their two classes.
    loss : float
        The weight of misclassified rows to reach.
    most : int
        The largest width to try. Proofs for all networks go up to 5.
    time_limit : float or None
        Seconds in total. Each width gets an equal share of the time that is left.
    show : callable
        Called with every width when it is done.
    on_interrupt : "raise" or "keep"
        What Ctrl-C does: raise KeyboardInterrupt, or return the widths so far.
    """
    if not is_finite_number(loss) or loss < 0:
        raise InvalidInputError(f"loss={loss!r} must be a non-negative number.")
    if not is_integer(most) or most < 1:
        raise InvalidInputError(f"most={most!r} must be a positive integer, such as 5.")
    whole, pool, curve = Budget(checked_limit(time_limit)), Pool(), list[Width]()
    network: Network | None = None
    with whole.catching_interrupts(on_interrupt):
        for width in range(1, most + 1):
            problem = StepClassifier(hidden=(width,)).problem(X, y, sample_weight)
            budget = whole.lasting(whole.remaining / (most + 1 - width))
            run = Run(problem, budget, checked_n_jobs(n_jobs), random_state, pool=pool)
            Prove().work(run, None if network is None else _widened(network))
            result = run.result()
            network = result.network
            curve.append(Width(width, certify(problem, result), network))
            if show is not None:
                show(curve[-1])
            least = conflict_bound(problem).value
            if curve[-1].loss <= loss or least > loss or whole.is_interrupted:
                break
    return Widths(float(loss), tuple(curve), least)


def _widened(network: Network) -> Network:
    """The network with one more hidden neuron, which the output ignores."""
    hidden, output = network.layers
    zeros = np.zeros((1, network.n_features))
    wider = Layer(np.vstack([hidden.weights, zeros]), np.append(hidden.thresholds, 0.0), hidden.activation)
    return Network((wider, output.with_(np.hstack([output.weights, [[0.0]]]), output.thresholds)))
