"""Constraints on networks: limits on the number of non-zero weights, and restrictions given by the user.

A weight is named (layer, neuron, input): layers count from 1, neurons and inputs from 0, and inputs of the first layer
also go by feature names. A real step neuron may be multiplied by any positive number without changing an answer, so a
constraint on it must allow that too: it concerns one neuron and has 0 on the right. Integer weights, and real weights
of outputs that are numbers, may have any linear constraint.

Restrictions that are linear in the weights become rows of programs. Others depend on the rows of the data and the
answers of the network, and are checked where a loss is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.error_limits.counted import CountedRows
from stepnet.problem.error_limits.demand import Demand
from stepnet.problem.error_limits.inequality import Inequality
from stepnet.runtime.numbers import is_finite_number, is_integer

_TOLERANCE = 1e-6  # relative: solvers satisfy rows of several weights up to rounding
_ROUNDING = 1e-9  # relative, for a single weight

Name = tuple[int, int, int]  # layer from 0, neuron, input


@dataclass(frozen=True)
class Row:
    """lower <= Σ coefficient · weight <= upper, with a name for messages."""

    name: str
    terms: tuple[tuple[Name, float], ...]
    lower: float
    upper: float

    def value(self, weights: Sequence[Floats]) -> float:
        return float(sum(c * weights[k][j, i] for (k, j, i), c in self.terms))

    def holds(self, weights: Sequence[Floats]) -> bool:
        """Exact for the sign of a single weight, otherwise up to a tolerance relative to the terms of the row."""
        value = self.value(weights)
        slack = max((abs(side) for side in (self.lower, self.upper) if np.isfinite(side)), default=0.0)
        if len(self.terms) > 1:
            slack += sum(abs(c * float(weights[k][j, i])) for (k, j, i), c in self.terms)
        slack *= _TOLERANCE if len(self.terms) > 1 else _ROUNDING
        return self.lower - slack <= value <= self.upper + slack


class Restriction:
    """A condition on networks: linear rows of its weights, or a property of its answers."""

    needs_rows: ClassVar[bool] = False  # whether it depends on answers
    counts_errors: ClassVar[bool] = False  # linear in errors; otherwise programs and proofs do not support answers
    holds_in_votes: ClassVar[bool] = False  # whether a vote satisfies it if all of its members do

    def rows(self, architecture: Architecture, feature_names: Sequence[str] | None) -> list[Row]:
        """The linear constraints on the weights."""
        return []

    def refuses(self, network: Network, dataset: Dataset) -> str | None:
        """Why the network is not admitted, or None if it is; called only if it needs rows."""
        return None

    def demand(self, rows: CountedRows) -> Demand:
        """The limit on the errors of these rows; called only if it counts errors."""
        raise NotImplementedError


@dataclass(frozen=True)
class Constraint(Restriction):
    """A linear constraint: ``lower <= Σ coefficient · weight <= upper``.

    Parameters
    ----------
    terms : mapping of (layer, neuron, input) to numbers
        Layers count from 1, neurons from 0; an input is a number from 0 or the name of a feature.
    lower, upper : float
        At least one of them.
    name : str
        For error messages.

    Examples
    --------
    >>> from stepnet import Constraint
    >>> Constraint({(1, 0, "age"): 1.0, (1, 0, "weight"): -1.0}, lower=0.0, name="age counts for more").name
    'age counts for more'
    """

    terms: Mapping[tuple[int, int, int | str], float]
    lower: float = -np.inf
    upper: float = np.inf
    name: str = ""

    holds_in_votes = True

    def rows(self, architecture: Architecture, feature_names: Sequence[str] | None) -> list[Row]:
        title = self.name or f"{self.lower} <= {self.terms} <= {self.upper}"
        sides = [side for side in (self.lower, self.upper) if side not in (-np.inf, np.inf)]
        if not sides or not all(map(is_finite_number, sides)):
            raise InvalidInputError(f"constraint {title!r} needs a number for lower, upper or both.")
        if not isinstance(self.terms, Mapping) or not self.terms:
            raise InvalidInputError(f"constraint {title!r} needs terms such as {{(1, 0, 'age'): 1.0}}.")
        if not all(is_finite_number(c) for c in self.terms.values()) or self.lower > self.upper:
            raise InvalidInputError(f"constraint {title!r} needs finite coefficients and lower <= upper.")
        names = [(_resolved(weight, title, architecture, feature_names), c) for weight, c in self.terms.items()]
        terms = tuple((name, float(c)) for name, c in names if c)
        _check_scale(title, terms, self.lower, self.upper, architecture)
        return [Row(title, terms, float(self.lower), float(self.upper))]


@dataclass(frozen=True)
class Raises(Restriction):
    """The input may only raise the score: no answer falls as the input grows.

    This is ensured by non-negative weights of the input in the first layer and non-negative weights in all layers
    above; networks that are monotone for another reason are excluded.
    """

    feature: int | str
    _sign: float = field(default=1.0, init=False, repr=False)

    def rows(self, architecture: Architecture, feature_names: Sequence[str] | None) -> list[Row]:
        title = f"{self.feature} may only {'raise' if self._sign > 0 else 'lower'} the score"
        values, output = architecture.activation.values, architecture.output
        if not (output.has_levels or output.gives_numbers) or list(values) != sorted(values):
            raise InvalidInputError(
                f"constraint {title!r} needs one score and neurons whose values rise. Use output='ordinal', and a "
                f"Staircase with rising values."
            )
        number = _input(self.feature, title, architecture.n_features, feature_names)
        rows = [Row(title, (((0, j, number), self._sign),), 0.0, np.inf) for j in range(architecture.widths[0])]
        for k in range(1, len(architecture.widths)):
            pairs = np.ndindex(architecture.widths[k], architecture.widths[k - 1])
            rows += [Row(title, (((k, j, i), 1.0),), 0.0, np.inf) for j, i in pairs]
        return rows


@dataclass(frozen=True)
class Lowers(Raises):
    """The input may only lower the score; see :class:`Raises`."""

    _sign: float = field(default=-1.0, init=False, repr=False)


@dataclass(frozen=True)
class Constraints:
    """All constraints of a problem: rows, limits on non-zero weights per layer and in total, and what the user gave."""

    rows: tuple[Row, ...] = ()
    layer_limits: tuple[int | None, ...] = ()
    total_limit: int | None = None
    fewest: bool = False  # among networks with the least loss, prefer the fewest non-zero weights
    restrictions: tuple[Restriction, ...] = ()
    demands: tuple[Demand, ...] = field(default=(), compare=False)  # limits on errors, for the rows of the problem

    @classmethod
    def of(
        cls,
        architecture: Architecture,
        sparsity: object = None,
        constraints: object = None,
        feature_names: Sequence[str] | None = None,
    ) -> Constraints:
        """From parameters as given by a user, checked; limits that every network keeps are none."""
        given = () if constraints is None else constraints
        if isinstance(given, Restriction):
            given = (given,)
        if not isinstance(given, list | tuple) or not all(isinstance(one, Restriction) for one in given):
            raise InvalidInputError(
                f"constraints={constraints!r} must be a list or tuple of Constraint, Raises, Lowers, Recall "
                f"and similar objects."
            )
        rows = tuple(row for one in given for row in one.rows(architecture, feature_names))
        made, n_layers = partial(cls, rows, restrictions=tuple(given)), len(architecture.widths)
        sizes = [above * below for below, above in pairwise((architecture.n_features, *architecture.widths))]
        sparsity = sparsity.tolist() if isinstance(sparsity, np.ndarray | np.generic) else sparsity
        if sparsity is None:
            return made()
        if sparsity == "fewest":
            return made(fewest=True)
        if is_integer(sparsity) and sparsity >= 0:
            return made(total_limit=int(sparsity)) if sparsity < sum(sizes) else made()
        limits = tuple(sparsity) if isinstance(sparsity, tuple | list) else ()
        if len(limits) == n_layers and all(one is None or (is_integer(one) and one >= 0) for one in limits):
            kept = tuple(None if one is None or one >= size else one for one, size in zip(limits, sizes, strict=True))
            return made(layer_limits=kept) if any(one is not None for one in kept) else made()
        raise InvalidInputError(
            f"sparsity={sparsity!r} must be the largest total number of non-zero weights, a tuple of such "
            f"numbers (or None), one for each of the {n_layers} layers, 'fewest', or None."
        )

    @property
    def restrict(self) -> bool:
        """Whether some networks are not admitted."""
        return self.restrict_weights or self.need_rows

    @property
    def restrict_weights(self) -> bool:
        """Whether weights alone exclude some networks."""
        return bool(self.rows or self.has_limits)

    @property
    def need_rows(self) -> bool:
        """Whether answers exclude some networks."""
        return any(one.needs_rows for one in self.restrictions)

    @property
    def limit_errors(self) -> bool:
        """Whether errors exclude some networks."""
        return any(one.counts_errors for one in self.restrictions)

    @property
    def need_other_answers(self) -> bool:
        """Whether answers exclude some networks by more than limits on errors."""
        return any(one.needs_rows and not one.counts_errors for one in self.restrictions)

    @cached_property
    def inequalities(self) -> tuple[Inequality, ...]:
        """Those of all limits on errors."""
        return tuple(one for demand in self.demands for one in demand.inequalities)

    def for_rows(self, rows: CountedRows) -> Constraints:
        """With the limits on errors for these rows."""
        limits = (one for one in self.restrictions if one.counts_errors)
        return replace(self, demands=tuple(one.demand(rows) for one in limits))

    def with_demands(self, kept: Callable[[Demand], bool]) -> Constraints:
        """With some of the limits on errors only."""
        if not self.demands:
            return self
        demands = tuple(one for one in self.demands if kept(one))
        limits = [one for one in self.restrictions if one.counts_errors]
        lost = {id(limit) for limit, one in zip(limits, self.demands, strict=True) if not kept(one)}
        return replace(
            self, demands=demands, restrictions=tuple(one for one in self.restrictions if id(one) not in lost)
        )

    @property
    def has_limits(self) -> bool:
        return self.total_limit is not None or any(limit is not None for limit in self.layer_limits)

    def touch(self, layer: int) -> bool:
        """Whether the weights of a layer are restricted."""
        limited = self.total_limit is not None or (self.layer_limits and self.layer_limits[layer] is not None)
        return bool(limited or any(k == layer for row in self.rows for (k, _, _), _ in row.terms))

    def join(self, layer: int) -> bool:
        """Whether a row combines several weights, one of them from this layer."""
        return any(len(row.terms) > 1 and any(k == layer for (k, _, _), _ in row.terms) for row in self.rows)

    def room(self, weights: Sequence[Floats], layer: int) -> float:
        """How many more weights of a layer may become non-zero."""
        return self._room([int(np.count_nonzero(one)) for one in weights], layer)

    def _room(self, counts: Sequence[int], layer: int) -> float:
        room = np.inf if self.total_limit is None else self.total_limit - sum(counts)
        limit = self.layer_limits[layer] if self.layer_limits else None
        return float(room if limit is None else min(room, limit - counts[layer]))

    def refuses(self, network: Network, dataset: Dataset) -> str | None:
        """Why the network is not admitted, or None if it is."""
        counts = [layer.n_weights for layer in network.layers]
        if any(self._room(counts, k) < 0 for k in range(len(counts))):
            return f"it has {network.n_weights} non-zero weights, more than its sparsity allows"
        weights = [layer.weights for layer in network.layers] if self.rows else []
        for row in self.rows:
            if not row.holds(weights):
                return f"it breaks the constraint {row.name!r}"
        reasons = (one.refuses(network, dataset) for one in self.restrictions if one.needs_rows)
        return next((reason for reason in reasons if reason is not None), self._missed(network, dataset))

    def _missed(self, network: Network, dataset: Dataset) -> str | None:
        """The first limit on errors that the network does not meet."""
        if not self.demands:
            return None
        wrong = network.predict(dataset.X) != dataset.y
        missed = (one.statement(wrong) for one in self.demands if not one.holds(wrong))
        return next((f"its {one.name} is {one.value_in_words}, not {one.demanded}" for one in missed), None)


UNCONSTRAINED = Constraints()


def _resolved(
    weight: Any, title: str, architecture: Architecture, feature_names: Sequence[str] | None
) -> tuple[int, int, int]:
    if not isinstance(weight, tuple) or len(weight) != 3 or not (is_integer(weight[0]) and is_integer(weight[1])):
        raise InvalidInputError(
            f"constraint {title!r}: {weight!r} is not a weight; name one as (layer, neuron, input), like (1, 0, 'age')."
        )
    layer, neuron, source = weight
    n_layers = len(architecture.widths)
    if not 1 <= layer <= n_layers or not 0 <= neuron < architecture.widths[layer - 1]:
        raise InvalidInputError(
            f"constraint {title!r}: there is no weight {weight!r}; layers are 1 to {n_layers} with "
            f"{architecture.widths} neurons, counted from 0."
        )
    if layer == 1:
        return 0, int(neuron), _input(source, title, architecture.n_features, feature_names)
    return layer - 1, int(neuron), _input(source, title, architecture.widths[layer - 2], None)


def _input(source: Any, title: str, n_inputs: int, names: Sequence[str] | None) -> int:
    if isinstance(source, str) and names is not None and source in list(names):
        return list(names).index(source)
    if is_integer(source) and 0 <= source < n_inputs:
        return int(source)
    known = f", or one of {', '.join(map(str, names))}" if names is not None else ""
    raise InvalidInputError(
        f"constraint {title!r}: there is no input {source!r}; give a number from 0 to {n_inputs - 1}{known}."
    )


def _check_scale(
    title: str, terms: tuple[tuple[Name, float], ...], lower: float, upper: float, architecture: Architecture
) -> None:
    """Reject constraints on real step neurons that depend on their scale."""
    neurons, kinds = {(k, j) for (k, j, _), _ in terms}, architecture.activations
    has_free = any(not architecture.domains[k].is_integer and not kinds[k].gives_numbers for k, _ in neurons)
    if has_free and (len(neurons) > 1 or any(side for side in (lower, upper) if np.isfinite(side))):
        raise InvalidInputError(
            f"constraint {title!r}: real weights of a step neuron can be multiplied by any positive number, so a "
            f"constraint on them must concern one neuron and have 0 on the right. Use weights='ternary' or "
            f"Integers(P) for other constraints."
        )
