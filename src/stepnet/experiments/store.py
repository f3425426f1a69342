"""Store: the records of finished cells, each in its own file, which is written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

from stepnet.experiments.cell import Cell
from stepnet.experiments.measure import Record
from stepnet.runtime.files import write_atomically

CELLS = "cells"
ALL_CELLS = "cells.json"


class Store:
    """The cells of one folder.

    ``cells/NAME.json`` holds one record. ``cells.json``, written by :mod:`stepnet.experiments.output`, holds all of
    them and is read too, so that results can be passed on without the folder ``cells``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / CELLS
        self.folder.mkdir(parents=True, exist_ok=True)
        self._passed_on = {str(one.get("name")): one for one in _read_list(folder / ALL_CELLS)}

    def get(self, cell: Cell) -> Record | None:
        """The record of a cell; None if it is missing, damaged, an error, or of another cell."""
        for record in (_read(self.folder / f"{cell.name}.json"), self._passed_on.get(cell.name)):
            if record is not None and "error" not in record and cell.to_dict().items() <= record.items():
                return record
        return None

    def records(self) -> list[Record]:
        """All records of the folder, whatever their budget."""
        found = {path.stem: _read(path) for path in sorted(self.folder.glob("*.json"))}
        sound = {name: record for name, record in found.items() if record is not None and "error" not in record}
        return list((self._passed_on | sound).values())

    def error(self, cell: Cell) -> str:
        """The error of a cell's last run; empty if there was none."""
        record = _read(self.folder / f"{cell.name}.json")
        return str(record.get("error", "")) if record else ""

    def put(self, cell: Cell, record: Record) -> None:
        text = json.dumps({"name": cell.name} | record, indent=1, allow_nan=False)
        write_atomically(self.folder / f"{cell.name}.json", f"{text}\n")


def _read(path: Path) -> Record | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _read_list(path: Path) -> list[Record]:
    try:
        records = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [record for record in records if isinstance(record, dict)]
    except (OSError, ValueError, KeyError, TypeError):
        return []
