"""Learner of scorecards: the least logistic loss, for new rows.

Targets are not only the classes of rows, but mostly the probabilities that a ridge fit of all rules gives them: of many
rules a few can be chosen that fit the noise of few rows. Moves exchange one rule, its cut and its points at once. Kicks
drop half of the rules; a rounded sparse logistic fit is another start. At the end the total from which class 1 is more
likely becomes the threshold.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from stepnet.model.arithmetic import Floats
from stepnet.model.calibration import Calibration
from stepnet.problem.dataset import Dataset
from stepnet.scores.card import Card
from stepnet.scores.cuts import CutPoints
from stepnet.scores.form import Form
from stepnet.scores.logistic import best_rule, fitted
from stepnet.scores.ranks import Ranks
from stepnet.scores.shrunken import shrunken_shares

MOST_CUTS = 4  # per feature, at quantiles
_AIMED_CUTS, _AIM = 9, 0.8  # of the ridge fit, and its part in the targets
_AIMING_SHARE = 0.3  # of the time, for the ridge fit
KICKS = 10
MOST_ROWS = 20_000  # that points and cuts are learned from
_SPARSE_CUTS, _SPARSE_ROWS = 6, 2_000  # of the sparse logistic fit
_STRENGTHS = np.geomspace(0.002, 0.5, 7)  # C of these fits, per row
_ENOUGH = 1e-6  # relative: a loss that falls by less has not fallen
Rules = NDArray[np.int64]  # feature, cut and points by rule; points may be negative


@dataclass
class ScoreLearner:
    """Descends from several starts; the best card is that with the least logistic loss."""

    form: Form
    cut_points: CutPoints
    ranks: Ranks
    order: NDArray[np.int32]
    cuts: NDArray[np.int32]
    n_cuts: NDArray[np.int64]
    shares: Floats
    seed: int

    @classmethod
    def of(cls, form: Form, cut_points: CutPoints, dataset: Dataset, seed: int) -> ScoreLearner:
        if dataset.n_rows > MOST_ROWS:  # the first rows are as good as random
            dataset = Dataset(dataset.X[:MOST_ROWS], dataset.y[:MOST_ROWS], dataset.weights[:MOST_ROWS])
        ranks = Ranks.of(dataset)
        order = np.argsort(ranks.ranks, axis=1, kind="stable").astype(np.int32)
        cuts = [quantile_cuts(one, dataset.weights, MOST_CUTS) for one in ranks.ranks]
        padded = np.zeros((len(cuts), max(1, *map(len, cuts))), dtype=np.int32)
        for number, one in enumerate(cuts):
            padded[number, : len(one)] = one
        n_cuts = np.array(list(map(len, cuts)), dtype=np.int64)
        return cls(form, cut_points, ranks, order, padded, n_cuts, _shares(dataset), seed)

    def work(self, should_stop: Callable[[], bool], kicks: int = KICKS, seconds: float = math.inf) -> Card:
        """The card with the least logistic loss of the drawn-in targets that was found; there are about ``seconds``."""
        end = time.perf_counter() + _AIMING_SHARE * seconds
        sparse = None if should_stop() else self._sparse_start()
        shares = self._aims(lambda: should_stop() or time.perf_counter() > end)
        rules = replace(self, shares=shares)._descended(sparse, should_stop, kicks)
        _, slope, offset = self._fit(rules)
        return self._card(rules, slope, offset)

    def _descended(self, sparse: Rules | None, should_stop: Callable[[], bool], kicks: int) -> Rules:
        """From a sparse fit, which is a card if there is no time for more, from no rules, and after kicks."""
        rng, nothing = np.random.default_rng(self.seed), np.zeros((self.form.n_rules, 3), dtype=np.int64)
        best, current = self.descend(nothing if sparse is None else sparse, should_stop)
        for number in range(-(sparse is not None), kicks):
            if should_stop():
                break
            loss, rules = self.descend(nothing if number < 0 else _kicked(current, rng), should_stop)
            if loss < best * (1 - _ENOUGH):
                best, current = loss, rules
        return current

    def _aims(self, should_stop: Callable[[], bool]) -> Floats:
        """Rows × 2: the shares, drawn to the probabilities of a ridge fit if there is time."""
        if should_stop():
            return self.shares
        weights = self.shares.sum(axis=1)
        cuts = [quantile_cuts(one, weights, _AIMED_CUTS) for one in self.ranks.ranks]
        shrunken = shrunken_shares(self.ranks.ranks, cuts, self.shares, should_stop)
        return _AIM * shrunken + (1 - _AIM) * self.shares

    def rough(self) -> Card:
        """A rounded sparse logistic fit, which needs no kernels; a constant if there is none."""
        rules = self._sparse_start()
        rules = np.zeros((1, 3), dtype=np.int64) if rules is None else rules
        totals = self._totals(rules)
        codes, weights = (self.shares[:, 1] > self.shares[:, 0]).astype(np.int64), self.shares.sum(axis=1)
        sign = 1 if totals @ ((2 * codes - 1) * weights) >= 0 else -1
        found = Calibration.fitted(sign * totals, codes, weights, with_offsets=True)
        return self._card(rules, sign * found.slope, found.offsets[0] - sign * found.slope * self._shift)

    def descend(self, rules: Rules, should_stop: Callable[[], bool]) -> tuple[float, Rules]:
        """Exchange rules one after the other while the loss falls; empty places first."""
        rules, n_rules = rules.copy(), len(rules)
        best, slope, offset = self._fit(rules)
        order, unchanged, j = np.argsort(rules[:, 2] != 0, kind="stable"), 0, 0
        while unchanged < n_rules and not should_stop():
            one = int(order[j % n_rules])
            others = rules.copy()
            others[one, 2] = 0
            found = np.zeros(5)
            loss = best_rule(
                self.ranks.ranks, self.order, self.cuts, self.n_cuts, self.shares, self._totals(others), self._shift,
                self.form.points, self._is_full(others), np.array([slope, offset]), best * (1 - _ENOUGH), found,
            )  # fmt: skip
            unchanged += 1
            if loss < best * (1 - _ENOUGH):
                rules[one], best, slope, offset, unchanged = found[:3].astype(np.int64), loss, found[3], found[4], 0
            j += 1
        return best, rules

    @property
    def _shift(self) -> int:
        return self.form.n_rules * self.form.points

    def _totals(self, rules: Rules) -> NDArray[np.int64]:
        totals = np.zeros(self.ranks.ranks.shape[1], dtype=np.int64)
        for feature, cut, points in rules:
            if points:
                totals += points * (self.ranks.ranks[feature] >= cut)
        return totals

    def _is_full(self, rules: Rules) -> NDArray[np.bool_]:
        used = np.bincount(rules[rules[:, 2] != 0, 0], minlength=len(self.order))
        return np.asarray(used >= self.form.rules_per_feature)

    def _fit(self, rules: Rules) -> tuple[float, float, float]:
        """The loss, slope and offset of rules as they are."""
        totals = self._totals(rules) + self._shift
        off, on = (np.bincount(totals, one, minlength=2 * self._shift + 1) for one in self.shares.T)
        odds = math.log(on.sum() / off.sum())
        loss, slope, offset = fitted(off, on, 0.0, odds, math.inf)
        return float(loss), float(slope), float(offset)

    def _card(self, rules: Rules, slope: float, offset: float) -> Card:
        """With positive points, and the threshold where both classes are as likely."""
        used = [rule for rule in rules.tolist() if rule[2]]
        sign = -1 if slope < 0 else 1
        found, least = [], 0  # "at least" with negative points is "at most" with positive ones, and that many less
        for feature, cut, points in used:
            points *= sign
            is_at_least = points > 0
            place = cut if is_at_least else len(self.ranks.values[feature]) - cut
            found.append(self.ranks.rule(2 * feature + (not is_at_least), place, abs(points), self.cut_points))
            least += min(points, 0)
        if not found or slope == 0:
            return Card((), 0 if offset >= 0 else 1)
        # slope · (sign · (total + least) + shift) + offset >= 0
        middle = -(offset + slope * self._shift) / abs(slope) - least
        most = sum(rule.points for rule in found)
        return Card(tuple(found), int(min(max(math.ceil(middle), 0), most + 1))).sorted()

    def _sparse_start(self) -> Rules | None:
        """The largest coefficients of a sparse logistic fit on bits, as points."""
        picked = [(f, c) for f in range(len(self.order)) for c in _spread(self.cuts[f, : self.n_cuts[f]], _SPARSE_CUTS)]
        if len(picked) < 2:
            return None
        some = slice(0, _SPARSE_ROWS)  # the first rows are as good as random
        bits = np.column_stack([self.ranks.ranks[f, some] >= c for f, c in picked]).astype(np.float64)
        targets, weights = self.shares[some, 1] > self.shares[some, 0], np.abs(np.diff(self.shares[some], axis=1))[:, 0]
        if targets.all() or not targets.any():
            return None
        chosen = np.zeros(len(picked))
        for strength in _STRENGTHS:
            model = LogisticRegression(
                solver="liblinear", l1_ratio=1.0, C=strength * len(bits) / 10, max_iter=50, random_state=0
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                coefficients = model.fit(bits, targets, weights * len(bits) / weights.sum()).coef_[0]
            chosen = coefficients if (coefficients != 0).any() else chosen
            if (coefficients != 0).sum() >= self.form.n_rules:
                break
        rules, used = np.zeros((self.form.n_rules, 3), dtype=np.int64), 0
        scale = self.form.points / max(np.abs(chosen).max(), 1e-9)
        for number in np.argsort(-np.abs(chosen)).tolist():
            points, (feature, cut) = round(float(chosen[number]) * scale), picked[number]
            if used < self.form.n_rules and points and not self._is_full(rules)[feature]:
                rules[used], used = (feature, cut, points), used + 1
        return rules


def quantile_cuts(ranks: NDArray[np.int32], weights: Floats, most: int) -> NDArray[np.int32]:
    """All cuts of a feature, or as many at quantiles of the rows."""
    totals = np.cumsum(np.bincount(ranks, weights))
    if len(totals) - 1 <= most:
        return np.arange(1, len(totals), dtype=np.int32)
    wanted = totals[-1] * np.arange(1, most + 1) / (most + 1)
    return np.unique(np.searchsorted(totals, wanted) + 1).clip(1, len(totals) - 1).astype(np.int32)


def _spread(cuts: NDArray[np.int32], most: int) -> list[int]:
    places = np.linspace(0, len(cuts) - 1, min(most, len(cuts))).round().astype(np.int64)
    return sorted({int(cuts[place]) for place in places})


def _shares(dataset: Dataset) -> Floats:
    """Rows × 2: how much each row counts for each class. Not wholly for its own, so that slopes stay finite."""
    of_class = np.bincount(dataset.y, dataset.weights, minlength=2)
    other = (1.0 / (of_class / dataset.weights.mean() + 2.0))[dataset.y]
    shares = np.empty((dataset.n_rows, 2))
    rows = np.arange(dataset.n_rows)
    shares[rows, dataset.y], shares[rows, 1 - dataset.y] = dataset.weights * (1 - other), dataset.weights * other
    return shares


def _kicked(rules: Rules, rng: np.random.Generator) -> Rules:
    """Without half of the rules."""
    rules = rules.copy()
    rules[rng.permutation(len(rules))[: -(-len(rules) // 2)], 2] = 0
    return rules
