"""Commands that use a model: predict, verify, attack, report, export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepnet.cli import options
from stepnet.cli.exports import ENDINGS, export_model
from stepnet.cli.inputs import (
    check_plot,
    check_writable,
    forget_names,
    loaded,
    rows_for,
    threshold_of,
    training_rows,
    weights_of,
    widths_of,
)
from stepnet.cli.output import EXIT_FALSE, csv_text, say, write_rows
from stepnet.errors import InvalidInputError
from stepnet.tables.table import read_table

if TYPE_CHECKING:
    from stepnet.certificate.verification import Verification

PROGRAMS = ("mps", "lp")
NETWORKS = tuple(ENDINGS)


def predict(
    model: options.Model,
    data: options.Data,
    out: Annotated[Path | None, typer.Option(help="CSV file to write; default: standard output.")] = None,
    features: Annotated[
        Path | None,
        typer.Option(help="Also write the features, as exported programs read them.", show_default=False),
    ] = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Predict the class, the number or the code of every row of a table."""
    from stepnet.runtime.files import write_atomically

    for path in filter(None, (out, features)):
        check_writable(path)
    estimator, names, X = loaded(model, read_table(data))
    is_code = not hasattr(estimator, "predict")  # of an autoencoder
    answers = estimator.transform(X) if is_code else estimator.predict(X)
    text = csv_of(answers, "code" if is_code else "prediction")
    if features is not None:
        write_rows(features, names, X.tolist())
    facts = {"model": model, "rows": len(answers), "out": out}
    if out is not None:
        write_atomically(out, text)
        say(f"{len(answers)} predictions written to {out}", facts, as_json=as_json)
    elif as_json:
        say("", facts | {"predictions": answers}, as_json=True)
    else:
        sys.stdout.write(text)


def csv_of(answers: Any, name: str) -> str:
    """Answers as a CSV file; several numbers a row as several columns."""
    rows = answers[:, None] if answers.ndim == 1 else answers
    many = rows.shape[1] > 1
    names = [f"{name}{number}" for number in range(rows.shape[1])] if many else [name]
    return csv_text(names, rows.tolist())


def verify(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="Model file that fit wrote, or folder that prove --save wrote.", show_default=False
        ),
    ],
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="The training data of a model.", show_default=False)
    ] = None,
    target: Annotated[str, typer.Option(help="Column with the classes or numbers.", show_default=False)] = "",
    resolve: Annotated[bool, typer.Option("--resolve", help="Repeat the solver's proof too.")] = False,
    time_limit: options.TimeLimit = 600,
    sample_weight: options.WeightColumn = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Check a model's certificate against its training data, or a written proof; exit code 1 if a claim is false."""
    if model.is_dir():
        from stepnet import verify_proof

        if data is not None or target or resolve:
            raise InvalidInputError(f"{model} is a folder with a proof, which has its data inside; give nothing else.")
        verification = verify_proof(model, time_limit=time_limit)
    elif data is None:
        raise InvalidInputError("verifying a model needs its training data: stepnet verify MODEL DATA --target COLUMN.")
    else:
        verification = _verified(model, data, target, sample_weight, resolve, time_limit)
    n_open = sum(check.holds is None for check in verification.checks)
    facts = {"holds": bool(verification), "open": n_open, "checks": list(verification.checks)}
    hint = "\nwhat is open is the word of a solver: --resolve asks it again" if n_open and not resolve else ""
    say(f"{verification}{hint if not model.is_dir() else ''}", facts, as_json=as_json)
    if not verification:
        sys.exit(EXIT_FALSE)


def _verified(
    model: Path, data: Path, target: str, sample_weight: str | None, resolve: bool, time_limit: float
) -> Verification:
    from stepnet import load

    estimator = load(model)
    _, X, labels, weights = rows_for(estimator, data, target, sample_weight)
    forget_names(estimator)
    found: Verification = estimator.verify(X, labels, weights, resolve=resolve, time_limit=time_limit)
    return found


