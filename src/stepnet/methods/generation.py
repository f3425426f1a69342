"""Column-and-constraint generation: uncertain rows are represented by finitely many points, those that matter.

The master problem has every row and the points that broke earlier networks; its optimum is a lower bound, since the
sets contain more points. Its network is attacked exactly; if a row costs more than in the master, its worst point is
added. The loss under attack is an upper bound, so both converge to the optimum:

    bound of the master  <=  optimum  <=  worst case of any network.

Points belong to rows: the worst case of a sum over rows is the sum of their worst cases. With ``joint`` scenarios, as
in the paper, a round adds one scenario that perturbs all rows at once, and the master minimises the worst one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import OfMasters
from stepnet.certificate.result import Round
from stepnet.constructions.linear import linear_network
from stepnet.constructions.robust_neuron import robust_rows
from stepnet.methods.run import Run
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.search.local.local_search import Effort, accepts_search, local_search
from stepnet.uncertainty.scenarios import Scenarios

_SEARCH_SHARE = 0.1  # of the remaining time, for a network of the master before its program
_SEARCH = Effort(moves=5_000, starts=2)


def master_problem(problem: Problem, points: list[Floats], *, joint: bool = False) -> Problem:
    """The problem with finitely many points: each block has one per row, NaN if the row has no further one."""
    m = problem.dataset.n_rows
    X, owners = np.vstack(points), np.tile(np.arange(m), len(points))
    numbers = np.repeat(np.arange(len(points)), m)
    used = ~np.isnan(X).any(axis=1)
    X, owners, numbers = X[used], owners[used], numbers[used]
    dataset = Dataset(X, problem.dataset.y[owners], problem.dataset.weights[owners])
    scenarios = Scenarios(owners, problem.dataset.weights, numbers if joint else None)
    return replace(problem, dataset=dataset, uncertainty=scenarios, units=problem.scaling)


def nominal_master(problem: Problem, *, joint: bool = False) -> Problem:
    """The first master problem, which has only the rows."""
    return master_problem(problem, [problem.dataset.X.astype(np.float64)], joint=joint)


class Generation:
    """Rounds of master and adversary on one run; ``close`` solves a master problem, as far as time allows."""

    def __init__(self, run: Run, close: Callable[[Run], None], *, joint: bool = False, searches: bool = True) -> None:
        self.run, self.close, self.problem = run, close, run.problem
        self.joint, self.searches = joint, searches
        self.points = [self.problem.dataset.X.astype(np.float64)]
        # A bound for the problem need not hold for a master, which has fewer points; a bound for a master holds for
        # the next one, which has more.
        self.known = Bound()

    def work(self) -> None:
        """Continue until loss and bound meet, nothing new breaks the network, or the time is up."""
        self.run.stage = "column-and-constraint generation"
        if self.run.network is not None and not self.joint:
            self._add_points(self.run.network)
        while not self.run.is_over:
            n_before = self.n_scenarios
            master = master_problem(self.problem, self.points, joint=self.joint)
            network, claimed = self._solve(master)
            if network is None or self.run.budget.remaining < self.run.evaluation_time:
                return
            network = network if self.joint else self._widened(master, network)
            loss = self.run.offer(network)
            bound = min(self.run.bound.value, self.run.loss)
            self.run.journal.rounds.append(Round(n_before, claimed, self.run.loss, bound, self.run.budget.elapsed))
            if self.run.is_over or not self._add_points(network):
                if not self.run.is_over and loss > claimed + self.problem.accuracy.tolerance:
                    self.run.journal.trouble = "finished; some rows are neither safe nor broken"
                return

    @property
    def n_scenarios(self) -> int:
        """The number of points besides the rows themselves."""
        return sum(int((~np.isnan(block).any(axis=1)).sum()) for block in self.points[1:])

    def _solve(self, master: Problem) -> tuple[Network | None, float]:
        """The best network of the master and its loss there; the bound of the master holds for the problem."""
        plan = None if self.run.plan is None else self.run.plan.for_master(master)
        part = Run(master, self.run.budget, self.run.n_jobs, self.run.seed, plan)
        part.bound = self.known
        if self.run.network is not None:
            part.offer(self.run.network)
        if self.searches:
            self._search(part)
        if not part.is_over:
            self.close(part)
        self.run.journal.claims.extend(part.journal.claims)
        if part.journal.trouble:
            self.run.journal.trouble = part.journal.trouble
        bound = part.bound
        if bound.value > self.run.bound.value:
            # The margin is required at the perturbed rows of the master as well.
            scope, evidence = bound.scope.with_perturbed_rows(), OfMasters(bound.evidence)
            self.run.raise_bound(Bound(bound.value, scope, evidence))
        self.known = bound
        return part.network, part.loss

    def _widened(self, master: Problem, network: Network) -> Network:
        """The network with neurons moved as far from the points of the master as the norm of the set allows.

        A network that barely separates the points is broken next to each of them; one with a margin needs few more.
        """
        architecture = self.problem.architecture
        if not self.problem.has_plain_steps or architecture.threshold != "neuron":
            return network
        points, loss = master.dataset.X, master.evaluate(network)
        still = Dataset(points, master.dataset.y, master.dataset.weights, np.zeros(len(points)))
        rows = robust_rows(replace(self.problem, dataset=still))
        for j in range(network.layers[0].width):
            dependent = np.flatnonzero(network.hangs_on(points, j))
            if not len(dependent) or self.run.must_stop():
                continue
            on = network.levels(points[dependent])[0][:, j] == 1
            found = rows.widest(dependent, np.where(on, 1.0, -1.0))
            if found is None or found[0] <= 0:
                continue
            candidate = network.with_neuron(j, found[1])
            if master.evaluate(candidate) <= loss:
                network = candidate
        return network

    def _search(self, part: Run) -> None:
        """If a network has no loss on all points, it is found quickly."""
        surrogate = replace(part.problem, uncertainty=None)
        network = linear_network(surrogate, _SEARCH_SHARE * part.budget.remaining, part.must_stop)
        if network is not None:
            part.offer(network)
        if part.is_over or not accepts_search(surrogate):
            return
        local_search(
            surrogate,
            seed=part.seed + len(self.run.journal.rounds),
            offer=part.offer,
            budget=part.budget.until(part.budget.elapsed + _SEARCH_SHARE * part.budget.remaining),
            should_stop=lambda: part.is_over,
            target=part.bound.value,
            effort=_SEARCH,
            n_jobs=part.n_jobs,
        )

    def _add_points(self, network: Network) -> bool:
        """Add the worst points that cost more than those of the master; whether there are any."""
        worst = self.problem.worst_case(network)
        if self.joint:
            if any(np.array_equal(worst.points, block) for block in self.points):
                return False
            self.points.append(worst.points.copy())
            return True
        known = np.zeros(len(worst.costs))
        for block in self.points:
            rows = np.flatnonzero(~np.isnan(block).any(axis=1))
            part = Dataset(block[rows], self.problem.dataset.y[rows], self.problem.dataset.weights[rows])
            known[rows] = np.maximum(known[rows], self.problem.loss.row_costs(part, network))
        costly = worst.uppers > known + 1e-12 * (1.0 + known)
        for block in self.points:  # points in doubt may occur again
            costly &= (block != worst.points).any(axis=1)
        if not costly.any():
            return False
        block = np.full_like(worst.points, np.nan)
        block[costly] = worst.points[costly]
        self.points.append(block)
        return True
