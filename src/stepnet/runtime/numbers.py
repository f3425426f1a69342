"""What counts as a number in a parameter: NumPy's numbers do, booleans do not."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, TypeGuard


def is_integer(value: Any) -> TypeGuard[int]:
    return not isinstance(value, bool) and isinstance(value, Integral)


def is_finite_number(value: Any) -> TypeGuard[float]:
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
