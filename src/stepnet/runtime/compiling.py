"""Compiling: kernels are compiled once after an installation, while the caller watches the clock."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Compiling:
    """Compiles kernels by calling them, in its own thread, which starts at the first question.

    Later processes load the kernels from numba's cache in a moment.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        self._thread = threading.Thread(target=work, name="stepnet kernels", daemon=True)
        self._lock = threading.Lock()

    def is_done(self, timeout: float) -> bool:
        """Whether the kernels are ready, waiting for them up to ``timeout`` seconds."""
        with self._lock:
            if self._thread.ident is None:
                self._thread.start()
        self._thread.join(timeout)
        return not self._thread.is_alive()
