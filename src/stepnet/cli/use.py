"""Commands that use a model: predict, verify, attack, check, report, export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from stepnet.cli import options
from stepnet.cli.exports import ENDINGS, Statement, export_model
from stepnet.cli.inputs import (
    check_order,
    check_plot,
    check_writable,
    loaded,
    read,
    targets_for,
    threshold_of,
    training_rows,
    weights_of,
    widths_of,
)
from stepnet.cli.output import EXIT_FALSE, csv_of, say, write_rows
from stepnet.cli.streams import predict_streamed, streamed, verify_streamed, write_answers
from stepnet.cli.written import written
from stepnet.errors import InvalidInputError
from stepnet.tables.training import weights_in

PROGRAMS = ("mps", "lp")


def predict(
    model: options.AnyModel,
    data: options.Data,
    out: Annotated[
        Path | None, typer.Option(help="CSV or Parquet file to write; default: CSV on standard output.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="Also write the features, in the form that exported programs read.")
    ] = None,
    memory: options.Memory = "",
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Predict the class, number or code of every row of a table."""
    check_order(model, data, "predict MODEL DATA")
    check_writable(out, features)
    if (stream := streamed(data, memory)) is not None:
        if out is None or features is not None:
            raise InvalidInputError(
                "rows that are read in blocks are written in blocks: give --out FILE, and no --features."
            )
        n_rows = predict_streamed(model, stream, out)
        say(f"{n_rows} predictions written to {out}", {"model": model, "rows": n_rows, "out": out}, as_json=as_json)
        return
    estimator, rows = loaded(model, read(data))
    is_code = not hasattr(estimator, "predict")  # of an autoencoder
    answers = estimator.transform(rows.X) if is_code else estimator.predict(rows.X)
    name = "code" if is_code else "prediction"
    if features is not None:
        names, numbers = rows.present(rows.before)
        write_rows(features, names, numbers.tolist())
    facts = {"model": model, "rows": len(answers), "out": out}
    if out is not None:
        write_answers(out, [answers], name)
        say(f"{len(answers)} predictions written to {out}", facts, as_json=as_json)
    elif as_json:
        say("", facts | {"predictions": answers}, as_json=True)
    else:
        sys.stdout.write(csv_of(answers, name))


def verify(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="Model file that fit wrote, or folder that --save wrote."),
    ],
    data: options.TrainingData = None,
    target: options.TrueTarget = "",
    resolve: Annotated[bool, typer.Option("--resolve", help="Repeat the solver's proof too.")] = False,
    time_limit: options.TimeLimit = 600,
    sample_weight: options.WeightColumn = None,
    memory: options.Memory = "",
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Check a model's certificate against its training data, or a written proof; exit code 1 if a claim is false."""
    from stepnet.runtime.view import showing

    check_order(model, data, "verify MODEL DATA")
    if not model.exists():
        raise InvalidInputError(f"there is no file or folder {str(model)!r}; give a model or the folder of a proof.")
    is_whole = True
    if model.is_dir():
        from stepnet import verify_proof

        if data is not None or target or resolve:
            raise InvalidInputError(f"{model} is a folder with a proof, which has its data inside; give nothing else.")
        with showing(time_limit, "reading the proof") as show:
            verification = verify_proof(model, time_limit=time_limit, show=show)
    elif data is None:
        raise InvalidInputError("verifying a model needs its training data: stepnet verify MODEL DATA --target COLUMN.")
    elif target and not resolve and (stream := streamed(data, memory, target, sample_weight=sample_weight)) is not None:
        verification = verify_streamed(model, stream)
    else:
        table = read(data, target)
        estimator, rows = loaded(model, table, (target, sample_weight))
        labels, weights = targets_for(estimator, table, target), weights_in(table, sample_weight)
        options: Any = {"resolve": resolve, "time_limit": time_limit, "absent": rows.absent}
        with showing(time_limit, "verifying the certificate"):
            verification = estimator.verify(rows.X, labels, weights, **options)
        is_whole = not rows.absent
    n_open = sum(check.holds is None for check in verification.checks)
    facts = {"holds": bool(verification), "open": n_open, "checks": list(verification.checks)}
    is_hinted = n_open and is_whole and not resolve and not model.is_dir()
    hint = "\nopen claims rest on a solver alone: --resolve repeats its proof" if is_hinted else ""
    say(f"{verification}{hint}", facts, as_json=as_json)
    if not verification:
        sys.exit(EXIT_FALSE)


