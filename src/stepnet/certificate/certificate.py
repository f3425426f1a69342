"""Certificate: what may be said of a trained network, and nothing more."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from stepnet.bounds.bound import Bound
from stepnet.certificate.result import Result
from stepnet.errors import ModelFileError
from stepnet.problem.losses.misclassified import MISCLASSIFIED
from stepnet.problem.problem import Problem
from stepnet.uncertainty.sets import Uncertainty


@dataclass(frozen=True)
class Certificate:
    """A verified loss, a lower bound, and what they rest on.

    Attributes
    ----------
    loss : float
        What the training rows cost, by ``measure``, computed in exact arithmetic.
    measure : str
        "misclassified" (their weight), "squared error", "absolute error", "hinge loss", or what another loss says.
    bound : float
        No network within ``scope`` has a smaller loss.
    gap : float
        (loss - bound) / loss, 0 if they are equal.
    status : "OPTIMAL" or "FEASIBLE"
    scope : str
        The networks that ``bound`` speaks of: all of the architecture, or those whose neurons keep a
        margin from every row (and where it says so, from the moved rows of the proof) when rows, weights and
        thresholds are scaled to [-1, 1].
    proof : str
        How the bound is known.
    claimed_by : str
        The solver whose word the bound is; empty if anyone can recompute it without one.
    stop_reason : str
        "proven", "gap", "time", "interrupted", "callback", "finished" or "solver failed".
    runtime : float
        Seconds.
    margin : float
        Smallest distance of a training row to a hyperplane that its answer hangs on.
    n_weights : int
        Non-zero weights.
    weights_bound : int
        No network of ``weights_scope`` with this loss has fewer non-zero weights; 0 where that was not asked.
    weights_scope : str
        The networks that ``weights_bound`` speaks of.
    fingerprint : str
        Names the training data.
    n_rows : int
        Distinct training rows.
    total_weight : float
        Weight of all rows: their number if they weigh 1 each.
    uncertainty : str
        How far rows may be moved, in words; then ``loss`` and ``bound`` are those of the worst case. Empty if
        rows are certain.
    nominal_loss : float
        The loss of the network if no row is moved.
    rounds : int
        Of column-and-constraint generation: how often a program was solved.
    scenarios : int
        How many points besides the rows themselves the last one had.
    """

    loss: float
    measure: str
    bound: float
    gap: float
    status: Literal["OPTIMAL", "FEASIBLE"]
    scope: str
    proof: str
    claimed_by: str
    stop_reason: str
    runtime: float
    margin: float
    n_weights: int
    weights_bound: int
    weights_scope: str
    fingerprint: str
    n_rows: int
    total_weight: float
    uncertainty: str
    nominal_loss: float
    rounds: int
    scenarios: int

    @property
    def counts_errors(self) -> bool:
        """Whether the loss is a weight of rows, of which there are ``total_weight``."""
        return self.measure == MISCLASSIFIED.measure

    def __str__(self) -> str:
        claimed = f", claimed by {self.claimed_by}" if self.claimed_by else ""
        return "\n".join(
            line
            for line in [
                f"{self.status} for {self.scope}: {self._loss()}, bound {self.bound:.6g}, gap {100 * self.gap:.3g} %",
                f"  proof    {self.proof}{claimed}",
                f"  stopped  {self.stop_reason} after {self.runtime:.2f} s",
                f"  network  {self.n_weights} non-zero weights{self._fewest()}, margin {self.margin:.4g}",
                f"  data     {self.n_rows} distinct rows, fingerprint {self.fingerprint}",
                self._moves(),
            ]
            if line
        )

    def _moves(self) -> str:
        if not self.uncertainty:
            return ""
        rounds = f"; {_count(self.rounds, 'round')}, {_count(self.scenarios, 'scenario')}" if self.rounds else ""
        return f"  moves    {self.uncertainty}; {self._measured(self.nominal_loss)} without moves{rounds}"

    def _loss(self) -> str:
        return f"{'worst-case ' if self.uncertainty else ''}{self._measured(self.loss)}"

    def _measured(self, loss: float) -> str:
        if self.counts_errors:
            return f"loss {loss:.6g} of {self.total_weight:.6g}"
        return f"{self.measure} {loss:.6g}"

    def _fewest(self) -> str:
        if not self.weights_bound:
            return ""
        is_met = self.weights_bound == self.n_weights
        return f" ({'the fewest' if is_met else f'at least {self.weights_bound}'} for {self.weights_scope})"

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Certificate:
        names = {field.name for field in dataclasses.fields(cls)}
        if not isinstance(data, dict) or set(data) != names:
            raise ModelFileError("the certificate in the file is damaged: it lacks fields or has unknown ones")
        for field in dataclasses.fields(cls):
            is_number = field.type in ("float", "int")
            if is_number != isinstance(data[field.name], float | int) or isinstance(data[field.name], bool):
                raise ModelFileError(f"the certificate in the file is damaged: {field.name} is {data[field.name]!r}")
        return cls(**data)


def is_optimal(problem: Problem, loss: float, bound: float) -> bool:
    """Whether nothing is left between loss and bound, up to the tolerance for real row weights."""
    return problem.accuracy.are_equal(loss, bound)


def certify(problem: Problem, result: Result) -> Certificate:
    """The certificate of a result; the loss is computed once more from the network alone."""
    loss = problem.evaluate(result.network)
    bound = min(result.bound.value, loss)
    dataset, fewest = problem.dataset, result.fewest or Bound()
    return Certificate(
        loss=loss,
        measure=problem.loss.measure,
        bound=bound,
        gap=problem.accuracy.gap(loss, bound),
        status="OPTIMAL" if is_optimal(problem, loss, bound) else "FEASIBLE",
        scope=result.bound.scope,
        proof=result.bound.proof,
        claimed_by=result.bound.claimed_by,
        stop_reason=result.stop_reason,
        runtime=result.runtime,
        margin=result.network.margin(dataset.X),
        n_weights=result.network.n_weights,
        weights_bound=min(int(fewest.value), result.network.n_weights),
        weights_scope=fewest.scope,
        fingerprint=dataset.fingerprint,
        n_rows=dataset.n_rows,
        total_weight=dataset.total_weight,
        uncertainty=problem.uncertainty.describe(problem.radii) if isinstance(problem.uncertainty, Uncertainty) else "",
        nominal_loss=problem.nominal.evaluate(result.network),
        rounds=len(result.rounds),
        scenarios=result.rounds[-1].scenarios if result.rounds else 0,
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
