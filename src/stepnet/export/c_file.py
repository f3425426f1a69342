"""A fitted estimator as one C99 file without dependencies, which answers as ``predict`` does, row for row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stepnet.errors import InvalidInputError
from stepnet.export import c_routines as routines
from stepnet.export.c_layers import FloatForm, Form, IdentityForm, IntegerForm, bits_form, fill, table
from stepnet.export.described import Described, describe
from stepnet.export.integers import over_bits, over_integers
from stepnet.export.size import CodeSize
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.network import Network

INPUTS = ("floats", "integers", "bits")
_BITS = (0.0, 1.0)


def to_c(estimator: Any, *, inputs: str = "floats", name: str = "model") -> str:
    """The model as C source.

    Parameters
    ----------
    estimator : fitted estimator
    inputs : "floats", "integers" or "bits", default="floats"
        What a feature is: a double; an ``int32_t``, for integer weights in the first layer; or 0 and 1, packed into
        words of 32 bits. The files of the last two have no floating point.
    name : str, default="model"
        Begins all names in the file.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise InvalidInputError(
            f"name={name!r} must be letters, digits and _, beginning with a letter, such as 'model'."
        )
    described = describe(estimator)
    forms = _forms(described.network, inputs)
    parts = [
        _comment(described, forms, inputs, name),
        _includes(forms),
        *_needed(forms),
        *(form.code() for form in forms),
        _values(forms),
        _classes(described),
        *([fill(_PACK, n_features=described.network.n_features, n_words=_words(described.network.n_features))]
          if inputs == "bits" else []),
        _predict(described, forms),
        _main(described, forms, inputs),
    ]  # fmt: skip
    return "\n".join(part for part in parts if part).replace("@", f"{name}_").replace("\0", "@")


def size_of(estimator: Any, inputs: str = "floats") -> CodeSize:
    """Bytes of the tables in the C file, and operations of a prediction; prints itself as a table."""
    return _size(_forms(describe(estimator).network, inputs))


def _size(forms: Sequence[Form]) -> CodeSize:
    return sum((form.size() for form in forms), CodeSize())


def _forms(network: Network, inputs: str) -> list[Form]:
    """How each layer is computed."""
    if inputs not in INPUTS:
        raise InvalidInputError(f"inputs={inputs!r} is not known; choose one of {', '.join(map(repr, INPUTS))}.")
    first, *others = network.layers
    if network.layers[-1].activation == IDENTITY and inputs != "floats":
        raise InvalidInputError(
            f"the answers of this model are real numbers, which need floating point; inputs={inputs!r} has none. "
            f"Use inputs='floats'."
        )
    form: Form
    if first.activation == IDENTITY:
        form = IdentityForm(first, 1)
    elif inputs == "floats":
        form = FloatForm(first, 1)
    elif inputs == "integers":
        form = IntegerForm(first, 1, over_integers(first))
    else:
        form = bits_form(first, 1, over_bits(first, _BITS))
    forms, below = [form], first
    for number, layer in enumerate(others, start=2):
        is_last_sum = layer.activation == IDENTITY
        sums = None if is_last_sum else over_bits(layer, below.activation.values)
        forms.append(IdentityForm(layer, number) if sums is None else bits_form(layer, number, sums))
        below = layer
    return forms


