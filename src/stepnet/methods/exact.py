"""Exact: free bounds, then an exact answer by provers or branch and bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator

from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.methods.base import Method
from stepnet.methods.begin import begin
from stepnet.methods.closing import close, prepare, solve_programs
from stepnet.methods.feasible import meet_limits
from stepnet.methods.generation import Generation, nominal_master
from stepnet.methods.partner import close_in_two
from stepnet.methods.plan import Plan, Way, ways_of
from stepnet.methods.run import Run
from stepnet.methods.search import effort_before, search_within
from stepnet.methods.thinning import thin
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.search.local.local_search import accepts_search
from stepnet.search.polish.polish import centred
from stepnet.solvers.backends.registry import named_backend


@dataclass(kw_only=True, repr=False)
class Exact(Method, BaseEstimator):  # type: ignore[misc]
    """Solve the problem as a mixed-integer program, and prove the optimum.

    Parameters
    ----------
    formulation : str, Formulation or Prover
        ``"auto"``: for one hidden layer of up to 5 neurons, those of ``"cells"`` (up to 5 dimensions), ``"branches"``
        (one neuron, up to 30 dimensions), ``"cones"`` (two neurons, up to 4 dimensions), ``"one_neuron"`` and ``"sat"``
        that accept the problem: what takes a moment first, then the others in turns if one of them is ``"branches"`` or
        ``"cones"``. They need no program and no margin: their bounds hold for all networks. ``"counting"``, if the
        extra ``pb`` is installed, takes turns with them for one neuron of more than 7 dimensions. If weights,
        thresholds or rows keep them from accepting it, they work on the problem without that for a part of the time,
        since its bounds hold too. Then, or with a named solver, a program: ``"gates"`` for few neurons, otherwise
        ``"tight"``. ``"bilinear"`` and ``"paper"`` are programs, too. ``"cones"`` is another prover of one neuron, up
        to 7 dimensions. Or an object.
    solver : str
        ``"auto"``, ``"highs"``, ``"scip"``, ``"gurobi"`` or ``"cpsat"``.
    free_bounds : bool
        Whether to begin with what needs no branch and bound: conflicting rows, linear separation.
    search_share : float
        The share of the time that a local search may take to find a warm start; 0 for none.
        It is skipped if a warm start is given.
    scenarios : "rows" or "joint"
        If rows are uncertain: whether points belong to single rows, or as in the paper to all rows at once.
    """

    formulation: Any = "auto"
    solver: str = "auto"
    free_bounds: bool = True
    search_share: float = 0.1
    scenarios: str = "rows"

    def plan(self, problem: Problem) -> Plan:
        if self.scenarios not in ("rows", "joint"):
            raise InvalidInputError(f"scenarios={self.scenarios!r} is not known; choose 'rows' or 'joint'.")
        if self.solver != "auto":
            named_backend(self.solver).require()
        if reason := _refuses_uncertainty(problem):
            raise NotAcceptedError(reason)
        # If rows are uncertain, the master problems are written as programs.
        master = nominal_master(problem, joint=self.scenarios == "joint") if problem.is_uncertain else problem
        ways, refused = ways_of(self.formulation, master, self.solver, problem.free)
        search = accepts_search(problem)
        if all(way.is_free for way in ways) and not (ways and search and not problem.is_uncertain):
            raise NotAcceptedError(refused[-1][1])
        stages = stages_before(problem, bounds=self.free_bounds, search_share=self.search_share)
        return replace(Plan.of(problem, *stages), ways=ways, refused=refused, search=search)

    def work(self, run: Run, start: Network | None = None) -> None:
        plan = self.planned(run)
        begin(run, start, bounds=self.free_bounds)
        meet_limits(run, self.work)
        if not run.is_over and start is None and self.search_share and plan.search:
            prepare(run)
            is_program = plan.own is None or plan.own.formulation is not None
            effort = None if run.problem.is_plain and is_program else effort_before(plan.own, run.problem)
            search_within(run, self.search_share, effort)
        if not run.is_over:
            self.close(run)
        thin(run, self.solver)
        if run.has_time_to("polish"):
            run.reshape(centred)

    def close(self, run: Run) -> None:
        """Close what is still open, with the best network as the warm start."""
        self.planned(run)
        close_in_two(run, self._close_here)

    def _close_here(self, run: Run) -> None:
        close(run, partial(self._generate if run.problem.is_uncertain else self._solve, run))

    def _solve(self, run: Run, way: Way) -> None:
        solve_programs(run, self.solver, way)

    def _generate(self, run: Run, way: Way) -> None:
        """Programs for finitely many perturbations, by the way of the plan for masters."""
        if short := self.planned(run).short_of(run.budget):
            run.journal.trouble = f"program too large for the {short}"
            return
        is_joint = self.scenarios == "joint"
        Generation(
            run,
            lambda master: close(master, partial(self._solve, master)),
            joint=is_joint,
            searches=bool(self.search_share) and not is_joint,
        ).work()


def stages_before(problem: Problem, *, bounds: bool, search_share: float) -> tuple[str, ...]:
    """What is done before the ways to an exact answer, in words."""
    stages = {
        "free bounds and linear separation": bounds,
        f"local search, for up to {search_share:.0%} of the time": search_share > 0,
        "column-and-constraint generation, with master problems solved by:": problem.is_uncertain,
    }
    return tuple(stage for stage, is_planned in stages.items() if is_planned)


def _refuses_uncertainty(problem: Problem) -> str:
    if problem.is_uncertain and problem.constraints.fewest:
        return "sparsity='fewest' is for rows that are certain. Give the number of non-zero weights instead."
    if problem.is_uncertain and problem.architecture.domains[0].is_integer:
        return (
            "programs with integer weights need data on a grid, which uncertain rows leave. "
            "Use method='search', or weights=('real', ...) in the first layer."
        )
    return ""
