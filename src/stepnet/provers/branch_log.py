"""Branch log: every clause that a search learned, and what became of each cone, in the order of the tree.

Records are whole numbers: a row to branch on; or ``CLAUSE``, a size, and for each row twice its number, plus one where
it must be right; or ``LEAF``, an account, how many clauses are paid for, and their numbers in the order of payment. The
account is 0 for the loss, 2k + 1 for limit k and 2k + 2 for the loss and limit k together.
"""

from __future__ import annotations

from typing import NamedTuple

from stepnet.model.arithmetic import Ints
from stepnet.provers.branch_clauses import CLAUSE, N_LOGGED
from stepnet.provers.branch_tree import BranchTree

Entry = int | tuple[int, list[int]]  # a row, or the account and the clauses of a leaf


class LoggedClause(NamedTuple):
    """A clause: its rows, and their sides."""

    rows: list[int]
    sides: list[int]


class BranchLog:
    """Page by page, as the kernel leaves it."""

    def __init__(self, tree: BranchTree) -> None:
        self._tree, self._pages, self.size = tree, list[Ints](), 0

    def turn(self) -> None:
        """Make room for the next turn of the kernel."""
        size = int(self._tree.counters[N_LOGGED])
        if size:
            self._pages.append(self._tree.log[:size].copy())
            self._tree.counters[N_LOGGED] = 0
            self.size += size

    def records(self) -> tuple[list[LoggedClause], list[Entry]]:
        """All clauses, and the entries of the tree."""
        self.turn()
        clauses, entries = list[LoggedClause](), list[Entry]()
        for page in self._pages:
            numbers, place = page.tolist(), 0
            while place < len(numbers):
                first = numbers[place]
                if first >= 0:
                    entries.append(first)
                    place += 1
                elif first == CLAUSE:
                    end = place + 2 + numbers[place + 1]
                    codes = numbers[place + 2 : end]
                    clauses.append(LoggedClause([code // 2 for code in codes], [2 * (code % 2) - 1 for code in codes]))
                    place = end
                else:
                    end = place + 3 + numbers[place + 2]
                    entries.append((numbers[place + 1], numbers[place + 3 : end]))
                    place = end
        return clauses, entries
