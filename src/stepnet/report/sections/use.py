"""How to use a model: lines to type."""

from __future__ import annotations

import shlex

from stepnet.report.blocks import Block, Code, Paragraph, Part, Section, table
from stepnet.report.content import Report


def verify_command(report: Report) -> str:
    target = "" if report.estimator == "StepAutoencoder" else f" --target {shlex.quote(report.target)}"
    return f"stepnet verify {_model(report)} {_data(report)}{target}"


def how_to_use(report: Report) -> Section:
    certificate = report.certificate
    facts = [
        ["fingerprint of the training data", certificate.fingerprint],
        ["distinct training rows", str(certificate.n_rows)],
        *([name, version] for name, version in report.versions),
    ]
    return Section(
        "use",
        "How to use it",
        "Everything below works with the model file alone; only verify needs the training data.",
        (
            Part("On the command line", _on_the_command_line(report)),
            Part("In Python", (Code("Python", "python", _python(report)),)),
            Part("What this report rests on", (table("Data and versions", ["what", "value"], facts, (0, 1)),)),
        ),
    )


def _on_the_command_line(report: Report) -> tuple[Block, ...]:
    model = _model(report)
    lines = [
        f"stepnet predict {model} new.csv --out answers.csv",
        verify_command(report),
        f"{verify_command(report)} --resolve",
        f"stepnet export {model} --to c --out model.c",
    ]
    names = [feature.name for feature in report.features]
    return (
        Code("Predict, verify, export", "console", "\n".join(lines)),
        Paragraph(f"new.csv needs {_columns(names) if report.has_names else f'{len(names)} columns of numbers'}."),
    )


def _columns(names: list[str]) -> str:
    return (
        f"a column for each of the {len(names)} features: {', '.join(names)}"
        if len(names) > 1
        else f"the column {names[0]}"
    )


def _python(report: Report) -> str:
    n_features = len(report.features)
    lines = ["import stepnet", "", f"model = stepnet.load({report.model_name!r})"]
    row = f"[[0.0] * {n_features}]" if n_features > 1 else "[[0.0]]"
    rows = row
    if report.has_names:
        lines.insert(0, "import pandas")
        rows = f"pandas.DataFrame({row}, columns=model.feature_names_in_)"
    call = "transform" if report.estimator == "StepAutoencoder" else "predict"
    return "\n".join([*lines, f"rows = {rows}  # your rows", f"print(model.{call}(rows))", "print(model.certificate_)"])


def _model(report: Report) -> str:
    return shlex.quote(report.model_name)


def _data(report: Report) -> str:
    return shlex.quote(report.data_name) if report.data_name.endswith((".csv", ".parquet")) else "data.csv"
