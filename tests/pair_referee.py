"""A referee that repeats trees of pairs of cones in rationals, with multipliers of its own; it shares no code."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

_STEPS = 1024
_DEEPER = 14  # generations that the referee divides a leaf by itself, at most


class Referee:
    """Rows as vectors, which of them are lost if either neuron is wrong, weights; rays, entries of a log, a target."""

    def __init__(self, vectors, is_either, weights, rays, entries, target):
        self.weights, self.is_either, self.target = [int(weight) for weight in weights], is_either, target
        products = [[Fraction(sum(a * b for a, b in zip(row, ray, strict=True))) for ray in rays] for row in vectors]
        self.values, self.entries, self.place = list(zip(*products, strict=True)), list(entries), 0
        assert all(sum(column) == 0 for column in zip(*rays, strict=True))
        assert rank(products) == rank(vectors) == len(rays) - 1

    def check(self):
        """Raise AssertionError if the tree does not prove the target."""
        n_rays = len(self.values)
        for a in range(n_rays):
            for b in range(a, n_rays):
                self._follow([self._without(a), self._without(b)])
        assert self.place == len(self.entries)

    def _without(self, ray):
        return [line for k, line in enumerate(self.values) if k != ray]

    def _follow(self, root):
        stack, n = [root], len(self.values) - 1
        while stack:
            cones = stack.pop()
            entry = self.entries[self.place]
            self.place += 1
            if entry == -1:
                assert self._holds(cones, _DEEPER)
            elif entry < 0:
                neuron = -2 - entry
                stack += self._facets(cones, neuron)[::-1]
            else:
                edge, step = divmod(entry, _STEPS)
                rest, second = divmod(edge, n)
                stack += divided(cones, *divmod(rest, n), second, Fraction(step, _STEPS))[::-1]

    def _facets(self, cones, neuron):
        """Each without one corner, if the values there depend on each other."""
        cone = cones[neuron]
        open_rows = [i for i, left in enumerate(self._left(cones)) if left is not None and neuron in left]
        assert rank([[line[i] for i in open_rows] for line in cone]) < len(cone)
        return [
            [[line for k, line in enumerate(cone) if k != left_out] if j == neuron else cones[j] for j in range(2)]
            for left_out in range(len(cone))
        ]

    def _left(self, cones):
        """By row: the neurons that can still decide it; () if it is lost, None if it never is."""
        return [
            self._left_of(i, [status([line[i] for line in cone]) for cone in cones]) for i in range(len(self.weights))
        ]

    def _left_of(self, i, statuses):
        left = tuple(j for j in range(2) if statuses[j] == 0)
        if self.is_either[i]:
            return () if -1 in statuses else (left or None)
        return None if 1 in statuses else left

    def _holds(self, cones, deeper):
        """Whether no pair of neurons of two cones loses less than the target."""
        left = self._left(cones)
        need = self.target - sum(weight for weight, who in zip(self.weights, left, strict=True) if who == ())
        lightest = min((weight for weight, who in zip(self.weights, left, strict=True) if who), default=1)
        if need <= 0 or self._bound(cones, left) > (0 if lightest >= need else need - 1):
            return True
        choices = [(j, a, b) for j in range(2) for a, b in combinations(range(len(cones[j])), 2)]
        if not deeper or not choices:
            return False

        def n_crossing(choice):
            j, a, b = choice
            rows = [i for i, who in enumerate(left) if who and j in who]
            return sum(cones[j][a][i] * cones[j][b][i] < 0 for i in rows)

        halves = divided(cones, *max(choices, key=n_crossing), Fraction(1, 2))
        return all(self._holds(half, deeper - 1) for half in halves)

    def _bound(self, cones, left):
        """What some multipliers prove: floats propose them, and rationals say what they are worth."""
        rows = [i for i, who in enumerate(left) if who]
        gains = [{} for _ in cones]  # of a row, at the corners
        for j, cone in enumerate(cones):
            for i in rows:
                if j in left[i]:
                    most = max(-line[i] for line in cone)
                    gains[j][i] = [self.weights[i] * -line[i] / most if most > 0 else Fraction(0) for line in cone]
        shares = self._multipliers(rows, left, gains)
        total = -sum(self.weights[i] * shares[0][i] for i in rows if self._is_both(i, left))
        for j, cone in enumerate(cones):
            sums = [sum(shares[j][i] * gain[v] for i, gain in gains[j].items()) for v in range(len(cone))]
            total += min(sums)
        return total

    def _is_both(self, i, left):
        return len(left[i]) == 2 and not self.is_either[i]

    def _multipliers(self, rows, left, gains):
        """The best ones, by a linear program, as rationals that are allowed."""
        places = {(j, i): k for k, (j, i) in enumerate((j, i) for i in rows for j in left[i])}
        size = len(places) + 2
        objective, uppers, limits = np.zeros(size), [], []
        objective[-2:] = -1
        for j in range(2):
            for v in range(max((len(gain) for gain in gains[j].values()), default=1)):
                line = np.zeros(size)
                line[size - 2 + j] = 1
                for i, gain in gains[j].items():
                    line[places[j, i]] = -float(gain[v])
                uppers.append(line)
                limits.append(0.0)
        equal = []
        for i in rows:
            line = np.zeros(size)
            if self._is_both(i, left):
                objective[places[0, i]] = self.weights[i]
                line[places[0, i]], line[places[1, i]] = 1, -1
                equal.append(line)
            elif len(left[i]) == 2:
                line[[places[0, i], places[1, i]]] = 1
                uppers.append(line)
                limits.append(1.0)
        answer = linprog(
            objective, np.array(uppers), limits, np.array(equal) if equal else None, [0] * len(equal) or None,
            [(0, 1)] * len(places) + [(None, None)] * 2,
        )  # fmt: skip
        assert answer.status == 0
        shares = [dict.fromkeys(gain, Fraction(0)) for gain in gains]
        for (j, i), place in places.items():
            shares[j][i] = min(max(Fraction(float(answer.x[place])), Fraction(0)), Fraction(1))
        for i in rows:
            if self._is_both(i, left):
                shares[1][i] = shares[0][i]
            elif len(left[i]) == 2:
                shares[1][i] = min(shares[1][i], 1 - shares[0][i])
        return shares


def status(values):
    """-1 if a neuron is wrong throughout, 1 if it is right but where a value is 0, otherwise 0."""
    return -1 if max(values) <= 0 else int(min(values) >= 0)


def divided(cones, neuron, first, second, share):
    """The half at the first corner, and that at the second."""
    cone = cones[neuron]
    middle = [(1 - share) * a + share * b for a, b in zip(cone[first], cone[second], strict=True)]
    halves = []
    for replaced in (second, first):
        half = [middle if k == replaced else line for k, line in enumerate(cone)]
        halves.append([half if j == neuron else cones[j] for j in range(2)])
    return halves


def rank(matrix):
    rows, found = [[Fraction(value) for value in row] for row in matrix], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in rows if row[column]), None)
        if pivot is None:
            continue
        found += 1
        rows = [
            [a - row[column] / pivot[column] * b for a, b in zip(row, pivot, strict=True)]
            for row in rows
            if row is not pivot
        ]
    return found
