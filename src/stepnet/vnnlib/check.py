"""The decision whether some input has a property.

For each box of the property, in this order: neurons that cannot switch in the box are left out, and intervals may then
show that no input has the property; some points of the box are tried; and an exact attack looks for the nearest input
that has it, measured in units of the box. A point counts after an exact forward pass and a comparison with the box in
rational numbers; that there is none, if the attack proves its radius to be larger than the box.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.model.foreign.given import given_model
from stepnet.model.network import Network
from stepnet.model.restriction import output_range, within
from stepnet.runtime.files import write_atomically
from stepnet.runtime.stopping import within_seconds
from stepnet.uncertainty.attack import attack
from stepnet.vnnlib.property import Case, Property
from stepnet.vnnlib.question import question_of

SAT, UNSAT, UNKNOWN = "sat", "unsat", "unknown"
_N_POINTS = 200


@dataclass(frozen=True)
class Checked:
    """Whether some input has a property.

    Attributes
    ----------
    answer : "sat", "unsat" or "unknown"
    evidence : str
        How that is known, or why it is not.
    point : ndarray or None
        For "sat" an input that has the property, exactly.
    outputs : ndarray or None
        The outputs of the network for it.
    seconds : float
    notes : tuple of str
        Where the network differs from its file.
    """

    answer: str
    evidence: str
    point: Floats | None
    outputs: Floats | None
    seconds: float
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        notes = "".join(f"\nthe network differs from the file: {one}" for one in self.notes)
        return f"{self.answer}\n{self.evidence}, after {self.seconds:.2f} s{notes}"

    def to_text(self) -> str:
        """The answer as the competition's tools write it: with the input and the outputs if there are any."""
        if self.point is None or self.outputs is None:
            return f"{self.answer}\n"
        pairs = [("X", self.point.tolist()), ("Y", self.outputs.tolist())]
        lines = [f"({name}_{i} {value!r})" for name, values in pairs for i, value in enumerate(values)]
        return f"{self.answer}\n({chr(10).join(lines)})\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        write_atomically(path, self.to_text())


def check(network: Any, property: Any, *, time_limit: float = 480.0) -> Checked:
    """Decide whether some input of a network has a property, as VNN-LIB asks.

    Parameters
    ----------
    network : Network, or path of an ONNX file or of an exported network
        Its outputs are numbers over steps.
    property : Property or path of a .vnnlib file
        Bounds of all inputs, and inequalities of the outputs.
    time_limit : float
        Seconds.

    Examples
    --------
    >>> from stepnet import Network, check
    >>> from stepnet.vnnlib.property import Property
    >>> network = Network.from_layers([([[1.0, 1.0]], [1.0], "step"), ([[1.0], [-1.0]], [0.0, 0.0], "identity")])
    >>> text = "(declare-const X_0 Real) (declare-const X_1 Real) (declare-const Y_0 Real) (declare-const Y_1 Real)"
    >>> box = "(assert (and (>= X_0 0) (<= X_0 0.4) (>= X_1 0) (<= X_1 {})))"
    >>> reached = "(assert (>= Y_0 1))"
    >>> print(check(network, Property.from_text(text + box.format(0.5) + reached)).answer)
    unsat
    >>> found = check(network, Property.from_text(text + box.format(0.75) + reached))
    >>> print(found.answer, found.outputs, found.point.sum() >= 1)
    sat [ 1. -1.] True
    """
    started = time.monotonic()
    if not time_limit > 0:
        raise InvalidInputError(f"time_limit={time_limit!r} must be a positive number of seconds.")
    dtype: str = "float64"
    notes: tuple[str, ...] = ()
    if not isinstance(network, Network):
        found = given_model(network)
        if found is None:
            raise InvalidInputError(f"{str(network)!r} is neither an ONNX file nor a network that export wrote.")
        network, dtype, notes = found.network_, found.dtype, found.notes
    asked = property if isinstance(property, Property) else Property.from_file(property)
    n_outputs = network.widths[-1]
    if (asked.n_inputs, asked.n_outputs) != (network.n_features, n_outputs):
        raise InvalidInputError(
            f"the property has {asked.n_inputs} inputs and {asked.n_outputs} outputs, the network "
            f"{network.n_features} and {n_outputs}; give those that belong together."
        )
    answer, evidence, point = _decided(network, asked, started + time_limit, dtype)
    outputs = None if point is None else network.predict(point[None])[0]
    return Checked(answer, evidence, point, outputs, time.monotonic() - started, notes)


