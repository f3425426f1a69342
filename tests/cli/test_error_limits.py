"""``fit --constraint`` and ``tradeoff`` as typed."""

import json

import pytest

from command_line import stepnet

ROWS = "x,sex,mood\n0,f,well\n1,m,ill\n2,f,well\n3,m,ill\n4,f,ill\n"
FIT = (
    "fit",
    "rows.csv",
    "--target",
    "mood",
    "--hidden",
    "0",
    "--method",
    "Search(moves=50, starts=1)",
    "--drop",
    "sex",
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    return tmp_path


def test_fit_takes_limits_and_groups_by_a_column_that_is_no_feature(folder):
    constraints = (
        "--constraint",
        "Recall('ill', at_least=1)",
        "--constraint",
        "Parity(by='sex', within=1, positive='ill')",
    )
    result = stepnet(*FIT, *constraints, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "limit    recall of ill is 1 = 100 %, at least 100 %" in result.stdout
    assert "difference in recall of ill by given groups is 0 = 0 %" in result.stdout
    checked = stepnet("verify", "model.json", "rows.csv", "--target", "mood", cwd=folder)
    assert checked.returncode == 0, checked.stdout
    assert "true   recall of ill is 1 = 100 %, at least 100 %: counted again" in checked.stdout
    certificate = json.loads((folder / "model.json").read_text())["certificate"]
    assert certificate["limits"][0] == {
        "name": "recall of ill", "relation": ">=", "limit": "1", "value": "1", "is_share": True
    }  # fmt: skip


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ("recall", "--constraint recall is none; write it as in Python"),
        ("Recall('sick', at_least=1)", "there is no class 'sick'"),
        ("Recall('ill')", "at_least must be a number from 0 to 1"),
        ("Parity(by='age', within=0.1)", "has no column 'age'; its columns are x, sex, mood"),
    ],
)
def test_what_makes_no_sense_is_said(folder, constraint, message):
    result = stepnet(*FIT, "--constraint", constraint, cwd=folder)
    assert result.returncode == 2
    assert message in result.messages


def test_fit_prints_limits_as_json(folder):
    result = stepnet(*FIT, "--constraint", "Recall('ill', at_least=0.5)", "--json", cwd=folder)
    (limit,) = json.loads(result.stdout)["certificate"]["limits"]
    assert (limit["name"], limit["limit"]) == ("recall of ill", "1/2")


def test_tradeoff_prints_a_table_and_writes_points_and_a_plot(folder):
    options = "--hidden", "1", "--positive", "ill", "--drop", "sex", "--out", "points.csv", "--plot", "curve.svg"
    result = stepnet("tradeoff", "rows.csv", "--target", "mood", *options, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "2 of 2 points are proven; with at most 1 false positives the recall of ill is 100 %." in result.stdout
    lines = (folder / "points.csv").read_text().splitlines()
    assert lines[0] == "false_positives_at_most,false_positives,recall,recall_at_most,status,scope,seconds"
    assert lines[2].startswith("1.0,1.0,1.0,1.0,OPTIMAL,all networks,")
    assert (folder / "curve.svg").is_file()


def test_tradeoff_prints_json_and_refuses_what_is_no_number(folder):
    command = "tradeoff", "rows.csv", "--target", "mood", "--hidden", "1", "--drop", "sex", "--positive", "ill"
    content = json.loads(stepnet(*command, "--at-most", "1", "--json", cwd=folder).stdout)
    assert content["positive"] == "ill"
    assert content["points"][0]["recall"] == content["points"][0]["recall_at_most"] == 1
    assert "must be numbers with commas" in stepnet(*command, "--at-most", "few", cwd=folder).messages
    assert "must be non-negative" in stepnet(*command, "--at-most", "-1", cwd=folder).messages
    assert "there is no class 'sick'" in stepnet(*command[:-1], "sick", cwd=folder).messages
