"""Work that ends at a time limit, whatever it is doing."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any


class _TimeUpError(BaseException):
    """Raised inside work whose time is up."""


def within_seconds(work: Callable[[], Any], seconds: float) -> Any:
    """The result of ``work``, which runs in a thread of its own; None if it takes longer.

    Then the thread is told to stop, and does so at its next line of Python.
    """
    found: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except _TimeUpError:
            pass
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="stepnet limited work", daemon=True)
    thread.start()
    try:
        thread.join(max(seconds, 0.0))
    finally:
        if thread.is_alive() and thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_TimeUpError))
    if errors:
        raise errors[0]
    return found[0] if found else None
