"""The paper's Figures 1 and 2: accuracy and runtime over the number of training rows."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.errors import MissingExtraError
from stepnet.experiments.contenders import CONTENDERS
from stepnet.experiments.measure import Record
from stepnet.experiments.results import Results, accuracies, seconds

# Okabe and Ito's colours, which colour-blind people can distinguish; markers and dashes for printing in grey.
_STYLES = {
    "exact": ("#D55E00", "s", "-"),
    "heuristic": ("#E69F00", "D", "--"),
    "dnn": ("#000000", "o", ":"),
    "dnn_keras": ("#777777", "v", ":"),
    "prove": ("#0072B2", "^", "-"),
    "learn": ("#009E73", "P", "--"),
    "ensemble": ("#CC79A7", "X", "--"),
    "robust": ("#56B4E9", "*", "--"),
}


@dataclass(frozen=True)
class Plot:
    """A figure as PNG and SVG, with a description for readers who cannot see it."""

    key: str
    title: str
    description: str
    png: bytes
    svg: bytes


def require_matplotlib() -> None:
    """Raise before hours of work, not afterwards, if figures cannot be drawn."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"tables and figures need {error.name}. Install it with: pip install 'stepnet[report]'"
        ) from error


@dataclass(frozen=True)
class _Quantity:
    """What is plotted over the number of training rows."""

    number: int
    name: str
    unit: str
    is_time: bool

    def values(self, records: Sequence[Record]) -> Any:
        return np.array([seconds(record) for record in records]) if self.is_time else accuracies(records)

    def band(self, values: Any) -> tuple[float, float]:
        if self.is_time:
            return values.min(), values.max()
        return values.mean() - values.std(), values.mean() + values.std()

    @property
    def band_in_words(self) -> str:
        return "from the fastest to the slowest instance" if self.is_time else "one standard deviation"


_QUANTITIES = (_Quantity(1, "Test accuracy", "%", is_time=False), _Quantity(2, "Runtime", "s", is_time=True))


def figures_of(results: Results) -> list[Plot]:
    """Both figures, if there are records for them."""
    return [_drawn(results, quantity) for quantity in _QUANTITIES] if results.of("figures") else []


def _drawn(results: Results, quantity: _Quantity) -> Plot:
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawing

    widths, sizes = results.values("figures", "width"), results.values("figures", "n_rows")
    methods = [method for method in results.methods("figures") if method in _STYLES]
    n_instances = len(results.values("figures", "seed"))
    title = f"Figure {quantity.number}. {quantity.name}, random data, {n_instances} instances"
    png, svg = io.BytesIO(), io.BytesIO()
    with mpl.rc_context({"font.size": 10, "svg.hashsalt": "stepnet", "svg.fonttype": "none"}):
        drawing = Drawing(figsize=(4.0 * len(widths), 4.6), layout="constrained")
        axes = np.atleast_1d(drawing.subplots(1, len(widths), sharey=True))
        for ax, width in zip(axes, widths, strict=True):
            for method in methods:
                _draw_curve(ax, results, quantity, method, width)
            limit = results.effort.figure_limit
            line, words = (limit, f"limit {limit:g} s") if quantity.is_time else (100 * 5 / 6, "best to expect, 83.3 %")
            ax.axhline(line, color="#555555", linewidth=0.8, linestyle=(0, (2, 2)), label=words)
            ax.set(title=f"$d_1 = {width}$", xlabel="training rows $m$", xticks=sizes)
            ax.set_yscale("log" if quantity.is_time else "linear")
            ax.grid(alpha=0.3)
        axes[0].set_ylabel(f"{quantity.name.lower()} ({quantity.unit})")
        handles, labels = axes[0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=(len(methods) + 2) // 2, frameon=False)
        drawing.savefig(png, dpi=160, format="png")
        drawing.savefig(svg, format="svg", metadata={"Title": title, "Date": None})
    curves = ", ".join(CONTENDERS[method].title for method in methods)
    description = (
        f"{quantity.name} over {', '.join(map(str, sizes))} training rows; one panel per number of hidden neurons "
        f"({', '.join(map(str, widths))}), one curve of means per method ({curves}). Bands: {quantity.band_in_words}."
    )
    return Plot(f"figure{quantity.number}", title, description, png.getvalue(), svg.getvalue())


def _draw_curve(ax: Any, results: Results, quantity: _Quantity, method: str, width: int) -> None:
    """The mean over the instances, and a band around it."""
    color, marker, dashes = _STYLES[method]
    points = []
    for n_rows in results.values("figures", "n_rows"):
        values = quantity.values(results.of("figures", method=method, width=width, n_rows=n_rows))
        if len(values):
            points.append((n_rows, values.mean(), *quantity.band(values)))
    sizes, means, low, high = np.array(points).reshape(-1, 4).T
    ax.fill_between(sizes, low, high, color=color, alpha=0.12, linewidth=0)
    ax.plot(sizes, means, color=color, marker=marker, linestyle=dashes, markersize=5, label=CONTENDERS[method].title)
