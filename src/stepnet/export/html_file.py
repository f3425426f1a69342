"""A fitted classifier as a calculator: one HTML page that asks for a row and answers, exactly, in any browser.

The page loads nothing. Its script is named by its hash in the content policy, so that no other one runs. Typed numbers
are read as 64-bit floats, and sums are integers of any size times a power of two: the answers are those of ``predict``.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.export.described import Described, describe, kind_of
from stepnet.export.sql_columns import columns_of
from stepnet.model.network import Network
from stepnet.model.rules import Words, hidden_names
from stepnet.tables.columns import Column
from stepnet.tables.operations import lines_of, require_lines
from stepnet.tables.pipelines import unpacked

_TEMPLATES = Path(__file__).with_name("templates")
_WORDS = Words(digits=4, most_terms=8, is_scaled=True)


class _Said(NamedTuple):
    """What the table calls its parts."""

    what: str
    state: str
    where: str
    adds: str
    caption: str
    off: str
    on: str


_NEURONS = _Said("neuron", "state", "on where", "adds", "Neurons that are on are highlighted", "off", "on")
_RULES = _Said("rule", "holds", "where", "points", "Rules that hold are highlighted", "no", "yes")


def to_html(estimator: Any, *, title: str = "", columns: str = "used") -> str:
    """The model as a page with a field for each column that answers depend on.

    Fields have the ranges of the training rows, neurons light up, and the page says which other entry in a single
    field would change the answer. Probabilities are shown if the model is calibrated.

    Parameters
    ----------
    estimator : fitted classifier
    title : str, optional
        The headline of the page.
    columns : "used" or "all"
        Whether the page has fields for columns that no answer depends on.
    """
    described, known = describe(estimator, columns), unpacked(estimator)
    if described.classes is None or described.network.layers[0].activation.is_compared:
        raise InvalidInputError("a calculator is for classifiers with a hidden layer or two classes; use --to rules.")
    script = (_TEMPLATES / "calculator.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    fields = _fields(known, described)
    said = _RULES if described.is_scorecard else _NEURONS
    content = _content(known, described, fields) | {"states": [said.off, said.on]}
    headline = html.escape(title or f"Calculator: {' or '.join(described.class_names[:3])}")
    forms = "\n".join(_field(i, field) for i, field in enumerate(fields))
    about = "".join(f"<p class=quiet>{html.escape(line)}</p>\n" for line in _about(described))
    css = (_TEMPLATES / "calculator.css").read_text(encoding="utf-8")
    data = json.dumps(content, allow_nan=False).replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{headline}</title>
<link rel="icon" href="data:,">
<style>
{css}</style>
</head>
<body>
<main>
<h1>{headline}</h1>
<form id="fields" aria-label="The row">
{forms}
<button type="reset">Start again</button>
</form>
<div class="result" role="status">
<p class="quiet">Answer</p>
<p id="answer"></p>
<p id="note"></p>
</div>
<h2>What would change the answer</h2>
<p class="quiet">The nearest other entries in one field alone, within its range; small shares of a range first.</p>
<ul id="changes"></ul>
{_table(described, said)}
<h2>About this model</h2>
{about}</main>
<noscript><p>This page needs JavaScript to compute the answer.</p></noscript>
<script type="application/json" id="model">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def _content(estimator: Any, described: Described, fields: list[dict[str, Any]]) -> dict[str, Any]:
    """What the script computes with."""
    first = described.unscaled.layers[0]
    ends = first.thresholds.reshape(first.width, -1)
    calibration: Any = getattr(estimator, "calibration_", None)
    shown = None if calibration is None else calibration.to_dict()
    last = described.network.layers[-1]
    if last.activation.has_levels and last.activation.n_thresholds > 1:
        shown = None  # of a staircase only the answer counts
    return {
        "classes": described.class_names,
        "fields": fields,
        "arithmetic": [[list(one) for one in operations] for operations in described.arithmetic],
        "layers": [
            {
                "kind": kind_of(layer.activation),
                "values": list(layer.activation.values),
                "weights": layer.weights.tolist(),
                "thresholds": layer.thresholds.reshape(layer.width, -1).tolist(),
            }
            for layer in described.network.layers
        ],
        "planes": [
            {"weights": weights.tolist(), "end": float(end)}
            for weights, own in zip(first.weights, ends, strict=True)
            for end in own
        ],
        "calibration": shown,
    }


def _fields(estimator: Any, described: Described) -> list[dict[str, Any]]:
    """One per column: its features, and the numbers or choices that it takes."""
    require_lines(described.arithmetic, "a calculator page")
    ranges = _ranges(estimator, described)
    fields: dict[str, dict[str, Any]] = {}
    for feature, (column, place) in enumerate(columns_of(estimator, described)):
        name = column.label
        if column.encoding is None:
            low, high, is_whole = ranges[feature]
            fill = None if column.fill is None else float(column.fill)
            fields[name] = {"name": name, "features": [feature], "fill": fill, "choices": None, "whole": is_whole}
            is_known = bool(np.isfinite(low))
            fields[name] |= {"low": low if is_known else -1e308, "high": high if is_known else 1e308, "known": is_known}
            continue
        own = fields.setdefault(name, {"name": name, "features": [], "fill": None, "choices": _choices(column)})
        own["features"].append(feature)
        for code, choice in enumerate(own["choices"]):
            kept = range(len(column.categories)) if column.kept is None else column.kept
            choice["numbers"].append(float(code == kept[place]) if column.encoding == "one_hot" else float(code))
    return list(fields.values())


def _choices(column: Column) -> list[dict[str, Any]]:
    return [{"label": str(category), "numbers": []} for category in column.categories]


def _ranges(estimator: Any, described: Described) -> list[tuple[float, float, bool]]:
    """Of the training rows, in the units of the fields; infinite if the model does not know them."""
    known = getattr(estimator, "ranges_", None)
    if known is None:
        return [(-np.inf, np.inf, False)] * len(described.taken)
    slopes, intercepts = lines_of(described.arithmetic)
    found = []
    for i, slope, intercept in zip(described.taken, slopes.tolist(), intercepts.tolist(), strict=True):
        low, high, is_whole = known[i]
        if (slope, intercept) == (1.0, 0.0):
            found.append((low, high, bool(is_whole)))
            continue
        ends = sorted(float(f"{(end - intercept) / slope:.12g}") for end in (low, high))
        found.append((ends[0], ends[1], False))
    return found


def _field(i: int, field: dict[str, Any]) -> str:
    name = _breaking(field["name"])
    label = f'<label for="field-{i}">{name}</label>'
    if field["choices"]:
        options = "".join(
            f'<option value="{k}">{html.escape(one["label"])}</option>' for k, one in enumerate(field["choices"])
        )
        return f'<div>{label}<select id="field-{i}">{options}</select></div>'
    low, high, notes = field["low"], field["high"], []
    start = 0.0
    if field["known"]:
        start = (low + high) / 2
        start = float(np.floor(start)) if field["whole"] else float(f"{start:.3g}")
        notes.append(f"{_WORDS.number(low)} to {_WORDS.number(high)}")
    if field["fill"] is not None:
        notes.append(f"empty counts as {_WORDS.number(field['fill'])}")
    note = f'<span class="range" id="range-{i}">{", ".join(notes)}</span>' if notes else ""
    described_by = f' aria-describedby="range-{i}"' if notes else ""
    step = "1" if field["whole"] else "any"
    value = _number(start)
    return f'<div>{label}<input id="field-{i}" type="number" step="{step}" value="{value}"{described_by}>{note}</div>'


def _breaking(text: str) -> str:
    """With places where long names may break."""
    return html.escape(text).replace("_", "_<wbr>")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _table(described: Described, said: _Said) -> str:
    """The neurons, or the rules of a scorecard, with what each adds if there is one output."""
    network, shown = described.network, described.unscaled
    if len(network.layers) == 1:
        rule = _rule(shown, 0, 0, described.names)
        return f"<h2>The rule</h2>\n<p>{html.escape(described.class_names[-1])} where {html.escape(rule)}</p>"
    has_total = network.layers[-1].activation.has_levels
    rows, used = [], network.used_neurons
    for k in range(len(network.layers) - 1):
        inputs = described.names if k == 0 else hidden_names(network.widths, k - 1)
        is_last = k == len(network.layers) - 2
        for j, name in enumerate(hidden_names(network.widths, k)):
            if not used[k][j]:
                continue
            weight = f' data-weight="{float(network.layers[-1].weights[0, j])!r}"' if is_last and has_total else ""
            rule = _breaking(_rule(shown, k, j, inputs))
            cells = f'<td class="state"></td><td class="rule">{rule}</td><td class="adds"{weight}></td>'
            rows.append(f'<tr data-neuron="{k} {j}"><th scope="row">{name}</th>{cells}</tr>')
    foot = ""
    if has_total:
        ends = network.layers[-1].thresholds.reshape(network.widths[-1], -1)[0].tolist()
        pairs = zip(described.class_names[1:], ends, strict=True)
        needed = "; ".join(f"{html.escape(name)} from {Words(digits=5).number(end)} on" for name, end in pairs)
        foot = f'<tfoot><tr><th scope="row">total</th><td></td><td class="rule">{needed}</td>'
        foot += '<td class="adds" id="total"></td></tr></tfoot>'
    heads = "".join(f'<th scope="col">{one}</th>' for one in (said.what, said.state, said.where))
    last = f'<th scope="col" class="adds">{said.adds}</th>' if has_total else "<td></td>"
    head = f"<tr>{heads}{last}</tr>"
    return f"""<h2>How the answer comes about</h2>
<div class="scroll" role="group" aria-label="The {said.what}s" tabindex="0">
<table>
<caption>{said.caption}; numbers are rounded for reading.</caption>
<thead>{head}</thead>
<tbody>
{chr(10).join(rows)}
</tbody>
{foot}
</table>
</div>"""


def _rule(network: Network, k: int, j: int, inputs: list[str]) -> str:
    layer = network.layers[k]
    ends = layer.thresholds.reshape(layer.width, -1)[j].tolist()
    weights = layer.weights[j].tolist()
    if len(ends) == 1:
        return _WORDS.condition(weights, ends[0], inputs, network.layers[k - 1].activation.values if k else ())
    return _WORDS.rule(layer.activation, weights, ends, inputs)


def _about(described: Described) -> list[str]:
    exact = "Answers are computed without rounding and equal those of the model; no data leave this page."
    return [
        f"{described.title}.",
        *([described.selection] if described.selection else []),
        *described.certified(),
        exact,
    ]
