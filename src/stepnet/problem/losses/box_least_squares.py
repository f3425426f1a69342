"""Least squares with bounded weights.

min |A x - b|² subject to |x_j| <= limit, by a primal active-set method: the free weights move to their least-squares
solution, those that reach the limit on the way are held there, and then the one that gains most by moving inwards is
freed. Every weight at the limit is held, so steps have a positive length and lower the error; the number of steps is
limited in case rounding prevents that. Points never leave the box, so the method may stop at any of them.

Stark and Parker, *Bounded-variable least squares: an algorithm and applications*, Computational Statistics 10 (1995).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lstsq

from stepnet.model.arithmetic import Bools, Floats

_RANK = 1e-12  # singular values below this share of the largest count as 0
_STEPS = 20  # at most, per weight; one or two are usual


def box_least_squares(A: Floats, B: Floats, limit: float, should_stop: Callable[[], bool] = lambda: False) -> Floats:
    """For each column b of B the x with |x_j| <= limit and the least |A x - b|², as columns.

    If stopped, it returns the best points so far; the first ones are the unlimited solutions, clipped to the limit.
    """
    unbounded = np.linalg.lstsq(A, B, rcond=_RANK)[0]
    X: Floats = np.clip(unbounded, -limit, limit)
    beyond = np.flatnonzero((unbounded != X).any(axis=0))
    if len(beyond):
        basis, triangle = np.linalg.qr(A)
        for k in beyond:
            X[:, k] = _improved(triangle, basis.T @ B[:, k], X[:, k], limit, should_stop)
    return X


def _improved(A: Floats, b: Floats, x: Floats, limit: float, should_stop: Callable[[], bool]) -> Floats:
    norms = np.linalg.norm(A, axis=0)
    free, stays = np.abs(x) < limit, np.zeros(len(x), dtype=bool)
    freed: int | None = None
    for _ in range(_STEPS * (len(x) + 1)):
        if should_stop():
            break
        step = np.zeros(len(x))
        if free.any():  # to the least-squares solution
            step[free] = lstsq(A[:, free], b - A @ x, cond=_RANK, lapack_driver="gelsy", check_finite=False)[0]
        if freed is not None and step[freed] * x[freed] >= 0:  # outwards, by rounding: no gain
            free[freed], stays[freed] = False, True
        else:
            x = _moved(x, step, limit)
            blocked = free & (np.abs(x) >= limit)
            free &= ~blocked
            stays[:] = False
            if blocked.any():
                freed = None
                continue
        freed = _most_gaining(A, b, x, norms, ~(free | stays))
        if freed is None:
            break
        free[freed] = True
    return x


def _moved(x: Floats, step: Floats, limit: float) -> Floats:
    """Along the step, to its end or until the first weight reaches the limit, which it then equals exactly."""
    room = np.where(step > 0, limit - x, limit + x)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(step != 0, room / np.abs(step), np.inf)
    length = min(1.0, share.min())
    return np.where(share <= length, np.copysign(limit, step), (x + length * step).clip(-limit, limit))


def _most_gaining(A: Floats, b: Floats, x: Floats, norms: Floats, held: Bools) -> int | None:
    """The held weight that lowers the error most steeply, per unit of its column, by moving inwards; or None."""
    pull = A.T @ (b - A @ x)
    noise = np.finfo(float).eps * (np.linalg.norm(b) + np.abs(x) @ norms) * norms
    gains = np.where(held & (pull * x < 0) & (np.abs(pull) > noise), np.abs(pull), 0.0)
    gains /= np.where(norms > 0, norms, 1.0)
    best = int(np.argmax(gains))
    return best if gains[best] > 0 else None
