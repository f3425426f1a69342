"""A fitted estimator as readable rules: one sentence per neuron."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepnet.export.described import Described, describe, require_full
from stepnet.model.network import Layer
from stepnet.model.rules import Words, hidden_names
from stepnet.tables.operations import are_linear, formula

_WORDS = Words(digits=6)


def to_rules(estimator: Any) -> str:
    """The network as text: when each neuron is on, and the class or number that follows."""
    described = require_full(describe(estimator), "rules")
    layers = described.unscaled.layers
    used, names, rules = described.network.used_neurons, _taken(described), []
    values: Sequence[float] = ()
    for k, layer in enumerate(layers[:-1]):
        new = hidden_names(described.network.widths, k)
        rules += [
            f"{name} is {rule}"
            for name, rule in zip(new, _rules(layer, values, names, kept=used[k].tolist()), strict=True)
            if rule
        ]
        dead = [name for name, is_used in zip(new, used[k], strict=True) if not is_used]
        rules += [f"Left out, since no answer depends on them: {', '.join(dead)}."] if dead else []
        rules.append("")
        names, values = new, layer.activation.values
    rules += _answer(described, layers[-1], values, names)
    selection = [described.selection] if described.selection else []
    head = [f"{described.title}, as rules.", *selection, *described.certified(), ""]
    features = [
        f"{name}: {sentence}"
        for name, sentence in zip(_printable(described.names), _printable(described.sentences), strict=True)
        if name != sentence
    ]
    features += _grid(described)
    numbers = "All numbers are exact."
    if any(described.lines) or any(
        _WORDS.is_rounded(float(x)) for layer in layers for x in (*layer.weights.flat, *layer.thresholds.flat)
    ):
        numbers = (
            "Numbers are rounded to 6 digits for reading, so rows close to a threshold may be answered wrongly; the "
            "exports to C and JSON are exact."
        )
    return "\n".join([*head, *([*features, ""] if features else []), *rules, "", numbers]) + "\n"


def _taken(described: Described) -> list[str]:
    """What the first layer takes: features, or their places on a grid."""
    features = zip(_printable(described.names), described.arithmetic, strict=True)
    return [name if are_linear(operations) else f"grid({name})" for name, operations in features]


def _grid(described: Described) -> list[str]:
    """How the places of features on a grid are computed."""
    features = zip(_taken(described), _printable(described.names), described.arithmetic, strict=True)
    formulas = [f"{place} = {formula(name, how)}" for place, name, how in features if not are_linear(how)]
    return [*formulas, "round gives the nearest whole number, of two the even one."] if formulas else []


def _answer(described: Described, layer: Layer, values: Sequence[float], names: Sequence[str]) -> list[str]:
    classes = _printable(described.class_names)
    answers = classes if layer.activation.has_levels else ()
    rules = _rules(layer, values, names, answers)
    if layer.activation.gives_numbers:
        labels = ["y"] if layer.width == 1 else [f"y{j + 1}" for j in range(layer.width)]
        return [f"{label} = {rule}" for label, rule in zip(labels, rules, strict=True)]
    if layer.activation.is_compared:
        scores = [f"score of {one} = {rule}" for one, rule in zip(classes, rules, strict=True)]
        return [*scores, "The class with the largest score is the answer, the first of equal ones."]
    return [f"{rules[0]}."]


def _rules(
    layer: Layer,
    values: Sequence[float],
    names: Sequence[str],
    answers: Sequence[str] = (),
    kept: Sequence[bool] | None = None,
) -> list[str]:
    """A sentence per neuron; empty for those that are not kept."""
    neurons = zip(layer.weights, layer.thresholds.reshape(layer.width, -1), kept or [True] * layer.width, strict=True)
    return [
        _WORDS.rule(layer.activation, weights.tolist(), ends.tolist(), names, values=values, answers=answers)
        if is_kept
        else ""
        for weights, ends, is_kept in neurons
    ]


def _printable(texts: Sequence[str]) -> list[str]:
    """Texts of one line each, without control characters."""
    return ["".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text) for text in texts]
