"""What the command writes: a report on a model file and tables, and nothing where something is wrong."""

import json
from pathlib import Path

import numpy as np
import pytest

from report_models import LINE, SQUARE, every_kind, xor
from stepnet import save
from stepnet.cli.reports import write_report
from stepnet.errors import InvalidInputError

KINDS = every_kind()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model of XOR with its rows."""
    save(xor(), tmp_path / "model.json")
    lines = [f"{b:g},{y},{a:g},1" for (a, b), y in zip(SQUARE, [0, 1, 1, 0], strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["b,y,a,weight", *lines]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(
    model="model.json",
    data="data.csv",
    target="y",
    test=None,
    out=None,
    to="html",
    radius=None,
    norm="linf",
    weight=None,
):
    paths = [None if path is None else Path(path) for path in (data, test, out)]
    write_report(Path(model), paths[0], target, paths[1], paths[2], to, radius, norm, weight)


def test_html_and_markdown_are_written(folder, capsys):
    run()
    run(to="markdown", out="own.md", test="data.csv", radius=0.1, weight="weight")
    page, text = (folder / "report.html").read_text(), (folder / "own.md").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "Certificate checked." in page
    assert "stepnet verify model.json data.csv --target y" in page
    assert text.startswith("# Report on model.json\n")
    assert "100.0 % of 4 test rows are certified at radius 0.1 in linf" in text
    assert capsys.readouterr().out == "report written to report.html\nreport written to own.md\n"


def test_text_is_printed_or_written(folder, capsys):
    run(to="text")
    printed = capsys.readouterr().out
    assert "WHAT WAS LEARNED" in printed
    run(to="text", out="own.txt")
    assert (folder / "own.txt").read_text() == printed


def test_a_model_alone_is_enough(folder):
    run(data=None, target="")
    assert "Not checked here." in (folder / "report.html").read_text()


@pytest.mark.parametrize(("kind", "target"), [("regressor", "y"), ("autoencoder", ""), ("one_hot", "y")])
def test_tables_are_read_as_the_model_wants_them(kind, target, folder, capsys):
    estimator, (_, y) = KINDS[kind]
    save(estimator, folder / "other.json")
    answers = np.zeros(6) if y is None else y
    header = ["x,y"] if target else ["x"]
    lines = [f"{x:g},{one}" if target else f"{x:g}" for x, one in zip(LINE[:, 0], answers, strict=True)]
    (folder / "other.csv").write_text("\n".join(header + lines) + "\n")
    run("other.json", "other.csv", target, to="text")
    assert "[ok] Certificate checked." in capsys.readouterr().out


def test_a_false_certificate_gives_a_report_and_exit_code_1(folder, capsys):
    content = json.loads((folder / "model.json").read_text())
    content["network"]["layers"][1]["thresholds"] = [-5.0]
    (folder / "model.json").write_text(json.dumps(content))
    with pytest.raises(SystemExit) as end:
        run()
    assert end.value.code == 1
    assert "This certificate is FALSE." in (folder / "report.html").read_text()
    assert "FALSE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"to": "pdf"}, "choose one of html, markdown, text"),
        ({"out": "missing/report.html"}, "does not exist"),
        ({"out": "."}, "is a folder"),
        ({"target": ""}, "--target"),
        ({"target": "nothing"}, "no column 'nothing'"),
        ({"data": "nothing.csv"}, "no file"),
        ({"model": "nothing.json"}, "cannot read"),
        ({"target": "b"}, "not trained on as --test FILE"),
        ({"data": None, "radius": 0.1}, "needs rows"),
    ],
)
def test_nothing_is_written_where_something_is_wrong(change, message, folder):
    with pytest.raises(InvalidInputError, match=message):
        run(**change)
    assert not (folder / "report.html").exists()
