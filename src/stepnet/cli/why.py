"""Commands that give reasons: explain, counterfactual."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stepnet.cli import options
from stepnet.cli.inputs import check_order, check_writable, loaded, read
from stepnet.cli.output import say, write_rows
from stepnet.errors import InvalidInputError

Row = Annotated[list[int] | None, typer.Option(help="Number of a row, from 1; may be repeated. Default: all rows.")]


def explain(
    model: options.Model,
    data: options.Data,
    row: Row = None,
    importance: Annotated[
        bool, typer.Option("--importance", help="How often each feature alone can change the answer, instead.")
    ] = False,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Explain predictions: which neurons are on, what each adds, and which of them the answer depends on."""
    from stepnet.reasons.explanation import explanations
    from stepnet.reasons.importance import importance_of
    from stepnet.reasons.units import Model

    check_order(model, data, "explain MODEL DATA")
    classifier, rows = loaded(model, read(data))
    known, chosen = Model.of(classifier, before_operations=True), _chosen(row, len(rows.before))
    if importance:
        shares = importance_of(known, rows.before[chosen])
        facts = {"rows": len(chosen), "shares": dict(zip(shares.names, shares.shares.tolist(), strict=True))}
        say(str(shares), facts, as_json=as_json)
        return
    found = explanations(known, rows.before[chosen])
    text = "\n\n".join(f"row {number + 1}: {one}" for number, one in zip(chosen, found, strict=True))
    say(text if row else str(found), {"rows": list(found)}, as_json=as_json)


def counterfactual(
    model: options.Model,
    data: options.Data,
    row: Row = None,
    classes: Annotated[
        list[str] | None, typer.Option(help="Answer that is wanted; may be repeated. Default: any other.")
    ] = None,
    norm: Annotated[str, typer.Option(help="l1, l0 (the number of features) or linf.")] = "l1",
    fixed: Annotated[list[str] | None, typer.Option(help="Feature that must stay; may be repeated.")] = None,
    integer: Annotated[
        list[str] | None, typer.Option(help="Feature that takes integers only, or all; may be repeated.")
    ] = None,
    cost: Annotated[list[str] | None, typer.Option(help="FEATURE=NUMBER, the cost of a unit of change.")] = None,
    low: Annotated[list[str] | None, typer.Option(help="FEATURE=NUMBER, or a number for all features.")] = None,
    high: Annotated[list[str] | None, typer.Option(help="FEATURE=NUMBER, or a number for all features.")] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file for the changed rows.")] = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Find for every row the cheapest change that changes the prediction, with the proof that none is cheaper."""
    from stepnet.reasons.counterfactual import changed, wanted_codes
    from stepnet.reasons.demand import Demand
    from stepnet.reasons.units import Model

    check_order(model, data, "counterfactual MODEL DATA")
    check_writable(out)
    classifier, rows = loaded(model, read(data))
    known, chosen = Model.of(classifier, before_operations=True), _chosen(row, len(rows.before))
    whole: Any = "all" if integer == ["all"] else integer or ()
    numbers = {"cost": _numbers("cost", cost), "low": _numbers("low", low), "high": _numbers("high", high)}
    demand = Demand.of(known, norm=norm, fixed=fixed or (), integer=whole, **numbers)
    wanted = wanted_codes(known, _labels(known, classes))
    found = [changed(known, rows.before[number], demand, wanted) for number in chosen]
    if out is not None:
        lines = [
            [
                number + 1,
                one.answer,
                one.becomes,
                one.price,
                one.bound,
                *([""] * len(known.names) if one.point is None else one.point),
            ]
            for number, one in zip(chosen, found, strict=True)
        ]
        write_rows(out, ["row", "prediction", "becomes", "price", "bound", *known.names], lines)
    text = "\n".join(f"row {number + 1}: {one}" for number, one in zip(chosen, found, strict=True))
    facts = [{"row": number + 1, **vars(one)} for number, one in zip(chosen, found, strict=True)]
    say(text if out is None else f"{len(found)} changed rows written to {out}", {"rows": facts}, as_json=as_json)


def _chosen(row: list[int] | None, n_rows: int) -> list[int]:
    """The rows that are asked for, counted from 0."""
    for number in row or []:
        if not 1 <= number <= n_rows:
            raise InvalidInputError(f"--row {number}: the table has rows 1 to {n_rows}.")
    return [number - 1 for number in row] if row else list(range(n_rows))


def _numbers(option: str, given: list[str] | None) -> Any:
    """One number for all features, or a dictionary."""
    if not given:
        return None
    found: dict[str, float] = {}
    for text in given:
        name, sign, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            raise InvalidInputError(f"--{option} {text} must be FEATURE=NUMBER, such as age=2.") from None
        if not sign and len(given) == 1:
            return value
        if not sign:
            raise InvalidInputError(f"--{option} {text} must be FEATURE=NUMBER if it is given more than once.")
        found[name] = value
    return found


def _labels(known: Any, classes: list[str] | None) -> Any:
    """Classes as they are in the model, from how they are written."""
    if not classes:
        return None
    of_text = {str(label): label for label in known.classes.tolist()}
    for text in classes:
        if text not in of_text:
            raise InvalidInputError(f"--classes {text}: there is no such class; the classes are {', '.join(of_text)}.")
    return [of_text[text] for text in classes]
