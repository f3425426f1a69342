"""Pool: the subsystems found so far, shared by all neurons, gates and widths of a problem."""

from __future__ import annotations

from collections.abc import Iterable

from stepnet.problem.dataset import Dataset
from stepnet.provers.oracle import is_true
from stepnet.provers.subsystem import Subsystem


class Pool:
    """Distinct subsystems of the rows of a data set, in the order in which they were found."""

    def __init__(self, subsystems: Iterable[Subsystem] = ()) -> None:
        self.subsystems: list[Subsystem] = []
        self._known: set[tuple[int, ...]] = set()
        for subsystem in subsystems:
            self.add(subsystem)

    def __len__(self) -> int:
        return len(self.subsystems)

    def add(self, subsystem: Subsystem) -> bool:
        """Add a subsystem; whether it is new."""
        if subsystem.rows in self._known:
            return False
        self._known.add(subsystem.rows)
        self.subsystems.append(subsystem)
        return True

    def moved(self, old: Dataset, new: Dataset) -> Pool:
        """The subsystems whose rows are all in another data set, numbered as there."""
        if not self.subsystems:
            return Pool()  # without reading the rows, which may be many, or have numbers instead of classes
        numbers = {(row.tobytes(), int(code)): i for i, (row, code) in enumerate(zip(new.X, new.y, strict=True))}
        places = [numbers.get((row.tobytes(), int(code))) for row, code in zip(old.X, old.y, strict=True)]
        moved = Pool()
        for subsystem in self.subsystems:
            found = [(places[i], value) for i, value in zip(subsystem.rows, subsystem.multipliers, strict=True)]
            pairs = sorted((place, value) for place, value in found if place is not None)
            if len(pairs) == len(found):
                moved.add(Subsystem(tuple(place for place, _ in pairs), tuple(value for _, value in pairs)))
        return moved

    def is_true(self, dataset: Dataset) -> bool:
        """Whether every subsystem is one, in rational arithmetic."""
        return all(is_true(subsystem, dataset.X, dataset.y == 1) for subsystem in self.subsystems)
