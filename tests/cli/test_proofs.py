"""``prove``, ``verify`` of a folder, and ``widths`` as typed."""

import json

import numpy as np
import pytest

from command_line import stepnet, typed
from stepnet import Integers, load


@pytest.fixture(name="folder")
def _folder(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)).round(2), rng.permutation(["calm", "wild"] * 10)
    lines = ["a,b,mood", *(f"{a},{b},{label}" for (a, b), label in zip(X, y, strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.slow
def test_prove_saves_what_verify_checks_and_a_change_is_exit_code_1(folder):
    result = typed("prove", "rows.csv", "--target", "mood", "--save", "proof", "--out", "m.json", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "OPTIMAL for all networks" in result.stdout
    assert "chosen   cells: through 2 of 20 points there are only 190 hyperplanes" in result.stdout
    assert "check it: stepnet verify proof" in result.stdout
    assert stepnet("verify", "m.json", "rows.csv", "--target", "mood", cwd=folder).returncode == 0
    result = stepnet("verify", "proof", cwd=folder)
    assert result.returncode == 0, result.stdout
    assert "FALSE" not in result.stdout
    path = folder / "proof" / "subsystems.json"
    subsystems = json.loads(path.read_text())
    subsystems[0][1][0] += 1
    path.write_text(json.dumps(subsystems))
    result = stepnet("verify", "proof", cwd=folder)
    assert result.returncode == 1
    assert "FALSE" in result.stdout


@pytest.mark.slow
def test_time_that_was_not_enough_is_exit_code_1_and_no_folder(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 8)).round(3), rng.integers(0, 2, 80)
    lines = [",".join("abcdefgh") + ",y", *(",".join(map(str, [*row, c])) for row, c in zip(X, y, strict=True))]
    (tmp_path / "hard.csv").write_text("\n".join(lines) + "\n")
    result = stepnet("prove", "hard.csv", "--target", "y", "--time-limit", "3", cwd=tmp_path)
    assert result.returncode == 1
    assert "FEASIBLE" in result.stdout


def test_score_saves_what_verify_checks(folder):
    options = ("--target", "mood", "--rules", "2", "--points", "2", "--method", "prove", "--out", "s.json")
    result = stepnet("score", "rows.csv", *options, "--save", "card", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "check it: stepnet verify card" in result.stdout
    result = stepnet("verify", "card", cwd=folder)
    assert result.returncode == 0, result.stdout
    assert "boxes of cuts below 3 gates, divided again" in result.stdout
    facts = json.loads(stepnet("score", "rows.csv", *options, "--save", "again", "--json", cwd=folder).stdout)
    assert facts["proven_bound"] == facts["certificate"]["bound"] > 0
    result = stepnet("score", "rows.csv", *options, "--save", "again", cwd=folder)
    assert result.returncode == 2
    assert "again" in result.stderr


def test_classes_may_weigh_differently(folder):
    options = ("--target", "mood", "--hidden", "1")
    weights = ("--class-weight", "wild=0.7", "--class-weight", "calm=0.4")
    result = stepnet("prove", "rows.csv", *options, *weights, "--save", "proof", "--out", "m.json", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "OPTIMAL for all networks" in result.stdout
    assert " of 11," in result.stdout  # ten rows per class
    assert stepnet("verify", "m.json", "rows.csv", "--target", "mood", cwd=folder).returncode == 0
    assert stepnet("verify", "proof", cwd=folder).returncode == 0
    balanced = ("--class-weight", "balanced", "--method", "prove", "--out", "m.json")
    result = stepnet("fit", "rows.csv", *options, *balanced, cwd=folder)
    assert "OPTIMAL for all networks" in result.stdout
    assert load(folder / "m.json").class_weight == "balanced"
    for bad, word in {
        "calmer=2": "there is no class 'calmer'",
        "calm": "it is not CLASS=NUMBER",
        "calm=much": "such as calm=2",
        "calm=nan": "finite, non-negative",
    }.items():
        result = stepnet("fit", "rows.csv", *options, "--class-weight", bad, cwd=folder)
        assert (result.returncode, word in result.stderr) == (2, True), result.stderr
    result = stepnet("fit", "rows.csv", "--target", "a", "--task", "regression", "--class-weight", "balanced",
                   "--drop", "mood", cwd=folder)  # fmt: skip
    assert (result.returncode, "predicts numbers" in result.stderr) == (2, True)


def test_widths_prints_a_table_and_draws(folder):
    result = stepnet("widths", "rows.csv", "--target", "mood", "--loss", "2", "--plot", "w.png", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "neurons    loss   bound  status" in result.stdout
    assert "reach loss 2, and no fewer do" in result.stdout
    assert (folder / "w.png").exists()
    result = stepnet("widths", "rows.csv", "--target", "mood", "--most", "1", cwd=folder)
    assert result.returncode == 1
    assert "was not reached with 1 neuron; at least 2 are needed" in result.stdout


def test_rows_that_contradict_each_other_leave_no_width(tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n0,0\n0,1\n1,1\n")
    result = stepnet("widths", "rows.csv", "--target", "y", "--json", cwd=tmp_path)
    assert (result.returncode, json.loads(result.stdout)["least"]) == (1, 1)
    assert "equal rows have different classes" in stepnet("widths", "rows.csv", "--target", "y", cwd=tmp_path).stdout


def test_ctrl_c_while_a_proof_is_written_keeps_the_model(folder, monkeypatch):
    def interrupted(*_given, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("stepnet.estimators.base.write_proof", interrupted)
    result = stepnet("prove", "rows.csv", "--target", "mood", "--save", "proof", "--out", "m.json", cwd=folder)
    assert result.returncode == 130
    assert "no proof was written: it was interrupted" in result.stderr
    assert load(folder / "m.json").certificate_.status == "OPTIMAL"


@pytest.mark.parametrize("command", ["predict", "verify", "attack", "report", "export"])
def test_a_model_where_a_table_belongs_is_noticed(folder, command):
    stepnet(
        "fit", "rows.csv", "--target", "mood", "--method", "search", "--time-limit", "1", "--out", "m.json", cwd=folder
    )
    if command == "export":
        result = stepnet("export", "m.json", "--to", "c", "--check", "m.json", cwd=folder)
        right = "export MODEL --to c --check DATA"
    else:
        result = stepnet(command, "rows.csv", "m.json", cwd=folder)
        right = f"{command} m.json rows.csv"
    assert result.returncode == 2
    assert result.stderr == (
        f"stepnet: m.json is a model, and a table belongs there. The right order: stepnet {right}.\n"
    )


def test_options_may_be_pasted_from_python(folder):
    pasted = ("--hidden", "(2,)", "--weights", "Integers(5)", "--method", "Search(moves=20)", "--out", "m.json")
    short = ("--time-limit", "1")
    assert stepnet("fit", "rows.csv", "--target", "mood", *pasted, *short, cwd=folder).returncode == 0
    model = load(folder / "m.json")
    assert (model.hidden, model.weights) == ((2,), Integers(5))
    result = stepnet("fit", "rows.csv", "--target", "mood", "--weights", "Integer(5)", cwd=folder)
    assert (result.returncode, "Integer is not known" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prove", "rows.csv", "--target", "mood", "--save", "rows.csv"], "rows.csv exists already"),
        (["prove", "rows.csv", "--target", "mood", "--save", "no/where"], "does not exist; create it first"),
        (["prove", "rows.csv", "--target", "mood", "--hidden", "7", "--save", "p"], "5 neurons"),
        (["verify", "."], "has no proof.json"),
        (["widths", "rows.csv", "--target", "mood", "--most", "0"], "must be a positive integer"),
        (["verify", "rows.csv"], "needs its training data"),
        (["verify", "nofolder"], "there is no file or folder 'nofolder'"),
        (["verify", "nofile.json", "rows.csv", "--target", "mood"], "there is no file or folder 'nofile.json'"),
        (["verify", ".", "rows.csv", "--target", "mood"], "has its data inside"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(folder, arguments, message):
    result = stepnet(*arguments, cwd=folder)
    assert result.returncode == 2
    assert message in result.stderr
    assert not (folder / "p").exists()
