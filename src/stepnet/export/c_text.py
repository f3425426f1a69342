"""C as text: templates, tables and constants.

The routines are the files in ``templates``. In them ``@`` stands for the model's prefix, and ``$name`` for a value
that the model fills in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from string import Template

from stepnet.errors import InvalidInputError

_INTEGERS = {"int8": 2**7, "int16": 2**15, "int32": 2**31, "int64": 2**63}


def filled(template: str, **values: object) -> str:
    """A template with its names filled in; values that it does not name are ignored."""
    return _template(template).substitute(values)


@cache
def _template(name: str) -> Template:
    return Template(files("stepnet.export").joinpath("templates", f"{name}.c").read_text(encoding="utf-8"))


def table(declaration: str, items: Iterable[object]) -> str:
    """A constant table in lines of a readable length."""
    lines = ["   "]
    for item in items:
        if len(lines[-1]) > 100:
            lines.append("   ")
        lines[-1] += f" {item},"
    return f"static const {declaration}[] = {{\n" + "\n".join(lines) + "\n};\n"


def indented(lines: Iterable[str], by: int = 4) -> str:
    return "\n".join(" " * by + line for line in lines)


def listed(texts: Sequence[str]) -> str:
    """String constants, one per line."""
    return indented(f"{c_string(text)}," for text in texts)


def int_type(values: Iterable[int]) -> str:
    """The smallest C type that holds all values."""
    largest = max(map(abs, values))
    return next(name for name, end in _INTEGERS.items() if largest < end)


def type_bytes(name: str) -> int:
    return int(name.removeprefix("int")) // 8


def literal(value: int) -> str:
    """An integer constant of up to 64 bits; C cannot write the smallest 32-bit integer as a number."""
    if value == -(2**31):
        return "INT32_MIN"
    return str(value) if abs(value) < 2**31 else f"INT64_C({value})"


def comment_text(text: str) -> str:
    """ASCII text that cannot begin or end a comment, or be read as a trigraph."""
    plain = text.encode("ascii", "backslashreplace").decode("ascii")
    plain = "".join(c if " " <= c <= "~" else f"\\x{ord(c):02x}" for c in plain)
    for pair in ("*/", "/*", "??"):
        while pair in plain:
            plain = plain.replace(pair, f"{pair[0]} {pair[1]}")
    return plain.replace("@", "\0")


def c_string(text: str) -> str:
    """A string literal of the text in UTF-8, with octal escapes, which cannot absorb the characters after them."""
    if "\0" in text:
        raise InvalidInputError(f"the name {text!r} has a null character, which C strings cannot hold; rename it.")
    encoded = text.encode("utf-8", "surrogatepass")
    safe = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?@' else f"\\{b:03o}" for b in encoded)
    return f'"{safe}"'


def with_prefix(source: str, name: str) -> str:
    """The source with ``name`` as the prefix of its names."""
    return source.replace("@", f"{name}_").replace("\0", "@")
