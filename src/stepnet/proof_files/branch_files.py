"""Branch files: a tree of rows that are wrong or right, which proves that no neuron loses less than a bound.

branches.json   clauses, which say that rows are not right together, and the tree with those that each leaf pays for
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from stepnet.certificate.verification import Check
from stepnet.proof_files.branch_trees import Accounts, BranchProof, Entry, TreeCheck, check_clause, whole_vectors
from stepnet.proof_files.claim import Claim, integer
from stepnet.proof_files.cone_files import is_costly
from stepnet.proof_files.kind import BetterNetworkError, Kind, Parts, Task, outcome
from stepnet.proof_files.question import CheckError, Question, Watch, without_equal_rows
from stepnet.provers.branch_search import BranchSearch
from stepnet.provers.branches import MOST_DIMENSIONS, Branches
from stepnet.provers.fan import Fan, Vectors, vectors_of
from stepnet.provers.limits import Limit
from stepnet.provers.merged_rows import MergedRows, dimension
from stepnet.provers.oracle import integer_rows, null_vector
from stepnet.runtime.limits import Budget

FILE = "branches.json"
_MOST_UNITS = 2**53  # so that the prover's sums of weights are exact
_MOST_OF_LIMIT = 2**40
_MOST_LOGGED = 2**24  # numbers: trees of some hundred thousand cones


class BranchTrees(Kind):
    """For one neuron, also with limits on errors: of bounds that many rows cost, or of those that few cost.

    The latter are tried later: clauses may do.
    """

    name = "branches"

    def __init__(self, *, is_costly: bool) -> None:
        self.is_costly = is_costly

    def accepts(self, task: Task) -> bool:
        is_of_one = task.question.form is None and task.question.width == 1 and task.units > 0
        return is_of_one and is_costly(task) == self.is_costly

    def write(self, task: Task, budget: Budget) -> Parts | None:
        if not Branches.kernels.is_done(budget.remaining):
            return None
        found = branch_proof(task.question, budget.is_used_up)
        if isinstance(found, int):
            raise BetterNetworkError(task.weights.loss_of(found))
        return None if found is None else Parts(texts={FILE: to_text(found)})

    def checks(self, claim: Claim, watch: Watch) -> Iterator[Check]:
        def work() -> str:
            if claim.question.width > 1:
                raise CheckError("branches are for one neuron")
            proof = read(claim.text(FILE))
            check(proof, claim.question, watch)
            return f"tree of {len(proof.entries):,} cones, {len(proof.clauses):,} clauses, in whole numbers"

        yield outcome("no neuron loses less", work)


def branch_proof(question: Question, should_stop: Callable[[], bool]) -> BranchProof | int | None:
    """A proof that no neuron loses as little as the limit of a question.

    A number of units if a neuron loses only that; None if the time is up, or the tree gets too large.
    """
    data, limits = question.dataset, question.limits
    is_large = sum(question.weights) >= _MOST_UNITS
    is_large |= any(max(one.most, sum(one.coefficients)) >= _MOST_OF_LIMIT for one in limits)
    if is_large or dimension(data, MOST_DIMENSIONS + 1) > MOST_DIMENSIONS:
        return None
    rows = MergedRows.of(data, np.array(question.weights, dtype=np.int64), is_limited=bool(limits))
    vectors = vectors_of(integer_rows(data.X[rows.numbers]), rows.on)
    search = BranchSearch(
        Fan.of(vectors),
        rows.units,
        question.limit + 1 - rows.lost,
        limits=[Limit(np.array(one.coefficients, dtype=np.int64), one.most) for one in limits],
        is_logged=True,
    )
    while not search.is_proven:
        if should_stop() or search.log.size > _MOST_LOGGED:
            return None
        search.advance(should_stop)
        if search.target + rows.lost <= question.limit:
            return search.target + rows.lost
    on_axes = [[vector[axis] for axis in search.fan.axes] for vector in vectors]
    return _written(search, on_axes, rows.numbers.tolist(), should_stop)


def _written(
    search: BranchSearch, vectors: Vectors, names: Sequence[int], should_stop: Callable[[], bool]
) -> BranchProof | None:
    """The clauses that leaves pay for, with multipliers, numbered as they are met first; None if the time is up."""
    logged, entries = search.log.records()
    numbers: dict[int, int] = {}
    clauses: list[tuple[list[int], list[int]]] = []
    tree: list[Entry] = []
    for entry in entries:
        if isinstance(entry, int):
            tree.append(names[entry])
            continue
        account, paid = entry
        for number in paid:
            if number in numbers:
                continue
            if should_stop():
                return None
            rows, sides = logged[number]
            columns = [[side * value for value in vectors[row]] for row, side in zip(rows, sides, strict=True)]
            multipliers = null_vector(columns)
            if multipliers is None:  # the floats of the prover were wrong
                return None
            numbers[number] = len(clauses)
            signed = [side * value for side, value in zip(sides, multipliers, strict=True)]
            clauses.append(([names[row] for row in rows], signed))
        tree.append([account, *(numbers[number] for number in paid)])
    return BranchProof(clauses, tree)


def to_text(proof: BranchProof) -> str:
    clauses = ",\n".join(map(_compact, proof.clauses))
    return f'{{"clauses": [\n{clauses}\n],\n"tree": {_compact(proof.entries)}}}\n'


def _compact(part: object) -> str:
    return json.dumps(part, separators=(",", ":"))


def read(text: str) -> BranchProof:
    content = json.loads(text)
    clauses = [(list(map(integer, rows)), list(map(integer, multipliers))) for rows, multipliers in content["clauses"]]
    tree = [list(map(integer, one)) if isinstance(one, list) else integer(one) for one in content["tree"]]
    return BranchProof(clauses, tree)


def check(proof: BranchProof, question: Question, watch: Watch) -> None:
    """Check that no neuron loses as little as the limit of a question.

    Raises CheckError if the proof does not show it, and TimeoutError if the time is up.
    """
    data = question.dataset
    n_looked, n_parts = 0, len(proof.clauses) + len(proof.entries)

    def look() -> None:
        nonlocal n_looked
        n_looked += 1
        if watch.must_stop():
            raise TimeoutError
        watch.tell(n_looked / n_parts)

    vectors = whole_vectors(data.X.tolist(), data.y.tolist())
    for rows, multipliers in proof.clauses:
        look()
        check_clause(vectors, rows, multipliers)
    weights, lost = (question.weights, 0) if question.limits else without_equal_rows(data, question.weights)
    limits = [(one.coefficients, one.most) for one in question.limits]
    TreeCheck(proof, Accounts(weights, question.limit + 1 - lost, limits)).work(look)
