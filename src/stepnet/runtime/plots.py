"""Plots: whether they can be drawn, asked before the work and not after it."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from stepnet.errors import InvalidInputError, MissingExtraError
from stepnet.runtime.files import write_atomically


def require_plots(path: str | os.PathLike[str]) -> None:
    """Raise if there is no matplotlib, or none that writes such a file."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError as error:
        raise MissingExtraError(f"plots need {error.name}. Install it with: pip install 'stepnet[report]'") from error
    known = FigureCanvasAgg.get_supported_filetypes()
    if _ending(path) not in known:
        raise InvalidInputError(f"{str(path)!r} is no name of a picture; end it with .png, .svg or .pdf.")


def write_plot(figure: Any, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Write a figure of matplotlib, whole or not at all."""
    content = io.BytesIO()
    figure.savefig(content, format=_ending(path), dpi=dpi)
    write_atomically(path, content.getvalue())


def _ending(path: str | os.PathLike[str]) -> str:
    return Path(path).suffix.lower().removeprefix(".")
