"""What estimators do with ``Rows``: fit, verify and predict block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stepnet.bounds.bound import Bound
from stepnet.bounds.row_groups import Groups
from stepnet.certificate.result import Result
from stepnet.certificate.tally import Tally
from stepnet.certificate.verification import Verification
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.estimators.core import FIRST, Found, solved_on_core
from stepnet.estimators.large import Passes, supply_of
from stepnet.estimators.survey import Survey
from stepnet.methods.learn import Learn, better, descends
from stepnet.methods.registry import method_of
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Callback
from stepnet.runtime.reservoir import Taken
from stepnet.search.descent.descent import accepts_descent, descend_network
from stepnet.search.descent.supply import Supply
from stepnet.tables.columns import Columns
from stepnet.tables.rows import Piece, Rows
from stepnet.tables.training import features_of, without_names

_TRIED = 2_000  # rows from which the problem is made
_REFUSAL = "Rows are learned block by block, but {reason}; or give a sample of them as arrays."


@dataclass(frozen=True)
class Fitted:
    """What a fit on rows found."""

    problem: Problem  # of the sample
    result: Result
    tally: Tally
    groups: Groups
    bound: Bound

    @classmethod
    def of(cls, found: Found) -> Fitted:
        return cls(found.problem, found.result, found.tally, found.groups, found.bound)


def is_rows(X: Any) -> bool:
    """Whether these are rows that are read block by block."""
    return isinstance(X, Rows)


def fit_rows(estimator: Any, rows: Rows, budget: Budget, callbacks: tuple[Callback, ...], seconds: float) -> None:
    """Train on rows, ``seconds`` at most, and keep the network with a certificate about all of them."""
    estimator._keep_columns()
    rows = _checked_task(estimator, rows)
    passes, seed = Passes(rows, budget, callbacks), estimator._seed()
    passes.tell("first pass", at_once=True)
    is_learned = isinstance(method_of(estimator.method), Learn)
    size = None if is_learned else FIRST
    survey = passes.survey(counts_labels=rows.task == "classification", seed=seed, size=size)
    keep_features(estimator, rows.features, survey.n_features, rows.columns)
    problem = sample_problem(estimator, survey, budget.lasting(seconds))
    if not is_learned:
        X, y, weights = survey.sample.taken()
        core = Piece(X, y, weights, "the core", 0)
        keep(estimator, Fitted.of(solved_on_core(estimator, problem, passes, core, seconds, seed)), budget)
        return
    supply = supply_of(passes, survey, problem.dataset, seed, estimator._piece_dataset)
    found = learned(estimator, problem, supply, passes, seconds, seed)
    keep(estimator, found, budget)


def _checked_task(estimator: Any, rows: Rows) -> Rows:
    task = "regression" if hasattr(estimator, "_is_flat_target") else "classification"
    if rows.has_arrays:
        return rows if rows.task == task else replace(rows, task=task)
    if rows.target is None:
        raise InvalidInputError(f"{rows.name} has the targets in some column; name it with target=.")
    return rows if rows.task == task else replace(rows, task=task)


def keep_features(estimator: Any, names: list[str] | None, n_features: int, columns: Columns | None = None) -> None:
    """Names and rules of columns, as after a fit on a table."""
    estimator.n_features_in_ = n_features
    estimator.__dict__.pop("feature_names_in_", None)
    if columns is not None and not columns.is_plain:
        estimator.columns_ = columns
    elif names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def sample_problem(estimator: Any, survey: Survey, budget: Budget) -> Problem:
    """The problem of the sample; features and classes are those of all rows."""
    X, y, weights = survey.sample.taken()
    survey.sample = Taken([X, y, weights], survey.n_rows)  # type: ignore[assignment]
    estimator._keep_survey(survey)
    if estimator._is_auto:
        estimator.hidden_, estimator.held_out_ = estimator._chosen_hidden(X, y, weights, budget)
    few = [None if one is None else one[:_TRIED] for one in (X, y, weights)]
    problem: Problem = estimator._problem_from(*few)
    require_rows_accepted(estimator, problem)
    return replace(problem, dataset=estimator._piece_dataset(Piece(X, y, weights, "the sample", 0)))


def require_rows_accepted(estimator: Any, problem: Problem) -> None:
    """Raise if the estimator cannot be trained block by block, with the way out."""
    method, reason = method_of(estimator.method), ""
    if estimator._votes:
        reason = "output='one_vs_one' takes one network per pair of classes: use output='one_hot'"
    elif problem.uncertainty is not None:
        reason = "uncertainty= needs the worst case of every row: omit it"
    elif problem.constraints.need_rows or problem.constraints.limit_errors:
        reason = "constraints that depend on answers need all rows: omit them"
    elif not isinstance(method, Learn):
        if not problem.loss.counts_errors or problem.architecture.output.is_compared:
            reason = f"method={estimator.method!r} takes two classes and loss='misclassified': use method='learn'"
    elif not descends(method, problem):
        reason = f"what descent does not take needs all rows ({accepts_descent(problem).reason}): change that"
    if reason:
        raise NotAcceptedError(_REFUSAL.format(reason=reason))


def learned(estimator: Any, problem: Problem, supply: Supply, passes: Passes, seconds: float, seed: int) -> Fitted:
    """Descend on the sample, then count on all rows."""
    before = passes.budget.elapsed
    network, reason = learned_network(estimator, problem, supply, passes, seconds, seed)
    return counted(estimator, problem, network, passes, reason, passes.budget.elapsed - before)


def learned_network(
    estimator: Any, problem: Problem, supply: Supply, passes: Passes, seconds: float, seed: int
) -> tuple[Network, str]:
    """A network from the sample and its supply, and why the descent ended."""
    method, hurried, budget = method_of(estimator.method), list[str](), passes.budget
    assert isinstance(method, Learn)
    descent = budget.lasting(seconds)  # the passes over all rows take what they take
    try:
        network = descend_network(
            problem,
            seed=seed,
            options=method.options,
            should_stop=descent.is_used_up,
            on_share=lambda share: passes.tell("learning", share),
            seconds=descent.remaining,
            on_hurry=lambda: hurried.append("time"),
            supply=supply,
        )
    finally:
        supply.close()
    if hurried:
        network = better(problem, network)
    return network, budget.stop_reason or descent.stop_reason or (hurried[0] if hurried else "finished")


def counted(estimator: Any, problem: Problem, network: Network, passes: Passes, reason: str, seconds: float) -> Fitted:
    """The result of a network on all rows."""
    if (refusal := problem.refuses(network)) is not None:
        raise InvalidInputError(f"the network is not one of this problem: {refusal}.")
    tally = Tally(network, problem, estimator._mean_target)
    groups, bound = passes.tally(tally, estimator._piece_dataset)
    return Fitted(problem, counted_result(estimator, problem, tally, bound, reason, seconds), tally, groups, bound)


def counted_result(estimator: Any, problem: Problem, tally: Tally, bound: Bound, reason: str, seconds: float) -> Result:
    """What a certificate is based on."""
    found: Any = {"found_by": "learning", "is_learned": True, "plan": method_of(estimator.method).plan(problem)}
    return Result(tally.network, tally.whole_loss, bound, reason, seconds, **found)


def keep(estimator: Any, found: Fitted, budget: Budget) -> None:
    """The network, and its certificate."""
    estimator._calibrate(found.result, found.problem, budget)
    certificate = found.tally.certificate(found.result, found.groups, found.bound, budget.elapsed)
    estimator._keep_certificate(certificate, found.result)


def verify_rows(estimator: Any, rows: Rows, callbacks: tuple[Callback, ...] = ()) -> Verification:
    """Recompute what the certificate says of all rows, block by block."""
    rows = _checked_task(estimator, rows).like(estimator)
    passes = Passes(rows, Budget(), callbacks)
    if estimator._needs_counts or rows.task == "regression":
        survey = passes.survey(counts_labels=rows.task == "classification", seed=0, size=_TRIED)
        estimator = estimator._with_survey(survey)
    problem = _problem_of(estimator, rows)
    tally = Tally(estimator.network_, problem, estimator._mean_target)
    _, bound = passes.tally(tally, estimator._piece_dataset)
    return tally.verification(estimator.certificate_, bound)


def _problem_of(estimator: Any, rows: Rows) -> Problem:
    """The problem of the first rows: architecture and loss are those of all."""
    for piece in rows.pieces():
        if piece.X.shape[1] != estimator.n_features_in_:
            raise InvalidInputError(
                f"{piece.where} has {piece.X.shape[1]} features, the model has {estimator.n_features_in_}."
            )
        if piece.y is None:
            raise InvalidInputError(f"{rows.name} has no targets; name the column with target=.")
        few = piece._replace(
            X=piece.X[:_TRIED],
            y=piece.y[:_TRIED],
            weights=None if piece.weights is None else piece.weights[:_TRIED],
        )
        dataset: Dataset = estimator._piece_dataset(few)
        problem: Problem = estimator._problem_from(few.X, few.y, few.weights)
        problem = estimator._certified_problem(problem)
        return replace(problem, dataset=dataset)
    raise InvalidInputError(f"{rows.name} has no rows of positive weight.")


def each_block(estimator: Any, rows: Rows, answer: Callable[[Any], Any]) -> Any:
    """What ``answer`` says of the rows, block by block, in one array."""
    found = [answer(X) for X in features_by(estimator, rows)]
    if not found:
        raise InvalidInputError(f"{rows.name} has no rows.")
    return np.concatenate(found)


def features_by(estimator: Any, rows: Rows) -> Any:
    """The features of all rows, also those of weight 0, as the estimator takes them."""
    if rows.has_arrays:
        return (X for block in range(rows.source.n_blocks) for X, *_ in rows.source.arrays(block, 2**24))
    others = (rows.target, rows.sample_weight)
    return (features_of(estimator, table, others).X for table in rows.like(estimator).tables())


def nameless(estimator: Any) -> Any:
    """A copy that takes plain arrays."""
    return without_names(estimator)
