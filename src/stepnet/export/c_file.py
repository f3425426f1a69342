"""A fitted estimator as one C99 file without dependencies, with the answers of ``predict`` for every row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from stepnet.errors import InvalidInputError
from stepnet.export.c_inputs import Inputs, inputs_named
from stepnet.export.c_layers import (
    Form,
    IntegerForm,
    NumberForm,
    bits_form,
    has_small_thresholds,
    has_small_weights,
    n_words,
)
from stepnet.export.c_text import comment_text, filled, indented, listed, with_prefix
from stepnet.export.described import Described, describe, require_full
from stepnet.export.integers import over_bits, over_integers
from stepnet.export.size import CodeSize
from stepnet.model.network import Layer
from stepnet.tables.operations import OPERATIONS, limits_of

_ROUND = "if (v > -0x1p51 && v < 0x1p51) { v = v + 0x1.8p52; v = v - 0x1.8p52; }"  # larger ones are whole


def to_c(estimator: Any, *, inputs: str = "floats", name: str = "model", columns: str = "used") -> str:
    """The model as C source.

    Parameters
    ----------
    estimator : fitted estimator
    inputs : "floats", "integers" or "bits", default="floats"
        The type of a feature: a double; an ``int32_t``, which needs integer weights in the first layer; or a bit,
        packed into words of 32 bits. Files for the last two have no floating point.
    name : str, default="model"
        The prefix of all names in the file.
    columns : "used" or "all", default="used"
        The features that the file takes: those that answers depend on, or all of the model. The file lists them.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise InvalidInputError(f"name={name!r} must be a letter followed by letters, digits and _, such as 'model'.")
    described, taken = require_full(describe(estimator, columns), "C"), inputs_named(inputs)
    forms = _forms(described, taken)
    n_features = described.network.n_features
    parts = [
        _comment(described, forms, taken, name),
        _includes(forms, taken),
        f"enum {{ @n_features = {n_features} }};\n",
        *dict.fromkeys(text for form in forms for text in form.needs()),
        *([filled("level")] if forms[-1].reads_levels else []),
        *(form.code() for form in forms),
        *([_scale(described, forms[0])] if any(described.arithmetic) else []),
        *([] if described.classes is None else [_classes(described)]),
        *([filled("pack", n_features=n_features, n_words=n_words(n_features))] if taken.is_packed else []),
        _predict(described, forms, taken),
        _main(described, taken),
    ]
    return with_prefix("\n".join(parts), name)


def size_of(estimator: Any, inputs: str = "floats", columns: str = "used") -> CodeSize:
    """Bytes of the tables in the C file, and operations per prediction; prints as a table."""
    described = require_full(describe(estimator, columns), "C")
    return _size(described, _forms(described, inputs_named(inputs)))


def _size(described: Described, forms: Sequence[Form]) -> CodeSize:
    counts = Counter(name for operations in described.arithmetic for name, _ in operations)
    scaling = CodeSize(
        weights=8 * (counts.total() - counts["round"]),
        multiplications=counts["multiply"] + counts["divide"],
        additions=counts["add"] + counts["subtract"] + 2 * counts["round"],
        comparisons=counts["at_least"] + counts["at_most"] + 2 * counts["round"],
    )
    return sum((form.size() for form in forms), scaling)


def _forms(described: Described, taken: Inputs) -> list[Form]:
    """How each layer is computed."""
    network = described.network
    first = network.layers[0]
    if any(described.arithmetic) and not taken.has_floats:
        raise InvalidInputError(
            f"inputs={taken.name!r} gives C without floating point, which this model needs to scale its features. Use "
            f"inputs='floats', or export the last step of the pipeline, which takes features that are scaled already."
        )
    if network.layers[-1].activation.gives_numbers and not taken.has_floats:
        raise InvalidInputError(
            f"inputs={taken.name!r} gives C without floating point, which this model needs, since its answers are real "
            f"numbers. Use inputs='floats'."
        )
    forms = [NumberForm(first, 1, None) if first.activation.gives_numbers else _first(described, first, taken)]
    for number, (below, layer) in enumerate(pairwise(network.layers), start=2):
        if layer.activation.gives_numbers:
            forms.append(NumberForm(layer, number, below))
        else:
            forms.append(bits_form(layer, number, over_bits(layer, below.activation.values)))
    return forms


def _first(described: Described, first: Layer, taken: Inputs) -> Form:
    """The first layer; if all features are rounded to a grid and its weights are whole, it takes integers."""
    ends = [limits_of(operations) for operations in described.arithmetic]
    if all(end is not None and max(map(abs, end)) < 2**31 for end in ends):
        sums = over_integers(first)
        if has_small_weights(sums) and has_small_thresholds(first, sums):
            return IntegerForm(first, 1, sums)
    return taken.form(first)


