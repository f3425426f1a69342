"""Programs that get a signal while they fit, in a process of their own."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from command_line import Done

_HAS_NETWORK = re.compile(r"loss \d")
_DEAF = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # as a shell may have started us


def interrupted_code(code: str) -> Done:
    """Python code that gets Ctrl-C once a fit with ``verbose=1`` has its first network."""
    return interrupted([sys.executable, "-c", _DEAF + code], signal.SIGINT)


def interrupted(command: list[str], signum: signal.Signals, cwd: Path | None = None, after: float = 0) -> Done:
    """A command that gets a signal ``after`` seconds from when its progress on standard error shows a network."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=cwd, stdout=pipe, stderr=pipe, text=True) as process:
        shown = ""
        for line in process.stderr:
            shown += line
            if _HAS_NETWORK.search(line):
                break
        time.sleep(after)
        process.send_signal(signum)
        out, err = process.communicate(timeout=100)
    return Done(process.returncode, out, shown + err)
