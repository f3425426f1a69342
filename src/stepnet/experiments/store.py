"""Store: the records of finished cells, each in a file of its own that is there whole or not at all."""

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

    ``cells/NAME.json`` has one record; ``cells.json``, which :mod:`stepnet.experiments.output` writes, has all of
    them and does as well, so that results that were handed on without the folder ``cells`` need not be made again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / CELLS
        self.folder.mkdir(parents=True, exist_ok=True)
        self._handed_on = {str(one.get("name")): one for one in _read_list(folder / ALL_CELLS)}

    def get(self, cell: Cell) -> Record | None:
        """The record of a cell; None if it has none, or one that is damaged, of another cell, or an error."""
        for record in (_read(self.folder / f"{cell.name}.json"), self._handed_on.get(cell.name)):
            if record is not None and "error" not in record and _is_of(record, cell):
                return record
        return None

    def records(self) -> list[Record]:
        """All that the folder has, of whatever budget."""
        found = {path.stem: _read(path) for path in sorted(self.folder.glob("*.json"))}
        sound = {name: record for name, record in found.items() if record is not None and "error" not in record}
        return list((self._handed_on | sound).values())

    def error(self, cell: Cell) -> str:
        """What went wrong with a cell when it was last tried, if something did."""
        record = _read(self.folder / f"{cell.name}.json")
        return str(record.get("error", "")) if record else ""

    def put(self, cell: Cell, record: Record) -> Record:
        record = {"name": cell.name} | record
        write_atomically(self.folder / f"{cell.name}.json", json.dumps(record, indent=1, allow_nan=False) + "\n")
        return record


def _is_of(record: Record, cell: Cell) -> bool:
    return all(record.get(name) == value for name, value in cell.to_dict().items())


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
