"""Plan: which cells an experiment has, and how long each may take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stepnet.errors import InvalidInputError
from stepnet.experiments.cell import N_FOLDS, PAPER_SEED, Cell
from stepnet.experiments.contenders import DNNS, FOUR, OURS

SPLIT_WIDTHS = (25, 50)
SHUFFLE_WIDTHS = (25,)
FIGURE_WIDTHS = (20, 50, 100)
N_SHUFFLES = 10
ROBUST_WIDTH, ROBUST_ROWS = 20, 20
ROBUST_RADII = (0.1, 0.3, 0.6)


@dataclass(frozen=True)
class Scale:
    """How many random instances of how many rows, and the seconds that a cell may take."""

    name: str
    n_instances: int
    sizes: tuple[int, ...]
    split_limit: float  # Tables 1 and 2, the paper's methods
    shuffle_limit: float  # Table 3, the paper's methods
    figure_limit: float  # Figures 1 and 2, the paper's methods
    own_limit: float  # our methods, in every experiment
    joint_limit: float  # the paper's robust training

    def describe(self) -> str:
        return (
            f"{self.n_instances} random instances of {', '.join(map(str, self.sizes))} rows; seconds a cell at most: "
            f"the paper's methods {self.split_limit:g} in Tables 1 and 2, {self.shuffle_limit:g} in Table 3, "
            f"{self.figure_limit:g} in the figures, {self.joint_limit:g} for robust training; ours {self.own_limit:g}"
        )


EFFORTS = {
    effort.name: effort
    for effort in (
        Scale("quick", 3, (20, 80, 160), 20.0, 5.0, 5.0, 4.0, 20.0),
        Scale("full", 10, (20, 40, 80, 160), 300.0, 60.0, 60.0, 30.0, 300.0),
    )
}
# The parts, and the experiment whose cells each one shows.
PARTS = {"table1": "split", "table2": "split", "table3": "shuffles", "figures": "figures", "robust": "robust"}


def parts_of(which: str) -> tuple[str, ...]:
    """The parts that a word on the command line names."""
    if which == "all":
        return tuple(PARTS)
    if which not in PARTS:
        raise InvalidInputError(f"{which} is not known; choose one of {', '.join(PARTS)} or all.")
    return (which,)


def effort_of(budget: str) -> Scale:
    if budget not in EFFORTS:
        raise InvalidInputError(f"--budget {budget} is not known; choose {' or '.join(EFFORTS)}.")
    return EFFORTS[budget]


def cells_of(parts: Sequence[str], effort: Scale) -> list[Cell]:
    """The cells of some parts, each once; Tables 1 and 2 share theirs."""
    cells: list[Cell] = []
    if {"table1", "table2", "table3"} & set(parts):
        cells += _choice(effort)
    if {"table1", "table2"} & set(parts):
        cells += _split(effort)
    if "table3" in parts:
        cells += _shuffles(effort)
    if "robust" in parts:
        cells += _robust(effort)
    if "figures" in parts:
        cells += _figures(effort)
    return cells


def _choice(effort: Scale) -> Iterator[Cell]:
    """Which of our methods is the one to compare, asked of the training rows alone."""
    for width in SPLIT_WIDTHS:
        for method in OURS:
            for fold in range(N_FOLDS):
                yield Cell("choice", "folds", fold, None, width, method, effort.own_limit)


def _split(effort: Scale) -> Iterator[Cell]:
    for width in SPLIT_WIDTHS:
        for method in (*FOUR, *DNNS, *OURS):
            limit = effort.split_limit if method in FOUR else effort.own_limit
            yield Cell("split", "breast_cancer", PAPER_SEED, None, width, method, limit)


def _shuffles(effort: Scale) -> Iterator[Cell]:
    for seed in range(N_SHUFFLES):
        for width in SHUFFLE_WIDTHS:
            for method in (*FOUR, *DNNS, *OURS):
                limit = effort.shuffle_limit if method in FOUR else effort.own_limit
                yield Cell("shuffles", "breast_cancer", seed, None, width, method, limit)


def _robust(effort: Scale) -> Iterator[Cell]:
    for seed in range(effort.n_instances):
        for radius in ROBUST_RADII:
            for method in ("robust", "moved"):
                yield Cell("robust", "random", seed, ROBUST_ROWS, ROBUST_WIDTH, method, effort.own_limit, radius)
    for radius in ROBUST_RADII:
        yield Cell("robust", "random", 0, ROBUST_ROWS, ROBUST_WIDTH, "joint", effort.joint_limit, radius)


def _figures(effort: Scale) -> Iterator[Cell]:
    """The largest and the smallest first: a run that is cut short has the ends of every curve."""
    for n_rows in sorted(effort.sizes, key=lambda size: (size not in (max(effort.sizes), min(effort.sizes)), -size)):
        for seed in range(effort.n_instances):
            for width in FIGURE_WIDTHS:
                for method in ("exact", "heuristic", *DNNS, *OURS):
                    limit = effort.figure_limit if method in FOUR else effort.own_limit
                    yield Cell("figures", "random", seed, n_rows, width, method, limit)