def attack(
    model: options.AnyModel,
    data: options.Data,
    target: Annotated[str, typer.Option(help="Column with the true classes; default: the model's predictions.")] = "",
    norm: Annotated[str, typer.Option(help="l1, l2 or linf; with --integer also l0, how many features move.")] = "linf",
    integer: Annotated[bool, typer.Option("--integer", help="Features move by whole numbers only.")] = False,
    low: Annotated[float | None, typer.Option(help="Perturbed features stay at or above this.")] = None,
    high: Annotated[float | None, typer.Option(help="Perturbed features stay at or below this.")] = None,
    radius: Annotated[
        list[float] | None, typer.Option(help="Radius to show the certified share for; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file for the perturbed rows.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot of the certified share over the radius.")] = None,
    decide: Annotated[
        bool, typer.Option("--decide", help="Only decide the one --radius given, which is easier.")
    ] = False,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for all rows; those left open get intervals. Default: none.")
    ] = None,
    n_jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = 1,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Find for every row the smallest perturbation that changes the model's prediction, or an interval for it."""
    import numpy as np

    from stepnet.cli.attacks import draw, radii_shown, table_of_shares, write_csv
    from stepnet.uncertainty.attack import attack_before

    check_order(model, data, "attack MODEL DATA")
    check_writable(out)
    check_plot(plot)
    if any(not np.isfinite(one) or one < 0 for one in radius or []):
        raise InvalidInputError(f"--radius {radius} must be non-negative numbers.")
    if decide and len(radius or []) != 1:
        raise InvalidInputError("--decide needs one --radius: the one to decide.")
    table = read(data, target)
    classifier, rows = loaded(model, table, (target,), is_attacked=True)
    labels = table.labels(target) if target else None
    wanted = radius[0] if decide and radius else None
    limits: Any = {"radius": wanted, "time_limit": time_limit, "n_jobs": n_jobs, "verbose": 1}
    moves: Any = {"norm": norm, "integer": integer, "low": low, "high": high}
    found = attack_before(classifier, rows.before, labels, **moves, **limits)
    lines = [table_of_shares(found, radius or [])]
    if hasattr(classifier, "columns_") and any(column.encoding for column in classifier.columns_.columns):
        lines.append("features that encode text are perturbed like numbers, as far as all others")
    if out is not None:
        write_csv(found, classifier, rows, out)
        lines.append(f"perturbed rows written to {out}")
    if plot is not None:
        draw(found, norm, plot)
        lines.append(f"plot written to {plot}")
    shares = [
        {"radius": one, "certified": found.certified(one), "broken": found.broken(one)}
        for one in radii_shown(found, radius or [])
    ]
    facts = {
        "norm": norm,
        "shares": shares,
        "radii": found.radii,
        "sizes": found.sizes,
        "are_complete": found.are_complete,
        "claimed_by": found.claimed_by,
        "stop_reason": found.stop_reason,
    }
    say("\n".join(lines), facts, as_json=as_json)


