"""The command line for tests: in this process, or as typed in a process of its own."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from dataclasses import dataclass
from unittest import mock

from stepnet.cli import app
from stepnet.runtime import view


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str

    @property
    def messages(self) -> str:
        """Standard error without progress, of which a slow machine sees more than a fast one."""
        return re.sub(r"^ *\d+\.\d\d s  .*\n", "", self.stderr, flags=re.MULTILINE)


def stepnet(*arguments, cwd, silence=1000.0) -> Done:
    """What a command prints and its exit code; imports are those of this process, which saves seconds.

    Signs of life come after ``silence``, so that what a slow machine prints is what a fast one prints.
    """
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(app, "_exit", sys.exit),
        mock.patch.object(view, "_SILENCE", silence),
    ):
        try:
            app.main([str(argument) for argument in arguments])
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def typed(*arguments, cwd) -> Done:
    """The same, as a user does it."""
    command = [sys.executable, "-m", "stepnet", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    return Done(done.returncode, done.stdout, done.stderr)
