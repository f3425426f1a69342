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
            item = nodes.list_item()
            for name in re.findall(r"\w+", layer):
                if purpose := _purpose(ROOT / "src" / "stepnet" / name):
                    paragraph = nodes.paragraph()
                    paragraph += [nodes.literal(text=name), nodes.Text(f": {purpose}")]
                    item += paragraph
            if item.children:
                listed += item
        return [listed]


def _purpose(path):
    """The first line of a module's docstring, or what is in a folder; nothing if neither is there."""
    if path.is_dir():
        return ", ".join(sorted(file.stem for file in path.glob("*.py") if not file.stem.startswith("_")))
    file = path.with_suffix(".py")
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0] if file.exists() else ""
