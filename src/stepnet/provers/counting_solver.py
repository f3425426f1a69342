"""The solver ``exact``, which adds up and divides constraints on weighted sums of bits; in a process of its own."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import queue
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stepnet.errors import SolverFailure
from stepnet.provers import counting_worker

PACKAGE, EXTRA = "exact", "pb"
_SLICE = 0.5  # seconds of a search, before it is asked for again
_GLANCE = 0.05  # seconds between two checks of the clock
_PATIENCE = 10.0  # seconds for a process to end by itself
# What it concludes from the absence of further constraints is false here.
_OPTIONS = ("inp-purelits", "0", "inp-dombreaklim", "0", "verbosity", "0")

Terms = Sequence[tuple[int, int]]


def title() -> str:
    return f"Exact {importlib.metadata.version(PACKAGE)}"


class CountingSolver:
    """Constraints Σ coefficient · literal >= degree, to which more can be added between two questions.

    Parameters
    ----------
    options : str
        Names and values of further options of the solver.
    """

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-P", str(Path(counting_worker.__file__)), *_OPTIONS, *options]
        # In a session or group of its own, Ctrl-C does not reach it.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True, creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )  # fmt: skip
        self._answers = queue.SimpleQueue[str]()
        threading.Thread(target=_read, args=(self._process, self._answers), daemon=True).start()
        self.close = weakref.finalize(self, _kill, self._process)
        self._lines: list[str] = []  # that it has not been told yet
        self._is_busy = False
        self.values: list[int] = []  # of the variables, from number 1 on, after the last yes

    def add(self, terms: Terms, degree: int) -> None:
        """Add a constraint; the literal -v of a variable v is 1 - v."""
        degree -= sum(value for value, literal in terms if literal < 0)
        plain = [(value if literal > 0 else -value, abs(literal)) for value, literal in terms]
        self._lines.append(json.dumps(["add", plain, degree]))

    def add_clause(self, clause: Sequence[int]) -> None:
        self.add([(1, literal) for literal in clause], 1)

    def answer(self, should_stop: Callable[[], bool], assumed: int = 0) -> bool | None:
        """Whether the constraints can be met, with a variable that is assumed to be 1; None if the time is up.

        Raises SolverFailure if the solver breaks down.
        """
        if self._is_busy and self._line(should_stop) is None:
            return None  # it still works on an earlier question
        while not should_stop():
            self._lines.append(json.dumps(["run", _SLICE, assumed]))
            with self._failing():
                stream: Any = self._process.stdin
                stream.write("\n".join(self._lines) + "\n")
                stream.flush()
            self._lines, self._is_busy = [], True
            line = self._line(should_stop)
            found = None if line is None else json.loads(line)
            if found is not None:
                self.values = found or []
                return found is not False
        return None

    def finish(self) -> None:
        """End the process in good order: a proof is complete then."""
        stream: Any = self._process.stdin
        with self._failing():
            stream.close()
            self._process.wait(_PATIENCE)

    def _line(self, should_stop: Callable[[], bool]) -> str | None:
        """The next answer, or None if the time is up."""
        while not should_stop():
            with contextlib.suppress(queue.Empty):
                line = self._answers.get(timeout=_GLANCE)
                if not line:
                    raise SolverFailure("the solver exact ended without an answer; use formulation='sat'.")
                self._is_busy = False
                return line
        return None

    @contextlib.contextmanager
    def _failing(self) -> Any:
        try:
            yield
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise SolverFailure(f"the solver exact does not answer ({error}); use formulation='sat'.") from error


def _read(process: subprocess.Popen[str], answers: queue.SimpleQueue[str]) -> None:
    """Pass on lines, and an empty one at the end."""
    stream: Any = process.stdout
    with contextlib.suppress(OSError, ValueError):
        for line in stream:
            answers.put(line)
    answers.put("")


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
