"""Bound: what no network can beat, for which networks, and how it is known."""

from __future__ import annotations

from dataclasses import dataclass

ALL_NETWORKS = "all networks"
CARRIED = "the earlier rows alone cost as much: "  # begins the proof of a bound for fewer rows


@dataclass(frozen=True)
class Bound:
    """A lower bound on the loss, for which networks it holds, and how it is known.

    ``scope`` says in words for which networks of the architecture it holds; ``claimed_by`` names the
    solver whose word it is, empty if it can be recomputed without one.
    """

    value: float = 0.0
    scope: str = ALL_NETWORKS
    proof: str = "a loss is never negative"
    claimed_by: str = ""
