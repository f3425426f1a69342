"""Subsystem: a few rows that no neuron gets right together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Subsystem:
    """Rows that no neuron gets right together, and why: Σ multiplier · ±(x, 1) = 0 with positive integers."""

    rows: tuple[int, ...]
    multipliers: tuple[int, ...]
