"""The command line, as typed: commands, messages, exit codes, interrupts."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from command_line import Done, stepnet, typed
from interrupting import interrupted
from stepnet import load


@pytest.fixture
def xor(tmp_path):
    (tmp_path / "xor.csv").write_text("rain,sun,mood\n0,0,calm\n0,1,wild\n1,0,wild\n1,1,calm\n")
    return tmp_path


def test_fit_predict_verify(xor):
    result = typed("fit", "xor.csv", "--target", "mood", "--hidden", "2", "--out", "m.json", cwd=xor)
    assert result.returncode == 0, result.stderr
    assert "OPTIMAL for all networks: loss 0 of 4, bound 0" in result.stdout
    assert "loss 0" in result.stderr
    assert load(xor / "m.json").feature_names_in_.tolist() == ["rain", "sun"]
    result = typed("predict", "m.json", "xor.csv", cwd=xor)
    assert result.stdout.split() == ["prediction", "calm", "wild", "wild", "calm"]
    assert result.messages == ""
    result = stepnet("predict", "m.json", "xor.csv", "--out", "p.csv", cwd=xor)
    assert (xor / "p.csv").read_text().split() == ["prediction", "calm", "wild", "wild", "calm"]
    result = stepnet("verify", "m.json", "xor.csv", "--target", "mood", cwd=xor)
    assert (result.returncode, result.stdout.count("true")) == (0, 3)


def test_predict_finds_columns_by_name(xor):
    stepnet("fit", "xor.csv", "--target", "mood", "--hidden", "2", "--out", "m.json", cwd=xor)
    (xor / "new.csv").write_text("sun,note,rain\n1,x,0\n1,y,1\n")
    assert stepnet("predict", "m.json", "new.csv", cwd=xor).stdout.split() == ["prediction", "wild", "calm"]
    (xor / "poor.csv").write_text("sun\n1\n")
    result = stepnet("predict", "m.json", "poor.csv", cwd=xor)
    assert result.returncode == 2
    assert "no column 'rain'" in result.stderr


def test_a_false_certificate_has_exit_code_1(xor):
    stepnet("fit", "xor.csv", "--target", "mood", "--hidden", "1", "--out", "m.json", cwd=xor)
    assert stepnet("verify", "m.json", "xor.csv", "--target", "mood", "--resolve", cwd=xor).returncode == 0
    content = json.loads((xor / "m.json").read_text())
    content["certificate"]["loss"] = content["certificate"]["bound"] = 0.0
    (xor / "m.json").write_text(json.dumps(content))
    result = stepnet("verify", "m.json", "xor.csv", "--target", "mood", cwd=xor)
    assert result.returncode == 1
    assert "FALSE" in result.stdout


def test_sample_weights_dropped_columns_and_options(xor):
    (xor / "w.csv").write_text("id,a,b,w,y\nu,0,0,3,0\nv,0,1,2,1\nw,1,0,5,1\nx,1,1,4,0\n")
    arguments = ["fit", "w.csv", "--target", "y", "--hidden", "1", "--sample-weight", "w", "--drop", "id"]
    options = ["--formulation", "tight", "--solver", "highs", "--threshold", "layer", "--method", "exact"]
    result = stepnet(*arguments, *options, cwd=xor)
    assert result.returncode == 0, result.stderr
    assert "loss 2 of 14, bound 2" in result.stdout
    assert stepnet("verify", "model.json", "w.csv", "--target", "y", "--sample-weight", "w", cwd=xor).returncode == 0
    assert stepnet("verify", "model.json", "w.csv", "--target", "y", cwd=xor).returncode == 2


def test_ternary_weights(xor):
    result = stepnet("fit", "xor.csv", "--target", "mood", "--hidden", "2", "--weights", "ternary", cwd=xor)
    assert "OPTIMAL for all networks: loss 0" in result.stdout
    weights = np.concatenate([layer.weights.ravel() for layer in load(xor / "model.json").network_.layers])
    assert set(weights) <= {-1.0, 0.0, 1.0}


@pytest.mark.parametrize("to", ["mps", "lp"])
def test_export_writes_programs(xor, to):
    result = stepnet("export", "xor.csv", "--target", "mood", "--hidden", "2", "--to", to, cwd=xor)
    assert result.returncode == 0, result.stderr
    assert (xor / f"xor.{to}").stat().st_size > 100
    result = stepnet("export", "xor.csv", "--target", "mood", "--formulation", "gates", "--to", to, cwd=xor)
    assert (xor / f"xor_0.{to}").exists()
    assert (xor / f"xor_1.{to}").exists()


def test_parquet_is_read_like_csv(xor):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.read_csv(xor / "xor.csv").to_parquet(xor / "xor.parquet")
    result = stepnet("fit", "xor.parquet", "--target", "mood", "--hidden", "2", cwd=xor)
    assert "loss 0 of 4" in result.stdout, result.stderr


def test_labels_are_read_as_they_are(xor):
    from stepnet.tables.table import RawTable

    assert RawTable("t", {"y": [1.2, 1.7]}).labels("y").tolist() == ["1.2", "1.7"]
    assert RawTable("t", {"y": [1.0, 2.0]}).labels("y").tolist() == [1, 2]
    assert RawTable("t", {"y": ["1", "-1"]}).labels("y").tolist() == [1, -1]
    assert RawTable("t", {"y": ["99999999999999999999", "1"]}).labels("y").tolist() == ["99999999999999999999", "1"]


def test_a_certificate_without_a_loss_is_damaged(xor):
    stepnet("fit", "xor.csv", "--target", "mood", "--hidden", "2", "--out", "m.json", cwd=xor)
    content = json.loads((xor / "m.json").read_text())
    content["certificate"]["loss"] = None
    (xor / "m.json").write_text(json.dumps(content))
    result = stepnet("verify", "m.json", "xor.csv", "--target", "mood", cwd=xor)
    assert result.returncode == 2
    assert "loss is None" in result.stderr


def test_warm_up_says_what_was_compiled_and_where_it_is(tmp_path):
    result = stepnet("warm-up", cwd=tmp_path)
    *groups, last = result.stdout.splitlines()
    assert result.returncode == 0
    assert {line.split("  ")[0] for line in groups} >= {"local search", "descent", "cells", "checks of proofs"}
    assert all(line.endswith("in the cache") for line in groups)  # the tests have warmed up
    assert Path(last.removeprefix("all kernels are in the cache, in ")).is_dir()
    facts = json.loads(stepnet("warm-up", "--json", cwd=tmp_path).stdout)
    assert last.endswith(facts["cache"])
    assert set(facts["seconds"].values()) == {0.0}


def test_solvers_are_listed(tmp_path):
    result = stepnet("solvers", cwd=tmp_path)
    assert "HiGHS    version 1.14" in result.stdout


BAD = {
    "no target": (["fit", "xor.csv", "--target", "y"], "no column 'y'; its columns are rain, sun, mood"),
    "no file": (["fit", "nothing.csv", "--target", "y"], "no file 'nothing.csv'"),
    "text column": (["fit", "text.csv", "--target", "y"], "column 'a': 'red' is not a finite number"),
    "empty cell": (["fit", "gap.csv", "--target", "y"], "data row 2, column 'a': the cell is empty"),
    "empty target": (["fit", "empty_target.csv", "--target", "y"], "the target 'y' is empty"),
    "ragged": (["fit", "ragged.csv", "--target", "y"], "data row 2 has 1 cells, the header 2"),
    "no rows": (["fit", "header.csv", "--target", "y"], "has no rows"),
    "empty file": (["fit", "empty.csv", "--target", "y"], "has no rows"),
    "binary file": (["fit", "binary.csv", "--target", "y"], "not a CSV file"),
    "two equal names": (["fit", "twice.csv", "--target", "y"], "several columns named a"),
    "one class": (["fit", "one.csv", "--target", "y"], "one class"),
    "widths": (["fit", "xor.csv", "--target", "mood", "--hidden", "two"], "--hidden two"),
    "widths without a comma": (["fit", "xor.csv", "--target", "mood", "--hidden", "5 5"], "must be positive widths"),
    "negative width": (["fit", "xor.csv", "--target", "mood", "--hidden", "-3"], "must be positive widths"),
    "target as weight": (["fit", "xor.csv", "--target", "mood", "--sample-weight", "mood"], "name another column"),
    "target left out": (["fit", "xor.csv", "--target", "mood", "--drop", "mood"], "name another column"),
    "text to predict": (["fit", "xor.csv", "--target", "mood", "--task", "regression"], "must be finite numbers"),
    "solver": (["fit", "xor.csv", "--target", "mood", "--method", "prove", "--solver", "cplex"], "choose one of"),
    "formulation": (["fit", "xor.csv", "--target", "mood", "--method", "exact", "--formulation", "x"], "choose one of"),
    "no program": (
        ["fit", "xor.csv", "--target", "mood", "--solver", "scip"],
        "add --method prove, exact or alternating",
    ),
    "method": (
        ["fit", "xor.csv", "--target", "mood", "--method", "x"],
        "choose one of prove, learn, search, exact, alternating",
    ),
    "folder": (["fit", "xor.csv", "--target", "mood", "--out", "no/where.json"], "does not exist"),
    "gates": (
        ["fit", "xor.csv", "--target", "mood", "--hidden", "2,2", "--method", "prove", "--formulation", "gates"],
        "Use formulation='tight'",
    ),
    "model": (["predict", "damaged.json", "xor.csv"], "damaged"),
    "no model": (["predict", "none.json", "xor.csv"], "cannot read"),
    "format": (
        ["export", "xor.csv", "--target", "mood", "--to", "pdf"],
        "choose c, onnx, json, rules, sql, html, tex, markdown, mps, lp",
    ),
    "no features": (["fit", "only.csv", "--target", "y"], "no column beside y"),
    "negative weights": (
        ["fit", "minus.csv", "--target", "y", "--sample-weight", "w"],
        "column 'w': got '-1.0', but row weights must be",
    ),
    "no weight": (["fit", "zero.csv", "--target", "y", "--sample-weight", "w"], "weight"),
    "seed": (["fit", "xor.csv", "--target", "mood", "--random-state", "-1"], "Seed must be between 0"),
    "endings": (["export", "xor.csv", "--target", "mood", "--to", "lp", "--out", "x.mps"], "does not end in .lp"),
    "demo folder": (["demo", "--out", "no/where.json"], "does not exist"),
    "column to drop": (["fit", "xor.csv", "--target", "mood", "--drop", "snow"], "no column 'snow'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_line_and_exit_code_2(name, xor):
    arguments, message = BAD[name]
    files = {
        "text.csv": "a,y\nred,0\nblue,1\n",
        "gap.csv": "a,y\n1,0\n,1\n",
        "empty_target.csv": "a,y\n1,0\n2,\n",
        "ragged.csv": "a,y\n1,0\n2\n",
        "header.csv": "a,y\n",
        "empty.csv": "",
        "twice.csv": "a,a,y\n1,2,0\n",
        "one.csv": "a,y\n1,0\n2,0\n",
        "damaged.json": "{",
        "only.csv": "y\n0\n1\n",
        "minus.csv": "a,w,y\n1,-1,0\n2,1,1\n",
        "zero.csv": "a,w,y\n1,0,0\n2,0,1\n",
    }
    for file, text in files.items():
        (xor / file).write_text(text)
    (xor / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    before = sorted(xor.iterdir())
    result = stepnet(*arguments, cwd=xor)
    assert result.returncode == 2, result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(xor.iterdir()) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signum", "code", "after"),
    [
        (signal.SIGINT, 130, 0),
        (signal.SIGTERM, 143, 0),
        pytest.param(signal.SIGINT, 130, 15, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, 143, 15, marks=pytest.mark.slow),
    ],
)
def test_an_interrupt_leaves_a_model_and_an_exit_code_of_its_own(tmp_path, signum, code, after):
    """In the search, and in the solver after it."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(400, 8)).round(3), rng.integers(0, 2, 400)])
    np.savetxt(tmp_path / "hard.csv", rows, delimiter=",", fmt="%g", header="a,b,c,d,e,f,g,h,y", comments="")
    command = [
        sys.executable,
        "-m",
        "stepnet",
        "fit",
        "hard.csv",
        "--target",
        "y",
        "--hidden",
        "4",
        "--method",
        "prove",
        "--time-limit",
        "100",
    ]
    done = interrupted(command, signum, cwd=tmp_path, after=after)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "stopped  interrupted" in done.stdout
    model = load(tmp_path / "model.json")
    assert model.certificate_.stop_reason == "interrupted"
    del model.feature_names_in_
    assert model.verify(rows[:, :-1], rows[:, -1].astype(int))


