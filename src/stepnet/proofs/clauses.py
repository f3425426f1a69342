"""Clauses: what a gate, subsystems and a limit on the loss say about the sets of rows that neurons get right.

Variables, numbered from 1: p_ij (neuron j gets row i right), e_i (row i is misclassified), then sums. A row of class 1
is right iff the gate is on where exactly the neurons that get it right are on; one of class 0 iff the gate is off
where those are off. Gates are monotone: a row is right iff every set of neurons that could spoil it has one that
gets it right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from stepnet.gates import Gate

Clause = list[int]


class Numbering:
    """The numbers of the variables of ``n_rows`` rows and ``width`` neurons."""

    def __init__(self, n_rows: int, width: int) -> None:
        self.n_rows, self.width = n_rows, width
        self.top = n_rows * (width + 1)

    def right(self, row: int, neuron: int) -> int:
        return 1 + row * self.width + neuron

    def wrong(self, row: int) -> int:
        return 1 + self.n_rows * self.width + row

    def new(self) -> int:
        self.top += 1
        return self.top


def spoilers(gate: Gate, code: int) -> list[tuple[int, ...]]:
    """The smallest sets of neurons that misclassify a row of a class if they all get it wrong."""
    width, total = len(gate.weights), sum(gate.weights)
    needed = gate.threshold if code == 0 else total - gate.threshold + 1

    def weight(neurons: Sequence[int]) -> int:
        return sum(gate.weights[j] for j in neurons)

    return [
        neurons
        for size in range(1, width + 1)
        for neurons in combinations(range(width), size)
        if weight(neurons) >= needed and all(weight(neurons) - gate.weights[j] < needed for j in neurons)
    ]


def gate_clauses(gate: Gate, codes: Sequence[int], numbers: Numbering) -> Iterator[Clause]:
    """A row that is not misclassified has a neuron that gets it right in every set that could spoil it."""
    sets = {code: spoilers(gate, code) for code in (0, 1)}
    for row, code in enumerate(codes):
        for neurons in sets[code]:
            yield [*(numbers.right(row, j) for j in neurons), numbers.wrong(row)]


def subsystem_clauses(rows: Sequence[int], numbers: Numbering) -> Iterator[Clause]:
    """No neuron gets all rows of a subsystem right."""
    for j in range(numbers.width):
        yield [-numbers.right(row, j) for row in rows]


def sum_clauses(weights: Sequence[int], most: int, numbers: Numbering) -> tuple[list[Clause], dict[int, int]]:
    """Variables that are true if the misclassified rows weigh at least so much; sums above ``most`` count as most + 1.

    A generalised totalizer: a tree of sums, each true if the two below it are. Rows that weigh more than ``most`` alone
    are sums of their own.
    """
    clauses: list[Clause] = []
    nodes = [{min(weight, most + 1): numbers.wrong(row)} for row, weight in enumerate(weights) if weight]
    while len(nodes) > 1:
        paired = [
            _merged(left, right, most, numbers, clauses) for left, right in zip(nodes[::2], nodes[1::2], strict=False)
        ]
        nodes = paired + ([nodes[-1]] if len(nodes) % 2 else [])
    return clauses, nodes[0] if nodes else {}


def _merged(
    left: dict[int, int], right: dict[int, int], most: int, numbers: Numbering, clauses: list[Clause]
) -> dict[int, int]:
    sums: dict[int, int] = {}
    for a, first in [(0, 0), *left.items()]:
        for b, second in [(0, 0), *right.items()]:
            total = min(a + b, most + 1)
            if total:
                if total not in sums:
                    sums[total] = numbers.new()
                clauses.append([*(-one for one in (first, second) if one), sums[total]])
    return sums
