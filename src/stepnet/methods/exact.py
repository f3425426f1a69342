"""Exact: free bounds, then branch and bound on a mixed-integer program."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import BranchAndBound
from stepnet.certificate.result import Claim
from stepnet.constructions.last_layer import refitted
from stepnet.errors import Answer, InvalidInputError, NotAcceptedError, SolverFailure
from stepnet.formulations.base import Encoding, Formulation
from stepnet.formulations.tight import Tight
from stepnet.methods.base import Method, Run, logger
from stepnet.methods.begin import begin
from stepnet.methods.choice import Way, accepted_way, ways, why
from stepnet.methods.generation import Generation, nominal_master
from stepnet.methods.search import effort_before_proof, improving, search_within
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.provers.base import Prover
from stepnet.provers.row_weights import RowWeights
from stepnet.runtime.memory import available
from stepnet.search.local.local_search import accepts_search
from stepnet.search.polish.polish import centred
from stepnet.solvers.backends.base import Backend, Outcome, Task
from stepnet.solvers.backends.registry import backend_for, named_backend

_MAX_TURNS = 10
_SECONDS, _BYTES = 5e-7, 500.0  # an entry of a program
_FAR = 64.0  # how many times smaller a loss is that has fallen far
_SLACK = 1e-5  # of a row or a weight


@dataclass(kw_only=True, repr=False)
class Exact(Method, BaseEstimator):  # type: ignore[misc]
    """Solve the problem as a mixed-integer program, and prove the optimum.

    Parameters
    ----------
    formulation : str, Formulation or Prover
        ``"auto"``: for one hidden layer of up to 5 neurons what takes the problem of ``"cells"`` (up to 5
        features), ``"one_neuron"`` and ``"sat"``, in turn. They need no program and no margin: their bounds hold for
        all networks. Then, or with a named solver, a program: ``"gates"`` for few neurons, ``"tight"``.
        ``"bilinear"`` and ``"paper"`` are programs, too. Or an object.
    solver : str
        ``"auto"``, ``"highs"``, ``"scip"``, ``"gurobi"`` or ``"cpsat"``.
    free_bounds : bool
        Whether to try first what needs no branch and bound: conflicting rows, linear separation.
    search_share : float
        The share of the time that a local search may take to find a good network to start with;
        0 for none. A start that is given takes its place.
    scenarios : "rows" or "joint"
        Where rows are uncertain, points belong to rows, or as in the paper to all rows at once.
    """

    formulation: str | Way = "auto"
    solver: str = "auto"
    free_bounds: bool = True
    search_share: float = 0.1
    scenarios: str = "rows"

    def accepts(self, problem: Problem) -> Answer:
        if not problem.is_uncertain:
            return accepted_way(self.formulation, problem, self.solver)[1]
        if problem.constraints.fewest:
            return Answer("sparsity='fewest' is for rows that are certain. Use a number of non-zero weights instead.")
        if problem.architecture.domains[0].is_integer:
            return Answer(
                "programs of integer weights need data on a grid, which uncertain rows leave. "
                "Use method='search', or weights=('real', ...) in the first layer."
            )
        return accepted_way(self.formulation, self._master(problem), self.solver)[1]

    def _master(self, problem: Problem) -> Problem:
        """What formulations are asked about: the problem, or where rows are uncertain the first master problem."""
        return nominal_master(problem, joint=self.scenarios == "joint") if problem.is_uncertain else problem

    def work(self, run: Run, start: Network | None = None) -> None:
        way = self.check(run.problem)
        begin(run, start, bounds=self.free_bounds)
        if not run.is_over and start is None and self.search_share and accepts_search(run.problem):
            is_program = run.problem.is_plain and isinstance(way, Formulation)
            search_within(run, self.search_share, None if is_program else effort_before_proof(run.problem, way))
        if not run.is_over:
            self.close(run)
        self.thin(run)
        run.reshape(centred)

    def check(self, problem: Problem) -> Way:
        """The way to prove a problem; raises if it or the solver is not to be had."""
        if self.scenarios not in ("rows", "joint"):
            raise InvalidInputError(f"scenarios={self.scenarios!r} is not known; choose 'rows' or 'joint'.")
        if self.solver != "auto":
            named_backend(self.solver).require()
        self.require(problem)
        return accepted_way(self.formulation, self._master(problem), self.solver)[0]

    def has_time(self, run: Run) -> bool:
        """Whether the program can be written and handed over well within the time and memory that are left."""
        return isinstance(self.check(run.problem), Prover) or not _short_of(run)

    def close(self, run: Run) -> None:
        """Branch and bound on what is still open, with the best network as the start."""
        way = self.check(run.problem)
        if run.problem.is_uncertain:
            if short := _short_of(run):
                run.trouble = f"program too large for the {short}"
                return
            Generation(run, self).work()
            return
        run.recheck()
        chosen = ways(run.problem, self.solver) if self.formulation == "auto" else [way]
        for number, one in enumerate(chosen):
            reason = why(one, run.problem, self.solver) if self.formulation == "auto" else "asked for"
            run.choose(one.name, reason)
            if isinstance(one, Formulation):
                if short := _short_of(run):
                    run.trouble = f"program too large for the {short}"
                    return
                encodings = list(one.encode(run.problem))
                _Solving(run, backend_for(self.solver, encodings[0].model), encodings).work()
            else:
                share = 1.0 if number + 2 >= len(chosen) else 0.8  # a program seldom knows more than the last proof
                with run.within(share), improving(run):
                    _work(run, one)
            if run.is_over:
                return

    def thin(self, run: Run) -> None:
        """Where that is asked for and the loss is proven: the fewest non-zero weights that still have it."""
        if not run.problem.constraints.fewest or not run.is_proven or run.must_stop() or run.network is None:
            return
        run.announce("fewest weights")
        (encoding,) = Tight().encode(run.problem)
        unit = run.problem.accuracy.unit
        limit = (run.loss + run.problem.accuracy.tolerance) / unit + _SLACK
        model = encoding.model.with_objective_at_most(math.floor(limit) if run.problem.accuracy.step else limit)
        cost = np.zeros(model.n_columns)
        for columns in encoding.used:
            cost[columns] = 1.0
        model = replace(model, cost=cost, offset=0.0)
        task = Task(
            model,
            start=encoding.start(run.network),
            time_limit=run.budget.remaining,
            threads=effective_n_jobs(run.n_jobs),
            seed=run.seed,
            tolerance=encoding.tolerance,
            should_stop=run.must_stop,
        )
        try:
            outcome = backend_for(self.solver, model).solve(task)
        except (SolverFailure, NotAcceptedError) as failure:
            logger.warning("the fewest weights are not known: %s", failure)
            return
        if math.isfinite(outcome.bound) and encoding.is_safe:
            run.fewest = Bound(max(0, math.ceil(outcome.bound - _SLACK)), encoding.scope)
        if outcome.point is not None:
            run.thin(encoding.decode(outcome.point))


def _short_of(run: Run) -> str:
    """What there is not twice as much of as it takes to write and hand over the largest program, roughly estimated."""
    problem = run.problem
    m, widths = problem.dataset.n_rows, problem.architecture.widths
    entries = 2.0 * m * widths[0] * problem.dataset.n_features
    entries += sum(12.0 * m * below * above for below, above in pairwise(widths))
    if entries * _SECONDS > run.budget.remaining / 2:
        return "time"
    return "memory" if entries * _BYTES > available() / 2 else ""


def _work(run: Run, proof: Prover) -> None:
    """Proofs count in units of the best loss when they begin: where it has fallen far, once more in smaller ones."""
    if not run.compiles(proof.kernels):
        return
    before = math.inf
    while not run.is_over and run.loss < before / _FAR:
        before = run.loss
        proof.work(run)


class _Solving:
    """The programs of one problem, sharing the time, the best network and the cut-off."""

    def __init__(self, run: Run, backend: Backend, encodings: list[Encoding]) -> None:
        self.run, self.backend, self.encodings = run, backend, encodings
        self.bounds = dict.fromkeys(range(len(encodings)), 0.0)
        self.inbox: list[tuple[float, Encoding, Floats]] = []  # filled by the solver's thread
        self.live_bounds: list[tuple[int, float]] = []
        self.last_offer = b"", math.inf
        self.row_weights: RowWeights | None = None
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
        loss_to_beat, accuracy = run.loss, run.problem.accuracy
        has_cutoff = len(self.encodings) > 1
        model, start = encoding.model, None
        if has_cutoff:
            model = model.with_objective_at_most(accuracy.next_below(loss_to_beat) / accuracy.unit)
        elif run.network is not None:
            start = encoding.start(run.network)
        task = Task(
            model,
            start=start,
            time_limit=time_limit,
            gap=run.budget.gap,
            threads=effective_n_jobs(run.n_jobs),
            seed=run.seed,
            tolerance=encoding.tolerance,
            on_solution=lambda point, objective: self.inbox.append((objective, encoding, point)),
            on_bound=lambda bound: self.live_bounds.append((number, bound * accuracy.unit)),
            should_stop=self._read_inbox,
            refine=encoding.refine,
        )
        outcome = self._outcome(task, may_be_infeasible=has_cutoff)
        self._read_inbox()
        self._check_claim(encoding, outcome)
        # Without a point within the cut-off the program has nothing better than the best network.
        is_closed = outcome.status == "infeasible"
        self._raise_bound(
            number, accuracy.proven_by_cutoff(loss_to_beat) if is_closed else outcome.bound * accuracy.unit
        )
        return outcome.status != "stopped" or self.bounds[number] >= run.loss

    def _outcome(self, task: Task, *, may_be_infeasible: bool) -> Outcome:
        """What the solver says; if it breaks down, that it says nothing."""
        try:
            outcome = self.backend.solve(task)
            if outcome.status == "infeasible" and not may_be_infeasible:
                raise SolverFailure(f"{self.solver} calls a program infeasible that has solutions")
        except SolverFailure as failure:
            logger.warning("%s", failure)
            self.run.trouble = "solver failed"
            return Outcome("stopped", -math.inf)
        return outcome

    def _raise_bound(self, number: int, bound: float) -> None:
        """A bound on one program; the least of all programs' bounds holds for the problem."""
        if not self.encodings[number].is_safe:
            self.run.trouble = "finished; big-M is too large to believe the bound"
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
        """The smallest loss that rows can have, not below a bound less what a solver may err by."""
        problem, loss = self.run.problem, self.run.loss
        rounded = problem.accuracy.round_up(bound)
        if not math.isfinite(problem.accuracy.share) or loss <= 0:
            return rounded
        if self.row_weights is None or self.row_weights.loss != loss:
            self.row_weights = RowWeights.of(problem.dataset.weights, loss)
        return max(rounded, self.row_weights.round_up(rounded))

    def _read_inbox(self) -> bool:
        """Verify what the solver found since the last look; whether it should stop.

        Solutions that claim no less than the best network has are left out: verifying takes its time.
        """
        found = [self.inbox.pop(0) for _ in range(len(self.inbox))]
        for objective, encoding, point in sorted(found, key=lambda entry: entry[0]):
            if objective * self.run.problem.accuracy.unit < self.run.loss:
                self._offer(encoding, point)
        while self.live_bounds:
            self._raise_bound(*self.live_bounds.pop(0))
        return self.run.is_over

    def _offer(self, encoding: Encoding, point: Floats) -> float:
        """Verify the network of a point; the last one comes twice, as a solution and as the outcome."""
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
        self.run.claims.append(Claim(encoding.name, self.solver, outcome.objective * unit, verified))
