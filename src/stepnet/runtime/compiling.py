"""Compiling: kernels are compiled once after an installation, in a process of their own, into numba's cache.

Whoever needs them works without them until they are ready, or waits while watching the clock. The process outlives
a fit that ends before it, so that the next one finds the kernels in the cache.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit
from numba.core import event

from stepnet.runtime.interpreter import started
from stepnet.runtime.locks import holding, is_held

F = TypeVar("F", bound=Callable[..., Any])
_GLANCE = 0.1  # seconds between two looks at what another process does
_NICE = 5  # the fit comes first
_GROUPS: dict[str, Compiling] = {}
_HERE: set[str] = set()  # groups that a thread of this process compiles: numba lets no other thread load meanwhile


def kernel(**options: Any) -> Callable[[F], F]:
    """numba's ``njit`` with a cache on disk, or without one where no directory can be written."""

    def compiled(function: F) -> F:
        try:
            return njit(cache=True, **options)(function)  # type: ignore[no-any-return]
        except RuntimeError:  # there is no such directory
            return njit(**options)(function)  # type: ignore[no-any-return]

    return compiled


class Compiling:
    """A group of kernels that are compiled by calling them: ``work`` calls all, ``cached`` is one of them.

    It begins at the first question. Kernels in the cache are loaded in a moment; otherwise a process compiles them,
    which imports ``module`` and finds the group by its name, or where none can be started, a thread of this one.
    """

    def __init__(self, name: str, work: Callable[[], object], module: str = "", cached: Any = None) -> None:
        self.name, self._work, self._module = name, work, module
        folder = getattr(getattr(cached, "stats", None), "cache_path", None)
        self.folder = None if folder is None else Path(folder)  # where numba keeps them; None: nowhere
        self._reset()
        _GROUPS[name] = self

    def _reset(self) -> None:
        self._thread = threading.Thread(target=self._follow, name=f"stepnet kernels: {self.name}", daemon=True)
        self._begin, self._looked, self._ready = threading.Lock(), threading.Event(), threading.Event()

    def begin(self) -> None:
        """Load the kernels, or see to it that they are compiled, without waiting."""
        with self._begin:
            if self._thread.ident is None:
                self._thread.start()

    def is_done(self, timeout: float) -> bool:
        """Whether the kernels can be called, waiting for them up to ``timeout`` seconds.

        A look into the cache is always waited for: it takes a moment.
        """
        self.begin()
        while not self._looked.wait(_GLANCE) and not _HERE:
            pass
        return self._ready.wait(timeout)

    @property
    def is_compiled(self) -> bool:
        """Whether compiled kernels can be called now; never where numba is told not to compile."""
        return not config.DISABLE_JIT and self.is_done(0.0)

    def is_cached(self) -> bool:
        """Load the kernels; False if one of them is not in the cache."""
        with event.install_listener("numba:compile", _Refusal()):
            try:
                self._work()
            except _NotCachedError:
                return False
        return True

    def compile(self) -> None:
        """Compile the kernels in this process, or load them if another one compiles them first."""
        if self.folder is None:
            self._work()
            return
        with holding(self._lock_file):
            self._work()

    def compile_elsewhere(self) -> bool:
        """Compile the kernels in a process of their own and wait for its end; False if that cannot be."""
        process = self._process()
        return process is not None and process.wait() == 0

    def _process(self) -> subprocess.Popen[bytes] | None:
        """A process that compiles the kernels, whatever becomes of this one; None if none can be started."""
        if self.folder is None:
            return None
        return started(_CODE, self._module, self.name, is_urgent=False)

    @property
    def _lock_file(self) -> Path:
        """One for all groups of a folder: processes that save to the same index at once would spoil it."""
        assert self.folder is not None
        return self.folder / "stepnet.lock"

    def _is_busy(self) -> bool:
        """Whether another process compiles these kernels, or others of the same folder."""
        return self.folder is not None and is_held(self._lock_file)

    def _follow(self) -> None:
        try:
            if self.is_cached():
                return
            process = None if self._is_busy() else self._process()
            self._looked.set()  # from here on this process may end: the kernels are being compiled
            if process is not None:
                process.wait()
            while self._is_busy():
                time.sleep(_GLANCE)
            if self.is_cached():
                return
            if process is not None or not (self.compile_elsewhere() and self.is_cached()):
                _HERE.add(self.name)
                self.compile()
        except Exception:  # whoever calls the kernels gets the error
            return
        finally:
            _HERE.discard(self.name)
            self._looked.set()
            self._ready.set()


class _NotCachedError(Exception):
    pass


class _Refusal(event.Listener):  # type: ignore[misc]
    """Ends what this thread does when it begins to compile."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def on_start(self, event: Any) -> None:
        if threading.get_ident() == self._thread:
            raise _NotCachedError

    def on_end(self, event: Any) -> None:
        pass


_CODE = "import sys; from stepnet.runtime.compiling import compile_group; compile_group(*sys.argv[1:])"


def compile_group(module: str, name: str) -> None:
    """Compile the group of this name that a module defines; the main function of the process."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    importlib.import_module(module)
    _GROUPS[name].compile()


def _after_fork() -> None:
    """Threads do not come along into a forked process."""
    _HERE.clear()
    for group in _GROUPS.values():
        if not group._ready.is_set():
            group._reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
