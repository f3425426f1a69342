"""Learning: what proposed sets of rows teach about a problem: neurons for them, or subsystems that forbid them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from stepnet.model.arithmetic import Bools
from stepnet.model.gates import Gate
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.provers.base import network_of
from stepnet.provers.oracle import Neuron, Oracle
from stepnet.provers.pool import Pool

_PACKINGS = 8  # per set of rows that is proposed
_ORDERING = 3  # rows per class that order neurons


def learn(
    problem: Problem, gate: Gate, oracle: Oracle, pool: Pool, right: Bools, should_stop: Callable[[], bool]
) -> tuple[Network | None, int]:
    """Add subsystems of proposed sets, one column per neuron, to the pool; how many are new.

    Also the network of the rows that remain, unless rounding leaves it open.
    """
    neurons: list[Neuron | None] = []
    n_before = len(pool)
    for rows in map(np.flatnonzero, right.T):
        for attempt in range(_PACKINGS):
            found, neuron = oracle.packing(rows, should_stop)
            if not attempt:
                neurons.append(neuron)
            if not found:
                break
            for subsystem in found:
                pool.add(subsystem)
    found_all = [neuron for neuron in neurons if neuron is not None]
    network = network_of(problem, gate, found_all) if len(found_all) == len(neurons) else None
    return network, len(pool) - n_before


def ordering_rows(pool: Pool, codes: Sequence[int]) -> list[int]:
    """The rows of each class that occur in most subsystems: those are where neurons differ first."""
    counts = np.bincount([row for subsystem in pool.subsystems for row in subsystem.rows], minlength=len(codes))
    by_count = np.argsort(-counts, kind="stable").tolist()
    return [row for code in (0, 1) for row in [row for row in by_count if codes[row] == code][:_ORDERING]]
