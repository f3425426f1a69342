"""Pages of the gallery as notebooks: a page with a ``{notebook}`` block gets an .ipynb file beside it to download."""

from __future__ import annotations

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

_FENCE = re.compile(r"^```(?P<kind>[\w{}-]*)[^\n]*\n(?P<text>.*?)^```\s*$", re.DOTALL | re.MULTILINE)


def notebook(page: str) -> dict:
    """A page as a notebook: its text, its code, and what that prints."""
    cells, end = [], 0
    for fence in _FENCE.finditer(page):
        _add_text(cells, page[end : fence.start()])
        end = fence.end()
        if fence["kind"] == "python":
            cells.append(_cell("code", fence["text"]) | {"execution_count": None, "outputs": []})
        elif fence["kind"] == "text" and cells and cells[-1]["cell_type"] == "code":
            stream = {"output_type": "stream", "name": "stdout", "text": fence["text"].splitlines(keepends=True)}
            cells[-1]["outputs"].append(stream)
        elif fence["kind"] != "{notebook}":
            _add_text(cells, fence[0])
    _add_text(cells, page[end:])
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _add_text(cells: list[dict], text: str) -> None:
    if text.strip():
        # Pictures are beside the site's pages, not beside a notebook: there the code draws them.
        cells.append(_cell("markdown", re.sub(r"^!\[.*\n?", "", text.strip("\n"), flags=re.MULTILINE)))


def _cell(kind: str, text: str) -> dict:
    return {"cell_type": kind, "metadata": {}, "source": text.rstrip("\n").splitlines(keepends=True)}


class NotebookDirective(SphinxDirective):
    """A link to the notebook of this page."""

    def run(self):
        name = Path(self.env.docname).name
        link = f'<p><a href="{name}.ipynb" download>This page as a notebook</a></p>'
        self.env.metadata[self.env.docname]["notebook"] = True
        return [nodes.raw("", link, format="html")]


def _write(app, error):
    if error is not None or app.builder.format != "html":
        return
    for name, metadata in app.env.metadata.items():
        if metadata.get("notebook"):
            page = Path(app.env.doc2path(name)).read_text(encoding="utf-8")
            target = Path(app.outdir) / f"{name}.ipynb"
            target.write_text(json.dumps(notebook(page), indent=1) + "\n", encoding="utf-8")


def setup(app):
    app.add_directive("notebook", NotebookDirective)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True}