def _decided(network: Network, asked: Property, deadline: float, dtype: str) -> tuple[str, str, Floats | None]:
    boxes: dict[tuple[Any, Any], list[Case]] = {}
    for case in asked.cases:
        if all(low <= high for low, high in zip(case.low, case.high, strict=True)):
            boxes.setdefault((case.low, case.high), []).append(case)
    evidence: list[str] = []
    open_boxes: list[str] = []
    for (low, high), cases in boxes.items():
        box = _Box(low, high, network, cases, dtype)
        found = within_seconds(partial(box.decide, deadline), deadline - time.monotonic())
        answer, how, point = found or (UNKNOWN, "the time limit was reached", box.point)
        if point is not None:
            return SAT, "the input was verified by an exact forward pass", point
        (evidence if answer == UNSAT else open_boxes).append(how)
    if open_boxes:
        return UNKNOWN, "; ".join(dict.fromkeys(open_boxes)), None
    return UNSAT, "; ".join(dict.fromkeys(evidence)) or "no input satisfies the bounds", None


class _Box:
    """One box of inputs, and the network that answers 1 for inputs that have the property."""

    def __init__(self, low: Any, high: Any, network: Network, cases: list[Case], dtype: str) -> None:
        self.low, self.high, self.dtype = low, high, dtype
        self.is_free = any(not case.rows for case in cases)  # nothing is asked of the outputs
        self.question = None if self.is_free else question_of(network, cases)
        # The box in floats that contains this one; points must lie in the rational one.
        self.least = np.array([_float_below(one) for one in low])
        self.most = np.array([-_float_below(-one) for one in high])
        self.point: Floats | None = None

    def decide(self, deadline: float) -> tuple[str, str, Floats | None]:
        middle = self._inside((self.least + self.most) / 2)
        if self.question is None or self._has_it(middle):
            self.point = middle
            return SAT, "", middle
        small = within(self.question, self.least, self.most)
        if output_range(small, self.least, self.most)[1] == 0:
            return UNSAT, "intervals of the sums show that no input in the box has the property", None
        self._try_points(small, middle)
        if self.point is not None:
            return SAT, "", self.point
        return self._attacked(small, middle, deadline)

    def _try_points(self, small: Network, middle: Floats) -> None:
        rng = np.random.default_rng(0)
        mixed = rng.random((_N_POINTS, len(middle))) ** rng.choice([0.2, 1.0, 5.0], (_N_POINTS, 1))
        corners = rng.random((_N_POINTS, len(middle))) < 0.5
        points = np.vstack([self.least + mixed * (self.most - self.least), np.where(corners, self.least, self.most)])
        for number in np.flatnonzero(small.predict(points))[:20].tolist():
            if self._keep(points[number]):
                return

    def _attacked(self, small: Network, middle: Floats, deadline: float) -> tuple[str, str, Floats | None]:
        """An attack in units of the box; features that cannot move are kept by their limits."""
        half = np.nextafter(np.maximum(self.most - middle, middle - self.least), np.inf)
        scale = np.where(self.most > self.least, half, 1.0)
        left = max(deadline - time.monotonic(), 0.01)
        ends: dict[str, Any] = {"low": self.least, "high": self.most}
        found = attack(small, middle[None], norm="linf", scale=scale, radius=1.0, time_limit=left, **ends)
        if np.isfinite(found.points).all() and self._keep(found.points[0]):
            return SAT, "", self.point
        n_free = small.layers[0].width
        if found.radii[0] > 1:
            return UNSAT, f"an exact attack proves it for {n_free} neurons that may switch in the box", None
        return UNKNOWN, f"the attack on {n_free} neurons that may switch in the box stays open", None

    def _keep(self, point: Floats) -> bool:
        """Keep a point if it has the property; in the file's own type if that has it too."""
        for one in (point.astype(self.dtype).astype(np.float64), point):
            inside = self._inside(one)
            if self._has_it(inside):
                self.point = inside
                return True
        return False

    def _has_it(self, point: Floats) -> bool:
        assert self.question is not None
        is_inside = all(
            low <= Fraction(x) <= high for x, low, high in zip(point.tolist(), self.low, self.high, strict=True)
        )
        return is_inside and int(self.question.predict(point[None])[0]) == 1

    def _inside(self, point: Floats) -> Floats:
        """The point moved to the floats inside the rational box."""
        lowest = np.array([-_float_below(-one) for one in self.low])
        highest = np.array([_float_below(one) for one in self.high])
        return np.asarray(np.minimum(np.maximum(point, lowest), highest))


def _float_below(value: Fraction) -> float:
    """The largest float that is at most this number."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else float(np.nextafter(nearest, -np.inf))
