"""Why a row gets its answer: which neurons are on, what each adds, and which of them the answer depends on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from stepnet.model.activations.staircase import STEP
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.model.rules import Words, hidden_names
from stepnet.reasons.units import Model, read

_WORDS = Words(digits=4, most_terms=6, is_scaled=True)
_SHOWN = 12  # neurons that are printed


@dataclass(frozen=True)
class NeuronReason:
    """What one neuron has to do with an answer.

    Attributes
    ----------
    name : str
        h1, h2, ...; of a network without hidden layers a feature.
    rule : str
        Where it is on, in words.
    here : float
        For this row, the left-hand side of the rule.
    value : float
        Its output: 1 where a step is on, 0 where it is off; of a feature its number.
    adds : float or None
        What it adds to the total of the answer; None below the last hidden layer.
    otherwise : class or None
        The answer if this neuron alone had another output; None if that would be the same.
    """

    name: str
    rule: str
    here: float
    value: float
    adds: float | None
    otherwise: Any = None

    @property
    def decides(self) -> bool:
        """Whether the answer depends on this neuron alone."""
        return self.otherwise is not None

    def cells(self) -> list[str]:
        state = {0.0: "off", 1.0: "on"}.get(self.value, _WORDS.number(self.value)) if self.rule else ""
        adds = "" if self.adds is None else f"{_WORDS.number(self.adds)}"
        rule = f"{self.rule}; here {_WORDS.number(self.here)}" if self.rule else f"= {_WORDS.number(self.here)}"
        return [self.name, state, adds, rule, f"otherwise {self.otherwise}" if self.decides else ""]


@dataclass(frozen=True)
class Explanation:
    """Why a row gets its answer.

    Attributes
    ----------
    answer : class
    neurons : tuple of NeuronReason
        Of all hidden layers, first layer first.
    total : float
        What the neurons of the last hidden layer add up to; of several outputs the lead over the second best.
    needed : float
        What the total is compared with.
    against : class
        The other answer of two; of several outputs the second best.
    """

    answer: Any
    neurons: tuple[NeuronReason, ...]
    total: float
    needed: float
    against: Any

    @property
    def deciding(self) -> tuple[NeuronReason, ...]:
        """The neurons that the answer depends on: each of them alone changes it."""
        return tuple(neuron for neuron in self.neurons if neuron.decides)

    def sentence(self) -> str:
        """What the answer depends on, in one sentence."""
        if not any(one.rule for one in self.neurons):
            return "There is no hidden neuron; every feature adds its number times its weight."
        if not self.deciding:
            return "The answer depends on no neuron alone."
        parts = [f"{one.name} (otherwise {one.otherwise})" for one in self.deciding]
        return f"The answer depends on {_listed(parts[:_SHOWN], len(parts) - _SHOWN)}."

    def __str__(self) -> str:
        sign = "at least" if self.total >= self.needed else "below"
        total, needed = _apart(self.total, self.needed)
        lines = [f"{self.answer}, not {self.against}: the total is {total}, {sign} {needed}"]
        order = sorted(self.neurons, key=lambda one: (one.adds is not None, not one.decides, -abs(one.adds or 0.0)))
        has_neurons = any(one.rule for one in order)
        heads = ["neuron", "", "adds", "on where", ""] if has_neurons else ["feature", "", "adds", "", ""]
        lines += _aligned([heads, *(one.cells() for one in order[:_SHOWN])])
        if len(order) > _SHOWN:
            lines.append(f"  and {len(order) - _SHOWN} more")
        return "\n".join([*lines, self.sentence()])


@dataclass(frozen=True)
class Explanations(Sequence[Explanation]):
    """Why several rows get their answers; prints as a table."""

    rows: tuple[Explanation, ...]

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> Explanations: ...
    def __getitem__(self, index: int | slice) -> Explanation | Explanations:
        return Explanations(self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.rows)

    def table(self) -> list[dict[str, Any]]:
        """One dictionary per row: answer, total, needed, the neurons that are on, and those that it depends on."""
        return [
            {
                "row": number,
                "answer": one.answer,
                "total": one.total,
                "needed": one.needed,
                "on": [neuron.name for neuron in one.neurons if neuron.rule and neuron.value == 1],
                "depends_on": [neuron.name for neuron in one.deciding],
            }
            for number, one in enumerate(self.rows)
        ]

    def __str__(self) -> str:
        heads = ["row", "answer", "total", "needed", "on", "depends on"]
        cells = [
            [
                str(line["row"]),
                str(line["answer"]),
                *_apart(line["total"], line["needed"]),
                _listed(line["on"][:8], len(line["on"]) - 8) or "none",
                _listed(line["depends_on"][:8], len(line["depends_on"]) - 8) or "no neuron alone",
            ]
            for line in self.table()
        ]
        return "\n".join(line.strip() for line in _aligned([heads, *cells]))


def explain(model: Any, X: Any) -> Explanation | Explanations:
    """Why rows get their answers: the neurons that are on, what they add, and those that the answer depends on.

    Parameters
    ----------
    model : fitted classifier, or a fitted Pipeline that ends with one
    X : array-like of shape (n_features,) or (n_rows, n_features)
        One row, or several.

    Returns
    -------
    Explanation or Explanations
        They print themselves: a row with its neurons in words, several rows as a table.

    Examples
    --------
    >>> from stepnet import StepClassifier, explain
    >>> clf = StepClassifier(2, method="prove").fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> explain(clf, [1, 1]).answer
    np.int64(0)
    """
    known, rows, is_single = read(model, X)
    found = explanations(known, rows)
    return found[0] if is_single else found


def explanations(model: Model, rows: Floats) -> Explanations:
    """Of rows in the units of users."""
    network, shown = model.network, model.in_units
    levels = network.levels(model.taken(rows))
    signals = [rows, *(layer.outputs(level) for layer, level in zip(network.layers[:-1], levels, strict=False))]
    others = [_otherwise(network, k, signals[k]) for k in range(1, len(network.layers))]
    rules = [_rules(shown, k, model.names) for k in range(len(shown.layers) - 1)]
    return Explanations(tuple(_row(model, shown, i, levels, signals, others, rules) for i in range(len(rows))))


def _row(model: Model, shown: Network, i: int, levels: Any, signals: Any, others: Any, rules: Any) -> Explanation:
    last, code = shown.layers[-1], int(levels[-1][i, 0])
    weights, needed, against = _total(last, signals[-1][i], code)
    adds = weights * signals[-1][i]
    neurons: list[NeuronReason] = []
    for k, own in enumerate(rules):
        is_last = k == len(rules) - 1
        for j, (name, rule, scaled) in enumerate(own):
            other = int(others[k][i, j])
            neurons.append(
                NeuronReason(
                    name,
                    rule,
                    float(signals[k][i] @ scaled),
                    float(signals[k + 1][i, j]),
                    float(adds[j]) if is_last else None,
                    None if other == code else model.classes[other],
                )
            )
    if not rules:
        neurons = [
            NeuronReason(name, "", value, value, float(add))
            for name, value, add in zip(model.names, signals[0][i].tolist(), adds, strict=True)
        ]
    return Explanation(model.classes[code], tuple(neurons), float(adds.sum()), needed, model.classes[against])


def _total(last: Layer, signals: Floats, code: int) -> tuple[Floats, float, int]:
    """The weights of the total, what it is compared with, and the class that it decides against."""
    if not last.activation.is_compared:
        ends = last.thresholds.reshape(last.width, -1)[0]
        sum_ = float(last.weights[0] @ signals)
        nearest = int(np.abs(ends - sum_).argmin())
        return last.weights[0], float(ends[nearest]), nearest if code > nearest else nearest + 1
    scores = last.weights @ signals - last.thresholds
    scores[code] = -np.inf
    second = int(scores.argmax())
    return last.weights[code] - last.weights[second], float(last.thresholds[code] - last.thresholds[second]), second


def _otherwise(network: Network, k: int, signals: Floats) -> Any:
    """Rows × neurons: the answer if a neuron of hidden layer ``k`` alone had another output.

    If it has several others, the answer to the first that changes it.
    """
    above, layer = Network(network.layers[k:]), network.layers[k - 1]
    now = above.predict(signals)
    found = np.repeat(now[:, None], layer.width, axis=1)
    for value in dict.fromkeys(layer.activation.values):
        for j in range(layer.width):
            changed = signals.copy()
            changed[:, j] = value
            answers = above.predict(changed)
            found[:, j] = np.where(found[:, j] == now, answers, found[:, j])
    return found


def _rules(network: Network, k: int, names: Sequence[str]) -> list[tuple[str, str, Floats]]:
    """Name, rule and scaled weights of every neuron of hidden layer ``k``."""
    layer, own = network.layers[k], hidden_names(network.widths, k)
    inputs = list(names) if k == 0 else hidden_names(network.widths, k - 1)
    found = []
    for name, weights, ends in zip(own, layer.weights, layer.thresholds.reshape(layer.width, -1), strict=True):
        if layer.activation == STEP:
            rule = _WORDS.condition(weights.tolist(), float(ends[0]), inputs)
            found.append((name, rule, weights / (_WORDS.scale(weights.tolist()) if weights.any() else 1.0)))
        else:
            found.append((name, _WORDS.rule(layer.activation, weights.tolist(), ends.tolist(), inputs), weights))
    return found


def _apart(total: float, needed: float) -> tuple[str, str]:
    """Both numbers with so many digits that they differ if they do."""
    for digits in (4, 6, 9, 12, 17):
        words = Words(digits=digits)
        texts = words.number(total), words.number(needed)
        if texts[0] != texts[1] or total == needed:
            break
    return texts


def _listed(texts: Sequence[str], n_more: int = 0) -> str:
    """As "a, b and c"; ``n_more`` are not named."""
    texts = [*texts, f"{n_more} more"] if n_more > 0 else list(texts)
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [f"  {line}".rstrip() for line in lines]
