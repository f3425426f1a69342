"""Packages that only some uses need."""

from __future__ import annotations

import importlib
from typing import Any

from stepnet.errors import MissingExtraError


def imported(name: str, extra: str = "onnx") -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError(f"this needs {name}. Install it with: pip install 'stepnet[{extra}]'") from error
