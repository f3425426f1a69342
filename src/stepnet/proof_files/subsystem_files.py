"""Subsystem files: rows that no neuron gets right together, with multipliers that prove it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence

import numpy as np

from stepnet.certificate.verification import Check
from stepnet.proof_files.claim import Claim, integer
from stepnet.proof_files.question import Watch
from stepnet.provers.oracle import is_true
from stepnet.provers.subsystem import Subsystem

SUBSYSTEMS = "subsystems.json"


def subsystems_text(subsystems: Iterable[Subsystem]) -> str:
    lines = ",\n".join(json.dumps([one.rows, one.multipliers]) for one in subsystems)
    return f"[\n{lines}\n]"


def read_subsystems(claim: Claim) -> list[Subsystem]:
    return [
        Subsystem(tuple(map(integer, rows)), tuple(map(integer, multipliers)))
        for rows, multipliers in claim.json(SUBSYSTEMS)
    ]


def check_subsystems(claim: Claim, subsystems: Sequence[Subsystem], watch: Watch) -> Check:
    words = f"{len(subsystems)} infeasible subsystems"
    begin, data = time.monotonic(), claim.dataset
    on = np.asarray(data.y == 1)
    for subsystem in subsystems:
        if watch.must_stop():
            return Check(words, None, "the time is up")
        if not is_true(subsystem, data.X, on):
            return Check(words, False, f"rows {subsystem.rows} are not a subsystem")
    return Check(words, True, f"each null vector checked in rational arithmetic ({time.monotonic() - begin:.1f} s)")
