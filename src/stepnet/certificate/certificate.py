"""Certificate: what is known about a trained network, and nothing more."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import Evidence, counted, evidence_from_dict
from stepnet.bounds.fields import checked_fields
from stepnet.bounds.old_words import evidence_of, scope_of
from stepnet.bounds.scope import Scope
from stepnet.certificate.result import Result
from stepnet.errors import ModelFileError
from stepnet.model.network import Network
from stepnet.problem.accuracy import Accuracy
from stepnet.problem.error_limits.demand import Statement
from stepnet.problem.losses.misclassified import MISCLASSIFIED
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.runtime.notebooks import html_table
from stepnet.uncertainty.sets import Uncertainty

Status = Literal["OPTIMAL", "FEASIBLE", "LEARNED"]

_ROWS_PER_WEIGHT, _A_SAMPLE = 2.5, 50  # fewer rows than this are no sample of anything


@dataclass(frozen=True)
class Certificate:
    """A verified loss, a lower bound, and the evidence for it.

    Attributes
    ----------
    loss : float
        The loss on the training rows, by ``measure``, in exact arithmetic.
    measure : str
        "misclassified" (their weight), "squared error", "absolute error", "hinge loss", or that of another loss.
    bound : float
        No network within ``scope`` has a smaller loss.
    gap : float
        (loss - bound) / loss, 0 if they are equal.
    status : "OPTIMAL", "FEASIBLE" or "LEARNED"
        OPTIMAL if loss and bound meet. Otherwise LEARNED for a network that was trained for new rows, so that its loss
        was never meant to be the smallest; FEASIBLE for one whose loss was minimised.
    scope : Scope
        The networks that ``bound`` holds for: all of the architecture (``scope.is_all``), or those whose neurons
        keep a margin from every row when rows, weights and thresholds are scaled to [-1, 1].
    evidence : Evidence
        How the bound is known; ``proof`` is the same in words, ``claimed_by`` the solver that claims it, empty if it
        can be recomputed without a solver.
    found_by : str
        The stage of the fit that found the network, such as "local search".
    stop_reason : str
        "proven", "gap", "time", "interrupted", "callback", "finished" or "solver failed".
    runtime : float
        Seconds from the call of ``fit`` to its return.
    margin : float or None
        Smallest distance of a training row to a hyperplane that its answer depends on; infinite if no answer depends
        on a single neuron, None if it was not computed for want of time.
    n_weights : int
        Non-zero weights.
    weights_bound : int
        No network of ``weights_scope`` with this loss has fewer non-zero weights; 0 if this was not proven.
    weights_scope : Scope
        The networks that ``weights_bound`` holds for.
    fingerprint : str
        Identifies the training data.
    n_rows : int
        Distinct training rows.
    total_weight : float
        Weight of all rows: their number if each weighs 1.
    uncertainty : str
        How far rows may be perturbed, in words; then ``loss`` and ``bound`` are worst-case losses. Empty if rows are
        certain.
    nominal_loss : float
        The loss of the network if no row is perturbed.
    rounds : int
        Rounds of column-and-constraint generation: how often a program was solved.
    scenarios : int
        Perturbed rows in the last program, besides the rows themselves.
    new_rows : str
        What is known of rows that were not trained on, in words; empty unless :meth:`StepClassifier.risk` kept it.
    remark : str
        What a reader should know before using the network on new rows; usually empty.
    limits : tuple of Statement
        The limits on errors that the network had to meet, with their exact values on the training rows.
    """

    loss: float
    measure: str
    bound: float
    gap: float
    status: Status
    scope: Scope
    evidence: Evidence
    found_by: str
    stop_reason: str
    runtime: float
    margin: float | None
    n_weights: int
    weights_bound: int
    weights_scope: Scope
    fingerprint: str
    n_rows: int
    total_weight: float
    uncertainty: str
    nominal_loss: float
    rounds: int
    scenarios: int
    remark: str = ""
    new_rows: str = ""
    limits: tuple[Statement, ...] = ()

    @property
    def proof(self) -> str:
        """How the bound is known, in words."""
        is_attained = self.status == "OPTIMAL" and self.found_by and not self.claimed_by
        return f"{self.evidence}" + (f", attained by a network found by {self.found_by}" if is_attained else "")

    @property
    def claimed_by(self) -> str:
        """The solver that claims the bound; empty if it can be recomputed without a solver."""
        return self.evidence.claimed_by

    @property
    def margin_in_words(self) -> str:
        """To four digits, or "unknown"."""
        return "unknown" if self.margin is None else f"{self.margin:.4g}"

    @property
    def counts_errors(self) -> bool:
        """Whether the loss is a weight of rows, out of ``total_weight``."""
        return self.measure == MISCLASSIFIED.measure

    def __str__(self) -> str:
        claimed = f", claimed by {self.claimed_by}" if self.claimed_by else ""
        lines = [
            self._headline(),
            f"  proof    {self.proof}{claimed}",
            f"  stopped  {self.stop_reason} after {self.runtime:.2f} s",
            f"  network  {self.n_weights} non-zero weights{self._fewest()}, margin {self.margin_in_words}",
            f"  data     {self.n_rows} distinct rows, fingerprint {self.fingerprint}",
        ]
        if self.uncertainty:
            nominal = f"{self._measured(self.nominal_loss)} without perturbations"
            rounds = f"; {counted(self.rounds, 'round')}, {counted(self.scenarios, 'scenario')}" if self.rounds else ""
            lines.append(f"  robust   {self.uncertainty}; {nominal}{rounds}")
        if self.new_rows:
            lines.append(f"  new rows {self.new_rows}")
        lines += [f"  {'limit' if not number else '':7}  {one}" for number, one in enumerate(self.limits)]
        if self.remark:
            lines.append(f"  remark   {self.remark}")
        return "\n".join(lines)

    def _headline(self) -> str:
        loss = f"{'worst-case ' if self.uncertainty else ''}{self._measured(self.loss)}"
        if self.status == "LEARNED":
            return f"LEARNED for new rows: training {loss}, verified; bound {self.bound:.6g} for {self.scope}"
        return f"{self.status} for {self.scope}: {loss}, bound {self.bound:.6g}, gap {100 * self.gap:.3g} %"

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
        """For JSON, which has no infinite number; :meth:`from_dict` restores the same certificate."""
        parts: dict[str, Any] = {name: getattr(self, name).to_dict() for name in ("scope", "evidence", "weights_scope")}
        parts["limits"] = [one.to_dict() for one in self.limits]
        margin = {"margin": _INFINITE} if self.margin == math.inf else {}
        return {field.name: getattr(self, field.name) for field in fields(self)} | parts | margin

    def _repr_html_(self) -> str:
        """For notebooks: the printed certificate as a table."""
        head, *lines = str(self).splitlines()
        return html_table(head, (line.split(maxsplit=1) for line in lines))

    def in_words(self) -> dict[str, Any]:
        """For readers without stepnet: scopes and evidence as sentences."""
        words = {"scope": str(self.scope), "proof": self.proof, "claimed_by": self.claimed_by}
        return self.to_dict() | words | {"weights_scope": str(self.weights_scope), "evidence": self.evidence.to_dict()}

    @classmethod
    def from_dict(cls, data: Any) -> Certificate:
        """Also from files of version 0.1.0."""
        data = _current(data)
        if isinstance(data, dict) and data.get("margin") == _INFINITE:
            data = data | {"margin": math.inf}
        values = checked_fields(cls, data, "the certificate in the file")
        scopes = {name: Scope.from_dict(values[name]) for name in ("scope", "weights_scope")}
        limits = tuple(map(Statement.from_dict, values["limits"]))
        return cls(**values | scopes | {"evidence": evidence_from_dict(values["evidence"]), "limits": limits})


_INFINITE = "infinite"  # a margin, in JSON
_OLD = ("scope", "proof", "claimed_by", "weights_scope")  # in words


def _current(data: Any) -> Any:
    """The current fields, also of a certificate in the words of 0.1.0."""
    if not isinstance(data, dict):
        return data
    data = {"remark": "", "limits": [], "new_rows": ""} | data
    if "proof" not in data:
        return data
    old = {name: data[name] for name in _OLD if isinstance(data.get(name), str)}
    if len(old) < len(_OLD):
        raise ModelFileError("the certificate in the file is damaged: scope and proof must be text")
    evidence, found_by = evidence_of(old["proof"], old["claimed_by"])
    rest = {name: value for name, value in data.items() if name not in old}
    return rest | {
        "scope": scope_of(old["scope"]).to_dict(),
        "evidence": evidence.to_dict(),
        "found_by": found_by,
        "weights_scope": scope_of(old["weights_scope"]).to_dict(),
    }


def status_of(accuracy: Accuracy, loss: float, bound: float, *, is_learned: bool) -> Status:
    """What the status of a certificate must be."""
    if accuracy.are_equal(loss, bound):
        return "OPTIMAL"
    return "LEARNED" if is_learned else "FEASIBLE"


def certify(problem: Problem, result: Result, budget: Budget | None = None) -> Certificate:
    """The certificate of a result; its loss is that of :meth:`Problem.evaluate`, not what the result says.

    With the budget of the fit, the margin is left out if there is no time for it, and the runtime is that of the whole
    fit so far.
    """
    loss = problem.evaluate(result.network)
    bound = min(result.bound.value, loss)
    status = status_of(problem.accuracy, loss, bound, is_learned=result.is_learned)
    dataset, fewest = problem.dataset, result.fewest or Bound()
    nominal_loss, fingerprint = problem.nominal.evaluate(result.network), dataset.fingerprint
    limits = statements_of(problem, result.network)
    margin = result.network.margin_unless(dataset.X, (budget or Budget()).with_grace().is_used_up)
    return Certificate(
        loss=loss,
        measure=problem.loss.measure,
        bound=bound,
        gap=problem.accuracy.gap(loss, bound),
        status=status,
        scope=result.bound.scope,
        evidence=result.bound.evidence,
        found_by=result.found_by,
        stop_reason=result.stop_reason,
        runtime=result.runtime if budget is None else budget.elapsed,
        margin=margin,
        n_weights=result.network.n_weights,
        weights_bound=min(int(fewest.value), result.network.n_weights),
        weights_scope=fewest.scope,
        fingerprint=fingerprint,
        n_rows=dataset.n_rows,
        total_weight=dataset.total_weight,
        uncertainty=problem.uncertainty.describe(problem.radii) if isinstance(problem.uncertainty, Uncertainty) else "",
        nominal_loss=nominal_loss,
        rounds=len(result.rounds),
        scenarios=result.rounds[-1].scenarios if result.rounds else 0,
        remark="" if result.is_learned else _remark(problem, result.network.n_weights),
        limits=limits,
    )


def statements_of(problem: Problem, network: Network) -> tuple[Statement, ...]:
    """The limits on errors of a problem, with their exact values for a network."""
    if not problem.constraints.demands:
        return ()
    wrong = network.predict(problem.dataset.X) != problem.dataset.y
    return tuple(one.statement(wrong) for one in problem.constraints.demands)


def _remark(problem: Problem, n_weights: int) -> str:
    """Where rows per weight are few, the network of the smallest training loss is seldom the best for new rows.

    Measured by benchmarks/rows_per_weight.py, for what can be learned instead.
    """
    n_rows, architecture = problem.dataset.n_rows, problem.architecture
    is_free = not (architecture.has_integers or problem.constraints.restrict or problem.is_uncertain)
    if not is_free or n_rows < _A_SAMPLE or n_rows >= _ROWS_PER_WEIGHT * n_weights:
        return ""
    return (
        f"{n_rows / n_weights:.1f} rows per weight: on new rows a network trained with method='learn' is likely to be "
        f"better"
    )
