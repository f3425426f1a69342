"""Subsystem: a few rows that no neuron gets right together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Subsystem:
    """Rows that no neuron gets right together, with the proof: positive integers with Σ multiplier · ±(x, 1) = 0."""

    rows: tuple[int, ...]
    multipliers: tuple[int, ...]
