"""Counterfactuals: the cheapest change of a row that changes its answer, with the proof that none is cheaper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError, SolverFailure
from stepnet.model.arithmetic import Floats, Ints
from stepnet.model.rules import Words
from stepnet.reasons.demand import Demand
from stepnet.reasons.fewest import fewest
from stepnet.reasons.nearest import Found, Nearest
from stepnet.reasons.units import Model, read
from stepnet.tables.operations import lines_of
from stepnet.uncertainty.attack import attack

_WORDS = Words(digits=9)
_CLOSE = 1e-6  # relative: what a rounder number may cost more
_ROUNDING = 4e-15  # relative: a row on a hyperplane needs a step of one float


@dataclass(frozen=True)
class Counterfactual:
    """The cheapest change of a row that changes its answer.

    Attributes
    ----------
    answer : class
        Of the row as it is.
    becomes : class or None
        Of the changed row, by an exact forward pass; None if no change was found.
    changes : dict of str and (float, float)
        For each feature that changes, its number and the one that it would have to be.
    point : ndarray or None
        The changed row.
    price : float
        What the change costs; infinite without one.
    bound : float
        Every other change to a wanted answer costs at least this much, proven; infinite if there is none.
    norm : str
    is_complete : bool
        False if the search ended at its limit; then a change between ``bound`` and ``price`` may exist.
    """

    answer: Any
    becomes: Any
    changes: dict[str, tuple[float, float]]
    point: Floats | None
    price: float
    bound: float
    norm: str
    is_complete: bool

    @property
    def is_cheapest(self) -> bool:
        """Whether it is proven that no change is cheaper, up to a millionth of its price or the rounding of the row."""
        if self.point is None:
            return self.bound == self.price
        return self.bound >= self.price * (1 - 2 * _CLOSE) - _ROUNDING * float(np.abs(self.point).max())

    def __str__(self) -> str:
        if self.point is None:
            if math.isinf(self.bound):
                return f"{self.answer}: no allowed change gives a wanted answer, proven"
            return f"{self.answer}: no change was found; one below a cost of {_WORDS.number(self.bound)} does not exist"
        parts = [f"{name} were {_shown(b)} instead of {_shown(a)}" for name, (a, b) in self.changes.items()]
        listed = " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]
        cost = f"cost {Words(digits=6).number(self.price)} in {self.norm}"
        proof = (
            "proven: no change is cheaper"
            if self.is_cheapest
            else f"a cheaper change may exist, but none below {Words(digits=6).number(self.bound)}"
        )
        return f"{self.answer}; would be {self.becomes} if {listed} ({cost}; {proof})"


def counterfactual(
    model: Any,
    x: Any,
    *,
    classes: Any = None,
    norm: str = "l1",
    fixed: Any = (),
    integer: Any = (),
    cost: Any = None,
    low: Any = None,
    high: Any = None,
) -> Counterfactual:
    """The cheapest change of a row that changes its answer, exact.

    Parameters
    ----------
    model : fitted classifier, or a fitted Pipeline that ends with one
        Of a pipeline, changes are in the units of its rows. Features that encode text stay as they are.
    x : array-like of shape (n_features,)
        A row.
    classes : class or sequence of classes, optional
        The answers that are wanted. Default: any other than that of the row.
    norm : "l1", "l0" or "linf", default="l1"
        What a change costs: the sum of its sizes, the number of features that change, or the largest size, each size
        times the cost of its feature.
    fixed : sequence of feature names or numbers
        Features that must stay.
    integer : sequence of feature names or numbers, or "all"
        Features that take integers only.
    cost : number, dictionary of features and numbers, or sequence of one number per feature, optional
        What a unit of change costs in each feature; default 1.
    low, high : number, dictionary of features and numbers, or sequence of one number per feature, optional
        Ranges of the changed row.

    Returns
    -------
    Counterfactual
        Prints itself as a sentence.

    Examples
    --------
    >>> from stepnet import Layer, Network, StepClassifier, counterfactual
    >>> clf = StepClassifier(1, method="prove").fit([[1, 5], [2, 5], [7, 5], [8, 4]], ["no", "no", "yes", "yes"])
    >>> counterfactual(clf, [8, 4], integer="all", fixed=[1]).becomes
    np.str_('no')
    """
    known, rows, _ = read(model, x)
    if len(rows) != 1:
        raise InvalidInputError(f"counterfactual takes one row at a time; got {len(rows)}.")
    demand = Demand.of(known, norm=norm, fixed=fixed, integer=integer, cost=cost, low=low, high=high)
    return changed(known, rows[0], demand, wanted_codes(known, classes))


def wanted_codes(model: Model, classes: Any) -> Ints | None:
    """The codes of the wanted classes; None if any other answer is."""
    if classes is None:
        return None
    given = np.atleast_1d(np.asarray(classes))
    codes = [np.flatnonzero(model.classes == one) for one in given]
    for one, found in zip(given.tolist(), codes, strict=True):
        if not len(found):
            raise InvalidInputError(f"classes: there is no class {one!r}; the classes are {model.classes.tolist()}.")
    return np.array([int(found[0]) for found in codes])


def changed(model: Model, row: Floats, demand: Demand, wanted: Ints | None) -> Counterfactual:
    """Of a row in the units of users."""
    code = int(model.answers(row[None])[0])
    answers = np.delete(np.arange(len(model.classes)), code) if wanted is None else wanted
    if code in answers:
        return Counterfactual(model.classes[code], model.classes[code], {}, row.copy(), 0.0, 0.0, demand.norm, True)
    own = demand.around(model, row)
    found = _found(model, own, row, answers, is_any_other=len(answers) == len(model.classes) - 1)
    point = None if found.point is None else _rounder(model, own, row, found.point, answers)
    point = None if point is None else _without_needless(model, row, point, answers)
    changes = {
        name: (a, b)
        for name, a, b in zip(model.names, row.tolist(), (row if point is None else point).tolist(), strict=True)
        if a != b
    }
    becomes = None if point is None else model.classes[int(model.answers(point[None])[0])]
    price = math.inf if point is None else own.price(row, point)
    rest = (changes, point, price, min(found.bound, price), demand.norm, found.is_complete)
    return Counterfactual(model.classes[code], becomes, *rest)


def _found(model: Model, demand: Demand, row: Floats, wanted: Ints, *, is_any_other: bool) -> Found:
    if demand.norm == "l0":
        return fewest(model, demand, row, wanted)
    if is_any_other and not (demand.is_integer & (demand.low < demand.high)).any():
        found = _by_adversary(model, demand, row)
        if found is not None:
            return found
    return Nearest(model, demand, row, wanted).run()


def _by_adversary(model: Model, demand: Demand, row: Floats) -> Found | None:
    """By the exact attack, which is for features that are numbers and any other answer; None if it does not apply."""
    slopes, intercepts = lines_of(model.arithmetic)
    ends = [np.sort(np.array([demand.low, demand.high]) * slopes + intercepts, axis=0)[k] for k in (0, 1)]
    taken = model.taken(row[None])
    is_fixed = demand.low >= demand.high
    low, high = (np.where(is_fixed, taken[0], end) for end in ends)
    try:
        found = attack(model.network, taken, norm=demand.norm, scale=np.abs(slopes) / demand.costs, low=low, high=high)
    except (InvalidInputError, SolverFailure):
        return None
    if not np.isfinite(found.sizes[0]):
        return Found(None, math.inf, float(found.radii[0]), bool(found.are_complete[0]))
    point = np.where(found.points[0] == taken[0], row, (found.points[0] - intercepts) / slopes)
    point = np.clip(point, demand.low, demand.high)
    if model.answers(point[None])[0] == model.answers(row[None])[0]:
        return None
    return Found(point, demand.price(row, point), float(found.radii[0]) * (1 - 1e-12), bool(found.are_complete[0]))


def _rounder(model: Model, demand: Demand, row: Floats, point: Floats, wanted: Ints) -> Floats:
    """The same change with as few digits as possible for at most a millionth more, confirmed by a forward pass."""
    most = demand.price(row, point) * (1 + _CLOSE)
    for digits in range(1, 15):
        rounded = np.where(point == row, row, [float(f"{value:.{digits}g}") for value in point])
        is_inside = ((rounded >= demand.low) & (rounded <= demand.high)).all()
        if is_inside and demand.price(row, rounded) <= most and model.answers(rounded[None])[0] in wanted:
            return np.asarray(rounded)
    return point


def _without_needless(model: Model, row: Floats, point: Floats, wanted: Ints) -> Floats:
    """Features go back to what they were where the answer does not need their change, the smallest first."""
    point = point.copy()
    for i in np.argsort(np.abs(point - row), kind="stable").tolist():
        kept, point[i] = point[i], row[i]
        if model.answers(point[None])[0] not in wanted:
            point[i] = kept
    return point


def _shown(number: float) -> str:
    """All digits that there are, since a rounded number may not change the answer."""
    return _WORDS.number(number) if float(_WORDS.number(number)) == number else repr(number)
