"""Alternating: the paper's heuristic, Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator

from stepnet.certificate.result import Claim
from stepnet.constructions.random_network import random_network
from stepnet.errors import Answer, SolverFailure
from stepnet.formulations.halves import half
from stepnet.formulations.layered_encoding import LayeredEncoding
from stepnet.formulations.registry import accepted_formulation, formulation_for
from stepnet.methods.base import Method, Run, logger
from stepnet.methods.begin import begin
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

    def accepts(self, problem: Problem) -> Answer:
        if problem.uncertainty is not None:
            return Answer("method='alternating' knows no worst case. Use method='prove' for uncertain rows.")
        formulation, answer = accepted_formulation(self.formulation, problem)
        if formulation.name == "gates":
            return Answer(
                "Alternating takes formulation='tight' or 'paper'; the programs of 'gates' have no layers to alternate "
                "between."
            )
        return answer

    def work(self, run: Run, start: Network | None = None) -> None:
        problem = run.problem
        self.require(problem)
        (encoding,) = formulation_for(self.formulation, problem).encode(problem)
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
            run.trouble = "solver failed"
            return network, loss
        if outcome.point is None:
            return network, loss
        found = encoding.decode(outcome.point)
        verified = run.offer(found)
        title = f"{backend.title} {backend.version()}"
        claimed = outcome.objective * run.problem.accuracy.unit
        run.claims.append(Claim(f"{encoding.name}, {'H1' if odd else 'H2'}", title, claimed, verified))
        better = centred(run.problem, found)
        verified = run.offer(better)
        return (better, verified) if verified <= loss else (network, loss)
