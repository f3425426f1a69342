"""Prove: the smallest training loss, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field

from sklearn.base import BaseEstimator

from stepnet.methods.base import Method, Run
from stepnet.methods.exact import Exact
from stepnet.network import Network


@dataclass(kw_only=True, repr=False)
class Prove(Method, BaseEstimator):  # type: ignore[misc]
    """Free bounds first; branch and bound only for what they leave open.

    Parameters
    ----------
    exact : Exact
        The exact method that closes the gap.
    """

    exact: Exact = field(default_factory=Exact)

    def work(self, run: Run, start: Network | None = None) -> None:
        self.exact.work(run, start)
