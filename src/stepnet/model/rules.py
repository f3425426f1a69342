"""Neurons as rules in words, for summaries, reports and exports: "on where a - 2·b ≥ 3", "yes where h1 and not h2"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TypeVar

from stepnet.model.activations.base import Activation
from stepnet.model.activations.staircase import STEP

Number = TypeVar("Number", int, Fraction)

_ALWAYS, _NEVER = "always", "never"


@dataclass(frozen=True)
class Words:
    """How neurons are written: the digits of a number, the most terms of a sum, and whether sums are scaled.

    Scaling divides a sum and its threshold by the largest weight unless all weights are integers: easier to read, but
    no longer the numbers of the network.
    """

    digits: int = 6
    most_terms: int | None = None
    is_scaled: bool = False

    def rule(
        self,
        activation: Activation,
        weights: Sequence[float],
        thresholds: Sequence[float],
        inputs: Sequence[str],
        *,
        values: Sequence[float] = (),
        answers: Sequence[str] = (),
    ) -> str:
        """The rule of a neuron.

        ``values`` are the possible values of its inputs if these are discrete; ``answers`` the classes of an output.
        """
        if not activation.has_levels:
            return self.sum([*weights, -thresholds[0]], [*inputs, ""])
        if activation.n_thresholds > 1:
            names = answers or [self.number(value) for value in activation.values]
            steps = [f"{name} from {self.number(end)} on" for name, end in zip(names[1:], thresholds, strict=True)]
            return f"{names[0]}; {', '.join(steps)}; of {self.sum(weights, inputs)}"
        condition = self.condition(weights, thresholds[0], inputs, values)
        off, on = answers or (("off", "on") if activation == STEP else map(self.number, activation.values))
        if condition in (_ALWAYS, _NEVER):
            return f"always {on if condition == _ALWAYS else off}"
        return f"{on} where {condition}" + (f", else {off}" if answers or activation != STEP else "")

    def condition(
        self, weights: Sequence[float], threshold: float, inputs: Sequence[str], values: Sequence[float] = ()
    ) -> str:
        """``w·x >= t`` as briefly as possible: as a count of conditions where the weights allow it."""
        used = [(weight, name) for weight, name in zip(weights, inputs, strict=True) if weight]
        if not used:
            return _ALWAYS if threshold <= 0 else _NEVER
        counted = self._counted(used, threshold, values) if len(values) == 2 else ""
        if counted:
            return counted
        scale = self.scale(weights)
        total = self.sum([weight / scale for weight in weights], inputs)
        return f"{total} {'≤' if scale < 0 else '≥'} {self.number(threshold / scale + 0.0)}"

    def scale(self, weights: Sequence[float]) -> float:
        """What ``condition`` divides a sum by; negative if it is written with the opposite sign."""
        used = [weight for weight in weights if weight]
        is_scaled = self.is_scaled and (len(used) == 1 or any(weight != round(weight) for weight in used))
        # If all weights are negative, w·x >= t is written as -w·x <= -t.
        sign = -1.0 if all(weight < 0 for weight in used) else 1.0
        return sign * (max(map(abs, used)) if is_scaled else 1.0)

    def _counted(self, used: Sequence[tuple[float, str]], threshold: float, values: Sequence[float]) -> str:
        """The rule as "at least k of n conditions", if any k suffice and no k - 1 do; otherwise empty."""
        low, high = map(Fraction, values)
        weights = [Fraction(weight) * (high - low) for weight, _ in used]
        needed = at_least(weights, Fraction(threshold) - low * sum(Fraction(weight) for weight, _ in used))
        if needed is None:
            return ""
        if not 0 < needed <= len(used):
            return _NEVER if needed else _ALWAYS
        off, on = ("not {}", "{}") if low == 0 and high == 1 else [f"{{}} is {self.number(value)}" for value in values]
        conditions = [(on if w > 0 else off).replace("{}", name) for w, (_, name) in zip(weights, used, strict=True)]
        if needed in (1, len(conditions)):
            return (" or " if needed == 1 else " and ").join(conditions)
        majority = ", a majority," if 2 * needed == len(conditions) + 1 else ""
        shown = conditions[: self.most_terms]
        more = f", and {len(conditions) - len(shown)} more" if len(shown) < len(conditions) else ""
        return f"at least {needed}{majority} of these {len(conditions)}: {', '.join(shown)}{more}"

    def sum(self, weights: Sequence[float], inputs: Sequence[str]) -> str:
        """Signed terms, the largest first; an input without a name is a constant, and comes last."""
        terms = [(weight, name) for weight, name in zip(weights, inputs, strict=True) if weight]
        named = sorted((term for term in terms if term[1]), key=lambda term: -abs(term[0]))
        shown = [(weight, self._term(weight, name)) for weight, name in named[: self.most_terms]]
        if n_more := len(named) - len(shown):
            shown.append((1.0, f"{n_more} smaller term{'s' if n_more > 1 else ''}"))
        shown += [(weight, self.number(abs(weight))) for weight, name in terms if not name]
        text = "".join(f" - {term}" if weight < 0 else f" + {term}" for weight, term in shown)
        return "-" + text[3:] if text.startswith(" - ") else text[3:] or "0"

    def _term(self, weight: float, name: str) -> str:
        size = self.number(abs(weight))
        return name if size == "1" else f"{size}·{name}"

    def number(self, value: float) -> str:
        """Integers exactly, other numbers rounded."""
        if value == int(value) and abs(value) < 1e15:
            return str(int(value))
        return f"{value:.{self.digits}g}"

    def is_rounded(self, value: float) -> bool:
        return float(self.number(value)) != value


def output_names(width: int) -> list[str]:
    return ["output"] if width == 1 else [f"output {j + 1}" for j in range(width)]


def hidden_names(widths: Sequence[int], k: int) -> list[str]:
    """Names of the neurons of hidden layer ``k``: h1, h2, ..., or h1.1, h1.2, ... if there are several such layers."""
    mark = "h" if len(widths) == 2 else f"h{k + 1}."
    return [f"{mark}{j + 1}" for j in range(widths[k])]


def at_least(weights: Sequence[Number], end: Number) -> int | None:
    """The k for which a weighted sum of bits reaches ``end`` exactly where at least k conditions hold, or None.

    Conditions: bits with positive weights are on, bits with negative weights off. 0 means always, more than all never.
    """
    sizes = sorted(abs(weight) for weight in weights if weight)
    needed = end - sum(weight for weight in weights if weight < 0)
    if needed <= 0 or needed > sum(sizes):
        return 0 if needed <= 0 else len(sizes) + 1
    count = next(k for k, total in enumerate(accumulate(reversed(sizes)), start=1) if total >= needed)
    return count if sum(sizes[:count]) >= needed else None
