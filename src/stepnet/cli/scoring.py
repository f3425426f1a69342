"""The command ``score``: scorecards."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from stepnet.cli import options
from stepnet.cli.fitting import facts_of, fit_shown, summary
from stepnet.cli.inputs import (
    check_new_folder,
    check_writable,
    class_weight_of,
    probability_of,
    require_two_classes,
    training_rows,
)
from stepnet.cli.output import EXIT_FALSE, complain, exit_if, say
from stepnet.cli.proofs import saved
from stepnet.cli.written import written


def score(
    data: options.Data,
    target: options.Target,
    out: options.Out = Path("model.json"),
    n_rules: Annotated[int, typer.Option("--rules", help="Most rules.")] = 5,
    points: Annotated[int, typer.Option(help="Most points of a rule.")] = 5,
    rules_per_feature: Annotated[int | None, typer.Option(help="Most rules on the same feature; default: any.")] = None,
    cut_points: Annotated[str, typer.Option(help="round, middle, or a number whose multiples to prefer.")] = "round",
    method: Annotated[str, typer.Option(help="learn, search or prove.")] = "learn",
    save: Annotated[Path | None, typer.Option(help="New folder for a proof that others can check.")] = None,
    time_limit: options.TimeLimit = 60,
    gap: Annotated[float, typer.Option(help="Stop at this relative gap.")] = 0.0,
    random_state: options.Seed = 0,
    sample_weight: options.WeightColumn = None,
    class_weight: options.ClassWeight = None,
    probability: options.Probability = "auto",
    drop: options.Drop = None,
    encode: options.Encode = "",
    impute: options.Impute = "",
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Train a scorecard on a table, print its points and write the model; exit code 1 if --save wrote less."""
    from stepnet import StepScoreClassifier, load

    check_writable(out)
    if save is not None:
        check_new_folder(save)
    rows = training_rows(data, target, sample_weight, drop, encode=encode, impute=impute)
    require_two_classes(rows.y, "score")
    estimator = StepScoreClassifier(
        n_rules,
        points,
        rules_per_feature=rules_per_feature,
        cut_points=written(cut_points),
        class_weight=class_weight_of(class_weight, rows.y),
        probability=probability_of(probability),
        method=method,
        time_limit=time_limit,
        gap=gap,
        random_state=random_state,
    )
    is_interrupted = fit_shown(estimator, rows, out)
    card = estimator.card_
    rules = [
        {
            "feature": rows.columns.features[rule.feature],
            "is_at_least": rule.is_at_least,
            "cut": rule.cut,
            "points": rule.points,
        }
        for rule in card.rules
    ]
    facts = facts_of(estimator, out) | {"rules": rules, "threshold": card.threshold}
    sheet = load(out).sheet()  # the file has the names of the columns
    lines = [f"{sheet}\n\n{summary(estimator)}\nmodel written to {out}"]
    trouble = ""
    if save is not None:
        if not as_json:
            print("\n".join(lines), flush=True)  # writing a proof may take long
            lines = []
        proof = saved(estimator, rows, save, time_limit, is_interrupted=is_interrupted)
        is_interrupted, trouble = proof.is_interrupted, proof.trouble
        facts |= {"proof": None} | proof.facts
        lines += proof.lines
    if lines or as_json:
        say("\n".join(lines), facts, as_json=as_json)
    if trouble:
        complain(trouble)
    exit_if(is_interrupted)
    if trouble:
        sys.exit(EXIT_FALSE)
