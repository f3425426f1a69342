"""Programs: branch and bound on the programs of one problem."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import BranchAndBound
from stepnet.certificate.result import Claim
from stepnet.constructions.last_layer import refitted
from stepnet.errors import SolverFailure
from stepnet.formulations.base import Encoding
from stepnet.methods.journal import logger
from stepnet.methods.run import Run
from stepnet.model.arithmetic import Floats
from stepnet.provers.row_weights import RowWeights
from stepnet.search.polish.polish import centred
from stepnet.solvers.backends.base import Backend, Outcome, Task
from stepnet.solvers.model import Model

_MAX_TURNS = 10


def attempt(run: Run, backend: Backend, encoding: Encoding, model: Model, **options: Any) -> Outcome:
    """Solve a program, with further options of the task; a solver that fails claims nothing."""
    defaults: dict[str, Any] = {
        "time_limit": run.budget.remaining,
        "threads": effective_n_jobs(run.n_jobs),
        "seed": run.seed,
        "tolerance": encoding.tolerance,
        "should_stop": run.must_stop,
        "refine": encoding.refine,
    }
    try:
        return backend.solve(Task(model, **defaults | options))
    except SolverFailure as failure:
        return _failed(run, str(failure))


def _failed(run: Run, reason: str) -> Outcome:
    logger.warning("%s", reason)
    run.journal.trouble = "solver failed"
    return Outcome("stopped", -math.inf)


class Programs:
    """The programs of one problem; they share the time, the best network and the cutoff."""

    def __init__(self, run: Run, backend: Backend, encodings: list[Encoding]) -> None:
        self.run, self.backend, self.encodings = run, backend, encodings
        self.bounds = dict.fromkeys(range(len(encodings)), 0.0)
        self.inbox: list[tuple[float, Encoding, Floats]] = []  # filled by the solver's thread
        self.live_bounds: list[tuple[int, float]] = []
        self.last_offer = b"", math.inf
        self.row_weights: RowWeights | None = None
        self.solver = f"{backend.title} {backend.version()}"

    def work(self) -> None:
        """Each open program gets half of its share of the time; then the rest goes to those that are still open."""
        open_programs = list(self.bounds)
        share = 2.0 if len(open_programs) > 1 else 1.0
        for _ in range(_MAX_TURNS if share > 1 else 1):
            still_open = []
            for position, number in enumerate(open_programs):
                waiting = len(open_programs) - position
                if not self._solve(number, self.run.budget.remaining / (share * waiting)):
                    still_open.append(number)
                if self.run.is_over:
                    return
            open_programs, share = still_open, 1.0
            if not open_programs:
                return

    def _solve(self, number: int, time_limit: float) -> bool:
        """Solve one program; whether it is closed, that is, has no network better than the best one."""
        run, encoding = self.run, self.encodings[number]
        loss_to_beat, accuracy = run.loss, run.problem.accuracy
        has_cutoff = len(self.encodings) > 1
        model, start = encoding.model, None
        if has_cutoff:
            model = model.with_objective_at_most(accuracy.next_below(loss_to_beat) / accuracy.unit)
        elif run.network is not None:
            start = encoding.start(run.network)
        outcome = attempt(
            run,
            self.backend,
            encoding,
            model,
            start=start,
            time_limit=time_limit,
            gap=run.budget.gap,
            on_solution=lambda point, objective: self.inbox.append((objective, encoding, point)),
            on_bound=lambda bound: self.live_bounds.append((number, bound * accuracy.unit)),
            should_stop=self._read_inbox,
        )
        # With limits on errors, no network that keeps the margin may meet them.
        if outcome.status == "infeasible" and not has_cutoff and not run.problem.constraints.demands:
            outcome = _failed(run, f"{self.solver} claims that a program is infeasible, but it has solutions")
        self._read_inbox()
        self._check_claim(encoding, outcome)
        # If no point is within the cutoff, the program has nothing better than the best network.
        is_closed = outcome.status == "infeasible"
        self._raise_bound(
            number, accuracy.proven_by_cutoff(loss_to_beat) if is_closed else outcome.bound * accuracy.unit
        )
        return outcome.status != "stopped" or self.bounds[number] >= run.loss

    def _raise_bound(self, number: int, bound: float) -> None:
        """A bound on one program; the smallest bound of all programs holds for the problem."""
        if not self.encodings[number].is_safe:
            self.run.journal.trouble = "finished; big-M is too large to trust the bound"
            return
        if not math.isfinite(bound):
            return
        self.bounds[number] = max(self.bounds[number], self._attainable(bound))
        self.run.raise_bound(
            Bound(
                min(self.bounds.values()),
                scope=self.encodings[number].scope,
                evidence=BranchAndBound(self.encodings[0].formulation, len(self.encodings), self.solver),
            )
        )

    def _attainable(self, bound: float) -> float:
        """The smallest loss that any rows have, not below a bound less the solver's possible error."""
        problem, loss = self.run.problem, self.run.loss
        rounded = problem.accuracy.round_up(bound)
        if not math.isfinite(problem.accuracy.share) or loss <= 0:
            return rounded
        if self.row_weights is None or self.row_weights.loss != loss:
            self.row_weights = RowWeights.of(problem.dataset.weights, loss)
        return max(rounded, self.row_weights.round_up(rounded))

    def _read_inbox(self) -> bool:
        """Verify what the solver has found since the last call; whether it should stop.

        Solutions that do not even claim to be better than the best network are skipped: verifying takes time.
        """
        found = [self.inbox.pop(0) for _ in range(len(self.inbox))]
        for objective, encoding, point in sorted(found, key=lambda entry: entry[0]):
            if objective * self.run.problem.accuracy.unit < self.run.loss:
                self._offer(encoding, point)
        while self.live_bounds:
            self._raise_bound(*self.live_bounds.pop(0))
        return self.run.is_over

    def _offer(self, encoding: Encoding, point: Floats) -> float:
        """Verify the network of a point; the last one occurs twice, as a solution and as the outcome."""
        key = point.tobytes()
        if self.last_offer[0] != key:
            network = refitted(self.run.problem, encoding.decode(point), self.run.budget)
            loss = self.run.offer(network)
            self.last_offer = key, min(loss, self.run.offer(centred(self.run.problem, network)))
        return self.last_offer[1]

    def _check_claim(self, encoding: Encoding, outcome: Outcome) -> None:
        if outcome.point is None or not np.isfinite(outcome.point).all() or not math.isfinite(outcome.objective):
            return
        verified, unit = self._offer(encoding, outcome.point), self.run.problem.accuracy.unit
        self.run.journal.claims.append(Claim(encoding.name, self.solver, outcome.objective * unit, verified))