def test_three_classes_signs_and_exports(tmp_path):
    rows = "\n".join(f"{x},{'low' if x < 2 else 'mid' if x < 4 else 'high'}" for x in range(6))
    (tmp_path / "t.csv").write_text(f"x,size\n{rows}\n")
    for output in ("one_vs_one", "one_hot"):
        options = ["--hidden", "2", "--output", output, "--activation", "sign", "--out", "m.json"]
        result = stepnet("fit", "t.csv", "--target", "size", *options, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        assert "OPTIMAL" in result.stdout
        result = stepnet("predict", "m.json", "t.csv", cwd=tmp_path)
        assert result.stdout.split()[1:] == ["low", "low", "mid", "mid", "high", "high"]
    assert stepnet("export", "t.csv", "--to", "mps", "--target", "size", cwd=tmp_path).returncode == 0
    result = stepnet("export", "t.csv", "--to", "lp", "--target", "size", "--output", "one_vs_one", cwd=tmp_path)
    assert (result.returncode, "one per pair" in result.stderr) == (2, True)


def test_numbers_sparsity_and_constraints(tmp_path):
    lines = [f"{a},{b},{10 * (a > 3) - 4 * (b > 2)},{int(a > 3)}" for a in range(8) for b in range(5)]
    (tmp_path / "d.csv").write_text("\n".join(["age,dose,score,ill", *lines]) + "\n")
    options = ("--task", "regression", "--drop", "ill", "--hidden", "2", "--method", "prove", "--out", "m.json")
    result = stepnet("fit", "d.csv", "--target", "score", *options, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "OPTIMAL for all networks: squared error" in result.stdout
    assert "R² on the training rows 1.0000" in result.stdout
    predictions = stepnet("predict", "m.json", "d.csv", cwd=tmp_path).stdout.split()[1:]
    assert np.allclose([float(number) for number in predictions], [float(line.split(",")[2]) for line in lines])
    assert stepnet("verify", "m.json", "d.csv", "--target", "score", cwd=tmp_path).returncode == 0
    options = ("--drop", "score", "--hidden", "2", "--raises", "age", "--lowers", "dose", "--sparsity", "fewest")
    result = stepnet("fit", "d.csv", "--target", "ill", *options, "--method", "prove", cwd=tmp_path)
    assert "loss 0 of 40" in result.stdout
    assert "2 non-zero weights (the fewest" in result.stdout
    for bad, word in {
        ("--raises", "score"): "no feature 'score'",
        ("--sparsity", "few"): "15,5",
        ("--task", "ranking"): "classification or regression",
        ("--loss", "squared"): "'misclassified', 'hinge'",
    }.items():
        result = stepnet("fit", "d.csv", "--target", "ill", "--drop", "score", *bad, cwd=tmp_path)
        assert (result.returncode, result.stderr.count("\n")) == (2, 1), result.stderr
        assert word in result.stderr


def test_attack_shows_writes_and_draws(xor):
    stepnet("fit", "xor.csv", "--target", "mood", "--hidden", "2", "--out", "m.json", cwd=xor)
    files = ("--out", "perturbed.csv", "--plot", "shares.png")
    result = stepnet(
        "attack", "m.json", "xor.csv", "--target", "mood", "--radius", "0.1", "--radius", "9", *files, cwd=xor
    )
    assert result.returncode == 0, result.stderr
    assert "4 rows, 0 of them cannot be changed" in result.stdout
    assert "0.1    100.0 %" in result.stdout
    assert "9      0.0 %" in result.stdout
    lines = (xor / "perturbed.csv").read_text().splitlines()
    assert lines[0] == "radius,size,complete,prediction,rain,sun"
    assert [line.split(",")[3] for line in lines[1:]] == ["wild", "calm", "calm", "wild"]
    assert {line.split(",")[2] for line in lines[1:]} == {"True"}
    assert (xor / "shares.png").stat().st_size > 1000
    one = stepnet("attack", "m.json", "xor.csv", "--radius", "0.1", "--decide", "--json", cwd=xor)
    assert json.loads(one.stdout)["shares"] == [{"radius": 0.1, "certified": 1.0, "broken": 0.0}]
    late = stepnet("attack", "m.json", "xor.csv", "--radius", "0.1", "--time-limit", "1e-9", cwd=xor)
    assert "4 rows reached the time limit: their radius lies in an interval" in late.stdout
    assert "0.1      0.0 %      0.0 %    100.0 %" in late.stdout
    ends = ("--norm", "l0", "--integer", "--low", "0", "--high", "1")
    few = json.loads(stepnet("attack", "m.json", "xor.csv", *ends, "--json", cwd=xor).stdout)
    assert (few["radii"], few["sizes"], few["claimed_by"]) == ([1.0] * 4, [1.0] * 4, [""] * 4)
    bad_calls = {
        ("--norm", "l0"): "integer=True",
        ("--norm", "l5"): "'linf'",
        ("--radius", "-1"): "non-negative",
        ("--decide",): "one --radius",
        ("--time-limit", "0"): "positive",
    }
    for bad, word in bad_calls.items():
        result = stepnet("attack", "m.json", "xor.csv", *bad, cwd=xor)
        assert (result.returncode, result.stderr.count("\n")) == (2, 1), result.stderr
        assert word in result.stderr


def test_fit_for_the_worst_case(tmp_path):
    (tmp_path / "far.csv").write_text("a,b,c\n0,0,x\n0,1,x\n3,0,z\n3,1,z\n")
    options = ("--target", "c", "--hidden", "1")
    result = stepnet("fit", "far.csv", *options, "--radius", "1.2", "--norm", "l2", "--out", "m.json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "OPTIMAL for all networks: worst-case loss 0 of 4" in result.stdout
    assert "l2 ball of radius 1.2; loss 0 of 4 without perturbations" in result.stdout
    assert stepnet("verify", "m.json", "far.csv", "--target", "c", cwd=tmp_path).returncode == 0
    result = stepnet("attack", "m.json", "far.csv", "--norm", "l2", "--radius", "1.2", cwd=tmp_path)
    assert "100.0 %" in result.stdout
    for bad, message in ((("--radius", "-1"), "not negative"), (("--radius", "1", "--norm", "l3"), "'linf'")):
        result = stepnet("fit", "far.csv", *options, *bad, "--out", "n.json", cwd=tmp_path)
        assert result.returncode == 2
        assert message in result.stderr
    assert not (tmp_path / "n.json").exists()


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_early_interrupt_says_so(xor, monkeypatch, signum, code):
    before = signal.getsignal(signal.SIGTERM)
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us deaf to it
    monkeypatch.setattr("stepnet.cli.inputs.read_table", lambda *_args, **_options: signal.raise_signal(signum))
    result = stepnet("predict", "m.json", "xor.csv", cwd=xor)
    signal.signal(signal.SIGINT, inherited)
    assert (result.returncode, result.stderr) == (code, "stepnet: interrupted before there was a result.\n")
    assert signal.getsignal(signal.SIGTERM) is before


def test_sigterm_ends_a_command_that_is_deaf_to_ctrl_c(xor, monkeypatch):
    inherited = signal.signal(signal.SIGINT, signal.SIG_IGN)
    monkeypatch.setattr("stepnet.cli.inputs.read_table", lambda *_args, **_options: signal.raise_signal(signal.SIGTERM))
    assert stepnet("predict", "m.json", "xor.csv", cwd=xor).returncode == 143
    signal.signal(signal.SIGINT, inherited)


def test_a_reader_that_goes_away_is_no_trouble(xor):
    stepnet("fit", "xor.csv", "--target", "mood", "--hidden", "2", "--out", "m.json", cwd=xor)
    text = (xor / "xor.csv").read_text().splitlines()
    (xor / "many.csv").write_text("\n".join([text[0], *(text[1:] * 20_000)]) + "\n")
    command = [sys.executable, "-m", "stepnet", "predict", "m.json", "many.csv"]
    with subprocess.Popen(command, cwd=xor, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"prediction\n"
        process.stdout.close()
        assert Done(0, "", process.stderr.read().decode()).messages == ""
    assert process.returncode == 0
