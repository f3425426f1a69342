"""Interpreter: other processes of the same Python, with the same modules and the same cache of kernels."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from numba import config

_NO_WINDOW, _LOW_PRIORITY = 0, 0
if sys.platform == "win32":
    _NO_WINDOW, _LOW_PRIORITY = subprocess.CREATE_NO_WINDOW, subprocess.BELOW_NORMAL_PRIORITY_CLASS


def started(code: str, *arguments: str, is_urgent: bool = True, **options: Any) -> subprocess.Popen[bytes] | None:
    """A process that runs code, with further options of ``Popen``; None if none can be started.

    What it prints is lost, unless the options say otherwise. Ctrl-C in a terminal does not reach it.
    """
    if not _has_interpreter():
        return None
    defaults: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "cwd": tempfile.gettempdir(),  # so that nobody's folder is in use
        "env": environment(),
        "start_new_session": True,
        "creationflags": _NO_WINDOW if is_urgent else _NO_WINDOW | _LOW_PRIORITY,
    }
    try:
        return subprocess.Popen([sys.executable, "-P", "-c", code, *arguments], **defaults | options)
    except (OSError, RuntimeError):  # a sandbox, or Python is ending
        return None


def _has_interpreter() -> bool:
    """Whether ``sys.executable`` runs Python code, which that of a frozen or embedding application does not."""
    is_python = Path(sys.executable or "").stem.lower().startswith(("python", "pypy"))
    return is_python and not getattr(sys, "frozen", False)


def environment() -> dict[str, str]:
    """The same modules and the same cache as here."""
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    return os.environ | {"PYTHONPATH": path} | ({"NUMBA_CACHE_DIR": config.CACHE_DIR} if config.CACHE_DIR else {})
