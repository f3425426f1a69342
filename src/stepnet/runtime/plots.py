"""Plots: whether they can be drawn, which is checked before the work, and how they are written."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from stepnet.errors import InvalidInputError, MissingExtraError
from stepnet.runtime.files import write_atomically


def require_plots(path: str | os.PathLike[str]) -> None:
    """Raise if matplotlib is not installed or cannot write such a file."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError as error:
        raise MissingExtraError(f"plots need {error.name}. Install it with: pip install 'stepnet[report]'") from error
    if _ending(path) not in FigureCanvasAgg.get_supported_filetypes():
        raise InvalidInputError(f"{str(path)!r} is not the name of a picture; it must end in .png, .svg or .pdf.")


def write_plot(figure: Any, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Write a matplotlib figure, completely or not at all."""
    content = io.BytesIO()
    figure.savefig(content, format=_ending(path), dpi=dpi)
    write_atomically(path, content.getvalue())


def _ending(path: str | os.PathLike[str]) -> str:
    return Path(path).suffix.lower().removeprefix(".")
