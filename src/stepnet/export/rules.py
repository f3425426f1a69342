"""A fitted estimator as rules to read: a sentence a neuron."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stepnet.activation import ARGMAX, IDENTITY
from stepnet.export.described import Described, describe
from stepnet.export.integers import at_least, over_bits
from stepnet.network import Layer


def to_rules(estimator: Any) -> str:
    """The network as text: when each neuron is on, and which class or number follows."""
    described = describe(estimator)
    layers = described.network.layers
    used, names, rules = _used(layers), _printable(described.names), []
    for k, layer in enumerate(layers[:-1]):
        new = [f"h{j + 1}" if len(layers) == 2 else f"h{k + 1}.{j + 1}" for j in range(layer.width)]
        below = layers[k - 1] if k else None
        rules += [_neuron(layer, below, j, names, new[j]) for j in range(layer.width) if used[k][j]]
        dead = [name for name, is_used in zip(new, used[k], strict=True) if not is_used]
        rules += [f"Left out, since nothing looks at them: {', '.join(dead)}."] if dead else []
        rules.append("")
        names = new
    rules += _answer(described, layers[-1], layers[-2] if len(layers) > 1 else None, names)
    head = [f"{described.title}, as rules.", *described.certified(), ""]
    features = [
        f"{name}: {sentence}"
        for name, sentence in zip(_printable(described.names), _printable(described.sentences), strict=True)
        if name != sentence
    ]
    numbers = (
        "Numbers are rounded to 6 digits for reading, so rows next to a limit may be told wrongly; the exports to C "
        "and JSON are exact."
        if any(_is_rounded(value) for layer in layers for value in (*layer.weights.flat, *layer.thresholds.flat))
        else "All numbers are exact."
    )
    return "\n".join([*head, *([*features, ""] if features else []), *rules, "", numbers]) + "\n"


def _used(layers: Sequence[Layer]) -> list[list[bool]]:
    """Which neurons of each layer an answer may depend on."""
    used = [np.ones(layers[-1].width, dtype=bool)]
    for above in reversed(layers[1:]):
        used.insert(0, (above.weights[used[0]] != 0).any(axis=0))
    return [one.tolist() for one in used]


def _neuron(layer: Layer, below: Layer | None, j: int, names: Sequence[str], name: str) -> str:
    values, ends = layer.activation.values, layer.thresholds.reshape(layer.width, -1)[j].tolist()
    if values == (0.0, 1.0):
        return f"{name} is on {_where(layer, below, j, names)}"
    if len(values) == 2:
        return f"{name} is {_number(values[1])} {_where(layer, below, j, names)}, otherwise {_number(values[0])}"
    steps = "".join(f", {_number(value)} from a >= {_number(end)}" for value, end in zip(values[1:], ends, strict=True))
    return f"{name} is {_number(values[0])}{steps}, where a = {_sum(layer.weights[j].tolist(), names)}"


def _where(layer: Layer, below: Layer | None, j: int, names: Sequence[str]) -> str:
    """When a neuron with one threshold reaches it: a count of conditions where its weights make it one."""
    weights, (end,) = layer.weights[j].tolist(), layer.thresholds.reshape(layer.width, -1)[j].tolist()
    if not any(weights):
        return "always" if end <= 0 else "never"
    counted = _counted(layer, below, j, names)
    return counted or f"where {_sum(weights, names)} >= {_number(end)}"


def _counted(layer: Layer, below: Layer | None, j: int, names: Sequence[str]) -> str:
    """As "at least k of n conditions", if any k of them are enough and no k - 1 are; otherwise nothing."""
    if below is None or len(below.activation.values) != 2:
        return ""
    sums = over_bits(
        Layer(layer.weights[j : j + 1], layer.thresholds[j : j + 1], layer.activation), below.activation.values
    )
    (weights,), ((end,),) = sums.weights, sums.thresholds
    count = at_least(weights, end)
    if count is None:
        return ""
    if not 0 < count <= sum(weight != 0 for weight in weights):
        return "never" if count else "always"
    off, on = ("not {}", "{}") if below.activation.values == (0.0, 1.0) else _named(below.activation.values)
    conditions = [
        (on if weight > 0 else off).format(name) for weight, name in zip(weights, names, strict=True) if weight
    ]
    if len(conditions) == 1:
        return f"where {conditions[0]}"
    if count in (1, len(conditions)):
        return f"where {(' or ' if count == 1 else ' and ').join(conditions)}"
    majority = ", a majority," if 2 * count == len(conditions) + 1 else ""
    return f"where at least {count}{majority} of these {len(conditions)}: {', '.join(conditions)}"


def _named(values: Sequence[float]) -> list[str]:
    return [f"{{}} is {_number(value)}" for value in values]


def _answer(described: Described, layer: Layer, below: Layer | None, names: Sequence[str]) -> list[str]:
    classes, rows = _printable(described.class_names), layer.weights.tolist()
    if layer.activation in (ARGMAX, IDENTITY):
        ends = layer.thresholds.tolist()
        if layer.activation == IDENTITY:
            labels = ["y"] if layer.width == 1 else [f"y{j + 1}" for j in range(layer.width)]
            last = []
        else:
            labels = [f"score of {one}" for one in classes]
            last = ["The class with the largest score answers, the first of equal ones."]
        sums = [_sum([*row, -end], [*names, ""]) for row, end in zip(rows, ends, strict=True)]
        return [*(f"{label} = {text}" for label, text in zip(labels, sums, strict=True)), *last]
    if len(classes) == 2:
        where = _where(layer, below, 0, names)
        return [f"{classes[1]} {where}; otherwise {classes[0]}."]
    ends = layer.thresholds.reshape(layer.width, -1)[0].tolist()
    lines = [f"{one} from a >= {_number(end)}" for one, end in zip(classes[1:], ends, strict=True)]
    return [f"a = {_sum(rows[0], names)}", "; ".join([f"{classes[0]}", *lines]) + "; the last that is reached answers."]


def _sum(weights: Sequence[float], names: Sequence[str]) -> str:
    """Terms with their signs; a term without a name is a number alone."""
    text = ""
    for weight, name in zip(weights, names, strict=True):
        if not weight:
            continue
        size = _number(abs(weight))
        term = size if not name else name if size == "1" else f"{size}·{name}"
        text += (" - " if weight < 0 else " + ") + term if text else ("-" if weight < 0 else "") + term
    return text or "0"


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}"


def _is_rounded(value: float) -> bool:
    return float(_number(float(value))) != value


def _printable(texts: Sequence[str]) -> list[str]:
    """One line each."""
    return ["".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text) for text in texts]
