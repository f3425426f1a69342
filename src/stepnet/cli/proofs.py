"""Proofs that others can check, written after a fit."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepnet.cli.inputs import InputRows
    from stepnet.estimators.base import BaseStep

_ROUNDING = 1e-9  # of bounds, if row weights have no common unit


@dataclass(frozen=True)
class Saved:
    """What became of a proof: the bound that it shows, if there is one, and what is wrong with it."""

    folder: Path
    bound: float | None
    trouble: str
    is_interrupted: bool = False

    @property
    def lines(self) -> list[str]:
        if self.bound is None:
            return []
        return [f"proof of bound {self.bound:g} written to {self.folder}; check it: stepnet verify {self.folder}"]

    @property
    def facts(self) -> dict[str, Any]:
        return {} if self.bound is None else {"proof": self.folder, "proven_bound": self.bound}


def saved(estimator: BaseStep, rows: InputRows, folder: Path, seconds: float, *, is_interrupted: bool) -> Saved:
    """Write the proof of a fit, which may have been interrupted."""
    from stepnet.errors import SolverError
    from stepnet.runtime.view import showing

    if not is_interrupted:
        bound = estimator.certificate_.bound
        print(f"writing the proof takes up to {seconds:g} s more ...", file=sys.stderr, flush=True)
        try:
            with showing(seconds, "writing the proof"):
                proven = estimator.save_proof(folder, rows.X, rows.y, rows.weights, time_limit=seconds)
        except SolverError as error:
            return Saved(folder, None, str(error))
        except KeyboardInterrupt:
            pass
        else:
            if proven >= bound * (1 - _ROUNDING):
                return Saved(folder, proven, "")
            reasons = (
                "the time was too short (--time-limit), or the rest is what restrictions cost that proofs leave out"
            )
            return Saved(folder, proven, f"the proof shows bound {proven:g}, not {bound:g}: {reasons}.")
    return Saved(folder, None, "no proof was written: it was interrupted.", is_interrupted=True)
