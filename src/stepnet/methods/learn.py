"""Learn: the best network for new data."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import BaseEstimator

from stepnet.errors import NotAcceptedError
from stepnet.methods.base import Method
from stepnet.methods.begin import begin
from stepnet.methods.plan import Plan
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.search.descent.descent import DescentOptions, accepts_descent, descend_network


@dataclass(kw_only=True, repr=False)
class Learn(Method, BaseEstimator):  # type: ignore[misc]
    """Noisy straight-through descent: fast, regularised, for any number of rows.

    Its certificate states the verified training loss and the free bound. If the training loss
    is what matters, use ``Prove``.

    Parameters
    ----------
    epochs : int
        Passes over the rows; at least 2,000 and at most 50,000 steps.
    batch : int
        Rows per step.
    rate : float
        Learning rate of Adam.
    strength : float
        Factor on all regularisation, which decreases as the number of rows grows.
    """

    epochs: int = 200
    batch: int = 64
    rate: float = 0.02
    strength: float = 1.0

    def plan(self, problem: Problem) -> Plan:
        if not (answer := accepts_descent(problem)):
            raise NotAcceptedError(answer.reason)
        return Plan.of(problem, "free bounds", f"descent, {self.epochs} passes over the rows")

    def work(self, run: Run, start: Network | None = None) -> None:
        self.planned(run)
        begin(run, start, constants=False, separate=False)
        run.announce("learning")
        network = descend_network(
            run.problem, seed=run.seed, options=self.options, should_stop=run.must_stop, on_share=run.advance
        )
        # The learned network is the answer even if a network with a smaller training loss is known.
        run.settle(network)

    @property
    def options(self) -> DescentOptions:
        return DescentOptions(epochs=self.epochs, batch=self.batch, rate=self.rate, strength=self.strength)
