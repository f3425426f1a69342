"""Neurons in words, the same in summaries, reports and exports: "on where a - 2·b ≥ 3", "yes where h1 and not h2"."""

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
    """How neurons are said: how many digits numbers have, how many terms a sum, and whether sums are scaled.

    A sum that is scaled is divided, with what it has to reach, by its largest weight unless all are whole: easier
    to read, but no longer the numbers of the network.
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
        """What a neuron does.

        ``values`` are those its inputs can have, if there are only so many; ``answers`` are the classes of an output.
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
        """``w·x >= t`` in words as short as they get: a count of conditions where the weights make it one."""
        used = [(weight, name) for weight, name in zip(weights, inputs, strict=True) if weight]
        if not used:
            return _ALWAYS if threshold <= 0 else _NEVER
        counted = self._counted(used, threshold, values) if len(values) == 2 else ""
        if counted:
            return counted
        sizes = [abs(weight) for weight, _ in used]
        is_scaled = self.is_scaled and (len(used) == 1 or any(weight != round(weight) for weight, _ in used))
        # What only negative weights sum up to is at least t where the opposite is at most -t.
        sign = -1.0 if all(weight < 0 for weight, _ in used) else 1.0
        scale = sign * (max(sizes) if is_scaled else 1.0)
        total = self.sum([weight / scale for weight in weights], inputs)
        return f"{total} {'≤' if sign < 0 else '≥'} {self.number(threshold / scale + 0.0)}"

    def _counted(self, used: Sequence[tuple[float, str]], threshold: float, values: Sequence[float]) -> str:
        """As "at least k of n conditions", if any k of them are enough and no k - 1 are; otherwise nothing."""
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
        """Terms with their signs, the largest first; one without a name is a number alone, and comes last."""
        terms = [(weight, name) for weight, name in zip(weights, inputs, strict=True) if weight]
        named = sorted((term for term in terms if term[1]), key=lambda term: -abs(term[0]))
        alone = [term for term in terms if not term[1]]
        n_more = 0 if self.most_terms is None else max(0, len(named) - self.most_terms)
        text = ""
        for weight, name in named[: len(named) - n_more]:
            text += _signed(weight, self._term(weight, name), is_first=not text)
        text += f" + {n_more} smaller terms" if n_more else ""
        for weight, _ in alone:
            text += _signed(weight, self.number(abs(weight)), is_first=not text)
        return text or "0"

    def _term(self, weight: float, name: str) -> str:
        size = self.number(abs(weight))
        return name if size == "1" else f"{size}·{name}"

    def number(self, value: float) -> str:
        """Whole numbers as they are, others rounded."""
        if value == int(value) and abs(value) < 1e15:
            return str(int(value))
        return f"{value:.{self.digits}g}"

    def is_rounded(self, value: float) -> bool:
        return float(self.number(value)) != value


def output_names(width: int) -> list[str]:
    return ["output"] if width == 1 else [f"output {j + 1}" for j in range(width)]


def hidden_names(widths: Sequence[int], k: int) -> list[str]:
    """Of the neurons of layer ``k``, from 0: h1, h2, ..., or h1.1, h1.2, ... where there are several such layers."""
    mark = "h" if len(widths) == 2 else f"h{k + 1}."
    return [f"{mark}{j + 1}" for j in range(widths[k])]


def at_least(weights: Sequence[Number], end: Number) -> int | None:
    """If the sum over bits reaches ``end`` just where at least k conditions hold, this k.

    The conditions: bits of positive weights are on, those of negative ones off. 0 is always, more than all is never.
    """
    sizes = sorted(abs(weight) for weight in weights if weight)
    needed = end - sum(weight for weight in weights if weight < 0)
    if needed <= 0 or needed > sum(sizes):
        return 0 if needed <= 0 else len(sizes) + 1
    count = next(k for k, total in enumerate(accumulate(reversed(sizes)), start=1) if total >= needed)
    return count if sum(sizes[:count]) >= needed else None


def _signed(weight: float, term: str, *, is_first: bool) -> str:
    if is_first:
        return f"-{term}" if weight < 0 else term
    return f" - {term}" if weight < 0 else f" + {term}"
