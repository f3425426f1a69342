"""Checkpoint: what a long fit has reached, in a file that is always complete, so that a later fit can resume."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import CarriedOver
from stepnet.bounds.old_words import evidence_of, scope_of
from stepnet.certificate.result import Points
from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.estimators.parameters import plain
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.runtime.files import write_atomically

FORMAT = "stepnet checkpoint"
VERSION = 2
READABLE = (1, VERSION)

# These say how to look for a network, not which one: they may change when a fit resumes.
_FREE = {"method", "probability", "time_limit", "gap", "n_jobs", "random_state", "verbose", "on_interrupt"}


@dataclass(frozen=True)
class Reached:
    """The best verified network of a problem, its bound, and their history, which does not count in comparisons."""

    network: Network
    loss: float = field(compare=False)
    bound: Bound = Bound()  # noqa: RUF009 - frozen
    trace: Points = field(default=(), compare=False)
    seconds: float = field(default=0.0, compare=False)
    is_final: bool = False  # whether more time would change nothing

    def to_dict(self) -> dict[str, Any]:
        return {
            "loss": self.loss,
            "network": self.network.to_dict(),
            "bound": self.bound.to_dict(),
            "trace": [list(point) for point in self.trace],
            "seconds": self.seconds,
            "is_final": self.is_final,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Reached:
        trace = tuple((float(seconds), float(loss), float(bound)) for seconds, loss, bound in data["trace"])
        bound, seconds = data["bound"], float(data["seconds"])
        numbers = [bound["value"], seconds, data["loss"]]
        if not all(isinstance(number, int | float) and math.isfinite(number) for number in numbers) or seconds < 0:
            raise ModelFileError("its numbers are damaged")
        known = _old_bound(bound) if "proof" in bound else Bound.from_dict(bound)
        known = dataclasses.replace(known, evidence=CarriedOver.of(known.evidence))
        network = Network.from_dict(data["network"])
        return cls(network, float(data["loss"]), known, trace, seconds, data["is_final"] is True)


class Checkpoint:
    """What the parts of a fit have reached. Every change is written before it is reported."""

    def __init__(self, path: Path, key: dict[str, Any], parts: dict[str, Reached]) -> None:
        self.path, self._key, self._parts = path, key, parts

    @classmethod
    def opened(
        cls, path: str | os.PathLike[str], estimator: BaseEstimator, problem: Problem, *, resume: bool
    ) -> Checkpoint:
        """A new one, or with ``resume`` the one in the file, if it exists; its problem must be the same."""
        file, key = Path(path), _key(estimator, problem)
        if not file.exists():
            if not file.parent.is_dir():
                raise InvalidInputError(f"the folder {str(file.parent)!r} of the checkpoint does not exist; create it.")
            return cls(file, key, {})
        if not resume:
            raise InvalidInputError(
                f"the checkpoint {str(path)!r} exists already. Resume it with resume=True (--resume), delete it, or "
                f"choose another name."
            )
        content = _read(file)
        before = content["key"]
        if problem.dataset.has_fingerprint(before.get("data")):  # in the form of any version
            before = before | {"data": key["data"]}
        _require_same(file, before, key)
        try:
            return cls(file, key, {name: Reached.from_dict(part) for name, part in content["parts"].items()})
        except (ModelFileError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise _damaged(file, f"{type(error).__name__}: {error}") from error

    def reached(self, part: str = "all") -> Reached | None:
        return self._parts.get(part)

    def keep_run(self, run: Run) -> None:
        """Write what a run has reached, if it has a network."""
        if run.network is not None:
            points, seconds = run.journal.points, run.budget.elapsed
            self.keep(Reached(run.network, run.loss, run.best_bound, points, seconds, run.is_proven))

    def keep(self, reached: Reached, part: str = "all") -> None:
        """Write it, unless nothing has changed."""
        if reached == self._parts.get(part):
            return
        self._parts[part] = reached
        parts = {name: one.to_dict() for name, one in self._parts.items()}
        content = {"format": FORMAT, "version": VERSION, "key": self._key, "parts": parts}
        write_atomically(self.path, json.dumps(content, allow_nan=False) + "\n")


def _key(estimator: BaseEstimator, problem: Problem) -> dict[str, Any]:
    """What a checkpoint is about; to resume, all of it must be the same."""
    params = {name: plain(value) for name, value in estimator.get_params(deep=False).items() if name not in _FREE}
    if params.get("output") == "auto":
        params["output"] = estimator._output
    classes = getattr(estimator, "classes_", None)
    return {
        "estimator": type(estimator).__name__,
        "data": problem.dataset.fingerprint,
        "classes": None if classes is None else [str(one) for one in classes],
        **params,
    }


def _old_bound(data: dict[str, Any]) -> Bound:
    """The bound of a file of version 1, which states scope and evidence in words."""
    words = [data[name] for name in ("scope", "proof", "claimed_by")]
    if not all(isinstance(word, str) for word in words):
        raise ModelFileError("its bound is damaged")
    return Bound(float(data["value"]), scope_of(words[0]), evidence_of(words[1], words[2])[0])


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(f"cannot read the checkpoint {str(file)!r}: {error.strerror}.") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise _damaged(file, f"it is not JSON ({error})") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("version") not in READABLE:
        raise _damaged(file, "it was not written by this version of stepnet")
    if not isinstance(content.get("key"), dict) or not isinstance(content.get("parts"), dict):
        raise _damaged(file, "it lacks fields")
    return content


def _damaged(file: Path, why: str) -> ModelFileError:
    return ModelFileError(
        f"the checkpoint {str(file)!r} is damaged: {why.rstrip('.')}. Delete it, or choose another name."
    )


def _require_same(file: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    differing = [name for name in now if before.get(name, ...) != json.loads(json.dumps(now[name]))]
    if differing:
        what = "; ".join(f"{name} was {before.get(name)!r}, now {now[name]!r}" for name in differing)
        raise InvalidInputError(
            f"the checkpoint {str(file)!r} is for another problem: {what}. Give the same data and options, or choose "
            f"another name."
        )
