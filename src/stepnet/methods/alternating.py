"""Alternating: the paper's heuristic, Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator

from stepnet.certificate.result import Claim
from stepnet.constructions.random_network import random_network
from stepnet.errors import NotAcceptedError, SolverFailure
from stepnet.formulations.halves import half
from stepnet.formulations.layered_encoding import LayeredEncoding
from stepnet.methods.base import Method
from stepnet.methods.begin import begin
from stepnet.methods.journal import logger
from stepnet.methods.plan import Plan, ways_of
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.search.polish.polish import centred
from stepnet.solvers.backends.base import Backend, Task
from stepnet.solvers.backends.registry import backend_for


@dataclass(kw_only=True, repr=False)
class Alternating(Method, BaseEstimator):  # type: ignore[misc]
    """Alternate between the odd and the even layers, each a mixed-integer program without products.

    It begins with a random network and its own activations, since random activations can hardly be
    realised; each half starts from the network at hand, so the loss never rises; it ends when
    neither half improves. It proves nothing by itself: its certificate has the free bounds alone.

    Parameters
    ----------
    formulation : str
        ``"tight"``, or ``"paper"`` for the halves as printed.
    solver : str
        As for :class:`~stepnet.methods.exact.Exact`.
    half_share : float
        The share of the time left that one half may take.
    """

    formulation: str = "tight"
    solver: str = "auto"
    half_share: float = 0.5

    def plan(self, problem: Problem) -> Plan:
        if problem.uncertainty is not None:
            raise NotAcceptedError("method='alternating' knows no worst case. Use method='prove' for uncertain rows.")
        ways, refused = ways_of(self.formulation, problem, "any")
        if refused and not ways:
            raise NotAcceptedError(refused[-1][1])
        formulation = ways[0].formulation
        if formulation is None or not formulation.is_layered:
            raise NotAcceptedError(
                f"Alternating takes formulation='tight' or 'paper'; the programs of {ways[0].name!r} have no layers to "
                f"alternate between."
            )
        return replace(Plan.of(problem, "free bounds", "programs of odd and even layers in turn"), ways=ways)

    def work(self, run: Run, start: Network | None = None) -> None:
        problem, formulation = run.problem, self.planned(run).ways[0].formulation
        assert formulation is not None
        (encoding,) = formulation.encode(problem)
        assert isinstance(encoding, LayeredEncoding)
        backend = backend_for(self.solver, encoding.model)
        begin(run, start, separate=False)
        run.stage = "alternating"
        network = centred(problem, start or random_network(problem, np.random.default_rng(run.seed)))
        loss = run.offer(network)
        while not run.is_over:
            before = loss
            for odd in (True, False):
                network, loss = self._improve(run, backend, encoding, network, loss, odd=odd)
            if loss >= before:
                break

    def _improve(
        self, run: Run, backend: Backend, encoding: LayeredEncoding, network: Network, loss: float, *, odd: bool
    ) -> tuple[Network, float]:
        """Solve one half; its network if it is no worse, and that network's exact loss."""
        point = encoding.start(network)
        if point is None or run.is_over:
            return network, loss
        task = Task(
            half(encoding, point, odd=odd),
            start=point,
            time_limit=self.half_share * run.budget.remaining,
            threads=effective_n_jobs(run.n_jobs),
            seed=run.seed,
            tolerance=encoding.tolerance,
            should_stop=run.must_stop,
            refine=encoding.refine,
        )
        try:
            outcome = backend.solve(task)
        except SolverFailure as failure:
            logger.warning("%s", failure)
            run.journal.trouble = "solver failed"
            return network, loss
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
