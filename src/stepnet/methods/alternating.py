"""Alternating: the paper's heuristic, Algorithm 1."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator

from stepnet.certificate.result import Claim
from stepnet.constructions.random_network import random_network
from stepnet.errors import NotAcceptedError
from stepnet.formulations.halves import half
from stepnet.formulations.layered_encoding import LayeredEncoding
from stepnet.methods.base import Method
from stepnet.methods.begin import begin
from stepnet.methods.feasible import meet_limits
from stepnet.methods.plan import Plan, ways_of
from stepnet.methods.programs import attempt
from stepnet.methods.prove import Prove
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.search.polish.polish import centred
from stepnet.solvers.backends.base import Backend
from stepnet.solvers.backends.registry import backend_for


@dataclass(kw_only=True, repr=False)
class Alternating(Method, BaseEstimator):  # type: ignore[misc]
    """Alternate between the odd and the even layers, each a mixed-integer program without products.

    It begins with a random network and the activations of this network, since random activations can rarely
    be realised; each half has the current network as its warm start, so the loss never rises; it ends when
    neither half improves. It proves nothing by itself: its certificate has only the free bounds.

    Parameters
    ----------
    formulation : str
        ``"tight"``, or ``"paper"`` for the halves as printed.
    solver : str
        As for :class:`~stepnet.methods.exact.Exact`.
    half_share : float
        The share of the remaining time that one half may take.
    """

    formulation: str = "tight"
    solver: str = "auto"
    half_share: float = 0.5

    def plan(self, problem: Problem) -> Plan:
        if problem.uncertainty is not None:
            raise NotAcceptedError("method='alternating' does not support uncertain rows. Use method='prove'.")
        ways, refused = ways_of(self.formulation, problem, "any")
        if refused and not ways:
            raise NotAcceptedError(refused[-1][1])
        formulation = ways[0].formulation
        if formulation is None or not formulation.is_layered:
            raise NotAcceptedError(
                f"Alternating accepts formulation='tight' or 'paper'; {ways[0].name!r} has no layers to alternate."
            )
        return replace(Plan.of(problem, "free bounds", "programs of odd and even layers in turn"), ways=ways)

    def work(self, run: Run, start: Network | None = None) -> None:
        problem, formulation = run.problem, self.planned(run).ways[0].formulation
        assert formulation is not None
        (encoding,) = formulation.encode(problem)
        assert isinstance(encoding, LayeredEncoding)
        backend = backend_for(self.solver, encoding.model)
        begin(run, start, separate=False)
        meet_limits(run, Prove().work)
        run.stage = "alternating"
        network = centred(problem, start or random_network(problem, np.random.default_rng(run.seed)))
        loss = run.offer(network)
        if math.isinf(loss) and run.network is not None:  # limits on errors do not admit the random network
            network, loss = run.network, run.loss
        while not run.is_over:
            before = loss
            for odd in (True, False):
                network, loss = self._improve(run, backend, encoding, network, loss, odd=odd)
            if loss >= before:
                break

    def _improve(
        self, run: Run, backend: Backend, encoding: LayeredEncoding, network: Network, loss: float, *, odd: bool
    ) -> tuple[Network, float]:
        """Solve one half; its network if that is no worse, otherwise the given one, with its exact loss."""
        point = encoding.start(network)
        if point is None or run.is_over:
            return network, loss
        limit = self.half_share * run.budget.remaining
        outcome = attempt(run, backend, encoding, half(encoding, point, odd=odd), start=point, time_limit=limit)
        if outcome.point is None:
            return network, loss
        found = encoding.decode(outcome.point)
        verified = run.offer(found)
        title = f"{backend.title} {backend.version()}"
        claimed = outcome.objective * run.problem.accuracy.unit
        run.journal.claims.append(Claim(f"{encoding.name}, {'H1' if odd else 'H2'}", title, claimed, verified))
        better = centred(run.problem, found)
        verified = run.offer(better)
        return (better, verified) if verified <= loss else (network, loss)
