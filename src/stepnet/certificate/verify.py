"""Verify: is a certificate true for a network and its data?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from stepnet.bounds.conflicts import conflict_bound
from stepnet.bounds.evidence import counted
from stepnet.certificate.certificate import Certificate, statements_of, status_of
from stepnet.certificate.result import Result
from stepnet.certificate.verification import Check, Verification
from stepnet.errors import InvalidInputError
from stepnet.model.network import Network
from stepnet.problem.accuracy import Accuracy
from stepnet.problem.problem import Problem

_MOST_NAMES = 8  # of columns in a message
_ROUNDING = 1e-12  # relative, of a sum of rounded terms


def verify(
    problem: Problem, network: Network, certificate: Certificate, *, again: Result | None = None
) -> Verification:
    """Recompute the loss, and the bound of conflicting rows, in exact arithmetic.

    The bound of a solver is not recomputed; ``again`` is the result of solving the same problem once more.

    Raises
    ------
    InvalidInputError
        If the data are not those of the certificate.
    """
    require_same_data(problem, certificate)
    loss, free = problem.without_limits.evaluate(network), conflict_bound(problem).value
    checks = claims(certificate, loss, problem.accuracy, free)
    if again is not None and certificate.claimed_by:
        checks[-1] = _solved_again(certificate, again)
    return Verification((*checks, *_limits(problem, network, certificate)))


def claims(certificate: Certificate, loss: float, accuracy: Accuracy, free: float) -> list[Check]:
    """The claims of a certificate, given the exact loss of its network and what conflicting rows cost."""
    is_true = loss == certificate.loss
    if not accuracy.step:  # equal rows are added up before or after their costs, which may round differently
        is_true = math.isclose(loss, certificate.loss, rel_tol=_ROUNDING)
    return [
        Check(f"loss {certificate.loss:.17g}", is_true, f"the network's exact loss is {loss:.17g}"),
        _consistency(accuracy, certificate),
        _bound(free, certificate),
    ]


def verify_without(problem: Problem, network: Network, certificate: Certificate, absent: Sequence[str]) -> Verification:
    """Check what can be checked without the columns ``absent``, which the network does not use.

    The loss does not depend on them. The fingerprint and the conflicts between rows do: without a column, rows that
    differ become equal.

    Raises
    ------
    InvalidInputError
        If rows are missing, or there are more of them.
    """
    total = problem.dataset.total_weight
    if not _is_close(total, certificate.total_weight):
        raise InvalidInputError(
            f"these are not the data of the certificate: their rows weigh {total:.6g}, not "
            f"{certificate.total_weight:.6g}. Verify with the rows and weights (--sample-weight) that the model was "
            f"fitted on."
        )
    loss = problem.without_limits.evaluate(network)
    names = f"{counted(len(absent), 'column')}: {', '.join(absent[:_MOST_NAMES])}"
    names += ", ..." if len(absent) > _MOST_NAMES else ""
    found, is_trivial = f"the network's exact loss is {loss:.17g}", certificate.bound <= 0
    is_true = _is_close(loss, certificate.loss)
    checks = (
        Check(f"data {certificate.fingerprint}", None, f"not comparable without {names}"),
        Check(f"loss {certificate.loss:.17g}", is_true, found if is_true else f"{found}, unless these are other rows"),
        _consistency(problem.accuracy, certificate),
        Check(
            f"bound {certificate.bound:.17g} for {certificate.scope}",
            True if is_trivial else None,
            "no loss is below 0" if is_trivial else "about networks that may use all columns; give the whole table",
        ),
        *_limits(problem, network, certificate),
    )
    return Verification(checks)


def _is_close(one: float, other: float) -> bool:
    """Sums of the same weights in another order differ by rounding."""
    return math.isclose(one, other, rel_tol=1e-9)


def require_same_data(problem: Problem, certificate: Certificate) -> None:
    """Raise if the data are not those of the certificate."""
    if not problem.dataset.has_fingerprint(certificate.fingerprint):
        raise InvalidInputError(
            f"these are not the data of the certificate: fingerprint {problem.dataset.fingerprint}, not "
            f"{certificate.fingerprint}. Verify with the rows, classes and weights (--sample-weight) that the model "
            f"was fitted on."
        )


def _consistency(accuracy: Accuracy, certificate: Certificate) -> Check:
    is_learned = certificate.status == "LEARNED"  # how a network was trained is known to whoever trained it
    status = status_of(accuracy, certificate.loss, certificate.bound, is_learned=is_learned)
    gap = accuracy.gap(certificate.loss, certificate.bound)
    agrees = certificate.status == status and gap == certificate.gap
    if is_learned:
        return Check("LEARNED", agrees, f"the loss {'is above' if gap else 'meets'} the bound")
    return Check(f"{certificate.status}, gap {certificate.gap:.6g}", agrees, f"loss and bound give gap {gap:.6g}")


def _bound(free: float, certificate: Certificate) -> Check:
    claim = f"bound {certificate.bound:.17g} for {certificate.scope}"
    if certificate.bound <= free:
        return Check(claim, True, f"conflicting rows alone cost {free:.17g}")
    if certificate.evidence.is_of_fewer_rows:
        return Check(claim, None, f"claimed for the earlier rows; conflicting rows alone cost {free:.17g}")
    if certificate.claimed_by:
        return Check(claim, None, f"claimed by {certificate.claimed_by}, not solved again")
    return Check(claim, False, f"conflicting rows alone cost {free:.17g}, and no solver claims more")


def _limits(problem: Problem, network: Network, certificate: Certificate) -> Iterator[Check]:
    """The value of every limit on errors, counted again in rationals."""
    found = statements_of(problem, network)
    if [one.name for one in found] != [one.name for one in certificate.limits]:
        names = ", ".join(one.name for one in found) or "none"
        yield Check("limits on errors", False, f"the model has others: {names}")
        return
    for claim, one in zip(certificate.limits, found, strict=True):
        is_true = claim == one and one.holds
        hint = "" if is_true else "; groups that are given as an array follow the order of the rows that were fitted"
        yield Check(f"{claim}", is_true, f"counted again: {one.value_in_words}{hint}")


def _solved_again(certificate: Certificate, again: Result) -> Check:
    """A solver's bound, compared with a new solution from the data alone."""
    claim = f"bound {certificate.bound:.17g} for {certificate.scope}"
    bound = again.bound
    found = f"solved again: loss {again.loss:.17g}, bound {bound.value:.17g} ({bound.evidence.claimed_by})"
    if again.loss < certificate.bound:
        return Check(claim, False, f"{found}; a better network exists")
    if not bound.scope.covers(certificate.scope):
        return Check(claim, None, f"{found}, for {bound.scope} only")
    return Check(claim, True if min(bound.value, again.loss) >= certificate.bound else None, found)
