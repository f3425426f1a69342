"""Few real weights of one neuron: a search over supports, each searched as a small problem without limits.

Supports begin with a beam by the logistic loss. Then the best one by errors is expanded: each of its features is
exchanged for the most promising others, again by the logistic loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from stepnet.search.neuron.supports import Logistic

_BEAM, _FITS = 20, 100  # supports of each size, and of all sizes
_PROMISING = 6  # features that replace another

Support = tuple[int, ...]


def search_supports(
    logistic: Logistic,
    most: int,
    given: list[Support],
    patience: int,
    rng: np.random.Generator,
    improve: Callable[[Support], float],
    should_stop: Callable[[], bool],
) -> None:
    """Improve one support after the other, given ones first, until ``patience`` of them are in vain.

    ``improve`` searches on a support, a little longer each time, and returns the best loss found on it.
    """
    losses: dict[Support, float] = {}
    expanded: set[Support] = set()
    best, in_vain = np.inf, 0

    def look(support: Support) -> bool:
        nonlocal best, in_vain
        losses[support] = min(losses.get(support, np.inf), improve(support))
        in_vain = 0 if losses[support] < best else in_vain + 1
        best = min(best, losses[support])
        return in_vain >= patience or should_stop()

    for support in dict.fromkeys([*given, *_first(logistic, most, should_stop)]):
        if look(support):
            return
    while losses:
        open_ones = [support for support in losses if support not in expanded]
        if not open_ones:
            return
        centre = min(open_ones, key=lambda support: (losses[support], rng.random()))
        expanded.add(centre)
        if look(centre):
            return
        for support in _neighbours(logistic, centre):
            if support not in losses and look(support):
                return


def _first(logistic: Logistic, most: int, should_stop: Callable[[], bool]) -> list[Support]:
    """All features if so many may have weights, otherwise what a beam ends with."""
    varying = np.flatnonzero(~logistic.is_constant)
    if len(varying) <= most:
        return [tuple(varying.tolist())] if len(varying) else []
    levels = logistic.beam(most, min(_BEAM, max(2, _FITS // max(1, most))), should_stop)
    return [fit.features for fit in levels[-1]] if levels else []


def _neighbours(logistic: Logistic, support: Support) -> Iterator[Support]:
    """Supports that differ by one feature."""
    for feature in support:
        rest = tuple(one for one in support if one != feature)
        for other in logistic.promising(logistic.fit(rest), _PROMISING):
            yield tuple(sorted((*rest, int(other))))
