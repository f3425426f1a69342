"""Neurons as rules that a reader can follow; numbers are rounded to four digits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from stepnet.activation import ARGMAX, IDENTITY, STEP, Activation
from stepnet.report.format import number

_MOST_TERMS = 30
_ALWAYS, _NEVER = "always", "never"


def rule_of(
    activation: Activation,
    weights: Sequence[float],
    thresholds: Sequence[float],
    inputs: Sequence[str],
    answers: Sequence[str] = (),
    *,
    are_bits: bool = False,
) -> str:
    """What a neuron does. ``answers`` are the classes of an output neuron, ``are_bits`` says that inputs are 0 or 1."""
    if activation in (ARGMAX, IDENTITY):
        return _score(weights, thresholds[0], inputs)
    if activation.n_thresholds > 1:
        values = answers or [number(value) for value in activation.values]
        steps = [f"{value} from {number(end)} on" for value, end in zip(values[1:], thresholds, strict=True)]
        return f"{values[0]}; {', '.join(steps)}; of {linear(weights, inputs)}"
    condition = condition_of(weights, thresholds[0], inputs, are_bits=are_bits)
    off, on = answers or (("off", "on") if activation == STEP else map(number, activation.values))
    if condition in (_ALWAYS, _NEVER):
        return f"always {on if condition == _ALWAYS else off}"
    return f"on where {condition}" if on == "on" and not answers else f"{on} where {condition}, else {off}"


def condition_of(weights: Sequence[float], threshold: float, inputs: Sequence[str], *, are_bits: bool = False) -> str:
    """``w·x >= t`` in words as short as they get; divided by the largest weight, which changes nothing."""
    used = [(weight, name) for weight, name in zip(weights, inputs, strict=True) if weight]
    if not used:
        return _ALWAYS if threshold <= 0 else _NEVER
    sizes = {abs(weight) for weight, _ in used}
    if are_bits and len(sizes) == 1:
        return _vote(used, threshold, sizes.pop())
    if len(used) == 1:
        weight, name = used[0]
        return f"{name} {'≥' if weight > 0 else '≤'} {number(threshold / weight + 0.0)}"
    scale = 1.0 if all(weight == round(weight) for weight in weights) else max(sizes)
    return f"{linear([weight / scale for weight in weights], inputs)} ≥ {number(threshold / scale)}"


def _vote(used: Sequence[tuple[float, str]], threshold: float, size: float) -> str:
    """At least so many of some bits, or of their opposites."""
    # a·(p - q) >= t with p inputs for and q against that are on: p + (those against that are off) >= t/a + against.
    against = sum(weight < 0 for weight, _ in used)
    needed = math.ceil(Fraction(threshold) / Fraction(size)) + against
    if needed <= 0:
        return _ALWAYS
    if needed > len(used):
        return _NEVER
    words = [f"{name} is {'on' if weight > 0 else 'off'}" for weight, name in used]
    if len(words) == 1:
        return words[0]
    if needed in (1, len(words)):
        return (" or " if needed == 1 else " and ").join(words)
    return f"at least {needed} of these {len(words)} hold: {', '.join(words)}"


def linear(weights: Sequence[float], inputs: Sequence[str]) -> str:
    """A sum, its largest terms first."""
    used = sorted(((w, name) for w, name in zip(weights, inputs, strict=True) if w), key=lambda term: -abs(term[0]))
    if not used:
        return "0"
    shown, n_more = used[:_MOST_TERMS], len(used) - _MOST_TERMS
    first, *others = shown
    text = ("-" if first[0] < 0 else "") + _term(*first)
    text += "".join(f" {'-' if weight < 0 else '+'} {_term(weight, name)}" for weight, name in others)
    return f"{text} + {n_more} smaller terms" if n_more > 0 else text


def _term(weight: float, name: str) -> str:
    size = number(abs(weight))
    return name if size == "1" else f"{size}·{name}"


def _score(weights: Sequence[float], threshold: float, inputs: Sequence[str]) -> str:
    text = linear(weights, inputs)
    if not threshold:
        return text
    if text == "0":
        return number(-threshold)
    return f"{text} {'-' if threshold > 0 else '+'} {number(abs(threshold))}"
