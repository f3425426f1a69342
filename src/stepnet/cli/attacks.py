"""The output of the command ``attack``: a table, a CSV file and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stepnet.cli.output import write_rows
from stepnet.runtime.plots import write_plot

if TYPE_CHECKING:
    from stepnet.tables.training import ModelRows
    from stepnet.uncertainty.attack import Attacks


_LIMITS = {None: "limit of the search", "time": "time limit", "interrupted": "interrupt"}


def radii_shown(found: Attacks, radii: Sequence[float]) -> list[float]:
    """The given radii; if there are none, 0 and quantiles of those found."""
    finite = found.radii[np.isfinite(found.radii) & (found.radii > 0)]
    quantiles = np.quantile(finite, [0.1, 0.25, 0.5, 0.75, 0.9]).tolist() if len(finite) else []
    return sorted(radii) or sorted({0.0, *(float(f"{one:.4g}") for one in quantiles)})


def table_of_shares(found: Attacks, radii: Sequence[float]) -> str:
    """The shares of rows that no perturbation up to a radius makes wrong, that one does, and that are not decided."""
    lines = [f"{len(found.radii)} rows, {np.isinf(found.radii).sum()} of them cannot be changed by any perturbation"]
    is_open = not found.are_complete.all()
    if is_open:
        n_open = int((~found.are_complete).sum())
        lines.append(f"{n_open} rows reached the {_LIMITS[found.stop_reason]}: their radius lies in an interval")
    lines.append(f"{'radius':>10} {'certified':>10}" + (f" {'broken':>10} {'open':>10}" if is_open else ""))
    for radius in radii_shown(found, radii):
        certified, broken = found.certified(radius), found.broken(radius)
        shares = [certified, broken, 1 - certified - broken] if is_open else [certified]
        lines.append(f"{radius:10.4g}" + "".join(f" {100 * abs(share):8.1f} %" for share in shares))
    return "\n".join(lines)


def write_csv(found: Attacks, classifier: Any, given: ModelRows, path: Path) -> None:
    """One line per row: radius, size of the perturbation, whether they meet, the prediction after it, and the row."""
    names, points = given.present(found.points)
    cells = np.full((len(points), 1 + len(names)), "", dtype=object)
    changed = np.isfinite(found.sizes)
    if changed.any():
        after = given.columns.after_operations(found.points[changed])
        cells[changed, 0], cells[changed, 1:] = classifier.predict(after), points[changed]
    numbers = zip(found.radii.tolist(), found.sizes.tolist(), found.are_complete.tolist(), strict=True)
    rows = [[*own, *row] for own, row in zip(numbers, cells, strict=True)]
    write_rows(path, ["radius", "size", "complete", "prediction", *names], rows)


def draw(found: Attacks, norm: str, path: Path) -> None:
    """Plot the certified share over the radius, and what it could be at most where rows are not decided."""
    from matplotlib.figure import Figure

    numbers = np.append(found.radii, found.sizes)
    finite = np.sort(numbers[np.isfinite(numbers)])
    ends = np.concatenate([[0.0], finite, [1.05 * finite[-1] if len(finite) else 1.0]])
    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.subplots()
    certified = [100 * found.certified(end) for end in ends]
    ax.step(ends, certified, where="post", label="certified")
    if not found.are_complete.all():
        most = [100 * (1 - found.broken(end)) for end in ends]
        ax.fill_between(ends, certified, most, step="post", alpha=0.2, label="not decided")
        ax.legend()
    ax.set(xlabel=f"radius in {norm}", ylabel="certified rows, %", ylim=(0, 102), xlim=(0, ends[-1]))
    ax.grid(alpha=0.3)
    write_plot(figure, path)