def check(
    model: Annotated[Path, typer.Argument(metavar="NETWORK", help="ONNX file, or exported network.")],
    property: Annotated[Path, typer.Argument(metavar="PROPERTY", help="VNN-LIB file with what is asked.")],
    time_limit: options.TimeLimit = 480,
    out: Annotated[Path | None, typer.Option(help="File for the answer, as VNN-COMP's tools write it.")] = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Decide whether some input of a network has a VNN-LIB property: sat, unsat or unknown (exit code 1)."""
    from stepnet.runtime.view import showing
    from stepnet.vnnlib.check import UNKNOWN
    from stepnet.vnnlib.check import check as decide

    check_writable(out)
    if not time_limit > 0:
        raise InvalidInputError(f"--time-limit {time_limit:g} must be a positive number of seconds.")
    with showing(time_limit, f"checking {property}"):
        found = decide(model, property, time_limit=time_limit)
    if out is not None:
        found.save(out)
    facts = {"answer": found.answer, "evidence": found.evidence, "point": found.point, "outputs": found.outputs}
    say(str(found), facts | {"seconds": found.seconds, "out": out}, as_json=as_json)
    if found.answer == UNKNOWN:
        sys.exit(EXIT_FALSE)


def report(
    model: options.Model,
    data: options.TrainingData = None,
    target: options.TrueTarget = "",
    test: Annotated[Path | None, typer.Option(help="Table with rows to test on.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; default: report.html or report.md.")] = None,
    to: Annotated[str, typer.Option(help="html, markdown, or text for the terminal.")] = "html",
    radius: Annotated[float | None, typer.Option(help="Also certify predictions at this radius.")] = None,
    norm: Annotated[str, typer.Option(help="Norm of perturbations: l1, l2 or linf.")] = "linf",
    sample_weight: options.WeightColumn = None,
    config: options.Config = None,
) -> None:
    """Report what was learned, how good it is and how sure that is, as HTML, Markdown or text."""
    from stepnet.cli.reports import write_report

    check_order(model, data, "report MODEL DATA")
    write_report(model, data, target, test, out, to, radius, norm, sample_weight)


def export(
    source: Annotated[
        Path, typer.Argument(metavar="MODEL|DATA", help="Model, exported network or ONNX file; for mps and lp a table.")
    ],
    to: Annotated[
        str, typer.Option(help="c, onnx, json, sql, html, rules, tex or markdown of a model; mps or lp of a table.")
    ],
    out: Annotated[Path | None, typer.Option(help="File to write; default: the source's name.")] = None,
    inputs: Annotated[
        str, typer.Option(help="For c and sql: type of the features, floats or integers; for c also bits.")
    ] = "floats",
    dtype: Annotated[str, typer.Option(help="For onnx: float64 or float32.")] = "float64",
    dialect: Annotated[str, typer.Option(help="For sql: ansi, sqlite, duckdb, postgres or bigquery.")] = "ansi",
    table: Annotated[str, typer.Option(help="For sql: table that has the columns of the model.")] = "data",
    keep: Annotated[list[str] | None, typer.Option(help="For sql: column to return too; may be repeated.")] = None,
    columns: Annotated[str, typer.Option(help="Features of the file: used (that answers depend on) or all.")] = "used",
    check: Annotated[
        Path | None, typer.Option(help="Write the file only if it predicts the same as the model on this table.")
    ] = None,
    target: Annotated[str, typer.Option(help="For mps and lp: column with the classes.")] = "",
    hidden: options.Hidden = "2",
    threshold: options.Threshold = "neuron",
    weights: options.Weights = "real",
    activation: options.Activation = "step",
    output: options.Output = "one_hot",
    formulation: options.ProgramName = "tight",
    sample_weight: options.WeightColumn = None,
    drop: options.Drop = None,
    encode: options.Encode = "",
    impute: options.Impute = "",
    config: options.Config = None,
) -> None:
    """Export a model for other programs or for people, or the mixed-integer program of a table (.mps, .lp)."""
    if to in ENDINGS:
        statement = Statement(dialect, table, tuple(keep or []))
        export_model(source, to, out, inputs, check, dtype, columns, statement)
        return
    if to not in PROGRAMS:
        raise InvalidInputError(f"--to {to} is not known; choose {', '.join((*ENDINGS, *PROGRAMS))}.")
    if not target:
        raise InvalidInputError(f"--to {to} writes the program of a table; name its target with --target COLUMN.")
    from stepnet import StepClassifier
    from stepnet.formulations.registry import formulation_for
    from stepnet.solvers.writers import write_model

    if out is not None and out.suffix.lower() != f".{to}":
        raise InvalidInputError(f"--out {out} does not end in .{to}, but --to {to} was given; change one of them.")
    rows = training_rows(source, target, sample_weight, drop, encode=encode, impute=impute)
    classifier = StepClassifier(
        widths_of(hidden),
        threshold=threshold_of(threshold),
        weights=weights_of(weights),
        activation=written(activation),
        output=output,
    )
    problem = classifier.problem(rows.X, rows.y, rows.weights)
    encodings = formulation_for(formulation, problem).encode(problem)
    base = out or Path(source.stem).with_suffix(f".{to}")
    for number, encoding in enumerate(encodings):
        name = base if len(encodings) == 1 else base.with_name(f"{base.stem}_{number}{base.suffix}")
        comment = f"{encoding.name}; {problem.dataset.n_rows} distinct rows, data {problem.dataset.fingerprint}"
        write_model(encoding.model, name, comment=comment)
        print(f"{encoding.name}: {encoding.model.n_columns} variables, {encoding.model.n_rows} rows in {name}")
