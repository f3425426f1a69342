"""Verify: does a certificate tell the truth about a network and its data?"""

from __future__ import annotations

from stepnet.bounds.conflicts import conflict_bound
from stepnet.certify import Certificate, is_optimal
from stepnet.errors import InvalidInputError
from stepnet.limits import Budget
from stepnet.methods.base import Run
from stepnet.methods.exact import Exact
from stepnet.network import Network
from stepnet.problem.problem import Problem
from stepnet.result import ALL_NETWORKS, CARRIED
from stepnet.verification import Check, Verification


def verify(
    problem: Problem,
    network: Network,
    certificate: Certificate,
    *,
    resolve: Exact | None = None,
    time_limit: float = float("inf"),
) -> Verification:
    """Recompute loss and free bounds in exact arithmetic; with ``resolve`` repeat the solver's proof.

    Raises
    ------
    InvalidInputError
        If the data are not those the certificate speaks of.
    """
    require_same_data(problem, certificate)
    loss = problem.evaluate(network)
    checks = [
        Check(f"loss {certificate.loss:.17g}", loss == certificate.loss, f"the network's exact loss is {loss:.17g}"),
        _consistency(problem, certificate),
        _bound(problem, certificate),
    ]
    if resolve is not None and certificate.claimed_by:
        checks[-1] = _resolved(problem, network, certificate, resolve, time_limit)
    return Verification(tuple(checks))


def require_same_data(problem: Problem, certificate: Certificate) -> None:
    """Raise if the data are not those the certificate speaks of."""
    if problem.dataset.fingerprint != certificate.fingerprint:
        raise InvalidInputError(
            f"these are not the data of the certificate: fingerprint {problem.dataset.fingerprint}, not "
            f"{certificate.fingerprint}. Verify with the rows, classes and weights (--sample-weight) that the model "
            f"was fitted on."
        )


def _consistency(problem: Problem, certificate: Certificate) -> Check:
    optimal = is_optimal(problem, certificate.loss, certificate.bound)
    gap = problem.accuracy.gap(certificate.loss, certificate.bound)
    agrees = certificate.status == ("OPTIMAL" if optimal else "FEASIBLE") and gap == certificate.gap
    return Check(f"{certificate.status}, gap {certificate.gap:.6g}", agrees, f"loss and bound give gap {gap:.6g}")


def _bound(problem: Problem, certificate: Certificate) -> Check:
    free = conflict_bound(problem).value
    claim = f"bound {certificate.bound:.17g} for {certificate.scope}"
    if certificate.bound <= free:
        return Check(claim, True, f"rows that no network tells apart alone cost {free:.17g}")
    if certificate.proof.startswith(CARRIED):
        return Check(claim, None, f"the earlier rows are said to cost as much; these cost {free:.17g} at least")
    if certificate.claimed_by:
        return Check(claim, None, f"claimed by {certificate.claimed_by}, not repeated here")
    return Check(claim, False, f"rows that no network tells apart cost {free:.17g}, and no solver claims more")


def _resolved(problem: Problem, network: Network, certificate: Certificate, exact: Exact, time_limit: float) -> Check:
    """A solver's bound, proven once more from nothing but the data."""
    run = Run(problem, Budget(time_limit))
    with run.budget.catching_interrupts():
        exact.work(run, network)
    claim = f"bound {certificate.bound:.17g} for {certificate.scope}"
    found = f"solved again: loss {run.loss:.17g}, bound {run.bound.value:.17g} ({run.bound.claimed_by})"
    if run.loss < certificate.bound:
        return Check(claim, False, f"{found}; a better network exists")
    result = run.result()
    if result.bound.scope not in (certificate.scope, ALL_NETWORKS):
        return Check(claim, None, f"{found}, for {result.bound.scope} only")
    return Check(claim, True if min(result.bound.value, run.loss) >= certificate.bound else None, found)
