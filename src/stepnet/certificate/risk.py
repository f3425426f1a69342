"""Risk: what is known about errors on new rows, from rows that a model was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepnet.model.arithmetic import Bools
from stepnet.model.binomial import at_least, at_most


@dataclass(frozen=True)
class Share:
    """``count`` of ``total`` rows, and a bound on the share among all rows of that kind.

    The bound is exact (Clopper-Pearson): with probability ``confidence`` at least, over the choice of the rows, the
    true share is at most (``is_upper``) or at least the ``bound``.
    """

    name: str
    count: int
    total: int
    bound: float
    is_upper: bool

    @classmethod
    def of(cls, name: str, hits: Bools, confidence: float, *, is_upper: bool = False) -> Share:
        count, total = int(np.count_nonzero(hits)), len(hits)
        if not total:
            bound = 1.0 if is_upper else 0.0
        else:
            bound = at_most(count, total, confidence) if is_upper else at_least(count, total, confidence)
        return cls(name, count, total, bound, is_upper)

    @property
    def share(self) -> float:
        return self.count / self.total if self.total else float("nan")

    @property
    def limit(self) -> str:
        """The bound in words, rounded so that it stays true."""
        return f"{'at most' if self.is_upper else 'at least'} {_percent(self.bound, up=self.is_upper)}"

    def __str__(self) -> str:
        return f"{self.name}: {self.count} of {self.total}, {self.limit}" if self.total else f"{self.name}: no rows"


@dataclass(frozen=True)
class Risk:
    """Bounds on error, recall and precision on new rows, each of them with the same confidence.

    Attributes
    ----------
    error : Share
        Misclassified rows, bounded from above.
    recall, precision : tuple of Share
        By class, bounded from below: of the rows of a class those predicted so, and of those predicted so the right
        ones.
    groups : tuple of Share
        The error in each group of rows, if groups were given.
    certified : Share or None
        Rows that no perturbation within a radius gets wrong, if a radius was given.
    confidence : float
        Of each bound by itself; all of them together hold with less.
    n_repeated : int
        Rows that equal training rows: dropped, or kept on demand.
    """

    error: Share
    recall: tuple[Share, ...]
    precision: tuple[Share, ...]
    groups: tuple[Share, ...]
    certified: Share | None
    confidence: float
    n_repeated: int = 0

    @classmethod
    def of(
        cls,
        codes: NDArray[Any],
        answers: NDArray[Any],
        classes: Sequence[str],
        confidence: float,
        groups: NDArray[Any] | None = None,
        certified: Share | None = None,
        n_repeated: int = 0,
    ) -> Risk:
        """From the codes of true and predicted classes."""
        is_right = answers == codes
        recall, precision = [], []
        for code, name in enumerate(classes):
            recall.append(Share.of(f"recall of {name}", is_right[codes == code], confidence))
            precision.append(Share.of(f"precision of {name}", is_right[answers == code], confidence))
        parts = () if groups is None else np.unique(groups)
        by_group = [Share.of(f"errors in {one}", ~is_right[groups == one], confidence, is_upper=True) for one in parts]
        error = Share.of("errors", ~is_right, confidence, is_upper=True)
        return cls(error, tuple(recall), tuple(precision), tuple(by_group), certified, confidence, n_repeated)

    @property
    def shares(self) -> tuple[Share, ...]:
        """All of them, in the order in which they are printed."""
        certified = () if self.certified is None else (self.certified,)
        return (self.error, *self.recall, *self.precision, *self.groups, *certified)

    @property
    def sentence(self) -> str:
        """For the certificate."""
        end = _percent(self.error.bound, up=True)
        rows = "1 held-out row" if self.error.total == 1 else f"{self.error.total} held-out rows"
        return f"at most {end} errors ({100 * self.confidence:g} % confidence, {rows})"

    def __str__(self) -> str:
        lines = [f"on new rows, each with {100 * self.confidence:g} % confidence (exact binomial bounds):"]
        lines += [f"  {one}" for one in self.shares]
        if self.n_repeated:
            lines.append(f"  {self.n_repeated} of the rows given equal training rows")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def _percent(share: float, *, up: bool) -> str:
    """Rounded so that the bound stays true."""
    tenths = 1000 * share
    rounded = np.ceil(tenths - 1e-9) if up else np.floor(tenths + 1e-9)
    return f"{rounded / 10:.1f} %"
