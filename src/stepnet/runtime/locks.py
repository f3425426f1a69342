"""Locks between processes: on a file, held by the operating system, so that they end with their holder."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_GLANCE = 0.1  # seconds between two attempts


@contextlib.contextmanager
def holding(path: Path) -> Iterator[None]:
    """Hold the lock inside, after waiting for whoever holds it now.

    Where no file can be written, or the file system knows no locks, there is none.
    """
    file = None
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        while file is not None and not _try_lock(file):
            time.sleep(_GLANCE)
        yield
    finally:
        if file is not None:
            os.close(file)


def is_held(path: Path) -> bool:
    """Whether some process holds the lock now."""
    try:
        file = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _try_lock(file)
    finally:
        os.close(file)


def _try_lock(file: int) -> bool:
    """Lock an open file until it is closed; False if another process has locked it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # no locks here
        return True
    return True
