"""Parameters of estimators as JSON, and back. Reading them runs no code."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from stepnet.errors import InvalidInputError
from stepnet.formulations.base import Formulation
from stepnet.formulations.paper import Paper
from stepnet.methods.registry import METHODS
from stepnet.model.activations.staircase import Staircase
from stepnet.problem.constraint import Constraint, Lowers, Raises
from stepnet.problem.losses.registry import LOSSES
from stepnet.problem.weights import Integers, Real
from stepnet.uncertainty.ball import Ball
from stepnet.uncertainty.polyhedron import Polyhedron

_REGISTER = "A loss of your own goes into LOSSES of stepnet.problem.losses.registry first."
_METHODS = {kind.__name__: kind for kind in METHODS.values()}
_OPTIONS: tuple[type[Any], ...] = (Ball, Constraint, Lowers, Paper, Polyhedron, Raises, Staircase)


def _parts() -> dict[str, type[Any]]:
    """Option objects by name; losses may have been added since."""
    return {kind.__name__: kind for kind in (*_OPTIONS, *LOSSES.values())}


def plain(value: Any) -> Any:
    """A parameter as JSON: numbers and strings as they are, option objects by name and fields."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Integers):
        return {"object": "Integers", "fields": {"largest": value.largest}}
    if isinstance(value, Real):
        return value.name
    if isinstance(value, Constraint):
        terms = [[*map(plain, weight), float(coefficient)] for weight, coefficient in value.terms.items()]
        ends = {
            end: None if np.isinf(getattr(value, end)) else float(getattr(value, end)) for end in ("lower", "upper")
        }
        return {"object": "Constraint", "fields": {"terms": terms, "name": value.name, **ends}}
    if type(value) in _parts().values():
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value) if field.init}
        return {"object": type(value).__name__, "fields": fields}
    if isinstance(value, Formulation):
        return value.name
    if type(value).__name__ in _METHODS:
        fields = value.get_params(deep=False)
        return {"object": type(value).__name__, "fields": {name: plain(item) for name, item in fields.items()}}
    if isinstance(value, dict):
        return {"object": "dict", "fields": {"items": [[plain(key), plain(item)] for key, item in value.items()]}}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None  # a state that has moved on since
    if isinstance(value, float) and not np.isfinite(value):
        return {"object": "float", "fields": {"text": str(value)}}
    if isinstance(value, str | int | float | bool | None):
        return value
    raise InvalidInputError(f"the parameter {value!r} has no form in a file. {_REGISTER}")


def restored(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(restored(item) for item in value)
    if not isinstance(value, dict):
        return value
    name, fields = value["object"], {name: restored(item) for name, item in value["fields"].items()}
    if name == "Constraint":
        terms = {(layer, neuron, source): coefficient for layer, neuron, source, coefficient in fields["terms"]}
        lower, upper = fields["lower"], fields["upper"]
        return Constraint(
            terms, -np.inf if lower is None else lower, np.inf if upper is None else upper, fields["name"]
        )
    if name == "Integers":
        return Integers(**fields)
    if name == "float":
        return float(fields["text"])
    if name == "dict":
        return dict(fields["items"])
    kinds = _METHODS | _parts()
    if name not in kinds:
        raise InvalidInputError(f"the parameter {name} is not known here. {_REGISTER}")
    return kinds[name](**fields)
