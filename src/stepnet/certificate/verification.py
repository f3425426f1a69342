"""Verification: claims, and whether they hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One claim, whether it holds (None: not decided), and what was found."""

    claim: str
    holds: bool | None
    found: str

    def __str__(self) -> str:
        mark = {True: "true ", False: "FALSE", None: "open "}[self.holds]
        return f"{mark}  {self.claim}: {self.found}"


@dataclass(frozen=True)
class Verification:
    """All checks of a certificate or a proof; false if a claim is false or, with ``is_strict``, undecided."""

    checks: tuple[Check, ...]
    is_strict: bool = False

    def __bool__(self) -> bool:
        return all(check.holds if self.is_strict else check.holds is not False for check in self.checks)

    def __str__(self) -> str:
        return "\n".join(map(str, self.checks))
