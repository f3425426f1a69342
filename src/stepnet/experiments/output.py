"""The files of a run: all cells as CSV and JSON, tables as Markdown and LaTeX, figures, and one HTML page."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from stepnet.experiments.figures import Plot, figures_of
from stepnet.experiments.measure import Record
from stepnet.experiments.results import Results
from stepnet.experiments.store import ALL_CELLS
from stepnet.experiments.table import ResultTable, csv_text
from stepnet.experiments.tables import tables_of
from stepnet.runtime.files import write_atomically

PAGE = "index.html"
_TITLE = "Training step networks by integer programming: the paper's experiments, run again"


def write_results(results: Results, records: list[Record], folder: Path) -> list[Path]:
    """Write all files and return their paths, the page first. ``records`` are all records of the folder."""
    tables, figures = tables_of(results), figures_of(results)
    content: dict[str, str | bytes] = {
        PAGE: _page(results, tables, figures),
        "results.md": _markdown(results, tables, figures),
        "cells.csv": _csv(records),
        ALL_CELLS: _json(results, records),
    }
    for table in tables:
        content[f"tables/{table.key}.md"] = table.markdown() + "\n"
        content[f"tables/{table.key}.tex"] = table.latex()
    for figure in figures:
        content[f"figures/{figure.key}.png"] = figure.png
        content[f"figures/{figure.key}.svg"] = figure.svg
    for name, one in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, one)
    return [folder / name for name in content]


def _facts(results: Results) -> dict[str, str]:
    """How the numbers were made."""
    n_cells = len(results.records) + len(results.missing)
    facts = {
        "budget": f"{results.effort.name}: {results.effort.describe()}",
        "cells": f"{len(results.records)} of {n_cells}",
        "run": results.dates,
    }
    return facts | results.machine


def _markdown(results: Results, tables: list[ResultTable], figures: list[Plot]) -> str:
    facts = "\n".join(f"- {name}: {value}" for name, value in _facts(results).items())
    pictures = [f"![{figure.description}](figures/{figure.key}.png)\n\n{figure.title}." for figure in figures]
    return "\n\n".join([f"# {_TITLE}", *(table.markdown() for table in tables), *pictures, "### Run", facts]) + "\n"


def _csv(records: list[Record]) -> str:
    names = list(dict.fromkeys(name for record in records for name in record))
    return csv_text([names, *([record.get(name) for name in names] for record in records)])


def _json(results: Results, records: list[Record]) -> str:
    missing = [{"cell": cell.name, "reason": reason} for cell, reason in results.missing]
    rounded = ({name: round(v, 6) if name == "seconds" else v for name, v in record.items()} for record in records)
    lines = ",\n".join(json.dumps(record, allow_nan=False) for record in rounded)
    head = json.dumps({"run": _facts(results), "missing": missing}, indent=1, allow_nan=False)
    return f'{head[:-2]},\n "cells": [\n{lines}\n]}}\n'


def _page(results: Results, tables: list[ResultTable], figures: list[Plot]) -> str:
    import jinja2

    loader = jinja2.PackageLoader("stepnet.experiments", "")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    pictures = [(figure, base64.b64encode(figure.svg).decode("ascii")) for figure in figures]
    page = environment.get_template("page.html.jinja")
    return page.render(title=_TITLE, tables=tables, pictures=pictures, facts=_facts(results))
