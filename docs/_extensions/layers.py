"""The directive ``layers``: the order of imports, from pyproject.toml, with what each part is by its own docstring."""

import ast
import re
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]


def setup(app):
    app.add_directive("layers", Layers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class Layers(SphinxDirective):
    """A list item a layer, highest first."""

    def run(self):
        settings = ROOT / "pyproject.toml"
        self.env.note_dependency(str(settings))
        (contract,) = tomllib.loads(settings.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
        listed = nodes.enumerated_list()
        for layer in contract["layers"]:
            parts = {name: _purpose(ROOT / "src" / "stepnet" / name) for name in re.findall(r"\w+", layer)}
            lines = [_line(name, purpose) for name, purpose in parts.items() if purpose]
            if lines:  # a part in brackets may not be there
                listed += nodes.list_item("", nodes.line_block("", *lines))
        return [listed]


def _line(name, purpose):
    line = nodes.line("", "", nodes.literal(text=name), nodes.Text(f": {purpose}"))
    line.indent = 0
    return line


def _purpose(path):
    """The first line of the docstring of a module or a package; nothing if neither is there."""
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not file.exists():
        return ""
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].replace("``", "")
