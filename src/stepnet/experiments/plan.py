"""The plan: which cells an experiment has, and the time limit of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from stepnet.errors import InvalidInputError
from stepnet.experiments.cell import N_FOLDS, PAPER_SEED, Cell
from stepnet.experiments.contenders import DNNS, FOUR, OURS

SPLIT_WIDTHS = (25, 50)
SHUFFLE_WIDTH = 25
FIGURE_WIDTHS = (20, 50, 100)
N_SHUFFLES = 10
ROBUST_WIDTH, ROBUST_ROWS = 20, 20
ROBUST_RADII = (0.1, 0.3, 0.6)


@dataclass(frozen=True)
class Scale:
    """The number and sizes of the random instances, and the time limits of cells in seconds."""

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
            f"{self.n_instances} random instances of {', '.join(map(str, self.sizes))} rows; seconds per cell at most: "
            f"the paper's methods {self.split_limit:g} in Tables 1 and 2, {self.shuffle_limit:g} in Table 3, "
            f"{self.figure_limit:g} in the figures, {self.joint_limit:g} for robust training; ours {self.own_limit:g}"
        )


EFFORTS = {
    "quick": Scale("quick", 3, (20, 80, 160), 20.0, 5.0, 5.0, 4.0, 20.0),
    "full": Scale("full", 10, (20, 40, 80, 160), 300.0, 60.0, 60.0, 30.0, 300.0),
}
# The experiment whose cells each part shows.
PARTS = {"table1": "split", "table2": "split", "table3": "shuffles", "figures": "figures", "robust": "robust"}


def parts_of(which: str) -> tuple[str, ...]:
    """The parts that the argument of the command names."""
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
    makers = {
        _choice: {"table1", "table2", "table3"},
        _split: {"table1", "table2"},
        _shuffles: {"table3"},
        _robust: {"robust"},
        _figures: {"figures"},
    }
    return [cell for make, shown_in in makers.items() if shown_in & set(parts) for cell in make(effort)]


def _choice(effort: Scale) -> Iterator[Cell]:
    """Which of our methods is compared with the paper's, decided on training rows alone."""
    for width, method, fold in product(SPLIT_WIDTHS, OURS, range(N_FOLDS)):
        yield Cell("choice", "folds", fold, None, width, method, effort.own_limit)


def _split(effort: Scale) -> Iterator[Cell]:
    for width, method in product(SPLIT_WIDTHS, (*FOUR, *DNNS, *OURS)):
        limit = effort.split_limit if method in FOUR else effort.own_limit
        yield Cell("split", "breast_cancer", PAPER_SEED, None, width, method, limit)


def _shuffles(effort: Scale) -> Iterator[Cell]:
    for seed, method in product(range(N_SHUFFLES), (*FOUR, *DNNS, *OURS)):
        limit = effort.shuffle_limit if method in FOUR else effort.own_limit
        yield Cell("shuffles", "breast_cancer", seed, None, SHUFFLE_WIDTH, method, limit)


def _robust(effort: Scale) -> Iterator[Cell]:
    for seed, radius, method in product(range(effort.n_instances), ROBUST_RADII, ("robust", "moved")):
        yield Cell("robust", "random", seed, ROBUST_ROWS, ROBUST_WIDTH, method, effort.own_limit, radius)
    for radius in ROBUST_RADII:
        yield Cell("robust", "random", 0, ROBUST_ROWS, ROBUST_WIDTH, "joint", effort.joint_limit, radius)


def _figures(effort: Scale) -> Iterator[Cell]:
    """The largest and the smallest size first, so that an interrupted run has the ends of every curve."""
    sizes = sorted(effort.sizes, key=lambda size: (size not in (max(effort.sizes), min(effort.sizes)), -size))
    methods = ("exact", "heuristic", *DNNS, *OURS)
    for n_rows, seed, width, method in product(sizes, range(effort.n_instances), FIGURE_WIDTHS, methods):
        limit = effort.figure_limit if method in FOUR else effort.own_limit
        yield Cell("figures", "random", seed, n_rows, width, method, limit)
