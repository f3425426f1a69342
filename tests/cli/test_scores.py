"""The commands score and risk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from command_line import stepnet
from stepnet import load


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    age, dose = rng.integers(20, 80, size=240), rng.random(240).round(2)
    ill = (age >= 53) | (dose >= 0.9) | (rng.random(240) < 0.05)
    rows = zip(age, dose, np.arange(240) % 2, ill, strict=True)
    lines = list(dict.fromkeys(f"{a},{d},{'fm'[sex]},{'ill' if one else 'well'}" for a, d, sex, one in rows))
    for name, part in (("train.csv", lines[:120]), ("new.csv", lines[120:])):
        (tmp_path / name).write_text("\n".join(["age,dose,sex,state", *part]) + "\n")
    return tmp_path


def test_score_prints_the_points_and_writes_a_model_that_other_commands_take(folder: Path) -> None:
    choices = ("--target", "state", "--drop", "sex", "--rules", "2", "--method", "prove", "--out", "m.json")
    done = stepnet("score", "train.csv", *choices, cwd=folder)
    assert done.returncode == 0
    assert "Score for well" in done.stdout
    assert "age ≤" in done.stdout
    assert "OPTIMAL for all scorecards of up to 2 rules" in done.stdout
    verified = stepnet("verify", "m.json", "train.csv", "--target", "state", "--resolve", cwd=folder)
    assert verified.returncode == 0
    assert "open" not in verified.stdout
    facts = json.loads(stepnet("score", "train.csv", *choices, "--json", cwd=folder).stdout)
    assert [rule["feature"] for rule in facts["rules"]] == ["age", "dose"]
    assert facts["threshold"] == load(folder / "m.json").card_.threshold


def test_risk_bounds_errors_by_group_and_keeps_them_in_the_certificate(folder: Path) -> None:
    stepnet("score", "train.csv", "--target", "state", "--drop", "sex", "--out", "m.json", cwd=folder)
    given = ("risk", "m.json", "new.csv", "--target", "state", "--by", "sex", "--repeated", "keep")
    done = stepnet(*given, "--keep", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "errors in f" in done.stdout
    assert "recall of ill" in done.stdout
    assert "95 % confidence" in str(load(folder / "m.json").certificate_)
    facts = json.loads(stepnet(*given, "--json", cwd=folder).stdout)
    assert 0 < facts["risk"]["error"]["bound"] < 1


def test_risk_refuses_training_rows(folder: Path) -> None:
    stepnet("score", "train.csv", "--target", "state", "--drop", "sex", "--out", "m.json", cwd=folder)
    done = stepnet("risk", "m.json", "train.csv", "--target", "state", cwd=folder)
    assert done.returncode == 2
    assert "equal training rows" in done.stderr


def test_wrong_choices_are_one_line(folder: Path) -> None:
    done = stepnet("score", "train.csv", "--target", "state", "--drop", "sex", "--method", "exact", cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "choose 'learn', 'search', 'prove'" in done.stderr
