"""Memory: how much this process took, how much is left, and a word before it is too late."""

from __future__ import annotations

import contextlib
import math
import sys
from pathlib import Path

from stepnet.errors import OutOfMemoryError

_MEMINFO = Path("/proc/meminfo")
_LIMITS = (  # of containers: the limit, and what is used of it
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def peak() -> int | None:
    """Bytes that this process has taken at most; None where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else 1024 * largest


def available() -> float:
    """Bytes that can still be had; infinity where the system does not say."""
    found = [math.inf]
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = dict(line.split(":") for line in _MEMINFO.read_text().splitlines() if ":" in line)
        found.append(1024.0 * int(lines["MemAvailable"].split()[0]))
    for limit, used in _LIMITS:
        with contextlib.suppress(OSError, ValueError):
            found.append(max(0.0, float(limit.read_text()) - float(used.read_text())))
    return min(found)


def require(need: float, what: str, way_out: str) -> None:
    """Raise before work begins that would not fit."""
    free = available()
    if need > free:
        raise OutOfMemoryError(
            f"{what} takes about {in_words(need)} of memory, and {in_words(free)} are free. {way_out}"
        )


def in_words(size: float) -> str:
    """Bytes as a person says them."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size / 1e3:.0f} kB"
