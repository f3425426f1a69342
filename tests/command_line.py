"""The command line for tests: in this process, or as typed in a process of its own."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from dataclasses import dataclass
from unittest import mock

from stepnet.cli import app


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def stepnet(*arguments, cwd) -> Done:
    """What a command prints and its exit code; imports are those of this process, which saves seconds."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(app, "_exit", sys.exit),
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
