"""A fitted classifier as a table for papers: LaTeX (booktabs) and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stepnet.export.described import Described, describe
from stepnet.model.network import Network
from stepnet.model.rules import Words, hidden_names
from stepnet.model.tex import beyond_latex, tex

_WORDS = Words(digits=4)
_SCALED = Words(digits=4, is_scaled=True)


@dataclass(frozen=True)
class _Table:
    """The neurons of a model, one per line, and what follows from them."""

    heads: list[str]
    lines: list[list[str]]
    answer: list[str]  # sentences below the table


def to_markdown(estimator: Any) -> str:
    """The network as a Markdown table: one line per neuron, and below it the answer and the certificate."""
    described = describe(estimator)
    table = _table(described)
    lines = [f"**{_plain(described.title)}**", ""]
    if table.lines:
        rows = [table.heads, ["---"] * len(table.heads), *table.lines]
        lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows] + [""]
    lines += [f"{_plain(sentence)}  " for sentence in (*table.answer, *described.certified())]
    return "\n".join(lines).rstrip() + "\n"


def to_tex(estimator: Any) -> str:
    """The network as a LaTeX table, for the packages booktabs and tabularx; put it inside ``table``."""
    described = describe(estimator)
    table = _table(described)
    title = tex(f"{described.title}.")
    notes = [tex(sentence) for sentence in (*table.answer, *described.certified())]
    lines = []
    if table.lines:
        columns = "l>{\\raggedright\\arraybackslash}X" + "r" * (len(table.heads) - 2)
        body = [" & ".join(tex(cell) for cell in row) + r" \\" for row in (table.heads, *table.lines)]
        lines += [f"\\noindent\\begin{{tabularx}}{{\\linewidth}}{{{columns}}}"]
        lines += [r"\toprule", body[0], r"\midrule", *body[1:]]
        lines += [r"\bottomrule", r"\end{tabularx}", ""]
    lines += [
        r"\par\smallskip\noindent",
        r"{\footnotesize " + title + " " + " ".join(f"{_sentence(note)}" for note in notes) + "}",
    ]
    text, needs = "\n".join(lines) + "\n", "% needs \\usepackage{booktabs,tabularx}\n"
    if others := beyond_latex(text):
        needs += f"% and for the characters {others} XeLaTeX or LuaLaTeX with a font that has them\n"
    return needs + text


def _table(described: Described) -> _Table:
    network, shown = described.network, described.unscaled
    *hidden, last = shown.layers
    classes, used = described.class_names, network.used_neurons
    weighs = _weighs(shown, classes)
    lines = []
    for k, layer in enumerate(hidden):
        inputs = described.names if k == 0 else hidden_names(network.widths, k - 1)
        values = hidden[k - 1].activation.values if k else ()
        is_last = k == len(hidden) - 1
        for j, name in enumerate(hidden_names(network.widths, k)):
            if used[k][j]:
                ends = layer.thresholds.reshape(layer.width, -1)[j].tolist()
                rule = _SCALED.rule(layer.activation, layer.weights[j].tolist(), ends, inputs, values=values)
                weights = (
                    [_WORDS.number(float(own[j])) for own in last.weights[: len(weighs)]]
                    if is_last
                    else [""] * len(weighs)
                )
                lines.append([name, rule.removeprefix("on where "), *weights])
    heads = ["rule", "where", "points"] if described.is_scorecard else ["neuron", "on where", *weighs]
    names = hidden_names(network.widths, len(hidden) - 1) if hidden else described.names
    return _Table(heads, lines, _answer(described, shown, names))


def _weighs(network: Network, classes: Sequence[str]) -> list[str]:
    """Heads of the columns of weights of the outputs."""
    last = network.layers[-1]
    if last.activation.has_levels:
        return ["weight"]
    return [f"for {one}" for one in classes] or (
        ["weight"] if last.width == 1 else [f"for y{j + 1}" for j in range(last.width)]
    )


def _answer(described: Described, network: Network, names: Sequence[str]) -> list[str]:
    last, classes = network.layers[-1], described.class_names
    ends = last.thresholds.reshape(last.width, -1)
    if last.activation.has_levels and len(network.layers) == 1:
        return [f"{_SCALED.rule(last.activation, last.weights[0].tolist(), ends[0].tolist(), names, answers=classes)}."]
    if last.activation.has_levels:
        steps = ", ".join(
            f"{one} from {_WORDS.number(end)} on" for one, end in zip(classes[1:], ends[0].tolist(), strict=True)
        )
        parts = "points of the rules that hold" if described.is_scorecard else "weights of the neurons that are on"
        return [f"The {parts} add up to the total: {steps}, else {classes[0]}."]
    offsets = ", ".join(_WORDS.number(-end) for end in ends[:, 0].tolist())
    if last.activation.is_compared:
        return [f"The class with the largest sum is the answer, after adding {offsets} (in the order of the classes)."]
    return [f"The weights of the neurons that are on add up to the answer, after adding {offsets}."]


def _plain(text: str) -> str:
    """Text without what Markdown would read as markup."""
    for mark in "\\`*_[]<>#|":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def _cell(text: str) -> str:
    return text if text == "---" else _plain(text)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].removesuffix(".") + "."
