"""Branch trees: checks that no neuron loses less than a bound, from a tree of rows that are wrong or right.

This file shares no code with the prover, and has whole numbers only. Every neuron has a vector x with a_i·x > 0 where
row i is right and a_i·x < 0 where it is wrong, a_i = ±(x_i, 1). So clauses, which add up to 0, say that with some rows
wrong not all of some others are right. At a leaf each clause is paid for by the rows of which one must be wrong, the
same amount by each, and no row pays more than its weight: what is paid in total is lost besides rows wrong by choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from stepnet.proof_files.question import CheckError

Entry = int | list[int]


@dataclass(frozen=True)
class BranchProof:
    """Clauses as rows with multipliers; entries: a row, or a leaf: an account and clauses in the order of payment."""

    clauses: list[tuple[list[int], list[int]]]
    entries: list[Entry]


@dataclass(frozen=True)
class Accounts:
    """What wrong rows cost: no better neuron loses as much as ``target``, or more than ``most`` of a limit."""

    weights: Sequence[int]
    target: int
    limits: Sequence[tuple[Sequence[int], int]]


def whole_vectors(points: Sequence[Sequence[float]], codes: Sequence[int]) -> list[list[int]]:
    """±(x, 1) of the rows, every column times a positive number of its own."""
    exact = [[*map(Fraction, point), Fraction(1)] for point in points]
    scales = [max(value.denominator for value in column) for column in zip(*exact, strict=True)]  # powers of two
    return [
        [int(value * scale) * (1 if code else -1) for value, scale in zip(row, scales, strict=True)]
        for row, code in zip(exact, codes, strict=True)
    ]


def check_clause(vectors: Sequence[Sequence[int]], rows: Sequence[int], multipliers: Sequence[int]) -> None:
    """Raise CheckError unless the multipliers show that no neuron has these sides."""
    if len(set(rows)) != len(rows) or not all(0 <= row < len(vectors) for row in rows):
        raise CheckError("the rows of a clause must be different rows")
    if len(rows) != len(multipliers) or 0 in multipliers or max(multipliers, default=0) <= 0:
        raise CheckError("a clause needs a multiplier for each row, none of them 0, one of them positive")
    chosen = [vectors[row] for row in rows]
    if any(sum(map(int.__mul__, multipliers, column)) for column in zip(*chosen, strict=True)):
        raise CheckError(f"rows {list(rows)} are not a clause")


class TreeCheck:
    """Follows a tree whose clauses have been checked."""

    def __init__(self, proof: BranchProof, accounts: Accounts) -> None:
        self.proof, self.accounts = proof, accounts
        self.is_right: dict[int, bool] = {}  # of the rows on which sides are taken
        self.lost = 0
        self.counted = [0] * len(accounts.limits)

    def work(self, look: Callable[[], None]) -> None:
        """Depth first, without recursion; raises CheckError where the tree does not prove the bound."""
        trail: list[int] = []
        entries = iter(self.proof.entries)
        while True:
            look()
            entry = next(entries, None)
            if entry is None:
                raise CheckError("the tree ends too early")
            if isinstance(entry, int):
                if not 0 <= entry < len(self.accounts.weights) or entry in self.is_right:
                    raise CheckError(f"there is no branch on row {entry}")
                trail.append(entry)
                self._wrong(entry, 1)
                continue
            self._leaf(entry)
            while trail and self.is_right[trail[-1]]:
                del self.is_right[trail.pop()]
            if not trail:
                break
            self._wrong(trail[-1], -1)
        if next(entries, None) is not None:
            raise CheckError("the tree has more entries than cones")

    def _wrong(self, row: int, sign: int) -> None:
        """A row is wrong from now on (1), or right after it was wrong (-1)."""
        self.is_right[row] = sign < 0
        self.lost += sign * self.accounts.weights[row]
        for k, (coefficients, _) in enumerate(self.accounts.limits):
            self.counted[k] += sign * coefficients[row]

    def _leaf(self, entry: list[int]) -> None:
        """Pay for its clauses, each with as much as is left of the lightest row."""
        account, *clauses = entry
        cost, need = self._account(account)
        left: dict[int, int] = {}
        for number in clauses:
            payers = self._payers(number)
            if not payers:  # no neuron is in the cone
                return
            for row in payers:
                if row not in left:
                    left[row] = cost(row)
            amount = min(left[row] for row in payers)
            need -= amount
            for row in payers:
                left[row] -= amount
        if need > 0:
            raise CheckError("a cone may have a better neuron")

    def _payers(self, number: int) -> list[int]:
        """The rows of a clause of which one must be wrong, besides those on which sides are taken."""
        if not 0 <= number < len(self.proof.clauses):
            raise CheckError(f"there is no clause {number}")
        found = []
        for row, multiplier in zip(*self.proof.clauses[number], strict=True):
            side = self.is_right.get(row)
            if side is None and multiplier > 0:
                found.append(row)
            elif side != (multiplier > 0):
                raise CheckError(f"clause {number} does not hold in a cone")
        return found

    def _account(self, account: int) -> tuple[Callable[[int], int], int]:
        """What a wrong row costs, and how much no better neuron pays: 0 the loss, 2k + 1 limit k, 2k + 2 both."""
        weights, need = self.accounts.weights, self.accounts.target - self.lost
        if account == 0:
            return weights.__getitem__, need
        if not 0 < account <= 2 * len(self.accounts.limits):
            raise CheckError(f"there is no account {account}")
        k, is_sum = divmod(account - 1, 2)
        coefficients, most = self.accounts.limits[k]
        left = most - self.counted[k]
        if not is_sum:
            return coefficients.__getitem__, left + 1
        # A better neuron loses at most need - 1 and counts at most what is left.
        of_loss, of_limit = max(left, 1), max(need - 1, 1)
        return (lambda row: of_loss * weights[row] + of_limit * coefficients[row]), of_loss * (
            need - 1
        ) + of_limit * left + 1
