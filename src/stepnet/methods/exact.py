"""Exact: free bounds, then branch and bound on a mixed-integer program."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from stepnet.arithmetic import Floats
from stepnet.backends.base import Backend, Outcome, Task
from stepnet.backends.registry import backend_for, named_backend
from stepnet.bounds.conflicts import conflict_bound
from stepnet.bounds.separability import constant_network, linear_network
from stepnet.errors import InvalidInputError, SolverError
from stepnet.formulations.base import Encoding, Formulation
from stepnet.formulations.registry import formulation_for
from stepnet.methods.base import Method, Run
from stepnet.network import Network
from stepnet.result import Bound, Claim
from stepnet.search.local_search import accepts_search, kernels_ready, local_search
from stepnet.search.polish import centred

_MAX_TURNS = 10


@dataclass(kw_only=True, repr=False)
class Exact(Method, BaseEstimator):  # type: ignore[misc]
    """Solve the problem as a mixed-integer program, and prove the optimum.

    Parameters
    ----------
    formulation : str or Formulation
        ``"auto"`` (gates for one hidden layer of up to 5 neurons, tight otherwise), ``"gates"``,
        ``"tight"``, ``"bilinear"``, ``"paper"``, or a formulation object.
    solver : str
        ``"auto"``, ``"highs"``, ``"scip"``, ``"gurobi"`` or ``"cpsat"``.
    free_bounds : bool
        Whether to try first what needs no branch and bound: conflicting rows, linear separation.
    search_share : float
        The share of the time that a local search may take to find a good network to start with;
        0 for none.
    """

    formulation: str | Formulation = "auto"
    solver: str = "auto"
    free_bounds: bool = True
    search_share: float = 0.1

    def work(self, run: Run, start: Network | None = None) -> None:
        problem = run.problem
        formulation = formulation_for(self.formulation, problem)
        if self.solver != "auto":
            named_backend(self.solver).require()
        begin(run, start, free_bounds=self.free_bounds)
        if not run.is_over and self.search_share and accepts_search(problem):
            find_start(run, self.search_share)
        if not run.is_over:
            run.stage = formulation.name
            encodings = formulation.encode(problem)
            backend = backend_for(self.solver, encodings[0].model)
            _Solving(run, backend, list(encodings)).work()
        if run.network is not None:
            run.network = centred(problem, run.network)


def begin(run: Run, start: Network | None, *, free_bounds: bool = True) -> None:
    """A first network and the bounds that cost next to nothing."""
    problem = run.problem
    run.stage = "free bounds"
    if start is not None:
        reason = problem.architecture.refuses(start)
        if reason is not None:
            raise InvalidInputError(f"start is not a network of this problem: {reason}.")
        run.offer(start)
    for code in (0, 1):
        run.offer(constant_network(problem.architecture, code))
    if not free_bounds:
        return
    run.raise_bound(Bound(conflict_bound(problem.dataset), proof="free bound: equal rows of different classes"))
    if not run.is_over:
        network = linear_network(problem, run.budget.remaining)
        if network is not None:
            run.offer(network)


def find_start(run: Run, share: float) -> None:
    """A good network by local search, within a share of the time that is left."""
    if not kernels_ready(min(1.0, run.budget.remaining / 4)):
        run.announce("compiling, once per installation")
        if not kernels_ready(min(30.0, run.budget.remaining / 2)):
            return
    run.stage = "search"
    end = run.budget.elapsed + share * run.budget.remaining
    local_search(
        run.problem,
        seed=run.seed,
        offer=run.offer,
        should_stop=lambda: run.is_over or run.budget.elapsed > end,
        target=run.bound.value,
    )


class _Solving:
    """The programs of one problem, sharing the time, the best network and the cut-off."""

    def __init__(self, run: Run, backend: Backend, encodings: list[Encoding]) -> None:
        self.run, self.backend, self.encodings = run, backend, encodings
        self.bounds = dict.fromkeys(range(len(encodings)), 0.0)
        self.inbox: list[tuple[Encoding, Floats]] = []  # filled by the solver's thread
        self.live_bounds: list[tuple[int, float]] = []
        self.solver = f"{backend.title} {backend.version()}"

    def work(self) -> None:
        """Each open program gets half of its share of the time, then all that is left, in turns."""
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
        """Solve one program; True if it is closed: it has no network better than the best one."""
        run, encoding = self.run, self.encodings[number]
        loss_to_beat = run.loss
        has_cutoff = len(self.encodings) > 1
        model, start = encoding.model, None
        if has_cutoff:
            model = model.with_objective_at_most(run.problem.dataset.next_below(loss_to_beat))
        elif run.network is not None:
            start = encoding.start(run.network)
        outcome = self.backend.solve(
            Task(
                model,
                start=start,
                time_limit=time_limit,
                gap=run.budget.gap,
                threads=run.n_jobs,
                seed=run.seed,
                tolerance=encoding.tolerance,
                on_solution=lambda point, objective: self.inbox.append((encoding, point)),
                on_bound=lambda bound: self.live_bounds.append((number, bound)),
                should_stop=self._read_inbox,
            )
        )
        self._read_inbox()
        self._check_claim(encoding, outcome)
        if outcome.status == "infeasible" and not has_cutoff:
            raise SolverError(f"{self.solver} calls the program infeasible, which it is not; try another solver.")
        # Without a point within the cut-off the program has nothing better than the best network.
        self._raise_bound(number, loss_to_beat if outcome.status == "infeasible" else outcome.bound)
        return outcome.status != "stopped" or self.bounds[number] >= run.loss

    def _raise_bound(self, number: int, bound: float) -> None:
        """A bound on one program; the least of all programs' bounds holds for the problem."""
        if not math.isfinite(bound):
            return
        self.bounds[number] = max(self.bounds[number], self.run.problem.dataset.round_up(bound))
        self.run.raise_bound(
            Bound(
                min(self.bounds.values()),
                margin=self.encodings[number].margin,
                proof=f"branch and bound on {self._programs()}",
                claimed_by=self.solver,
            )
        )

    def _programs(self) -> str:
        name = self.encodings[0].name.split(",")[0]
        return name if len(self.encodings) == 1 else f"{name} ({len(self.encodings)} programs)"

    def _read_inbox(self) -> bool:
        """Verify what the solver found since the last look; whether it should stop."""
        while self.inbox:
            encoding, point = self.inbox.pop(0)
            self._offer(encoding, point)
        while self.live_bounds:
            self._raise_bound(*self.live_bounds.pop(0))
        return self.run.is_over

    def _offer(self, encoding: Encoding, point: Floats) -> float:
        network = encoding.decode(point)
        loss = self.run.offer(network)
        return min(loss, self.run.offer(centred(self.run.problem, network)))

    def _check_claim(self, encoding: Encoding, outcome: Outcome) -> None:
        if outcome.point is None or not np.isfinite(outcome.point).all() or not math.isfinite(outcome.objective):
            return
        verified = self._offer(encoding, outcome.point)
        self.run.claims.append(Claim(encoding.name, self.solver, outcome.objective, verified))