def attack(
    model: options.Model,
    data: options.Data,
    target: Annotated[str, typer.Option(help="Column with the true classes; default: the model's answers count.")] = "",
    norm: Annotated[str, typer.Option(help="l1, l2 or linf.")] = "linf",
    radius: Annotated[
        list[float] | None,
        typer.Option(help="Radius to tell the certified share for; may be repeated.", show_default=False),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file for the moved rows.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Picture of the certified share over the radius.")] = None,
    n_jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = 1,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Find for every row the smallest move that changes the model's answer, exact."""
    import numpy as np

    from stepnet.cli.attacks import draw, radii_shown, table_of_shares, write_csv
    from stepnet.uncertainty.attack import attack as attack_rows

    if out is not None:
        check_writable(out)
    if plot is not None:
        check_plot(plot)
    if any(not np.isfinite(one) or one < 0 for one in radius or []):
        raise InvalidInputError(f"--radius {radius} must be numbers that are not negative.")
    table = read_table(data, text=[target])
    classifier, names, X = loaded(model, table, (target,))
    labels = table.labels(target) if target else None
    found = attack_rows(classifier, X, labels, norm=norm, n_jobs=n_jobs)
    lines = [table_of_shares(found, radius or [])]
    if hasattr(classifier, "columns_") and any(column.encoding for column in classifier.columns_.columns):
        lines.append("features that stand for text are moved like numbers, as far as all others")
    if out is not None:
        write_csv(found, classifier, names, out)
        lines.append(f"moved rows written to {out}")
    if plot is not None:
        draw(found, norm, plot)
        lines.append(f"plot written to {plot}")
    shares = [{"radius": one, "certified": found.certified(one)} for one in radii_shown(found, radius or [])]
    facts = {"norm": norm, "shares": shares, "radii": found.radii, "are_complete": found.are_complete}
    say("\n".join(lines), facts, as_json=as_json)


def report(
    model: options.Model,
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="The training data of the model.", show_default=False)
    ] = None,
    target: Annotated[str, typer.Option(help="Column with the classes or numbers.", show_default=False)] = "",
    test: Annotated[Path | None, typer.Option(help="Table with rows to test on.", show_default=False)] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write; default: report.html or report.md.", show_default=False)
    ] = None,
    to: Annotated[str, typer.Option(help="html, markdown, or text for the terminal.")] = "html",
    radius: Annotated[
        float | None, typer.Option(help="Also certify answers against moves of this size.", show_default=False)
    ] = None,
    norm: Annotated[str, typer.Option(help="How such moves are measured: l1, l2 or linf.")] = "linf",
    sample_weight: options.WeightColumn = None,
    config: options.Config = None,
) -> None:
    """Write what was learned, how good it is and how sure that is: a page, Markdown or text."""
    from stepnet.cli.reports import write_report

    write_report(model, data, target, test, out, to, radius, norm, sample_weight)


def export(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL|DATA", help="Model file that fit wrote; for mps and lp a table.", show_default=False
        ),
    ],
    to: Annotated[str, typer.Option(help="c, onnx, json or rules of a model; mps or lp of a table.")],
    out: Annotated[Path | None, typer.Option(help="File to write; default: the source's name.")] = None,
    inputs: Annotated[
        str, typer.Option(help="For c: what features are, floats, integers or bits.", show_default=False)
    ] = "floats",
    dtype: Annotated[str, typer.Option(help="For onnx: float64 or float32.", show_default=False)] = "float64",
    check: Annotated[
        Path | None,
        typer.Option(help="Table whose rows must get the same answers before the file is written."),
    ] = None,
    target: Annotated[str, typer.Option(help="For mps and lp: column with the classes.", show_default=False)] = "",
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
    """Write a model for elsewhere (C, ONNX, JSON, rules), or the mixed-integer program of a table (.mps, .lp)."""
    if to in NETWORKS:
        export_model(source, to, out, inputs, check, dtype)
        return
    if to not in PROGRAMS:
        raise InvalidInputError(f"--to {to} is not known; choose {', '.join((*NETWORKS, *PROGRAMS))}.")
    if not target:
        raise InvalidInputError(f"--to {to} writes the program of a table; name its target with --target COLUMN.")
    from stepnet import StepClassifier
    from stepnet.formulations.registry import formulation_for
    from stepnet.solvers.writers import write_model

    if out is not None and out.suffix.lower() != f".{to}":
        raise InvalidInputError(f"--out {out} does not end in .{to}, as --to {to} asks; change one of them.")
    rows = training_rows(source, target, sample_weight, drop, encode=encode, impute=impute)
    classifier = StepClassifier(
        widths_of(hidden),
        threshold=threshold_of(threshold),
        weights=weights_of(weights),
        activation=activation,
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
