"""Environments of their own for programs that pin old versions, or that others need not have installed."""

from __future__ import annotations

import subprocess
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Environment:
    """Made once, beside this file, by `versions`."""

    package: str  # with its version
    recorded: tuple[str, ...]  # packages whose versions matter

    @property
    def name(self) -> str:
        return self.package.split("==", maxsplit=1)[0]

    def versions(self) -> str:
        """Make the environment, unless it is there, and say what is in it."""
        if not self._python.exists() or self._run("-c", f"import {self.name}").returncode:
            venv.create(self._folder, with_pip=True, clear=True)
            done = self._run("-m", "pip", "install", "--quiet", self.package)
            if done.returncode:
                return f"not installed: {_last_line(done)}"
        frozen = self._run("-m", "pip", "freeze").stdout.split()
        return ", ".join(line for line in frozen if line.split("==")[0] in self.recorded)

    def arrays(self, script: str, *options: str, **given: np.ndarray) -> dict[str, Any]:
        """What a script of this folder makes of arrays; both are npz files."""
        with tempfile.TemporaryDirectory() as folder:
            rows, wanted = Path(folder) / "given.npz", Path(folder) / "wanted.npz"
            np.savez(rows, **given)
            done = self._run(str(HERE / script), str(rows), str(wanted), *options)
            if done.returncode:
                raise RuntimeError(_last_line(done))
            with np.load(wanted) as found:
                return dict(found)

    @property
    def _folder(self) -> Path:
        return HERE / f".{self.name}"

    @property
    def _python(self) -> Path:
        return self._folder / "bin" / "python"

    def _run(self, *arguments: str) -> subprocess.CompletedProcess:
        try:
            return subprocess.run([str(self._python), *arguments], capture_output=True, text=True, check=False)
        except OSError as error:  # there is no such environment
            raise RuntimeError(str(error)) from error


def _last_line(done: subprocess.CompletedProcess) -> str:
    return (done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"])[-1]


FASTERRISK = Environment("fasterrisk==0.1.10", ("fasterrisk", "numpy", "pandas", "scikit-learn"))
PYSTREED = Environment("pystreed==1.4.0", ("pystreed", "numpy", "scikit-learn"))
