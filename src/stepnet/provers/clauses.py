"""Clauses: what a gate, subsystems and a limit on the loss imply for the sets of rows that neurons get right.

Variables, numbered from 1: e_i (row i is misclassified), p_ij (neuron j gets row i right), then sums. A row of class 1
is right iff the gate is on when exactly the neurons that get it right are on; one of class 0 iff the gate is off
when exactly those are off. Gates are monotone: a row is right iff every set of neurons that could spoil it contains
one that gets it right.

Getting fewer rows right never hurts, as long as the other neurons compensate. So without loss of generality a
misclassified row counts as wrong for every neuron, a right one as right for no more neurons than it needs, and
neurons that are interchangeable in the gate are ordered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise

from stepnet.model.gates import Gate
from stepnet.provers.row_weights import few

Clause = list[int]
_MOST_SUMS = 128  # per node of the tree; no fewer than RowWeights distinguishes


@cache
def spoilers(gate: Gate, code: int) -> tuple[tuple[int, ...], ...]:
    """The minimal sets of neurons that misclassify a row of a class if they all get it wrong."""
    width, total = len(gate.weights), sum(gate.weights)
    needed = gate.threshold if code == 0 else total - gate.threshold + 1

    def weight(neurons: Sequence[int]) -> int:
        return sum(gate.weights[j] for j in neurons)

    return tuple(
        neurons
        for size in range(1, width + 1)
        for neurons in combinations(range(width), size)
        if weight(neurons) >= needed and all(weight(neurons) - gate.weights[j] < needed for j in neurons)
    )


def sufficient(gate: Gate, code: int) -> tuple[tuple[int, ...], ...]:
    """The minimal sets of neurons that make a row of a class right if they all get it right."""
    return spoilers(gate, 1 - code)


class GateClauses:
    """Networks of one gate, as clauses.

    Parameters
    ----------
    gate : Gate
    codes : sequence of 0 and 1
        The classes of the rows.
    ordering : sequence of int
        Rows by which neurons of equal weight in the gate are ordered.
    """

    def __init__(self, gate: Gate, codes: Sequence[int], ordering: Sequence[int] = ()) -> None:
        self.gate, self.codes, self.width = gate, codes, len(gate.weights)
        self.top = len(codes)
        # A neuron that can spoil rows of a class alone gets exactly those right that are not misclassified.
        self._alone = {code: {j for j, *others in spoilers(gate, code) if not others} for code in (0, 1)}
        self.right = [
            [-self.wrong(row) if j in self._alone[code] else self._new() for j in range(self.width)]
            for row, code in enumerate(codes)
        ]
        self.clauses: list[Clause] = [*self._rows(), *self._order(ordering)]

    def wrong(self, row: int) -> int:
        return 1 + row

    def of_subsystem(self, rows: Sequence[int]) -> list[Clause]:
        """No neuron gets all rows of a subsystem right."""
        return [[-self.right[row][j] for row in rows] for j in range(self.width)]

    def of_heavy(self, rows: Sequence[int]) -> Clause:
        """Not all of some rows are misclassified."""
        return [-self.wrong(row) for row in rows]

    def correct(self, weights: Sequence[int]) -> list[tuple[int, int]]:
        """Weights, and the literals of the rows that are not misclassified."""
        return [(weight, -self.wrong(row)) for row, weight in enumerate(weights) if weight]

    def may_differ(self, row: int) -> bool:
        """Whether neurons may differ on a row that is right."""
        return len(self._alone[self.codes[row]]) < self.width

    def _new(self) -> int:
        self.top += 1
        return self.top

    def _rows(self) -> Iterator[Clause]:
        for row, code in enumerate(self.codes):
            free = [j for j in range(self.width) if j not in self._alone[code]]
            for neurons in spoilers(self.gate, code):
                if len(neurons) > 1:
                    yield [*(self.right[row][j] for j in neurons), self.wrong(row)]
            for j in free:
                yield [-self.wrong(row), -self.right[row][j]]
            for neurons in sufficient(self.gate, code):
                for j in free:
                    if j not in neurons:
                        yield [*(-self.right[row][k] for k in neurons if k in free), -self.right[row][j]]

    def _order(self, rows: Sequence[int]) -> Iterator[Clause]:
        """Of two neurons of equal weight, the first gets the first row right on which they differ."""
        for j, (weight, next_weight) in enumerate(pairwise(self.gate.weights)):
            equal: list[int] = []  # the negation of "they agree so far"
            for row in rows:
                if weight != next_weight or not self.may_differ(row):
                    continue
                one, other = self.right[row][j], self.right[row][j + 1]
                still = self._new()
                yield [*equal, one, -other]
                yield [*equal, one, other, still]
                yield [*equal, -one, -other, still]
                equal = [-still]


class Formula(GateClauses):
    """Networks of one gate whose loss is at most a limit, as clauses.

    Parameters
    ----------
    gate, codes, ordering
        As above.
    weights : sequence of int
        The costs of misclassifying the rows.
    most : int
        The largest limit that is needed.
    grain : int
        Sums up to this much above another one count as that one.
    limits : sequence of (sequence of int, int)
        Further costs of misclassifying the rows, and what they may be in total. Sums of many kinds are distinguished
        roughly: then more is admitted.
    """

    def __init__(
        self,
        gate: Gate,
        codes: Sequence[int],
        weights: Sequence[int],
        most: int,
        ordering: Sequence[int] = (),
        grain: int = 0,
        limits: Sequence[tuple[Sequence[int], int]] = (),
    ) -> None:
        super().__init__(gate, codes, ordering)
        self._sums = self._add_sums(weights, most, grain)
        for costs, limit in limits:
            sums = self._add_sums(costs, limit, 0)
            self.clauses += [[-variable] for total, variable in sums.items() if total > limit]

    def at_most(self, limit: int) -> list[int]:
        """Literals which state that the misclassified rows weigh at most ``limit``."""
        return [-variable for total, variable in self._sums.items() if total > limit]

    def next_limit(self, limit: int) -> int:
        """The smallest sum above a limit: a loss that is not at most the limit is at least this sum."""
        return min((total for total in self._sums if total > limit), default=limit + 1)

    def _add_sums(self, weights: Sequence[int], most: int, grain: int) -> dict[int, int]:
        """For every sum, a variable that is true if the misclassified rows weigh at least as much; at most most + 1.

        A generalised totalizer: a tree of sums, each true if the two below it are. Small differences are dropped: a
        sum that counts as less stays true.
        """
        nodes = [{min(weight, most + 1): self.wrong(row)} for row, weight in enumerate(weights) if weight]
        while len(nodes) > 1:
            paired = [
                self._merged(left, right, most, grain) for left, right in zip(nodes[::2], nodes[1::2], strict=False)
            ]
            nodes = paired + ([nodes[-1]] if len(nodes) % 2 else [])
        return nodes[0] if nodes else {}

    def _merged(self, left: dict[int, int], right: dict[int, int], most: int, grain: int) -> dict[int, int]:
        totals = {a + b for a in (0, *left) for b in (0, *right)} - {0}
        counted_as = few({total for total in totals if total <= most}, grain, _MOST_SUMS)
        sums: dict[int, int] = {}
        for a, first in [(0, 0), *left.items()]:
            for b, second in [(0, 0), *right.items()]:
                total = counted_as.get(a + b, most + 1)
                if a + b:
                    if total not in sums:
                        sums[total] = self._new()
                    self.clauses.append([*(-one for one in (first, second) if one), sums[total]])
        return sums
