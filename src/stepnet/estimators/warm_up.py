"""Warm up: compile every kernel now, rather than during the first fits."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from stepnet.proof_files.bit_sets import KERNELS as ENUMERATIONS
from stepnet.proof_files.propagation import KERNELS as CHECKS
from stepnet.proof_files.score_boxes import KERNELS as SCORE_BOXES
from stepnet.provers.cells import Cells
from stepnet.provers.cones import Cones
from stepnet.provers.oracle import KERNELS as SUBSYSTEMS
from stepnet.runtime.compiling import Compiling
from stepnet.scores.kernels import KERNELS as SCORECARDS
from stepnet.search.boosting.boosting import KERNELS as BOOSTING
from stepnet.search.descent.descent import KERNELS as DESCENT
from stepnet.search.local.local_search import search_kernels

_MANY_ROWS = 10**9


@dataclass(frozen=True)
class Warmed:
    """A group of kernels that can be called now.

    Attributes
    ----------
    name : str
        What they are for.
    seconds : float
        How long compiling them took; 0 if they were in the cache.
    folder : pathlib.Path or None
        Where they are kept for later processes; None if no directory can be written, or numba does not compile.
    """

    name: str
    seconds: float
    folder: Path | None


def warm_up(on_group: Callable[[Warmed], None] = lambda group: None) -> tuple[Warmed, ...]:
    """Compile all kernels into numba's cache, in as many processes as there are cores; load those that are there.

    Otherwise the first fits after an installation have them compiled in the background, and work without them, more
    slowly, until they are ready. Another CPU, another version of Python, numba or stepnet needs kernels of its own.

    Parameters
    ----------
    on_group : callable
        Called with each group of kernels as soon as it is ready.

    Returns
    -------
    tuple of Warmed
        The groups of kernels, in the order in which they became ready.
    """
    provers = (Cells.kernels, Cones.kernels, SCORECARDS, SUBSYSTEMS, CHECKS, ENUMERATIONS, SCORE_BOXES)
    groups = (search_kernels(), DESCENT, BOOSTING, *provers, search_kernels(_MANY_ROWS))
    warmed, cold = [], []
    for group in groups:
        if group.is_cached():
            warmed.append(_told(Warmed(group.name, 0.0, group.folder), on_group))
        else:
            cold.append(group)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for done in as_completed([pool.submit(_compiled, group) for group in cold]):
            warmed.append(_told(done.result(), on_group))
    return tuple(warmed)


def _compiled(group: Compiling) -> Warmed:
    begin = time.perf_counter()
    if not (group.compile_elsewhere() and group.is_cached()):
        group.compile()
    return Warmed(group.name, time.perf_counter() - begin, group.folder)


def _told(warmed: Warmed, on_group: Callable[[Warmed], None]) -> Warmed:
    on_group(warmed)
    return warmed
