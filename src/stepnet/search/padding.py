"""The kernels hold all layers in one padded array; that has a limit."""

from __future__ import annotations

from stepnet.errors import YES, Answer
from stepnet.problem.architecture import Architecture

_MOST_WEIGHTS = 50_000_000  # padded, in all layers


def accepts_width(architecture: Architecture) -> Answer:
    """Whether the padded weights of all layers fit."""
    widths = (architecture.n_features, *architecture.widths)
    if len(widths) * max(widths[1:]) * max(widths[:-1]) > _MOST_WEIGHTS:
        return Answer(f"hidden={architecture.hidden} is too wide to search; use fewer neurons.")
    return YES
