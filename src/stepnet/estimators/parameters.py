"""Parameters of estimators as JSON, and back. Reading them runs no code."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.formulations.base import Formulation
from stepnet.formulations.paper import Paper
from stepnet.methods.registry import METHODS
from stepnet.model.activations.staircase import Staircase
from stepnet.problem.constraint import Constraint, Lowers, Raises
from stepnet.problem.error_limits.limits import FalsePositiveRate, FalsePositives, Parity, Precision, Recall
from stepnet.problem.losses.registry import LOSSES
from stepnet.problem.weights import Integers, Real
from stepnet.uncertainty.ball import Ball
from stepnet.uncertainty.polyhedron import Polyhedron

_REGISTER = "Add a loss of your own to LOSSES of stepnet.problem.losses.registry first."
_METHODS = {kind.__name__: kind for kind in METHODS.values()}
_LIMITS: tuple[type[Any], ...] = (FalsePositiveRate, FalsePositives, Parity, Precision, Recall)
_OPTIONS: tuple[type[Any], ...] = (Ball, Constraint, Lowers, Paper, Polyhedron, Raises, Staircase, *_LIMITS)


def _parts() -> dict[str, type[Any]]:
    """Parameter objects by name, with all losses that are registered now."""
    return {kind.__name__: kind for kind in (*_OPTIONS, *LOSSES.values())}


def kinds() -> dict[str, type[Any]]:
    """All parameter objects by name."""
    return {"Integers": Integers} | _METHODS | _parts()


def plain(value: Any) -> Any:
    """A parameter as JSON: numbers and strings as they are, parameter objects by name and fields."""
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Integers):
        return _object("Integers", largest=value.largest)
    if isinstance(value, Constraint):
        terms = [[*map(plain, weight), float(coefficient)] for weight, coefficient in value.terms.items()]
        lower, upper = (None if np.isinf(end) else float(end) for end in (value.lower, value.upper))
        return _object("Constraint", terms=terms, name=value.name, lower=lower, upper=upper)
    if type(value) in _parts().values():
        names = [field.name for field in dataclasses.fields(value) if field.init]
        return _object(type(value).__name__, **{name: plain(getattr(value, name)) for name in names})
    if isinstance(value, Real | Formulation):
        return value.name
    if type(value).__name__ in _METHODS:
        return _object(
            type(value).__name__, **{name: plain(item) for name, item in value.get_params(deep=False).items()}
        )
    if isinstance(value, dict):
        return _object("dict", items=[[plain(key), plain(item)] for key, item in value.items()])
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None  # its state has changed since
    if isinstance(value, Fraction):
        return _object("Fraction", text=str(value))
    if isinstance(value, float) and not np.isfinite(value):
        return _object("float", text=str(value))
    if isinstance(value, str | int | float | bool | None):
        return value
    raise InvalidInputError(f"the parameter {value!r} cannot be written to a file. {_REGISTER}")


def _object(kind: str, /, **fields: Any) -> dict[str, Any]:
    return {"object": kind, "fields": fields}


def restored(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(restored(item) for item in value)
    if not isinstance(value, dict):
        return value
    name, fields = value["object"], {name: restored(item) for name, item in value["fields"].items()}
    if name == "Constraint":
        terms = {(layer, neuron, source): coefficient for layer, neuron, source, coefficient in fields["terms"]}
        ends = {end: fields[end] for end in ("lower", "upper") if fields[end] is not None}
        return Constraint(terms, name=fields["name"], **ends)
    if name == "float":
        return float(fields["text"])
    if name == "Fraction":
        return Fraction(fields["text"])
    if name == "dict":
        return dict(fields["items"])
    if name not in kinds():
        raise InvalidInputError(f"the parameter {name} is not known. {_REGISTER}")
    return kinds()[name](**fields)