def _words(n_bits: int) -> int:
    return -(-n_bits // 32)


_PACK = """\
/* Features, each 0 or not, as the {n_words} words that the model reads. */
void @pack(const int32_t *features, uint32_t *x)
{
    for (int k = 0; k < {n_words}; k++)
        x[k] = 0;
    for (int i = 0; i < {n_features}; i++)
        if (features[i] != 0)
            x[i / 32] |= UINT32_C(1) << (i % 32);
}
"""


def _includes(forms: Sequence[Form]) -> str:
    headers = sorted({"stdint.h", *(header for form in forms for header in form.headers)})
    has_floats = any(form.takes == "double" for form in forms)
    if has_floats:
        headers = sorted({"float.h", *headers})
    return "".join(f"#include <{header}>\n" for header in headers) + (
        "\n" + routines.FLOATS_GUARD if has_floats else ""
    )


def _needed(forms: Sequence[Form]) -> list[str]:
    """Each routine once, in an order in which all are known before they are used."""
    found = list(dict.fromkeys(text for form in forms for text in form.needs()))
    if _reads_levels(forms):
        found.append(routines.LEVEL)
    return found


def _reads_levels(forms: Sequence[Form]) -> bool:
    """Whether levels are made of bits: for the sums of a last layer, or as the answer."""
    last = forms[-1]
    return len(forms) > 1 if isinstance(last, IdentityForm) else not last.is_argmax


def _values(forms: Sequence[Form]) -> str:
    if not isinstance(forms[-1], IdentityForm) or len(forms) == 1:
        return ""
    return table("double @values", (value.hex() for value in forms[-2].layer.activation.values))


def _classes(described: Described) -> str:
    if described.classes is None:
        return ""
    names = [c_string(name) for name in described.class_names]
    return (
        f"/* The classes of the codes. */\nconst char *const @classes[{len(names)}] = {{\n" + _lines(names) + "\n};\n"
    )


def _lines(items: Sequence[str]) -> str:
    return "\n".join(f"    {item}," for item in items)


def _predict(described: Described, forms: Sequence[Form]) -> str:
    """The function that runs all layers."""
    takes, last = forms[0].takes, forms[-1]
    body, signals = [], "x"
    for form in forms[:-1] if isinstance(last, IdentityForm) or last.is_argmax else forms:
        body += [
            f"uint32_t h{form.number}[{_words(form.n_bits)}] = {{0}};",
            f"@layer{form.number}({signals}, h{form.number});",
        ]
        signals = f"h{form.number}"
    if not isinstance(last, IdentityForm):
        answer = f"@layer{last.number}({signals})" if last.is_argmax else f"@level({signals}, 0, {last.n_thresholds})"
        body.append(f"return {answer};")
        head = f"/* The code of the class of a row. */\nint @predict(const {takes} *x)"
        return f"{head}\n{{\n" + "\n".join(f"    {line}" for line in body) + "\n}\n"
    if len(forms) > 1:
        below = forms[-2]
        body += [
            f"double v[{last.n_inputs}];",
            f"for (int j = 0; j < {last.n_inputs}; j++)",
            f"    v[j] = @values[@level({signals}, j, {below.n_thresholds})];",
        ]
        signals = "v"
    body.append(f"@layer{last.number}({signals}, y);")
    head = f"/* The {last.layer.width} outputs of a row. */\nvoid @predict(const double *x, double *y)"
    return f"{head}\n{{\n" + "\n".join(f"    {line}" for line in body) + "\n}\n"


def _main(described: Described, forms: Sequence[Form], inputs: str) -> str:
    n_features = described.network.n_features
    number = fill(
        routines.NUMBER_FLOAT if inputs == "floats" else routines.NUMBER_INTEGER,
        lowest="INT32_MIN" if inputs == "integers" else "0",
        highest="INT32_MAX" if inputs == "integers" else "1",
    )
    width = described.network.widths[-1]
    if described.classes is None:
        header = "prediction" if width == 1 else ",".join(f"prediction_{j}" for j in range(width))
        text = (
            f"double y[{width}];\n@predict(row, y);\nfor (int j = 0; j < {width}; j++)\n"
            f"    printf(\"%.17g%c\", y[j], j + 1 < {width} ? ',' : '\\n');"
        )
    elif inputs == "bits":
        header, text = "prediction", f"uint32_t x[{_words(n_features)}];\n@pack(row, x);\nputs(@classes[@predict(x)]);"
    else:
        header, text = "prediction", "puts(@classes[@predict(row)]);"
    return fill(
        routines.MAIN,
        has_names=int(described.has_names),
        n_features=n_features,
        features=_lines([c_string(name) for name in described.names]),
        number=number,
        type="double" if inputs == "floats" else "int32_t",
        kind={"floats": "finite number", "integers": "integer of 32 bits", "bits": "0 or 1"}[inputs],
        header=header,
        print="\n".join(f"        {line}" for line in text.splitlines()),
    )


_TAKES = {
    "floats": "const double *x",
    "integers": "const int32_t *x",
    "bits": "const uint32_t *x",
}


def _comment(described: Described, forms: Sequence[Form], inputs: str, name: str) -> str:
    math = " -lm" if any("math.h" in form.headers for form in forms) else ""
    answer = (
        f"int @predict({_TAKES[inputs]}) gives the code of a class"
        if described.classes is not None
        else f"void @predict(const double *x, double *y) gives {described.network.widths[-1]} numbers"
    )
    promise = {
        "floats": "The answers are those of stepnet's predict for every row of finite doubles, to the last bit.",
        "integers": "Integers only; the answers are those of stepnet's predict for every row of 32-bit integers.",
        "bits": "Integers only; the answers are those of stepnet's predict for every row of zeros and ones.",
    }[inputs]
    if described.classes is None:
        promise += "\nThe numbers are the sums of w*h - t, rounded from sums of slices that are free of error."
    features = [f"  {i:4}  {comment_text(sentence)}" for i, sentence in enumerate(described.sentences)]
    classes = [f"  {i:4}  {comment_text(one)}" for i, one in enumerate(described.class_names)]
    lines = [
        f"{described.title}, written by stepnet.",
        "",
        answer + ".",
        *promise.splitlines(),
        "",
        "Certificate:",
        *(f"  {comment_text(line)}" for line in described.certified()),
        "",
        f"Compile: cc -std=c99 -O2 -c {name}.c",
        f"A program that reads CSV: cc -std=c99 -O2 -DSTEPNET_MAIN -o {name} {name}.c{math}; ./{name} < rows.csv",
        "",
        "Features, in order:",
        *features,
        *(["Classes:", *classes] if classes else []),
        "",
        *str(_size(forms)).splitlines(),
    ]
    return "/* " + "\n   ".join(lines).replace("   \n", "\n") + "\n*/\n"


def comment_text(text: str) -> str:
    """Text that cannot end a comment, begin one, or be read as a trigraph; ASCII alone."""
    plain = text.encode("ascii", "backslashreplace").decode("ascii")
    plain = "".join(c if " " <= c <= "~" else f"\\x{ord(c):02x}" for c in plain)
    for pair in ("*/", "/*", "??"):
        while pair in plain:
            plain = plain.replace(pair, f"{pair[0]} {pair[1]}")
    return plain.replace("@", "\0")


def c_string(text: str) -> str:
    """A string literal of the text in UTF-8: octal escapes, which cannot run into what follows."""
    if "\0" in text:
        raise InvalidInputError(f"the name {text!r} has a zero character, which C's strings cannot hold; rename it.")
    encoded = text.encode("utf-8", "surrogatepass")
    safe = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?@' else f"\\{b:03o}" for b in encoded)
    return f'"{safe}"'
