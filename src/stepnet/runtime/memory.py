"""Memory: how much this process has used, how much is free, and an error before there is too little."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from pathlib import Path

from stepnet.errors import OutOfMemoryError

_MEMINFO, _STATM = Path("/proc/meminfo"), Path("/proc/self/statm")
_LIMITS = (  # of containers: the limit, and how much of it is used
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def peak() -> int | None:
    """The most bytes that this process has used; None if the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else 1024 * largest


def available() -> float:
    """Bytes that are free; infinity if the system does not tell."""
    found = [math.inf]
    with contextlib.suppress(OSError, ValueError, LookupError):
        lines = dict(line.split(":") for line in _MEMINFO.read_text().splitlines() if ":" in line)
        found.append(1024.0 * int(lines["MemAvailable"].split()[0]))
    for limit, used in _LIMITS:
        with contextlib.suppress(OSError, ValueError):
            found.append(max(0.0, float(limit.read_text()) - float(used.read_text())))
    return min(found)


def require(need: float, what: str, way_out: str) -> None:
    """Raise OutOfMemoryError if work needs more bytes than are free."""
    free = available()
    if need > free:
        raise OutOfMemoryError(
            f"{what} takes about {in_words(need)} of memory, but only {in_words(free)} are free. {way_out}"
        )


def in_words(size: float) -> str:
    """Bytes in a readable unit."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size / 1e3:.0f} kB"


def resident() -> float:
    """Bytes that this process uses now; its peak if the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return float(os.sysconf("SC_PAGE_SIZE")) * int(_STATM.read_text().split()[1])
    return float(peak() or 0)
