"""Compiling: kernels that are compiled once after an installation, while others keep the time."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Compiling:
    """Work that compiles kernels by calling them, in a thread of its own, begun when it is first asked for.

    Later processes load the kernels from numba's cache in a moment.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        self._thread = threading.Thread(target=work, name="stepnet kernels", daemon=True)
        self._lock = threading.Lock()

    def is_done(self, timeout: float) -> bool:
        """Whether the kernels are ready, after up to so many seconds."""
        with self._lock:
            if self._thread.ident is None:
                self._thread.start()
        self._thread.join(timeout)
        return not self._thread.is_alive()
