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


def radii_shown(found: Attacks, radii: Sequence[float]) -> list[float]:
    """The given radii; if there are none, 0 and quantiles of those found."""
    finite = found.radii[np.isfinite(found.radii) & (found.radii > 0)]
    quantiles = np.quantile(finite, [0.1, 0.25, 0.5, 0.75, 0.9]).tolist() if len(finite) else []
    return sorted(radii) or sorted({0.0, *(float(f"{one:.4g}") for one in quantiles)})


def table_of_shares(found: Attacks, radii: Sequence[float]) -> str:
    """The share of rows that no perturbation up to a radius makes wrong."""
    lines = [f"{len(found.radii)} rows, {np.isinf(found.radii).sum()} of them cannot be changed by any perturbation"]
    if not found.are_complete.all():
        lines.append(f"{(~found.are_complete).sum()} rows reached the limit of the search; their radius may be larger")
    lines.append(f"{'radius':>10} {'certified':>10}")
    lines += [f"{radius:10.4g} {100 * found.certified(radius):8.1f} %" for radius in radii_shown(found, radii)]
    return "\n".join(lines)


def write_csv(found: Attacks, classifier: Any, given: ModelRows, path: Path) -> None:
    """One line per row: radius, size of the perturbation, the prediction after it, and the perturbed row."""
    names, points = given.present(found.points)
    cells = np.full((len(points), 1 + len(names)), "", dtype=object)
    changed = np.isfinite(found.sizes)
    if changed.any():
        after = given.columns.after_operations(found.points[changed])
        cells[changed, 0], cells[changed, 1:] = classifier.predict(after), points[changed]
    rows = [[*pair, *row] for *pair, row in zip(found.radii.tolist(), found.sizes.tolist(), cells, strict=True)]
    write_rows(path, ["radius", "size", "prediction", *names], rows)


def draw(found: Attacks, norm: str, path: Path) -> None:
    """Plot the certified share over the radius."""
    from matplotlib.figure import Figure

    finite = np.sort(found.radii[np.isfinite(found.radii)])
    ends = np.concatenate([[0.0], finite, [1.05 * finite[-1] if len(finite) else 1.0]])
    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.subplots()
    ax.step(ends, [100 * found.certified(end) for end in ends], where="post")
    ax.set(xlabel=f"radius in {norm}", ylabel="certified rows, %", ylim=(0, 102), xlim=(0, ends[-1]))
    ax.grid(alpha=0.3)
    write_plot(figure, path)