def _includes(forms: Sequence[Form], taken: Inputs) -> str:
    headers = {"stdint.h", *(["float.h"] if taken.has_floats else []), *(h for form in forms for h in form.headers)}
    includes = "".join(f"#include <{header}>\n" for header in sorted(headers))
    return f"{includes}\n{filled('guard')}" if taken.has_floats else includes


def _classes(described: Described) -> str:
    names = described.class_names
    return f"/* The classes by code. */\nconst char *const @classes[{len(names)}] = {{\n{listed(names)}\n}};\n"


def _scale(described: Described, first: Form) -> str:
    """The function that scales features; a volatile number is rounded after every operation."""
    lines = ["volatile double v;"]
    for i, operations in enumerate(described.arithmetic):
        lines += [f"v = x[{i}];", *(_statement(name, number.hex()) for name, number in operations)]
        lines.append(f"z[{i}] = {'' if first.takes == 'double' else f'({first.takes})'}v;")
    head = "/* The features as the first layer takes them. */\nstatic void @scale(const double *x, "
    return f"{head}{first.takes} *z)\n{{\n{indented(lines)}\n}}\n"


def _statement(operation: str, number: str) -> str:
    if operation == "round":
        return _ROUND
    if operation in ("at_least", "at_most"):
        return f"if (v {'<' if operation == 'at_least' else '>'} {number}) v = {number};"
    return f"v = {OPERATIONS[operation].text.format('v', number)};"


def _predict(described: Described, forms: Sequence[Form], taken: Inputs) -> str:
    """The function that runs all layers."""
    *hidden, last = forms
    body, signals = [], "x"
    if any(described.arithmetic):
        body, signals = [f"{forms[0].takes} z[{described.network.n_features}];", "@scale(x, z);"], "z"
    for form in hidden:
        body += form.bits(signals)
        signals = f"h{form.number}"
    body += last.answer(signals)
    head = (
        f"/* Writes the outputs of a row, y[{last.layer.width}]. */\nvoid @predict(const double *x, double *y)"
        if described.classes is None
        else f"/* Returns the code of the class of a row. */\nint @predict(const {taken.type} *x)"
    )
    return f"{head}\n{{\n{indented(body)}\n}}\n"


def _main(described: Described, taken: Inputs) -> str:
    n_features, width = described.network.n_features, described.network.widths[-1]
    header = "prediction"
    if described.classes is None:
        header = ",".join(f"prediction_{j}" for j in range(width)) if width > 1 else header
        lines = [
            f"double y[{width}];",
            "@predict(row, y);",
            f"for (int j = 0; j < {width}; j++)",
            f"    printf(\"%.17g%c\", y[j], j + 1 < {width} ? ',' : '\\n');",
        ]
    elif taken.is_packed:
        lines = [f"uint32_t x[{n_words(n_features)}];", "@pack(row, x);", "puts(@classes[@predict(x)]);"]
    else:
        lines = ["puts(@classes[@predict(row)]);"]
    return filled(
        "main",
        has_names=int(described.has_names),
        n_features=n_features,
        features=listed(described.names),
        reader=taken.reader(),
        type=taken.cell,
        kind=taken.kind,
        header=header,
        print=indented(lines, 8),
    )


def _comment(described: Described, forms: Sequence[Form], taken: Inputs, name: str) -> str:
    math = " -lm" if any("math.h" in form.headers for form in forms) else ""
    if described.classes is None:
        answer = f"void @predict(const double *x, double *y) writes the outputs, y[{described.network.widths[-1]}]."
        numbers = ["The outputs are the sums w*h - t, each rounded from sums of slices without rounding errors."]
    else:
        answer, numbers = f"int @predict(const {taken.type} *x) returns the code of the class.", []
    classes = _numbered(described.class_names)
    lines = [
        f"{described.title}, written by stepnet.",
        "",
        answer,
        taken.promise,
        *numbers,
        "",
        "Certificate:",
        *(f"  {comment_text(line)}" for line in described.certified()),
        "",
        f"Compile: cc -std=c99 -O2 -c {name}.c",
        f"A program that reads CSV: cc -std=c99 -O2 -DSTEPNET_MAIN -o {name} {name}.c{math}; ./{name} < rows.csv",
        "",
        "Features, in order:",
        *_numbered(described.sentences),
        *([described.selection] if described.selection else []),
        *(["Classes:", *classes] if classes else []),
        "",
        *str(_size(described, forms)).splitlines(),
    ]
    return "/* " + "\n   ".join(lines).replace("   \n", "\n") + "\n*/\n"


def _numbered(texts: Sequence[str]) -> list[str]:
    return [f"  {i:4}  {comment_text(text)}" for i, text in enumerate(texts)]
