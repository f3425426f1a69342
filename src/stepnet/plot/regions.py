"""Where a classifier gives which answer, for two features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from stepnet.errors import InvalidInputError
from stepnet.model.arithmetic import Floats
from stepnet.plot.axes import axes, fitted


class RegionsDisplay:
    """The regions of answers in the plane of two features, with the lines of the first layer.

    Parameters
    ----------
    x, y : ndarray
        The numbers of the two features at which answers were computed.
    codes : ndarray of shape (len(y), len(x))
        The answers, as numbers of classes.
    classes : ndarray
    lines : tuple of ndarray
        Weights and thresholds of the first layer in the two features, for the lines.
    names : tuple of str
        Of the two features.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    surface_ : matplotlib collection
    """

    ax_: Any
    figure_: Any

    def __init__(
        self,
        x: Floats,
        y: Floats,
        codes: NDArray[np.int64],
        classes: NDArray[Any],
        lines: tuple[Floats, Floats],
        names: tuple[str, str],
    ) -> None:
        self.x, self.y, self.codes, self.classes, self.lines, self.names = x, y, codes, classes, lines, names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        features: tuple[int, int] = (0, 1),
        grid: int = 300,
        ax: Any = None,
    ) -> Self:
        """Of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
        X : array-like of shape (n_rows, n_features)
            Rows that set the ranges, and are drawn if they have labels. Features that are not drawn have their median.
        labels : array-like of shape (n_rows,), optional
        features : pair of int
            The two that are drawn.
        grid : int
            Points per feature at which the answer is computed.
        ax : matplotlib axes, optional
        """
        known, rows = fitted(estimator, "network_"), np.asarray(X, dtype=np.float64)
        if not is_classifier(known):
            raise InvalidInputError("RegionsDisplay is for classifiers; a regressor has numbers, not regions.")
        first, a, b = known.network_.layers[0], *features
        if rows.ndim != 2 or rows.shape[1] != known.network_.n_features or not a != b:
            raise InvalidInputError(
                f"X must have the {known.network_.n_features} features of the model, and features= two of them."
            )
        x, y = (_ends(rows[:, i], grid) for i in (a, b))
        points = np.repeat(np.median(rows, axis=0)[None], grid * grid, axis=0)
        points[:, a], points[:, b] = (part.ravel() for part in np.meshgrid(x, y))
        codes = known.network_.predict(points).reshape(grid, grid)
        others = np.delete(np.arange(rows.shape[1]), [a, b])
        ends = first.thresholds.reshape(first.width, -1)[:, 0]
        lines = first.weights[:, [a, b]], ends - first.weights[:, others] @ np.median(rows, axis=0)[others]
        names = getattr(known, "feature_names_in_", [f"x{i}" for i in range(rows.shape[1])])
        display = cls(x, y, codes, known.classes_, lines, (str(names[a]), str(names[b]))).plot(ax)
        if labels is not None:
            display._scatter(rows[:, [a, b]], np.asarray(labels))
        return display

    def plot(self, ax: Any = None) -> Self:
        self.figure_, self.ax_ = axes(ax, (5.6, 4.6))
        n_classes = len(self.classes)
        self.surface_ = self.ax_.pcolormesh(
            self.x, self.y, self.codes, cmap="tab10" if n_classes > 2 else "coolwarm", alpha=0.3,
            vmin=0, vmax=9 if n_classes > 2 else 1, shading="nearest",
        )  # fmt: skip
        for weights, end in zip(*self.lines, strict=True):
            self._line(weights, float(end))
        ends = (self.x[0], self.x[-1]), (self.y[0], self.y[-1])
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1], xlim=ends[0], ylim=ends[1])
        return self

    def _line(self, weights: Floats, end: float) -> None:
        if not weights.any():
            return
        if abs(weights[1]) >= abs(weights[0]):
            x = self.x[[0, -1]]
            self.ax_.plot(x, (end - weights[0] * x) / weights[1], color="0.35", linewidth=0.8)
        else:
            y = self.y[[0, -1]]
            self.ax_.plot((end - weights[1] * y) / weights[0], y, color="0.35", linewidth=0.8)

    def _scatter(self, rows: Floats, labels: NDArray[Any]) -> None:
        import matplotlib as mpl

        n_classes = len(self.classes)
        colours = mpl.colormaps["tab10" if n_classes > 2 else "coolwarm"]
        for code, (label, marker) in enumerate(zip(self.classes.tolist(), "osD^vP*X<>" * n_classes, strict=False)):
            own = rows[labels == label]
            colour = colours(code if n_classes > 2 else float(code))
            self.ax_.scatter(*own.T, color=colour, marker=marker, s=22, edgecolor="k", linewidth=0.4, label=str(label))
        # Above the picture, where it hides no row.
        self.ax_.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(n_classes, 5), frameon=False)


def _ends(column: Floats, grid: int) -> Floats:
    room = 0.05 * (column.max() - column.min() or 1.0)
    return np.linspace(column.min() - room, column.max() + room, grid)
