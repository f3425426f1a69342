"""How to use a model: commands and Python code."""

from __future__ import annotations

import shlex

from stepnet.report.blocks import Block, Code, Paragraph, Part, Section, table
from stepnet.report.content import Report
from stepnet.report.format import listed

_MOST_NAMES = 40


def verify_lines(report: Report) -> Code:
    """How to check the certificate: on the command line, or in Python if the command cannot read such data."""
    if not _is_for_tables(report):
        load = f"import stepnet\n\nmodel = stepnet.load({report.model_name!r})"
        return Code("Check it yourself", "python", f"{load}\nprint(model.verify({_training_rows(report)}))")
    return Code("Check it yourself", "console", "\n".join(_verify_commands(report)))


def _verify_commands(report: Report) -> list[str]:
    weights = f" --sample-weight {shlex.quote(report.weight)}" if report.is_weighted else ""
    command = f"stepnet verify {_model(report)} {_data(report)} --target {shlex.quote(report.target)}{weights}"
    return [command, f"{command} --resolve"]


def _is_for_tables(report: Report) -> bool:
    """Whether there is one answer per row, as the commands that read tables need."""
    return bool(report.classes) or (report.estimator == "StepRegressor" and len(report.layers[-1].neurons) == 1)


def _training_rows(report: Report) -> str:
    names = ["X"] if report.estimator == "StepAutoencoder" else ["X", "y"]
    return ", ".join([*names, *(["sample_weight=weights"] * report.is_weighted)])


def how_to_use(report: Report) -> Section:
    certificate = report.certificate
    facts = [
        ["fingerprint of the training data", certificate.fingerprint],
        ["distinct training rows", str(certificate.n_rows)],
        *([name, version] for name, version in report.versions),
    ]
    lead = "Everything below works with the model file alone; only verify needs the training data."
    parts = (
        Part("On the command line", _on_the_command_line(report)),
        Part("In Python", (Code("Python", "python", _python(report)),)),
        Part("What this report is based on", (table("Data and versions", ["what", "value"], facts, (0, 1)),)),
    )
    return Section("use", "How to use it", lead, parts)


def _on_the_command_line(report: Report) -> tuple[Block, ...]:
    model = _model(report)
    export = f"stepnet export {model} --to c --out model.c"
    if not _is_for_tables(report):
        return (
            Code("Export", "console", export),
            Paragraph("The other commands are for models with one answer per row."),
        )
    lines = [f"stepnet predict {model} new.csv --out answers.csv", *_verify_commands(report), export]
    names = list(report.columns) or [one.name for one in report.features if one.is_used or not report.has_names]
    return (
        Code("Predict, verify, export", "console", "\n".join(lines)),
        Paragraph(f"new.csv needs {_columns(names) if report.has_names else f'{len(names)} numeric columns'}."),
    )


def _columns(names: list[str]) -> str:
    if not names:
        return "no column: all rows get the same answer"
    return f"the column {names[0]}" if len(names) == 1 else f"the {len(names)} columns {listed(names, _MOST_NAMES)}"


def _python(report: Report) -> str:
    n_features = len(report.features)
    lines = ["import stepnet", "", f"model = stepnet.load({report.model_name!r})"]
    row = f"[[0.0] * {n_features}]" if n_features > 1 else "[[0.0]]"
    rows = row
    if report.columns:
        lines.insert(0, "import pandas")
        lines.append('table = stepnet.Table.read("new.csv", like=model)')
        rows = "pandas.DataFrame(table.X, columns=model.feature_names_in_)"
    elif report.has_names:
        lines.insert(0, "import pandas")
        rows = f"pandas.DataFrame({row}, columns=model.feature_names_in_)"
    call = "transform" if report.estimator == "StepAutoencoder" else "predict"
    check = f"# With the training rows: print(model.verify({_training_rows(report)}))"
    return "\n".join(
        [*lines, f"rows = {rows}  # your rows", f"print(model.{call}(rows))", "print(model.certificate_)", check]
    )


def _model(report: Report) -> str:
    return shlex.quote(report.model_name)


def _data(report: Report) -> str:
    return shlex.quote(report.data_name) if report.data_name.endswith((".csv", ".parquet")) else "data.csv"
