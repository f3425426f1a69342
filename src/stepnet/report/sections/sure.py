"""How sure a report is: the certificate in words, its fields, and how the fit went."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from stepnet.certificate.certificate import Certificate
from stepnet.report.blocks import Block, Card, Figure, Notice, Paragraph, Part, Section, TableBlock, table
from stepnet.report.content import Report, Trace
from stepnet.report.format import counted, number, percent
from stepnet.report.sections.use import verify_lines

_MOST_LINES = 24
_ENDS = {
    "proven": "this was proven",
    "gap": "the requested gap was reached",
    "time": "the time limit was reached",
    "interrupted": "it was interrupted",
    "callback": "a callback stopped it",
    "finished": "its method had nothing left to try",
    "solver failed": "a solver failed",
}


def status_cards(report: Report) -> Iterator[Card]:
    """Status, loss and bound."""
    certificate = report.certificate
    if report.verification is not None and not report.verification:
        yield Card("Certificate", "FALSE", "a claim does not hold; see below", "bad")
    elif certificate.status == "OPTIMAL":
        yield Card("Status", "OPTIMAL", f"best of {_scope(certificate)}", "good")
    elif certificate.status == "LEARNED":
        yield Card("Status", "LEARNED", "trained for new rows")
    else:
        yield Card("Status", "FEASIBLE", "a better network may exist", "open")
    worst = "worst case, " if certificate.uncertainty else ""
    yield Card("Loss", _loss(certificate), f"{worst}{_measure(report)}")
    yield Card("Bound", number(certificate.bound), "no network of this architecture does better" + _narrow(certificate))


def notices_of(report: Report) -> tuple[Notice, ...]:
    """The verdict of the check against the training rows, at the top of the page."""
    verification = report.verification
    if verification is None:
        text = "No training rows were given, so loss and bound are what the model file claims."
        return (Notice("open", "Not checked here.", text),)
    if not verification:
        wrong = "; ".join(
            f"it claims {check.claim}, but {check.found}" for check in verification.checks if check.holds is False
        )
        return (Notice("bad", "This certificate is FALSE.", f"Do not rely on this model: {_sentence(wrong)}"),)
    claimed = [check for check in verification.checks if check.holds is None]
    if claimed:
        text = "The loss was recomputed in exact arithmetic on the training rows. " + " ".join(
            _sentence(f"Open: {check.claim}: {check.found}") for check in claimed
        )
        return (Notice("open", "Loss checked, bound not repeated.", text),)
    text = "Loss and bound were recomputed in exact arithmetic on the training rows, without any solver."
    return (Notice("good", "Certificate checked.", text),)


def how_sure(report: Report) -> Section:
    false = (notice for notice in notices_of(report) if notice.kind == "bad")  # where the words repeat false claims
    parts = [
        Part("In words", (*false, *map(Paragraph, _words(report.certificate)))),
        Part("What was checked here", tuple(_checks(report))),
    ]
    if report.trace and report.certificate.status != "LEARNED":  # then loss and bound were not meant to meet
        parts.append(Part("How the fit went", tuple(_how_it_went(report.trace))))
    parts.append(Part("The certificate, field by field", (_fields(report.certificate),)))
    lead = (
        "A certificate is a loss, computed in exact arithmetic, and a bound that no network within its scope can beat."
    )
    return Section("sure", "How sure it is", lead, tuple(parts))


def _words(certificate: Certificate) -> Iterator[str]:
    yield _achievement(certificate)
    yield _meaning(certificate)
    yield _source(certificate)
    if certificate.weights_bound:
        few = "is the smallest possible number"
        if certificate.weights_bound < certificate.n_weights:
            few = f"may not be the smallest possible number (the bound is {certificate.weights_bound})"
        yield (
            f"It has {counted(certificate.n_weights, 'non-zero weight')}, which {few} at this loss among "
            f"{certificate.weights_scope}."
        )
    yield (
        "All of this is about the training rows. It says nothing about new rows, which is what test rows are for, or "
        "about whether the data are correct."
    )


def _achievement(certificate: Certificate) -> str:
    perturbed = nominal = ""
    if certificate.uncertainty:
        perturbed = f" if an adversary perturbs them ({certificate.uncertainty})"
        nominal = f" Without perturbations it is {number(certificate.nominal_loss)}."
    if certificate.counts_errors:
        return (
            f"On the training rows{perturbed} the network misclassifies {number(certificate.loss)} of "
            f"{number(certificate.total_weight)} (rows count by weight, which is 1 unless given).{nominal}"
        )
    loss = f"{certificate.measure} of the network is {number(certificate.loss)}"
    return f"On the training rows{perturbed} the {loss}.{nominal}"


def _meaning(certificate: Certificate) -> str:
    return _status(certificate) + (f" {_sentence(certificate.remark)}" if certificate.remark else "")


def _status(certificate: Certificate) -> str:
    scope = _scope(certificate)
    if certificate.status == "OPTIMAL":
        return f"OPTIMAL means that this cannot be improved: among {scope} none has a smaller loss."
    if certificate.status == "LEARNED":
        least = f"Among {scope} none has a training loss below {number(certificate.bound)}."
        return (
            "LEARNED means that the network was trained for new rows, and not for the smallest training loss: fitting "
            f"every training row often makes the answers for new rows worse. {least}"
        )
    end = f"The fit ended because {_ENDS.get(certificate.stop_reason, certificate.stop_reason)}."
    if certificate.bound <= 0:
        return f"FEASIBLE means that better networks may exist: all that is known is that no loss is below 0. {end}"
    return (
        f"FEASIBLE means that better networks may exist, but among {scope} none has a loss below "
        f"{number(certificate.bound)}; so the loss can fall by at most {percent(certificate.gap)}. {end}"
    )


def _source(certificate: Certificate) -> str:
    how = f"The bound is known from this: {_sentence(certificate.proof)}"
    if certificate.claimed_by:
        return (
            f"{how} It rests on {certificate.claimed_by}, a solver, which may be wrong. Nothing else here rests on "
            "the solver's numbers, and its proof can be repeated (resolve)."
        )
    return f"{how} No solver has to be trusted: anyone can recompute it from the data."


def _scope(certificate: Certificate) -> str:
    return f"{certificate.scope} of this architecture" if certificate.scope.is_all else str(certificate.scope)


def _narrow(certificate: Certificate) -> str:
    return "" if certificate.scope.is_all else f" ({certificate.scope})"


def _measure(report: Report) -> str:
    certificate = report.certificate
    if not certificate.counts_errors:
        return f"{certificate.measure} on training rows"
    is_weighted = report.is_weighted or not float(certificate.total_weight).is_integer()  # also by classes
    return f"{'weight of ' if is_weighted else ''}misclassified training rows"


def _loss(certificate: Certificate) -> str:
    if certificate.counts_errors:
        return f"{number(certificate.loss)} of {number(certificate.total_weight)}"
    return number(certificate.loss)


def _checks(report: Report) -> Iterator[Block]:
    if report.verification is None:
        yield Paragraph("Nothing: no training rows were given. The numbers are those of the model file.")
    else:
        marks = {True: "true", False: "FALSE", None: "open"}
        yield table(
            "Claims of the certificate, checked on the training rows",
            ["verdict", "claim", "found"],
            [[marks[check.holds], check.claim, check.found] for check in report.verification.checks],
            (0, 1, 2),
        )
    yield Paragraph(
        "The loss is computed in exact arithmetic: weights and rows are rational numbers, and a sum that float64 "
        "leaves in doubt is computed in rationals. A bound is confirmed if rows that no network can distinguish "
        "imply it; it stays open where it rests on a solver. To check it yourself (resolve also repeats the "
        "solver's proof):"
    )
    yield verify_lines(report)


def _how_it_went(trace: Trace) -> Iterator[Block]:
    seconds, loss, bound = map(number, trace[-1])
    yield Paragraph(
        "The loss falls as better networks are found, the bound rises as networks are ruled out; where they meet, the "
        f"network is proven best. After {seconds} s the loss was {loss} and the bound {bound}."
    )
    step = max(1, -(-len(trace) // _MOST_LINES))
    lines = [list(map(number, point)) for point in (*trace[:-1:step], trace[-1])]
    yield Figure(
        "trace",
        "Loss and bound during the fit",
        "The solid orange line is the loss, the dashed blue one the bound; the gap between them is open.",
        (table("Loss and bound over time", ["seconds", "loss", "bound"], lines),),
    )


def _fields(certificate: Certificate) -> TableBlock:
    lines = [[field.name, _exact(getattr(certificate, field.name))] for field in dataclasses.fields(certificate)]
    return table("Exact fields, as in the model file", ["field", "value"], lines, (0, 1))


def _exact(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.17g}"
    return str(value) if value != "" else "(empty)"


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
