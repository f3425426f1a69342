"""Norms by name."""

from __future__ import annotations

from stepnet.errors import InvalidInputError
from stepnet.uncertainty.norms.base import Norm
from stepnet.uncertainty.norms.l0 import L0
from stepnet.uncertainty.norms.l1 import L1
from stepnet.uncertainty.norms.l2 import L2
from stepnet.uncertainty.norms.linf import Linf

NORMS: dict[str, Norm] = {norm.name: norm for norm in (L1(), L2(), Linf())}
_COUNTS: dict[str, Norm] = {"l0": L0()}  # for moves by whole steps


def norm_named(name: str) -> Norm:
    """The norm with this name."""
    known = NORMS | _COUNTS
    if not isinstance(name, str) or name not in known:
        *names, last = map(repr, NORMS)
        raise InvalidInputError(f"norm={name!r} is not known; choose {', '.join(names)} or {last}.")
    return known[name]
