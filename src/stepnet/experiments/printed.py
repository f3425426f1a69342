"""The numbers printed in the paper, in per cent, by method and number of hidden neurons."""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    """One line of the paper's Tables 1 and 2; the DNN has no gap."""

    accuracy: float
    gap: float | None
    precision: float
    recall: float
    f1: float


class PrintedShuffles(NamedTuple):
    """One line of the paper's Table 3: accuracy over ten shuffles."""

    average: float
    maximum: float
    minimum: float


SPLIT: dict[tuple[str, int], Printed] = {
    ("exact", 25): Printed(69.3, 0.0, 48.0, 69.3, 56.7),
    ("exact_0", 25): Printed(83.6, 0.0, 83.2, 83.6, 83.1),
    ("heuristic", 25): Printed(95.0, 0.0, 95.0, 95.0, 95.0),
    ("heuristic_0", 25): Printed(30.0, 0.0, 38.7, 30.0, 17.6),
    ("dnn", 25): Printed(91.4, None, 91.8, 91.4, 91.5),
    ("exact", 50): Printed(69.3, 0.0, 63.6, 69.3, 58.0),
    ("exact_0", 50): Printed(84.3, 0.51, 86.4, 84.3, 84.7),
    ("heuristic", 50): Printed(89.3, 0.0, 91.5, 89.3, 89.6),
    ("heuristic_0", 50): Printed(71.4, 0.0, 74.6, 71.4, 72.3),
    ("dnn", 50): Printed(91.4, None, 91.4, 91.4, 91.3),
}

SHUFFLES: dict[tuple[str, int], PrintedShuffles] = {
    ("heuristic", 25): PrintedShuffles(93.2, 97.1, 85.0),
    ("dnn", 25): PrintedShuffles(89.1, 91.4, 85.7),
}
