"""FreeRun: the run of a problem without its restrictions, whose bounds hold for the restricted problem too."""

from __future__ import annotations

from dataclasses import replace

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import OfFreeProblem
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.problem import Problem


class FreeRun(Run):
    """Provers and searches work here on the free problem of another run, in that run's time and with its subsystems.

    Bounds are passed on as they come. Networks stay here, except those that the restrictions happen to admit: most
    are none of the restricted problem.
    """

    @classmethod
    def of(cls, restricted: Run) -> FreeRun:
        problem = restricted.problem.free
        assert problem is not None
        return cls(restricted, problem)

    def __init__(self, restricted: Run, problem: Problem) -> None:
        super().__init__(
            problem, restricted.budget, restricted.n_jobs, restricted.seed, restricted.plan, restricted.pool
        )
        self.restricted = restricted
        restrictions = restricted.problem
        self.evidence = {
            "fewer_networks": restrictions.architecture != problem.architecture or restrictions.constraints.restrict,
            "perturbed_rows": restrictions.is_uncertain,
        }

    def resume(self, stage: str) -> None:
        """Work on in the time that the restricted run has now, from its best network if that is better."""
        self.budget, self.stage = self.restricted.budget, stage
        if self.restricted.network is not None:
            super().offer(self.restricted.network)

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be learned here for the restricted problem."""
        return self.is_proven or self.restricted.is_over

    def offer(self, network: Network) -> float:
        restricted = self.restricted
        if not restricted.problem.is_uncertain and restricted.problem.refuses(network) is None:
            stage, restricted.stage = restricted.stage, self.stage
            restricted.offer(network)
            restricted.stage = stage
        return super().offer(network)

    def raise_bound(self, bound: Bound) -> None:
        super().raise_bound(bound)
        self.restricted.raise_bound(replace(bound, evidence=OfFreeProblem(bound.evidence, **self.evidence)))

    def announce(self, stage: str) -> None:
        self.restricted.announce(stage)

    def _report(self) -> None:
        """Progress is that of the restricted problem."""
