"""Methods by name: what estimators, the command line, configuration files and model files choose from."""

from __future__ import annotations

from typing import Any

from stepnet.errors import InvalidInputError
from stepnet.methods.alternating import Alternating
from stepnet.methods.base import Method
from stepnet.methods.exact import Exact
from stepnet.methods.learn import Learn
from stepnet.methods.prove import Prove
from stepnet.methods.search import Search

METHODS: dict[str, type[Method]] = {
    "prove": Prove,
    "learn": Learn,
    "search": Search,
    "exact": Exact,
    "alternating": Alternating,
}


def method_of(choice: object, **options: Any) -> Method:
    """The method given by a name, with options by name, or by an object."""
    if isinstance(choice, str) and choice in METHODS:
        return METHODS[choice].of(**options)
    if isinstance(choice, Method) and not options:
        return choice
    names = ", ".join(map(repr, METHODS))
    raise InvalidInputError(f"method={choice!r} is not known; choose {names}, or an object such as Exact().")
