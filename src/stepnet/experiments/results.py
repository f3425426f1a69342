"""Results: the records of a run, and which cells are missing and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepnet.experiments.cell import Cell
from stepnet.experiments.contenders import CONTENDERS, OURS
from stepnet.experiments.machine import machine
from stepnet.experiments.measure import Record
from stepnet.experiments.plan import Scale
from stepnet.experiments.store import Store

NOT_RUN = "not run yet; the same command resumes where it stopped"


@dataclass(frozen=True)
class Results:
    """The records of some parts of the experiments."""

    parts: tuple[str, ...]
    effort: Scale
    records: tuple[Record, ...]
    missing: tuple[tuple[Cell, str], ...] = ()  # cells without a record, and why
    has_errors: bool = False
    machine: dict[str, str] = field(default_factory=machine)

    @classmethod
    def read(cls, parts: tuple[str, ...], effort: Scale, cells: Sequence[Cell], store: Store) -> Results:
        found = [(cell, store.get(cell)) for cell in cells]
        lacking = [cell for cell, record in found if record is None]
        reasons = (store.error(cell) or CONTENDERS[cell.method].lacks() or NOT_RUN for cell in lacking)
        records = tuple(record for _, record in found if record is not None)
        missing = tuple(zip(lacking, reasons, strict=True))
        return cls(parts, effort, records, missing, has_errors=any(map(store.error, lacking)))

    def of(self, experiment: str, **wanted: Any) -> list[Record]:
        """The records of an experiment with the given values."""
        return [
            record
            for record in self.records
            if record["experiment"] == experiment and all(record[name] == value for name, value in wanted.items())
        ]

    def methods(self, experiment: str) -> list[str]:
        """The methods that an experiment has records of, in the order of the tables."""
        present = {record["method"] for record in self.of(experiment)}
        return [key for key in CONTENDERS if key in present]

    def values(self, experiment: str, name: str) -> list[Any]:
        """The distinct values of a field, sorted."""
        return sorted({record[name] for record in self.of(experiment)})

    def reasons(self, experiment: str | None = None) -> Counter[str]:
        """Why cells are missing, in all experiments or in one, and how many for each reason."""
        return Counter(reason for cell, reason in self.missing if experiment in (None, cell.experiment))

    @property
    def chosen(self) -> str:
        """Our method with the best accuracy on held-out training rows, over all widths; empty without such records."""
        scores = {method: accuracies(self.of("choice", method=method)) for method in OURS}
        means = {method: float(np.mean(found)) for method, found in scores.items() if len(found)}
        return max(means, key=lambda method: means[method], default="")

    @property
    def dates(self) -> str:
        """The day, or the first and last day, on which the cells were run."""
        days = sorted(record["when"][:10] for record in self.records)
        return "" if not days else days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"


def accuracies(records: Sequence[Record]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """In per cent, of the records that have a network."""
    return 100 * np.array([record["accuracy"] for record in records if "accuracy" in record], dtype=np.float64)


def seconds(record: Record) -> float:
    """Time-outs count as the limit."""
    return float(record["seconds"] if record.get("is_finished", True) else record["time_limit"])


def is_false(record: Record) -> bool:
    """Whether the loss claimed for the network is false."""
    return record.get("claim_is_true") is False
