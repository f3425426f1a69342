"""A checkpoint always holds the best so far, and a fit resumes from there."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from stepnet import Search, StepAutoencoder, StepClassifier, StepRegressor, load
from stepnet.errors import InvalidInputError, ModelFileError

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(120, 4)).round(3), RNG.integers(0, 2, 120)


def classifier(**options):
    return StepClassifier(**{"hidden": (3,), "method": Search(), "time_limit": 0.5, "random_state": 0} | options)


def test_what_is_reported_is_in_the_file_before(tmp_path):
    path, losses = tmp_path / "c.json", []

    def on_incumbent(progress):
        content = json.loads(path.read_text())["parts"]["all"]
        assert content["loss"] <= progress.loss
        losses.append(progress.loss)

    clf = classifier().fit(X, Y, checkpoint=path, on_incumbent=on_incumbent)
    assert losses
    assert json.loads(path.read_text())["parts"]["all"]["loss"] == clf.certificate_.loss
    assert os.listdir(tmp_path) == ["c.json"]


def test_a_fit_goes_on_with_network_bound_trace_and_time(tmp_path):
    path = tmp_path / "c.json"
    before = classifier(time_limit=1.0).fit(X, Y, checkpoint=path)
    after = classifier(time_limit=0.2, random_state=1).fit(X, Y, checkpoint=path, resume=True)
    assert after.certificate_.loss <= before.certificate_.loss
    assert after.certificate_.runtime > 0.2
    assert after.trace_[: len(before.trace_) - 1] == before.trace_[:-1]
    assert all(a[0] <= b[0] for a, b in zip(after.trace_, after.trace_[1:], strict=False))
    assert after.verify(X, Y)


def test_a_bound_of_an_earlier_run_is_called_that(tmp_path):
    path, rows, labels = tmp_path / "c.json", X[:30], Y[:30]
    proven = StepClassifier((1,), method="prove", random_state=0).fit(rows, labels, checkpoint=path)
    assert proven.certificate_.status == "OPTIMAL"
    content = json.loads(path.read_text())
    content["parts"]["all"]["bound"]["evidence"] = {"kind": "conflicts", "targets": "classes", "is_perturbed": False}
    path.write_text(json.dumps(content))  # as if anyone could recompute it
    again = StepClassifier((1,), method="prove", random_state=0).fit(rows, labels, checkpoint=path, resume=True)
    assert again.certificate_.bound == proven.certificate_.bound > 0
    assert again.certificate_.claimed_by == "an earlier run"
    checks = again.verify(rows, labels).checks
    assert checks[-1].holds is None  # claimed, not proven here
    assert again.verify(rows, labels, resolve=True).checks[-1].holds is True


def test_a_forged_loss_counts_for_nothing(tmp_path):
    path = tmp_path / "c.json"
    classifier().fit(X, Y, checkpoint=path)
    content = json.loads(path.read_text())
    content["parts"]["all"]["loss"] = 0.0
    path.write_text(json.dumps(content))
    again = classifier().fit(X, Y, checkpoint=path, resume=True)
    assert again.certificate_.loss == again.problem(X, Y).evaluate(again.network_) > 0


def test_pairs_that_are_finished_are_not_trained_again(tmp_path, monkeypatch):
    path, labels = tmp_path / "c.json", np.arange(120) % 3
    rows = X + 5 * labels[:, None]
    options = {"method": "prove", "probability": None, "random_state": 0}  # probabilities train further pairs
    clf = StepClassifier((1,), **options).fit(rows, labels, checkpoint=path)
    assert len(json.loads(path.read_text())["parts"]) == 3
    monkeypatch.setattr("stepnet.estimators.pairs.train_pair", None)
    again = StepClassifier((1,), **options).fit(rows, labels, checkpoint=path, resume=True)
    assert again.network_ == clf.network_


@pytest.mark.parametrize("estimator", [StepRegressor((2,)), StepAutoencoder(2)])
def test_numbers_and_codes_too(tmp_path, estimator):
    estimator.set_params(time_limit=0.5, random_state=0, method="search")
    first = estimator.fit(X, X[:, 0], checkpoint=tmp_path / "c.json").certificate_.loss
    estimator.fit(X, X[:, 0], checkpoint=tmp_path / "c.json", resume=True)
    assert estimator.certificate_.loss <= first


def test_a_checkpoint_that_does_not_fit_is_left_alone(tmp_path):
    path = tmp_path / "c.json"
    classifier().fit(X, Y, checkpoint=path, resume=True)  # nothing to resume: a new one
    before = path.read_bytes()
    with pytest.raises(InvalidInputError, match="exists already"):
        classifier().fit(X, Y, checkpoint=path)
    with pytest.raises(InvalidInputError, match=r"hidden was \[3\], now \[2\]"):
        classifier(hidden=[2]).fit(X, Y, checkpoint=path, resume=True)
    with pytest.raises(InvalidInputError, match="data was"):
        classifier().fit(X[1:], Y[1:], checkpoint=path, resume=True)
    with pytest.raises(InvalidInputError, match="no network to keep"):
        classifier(method="learn").fit(X, Y, checkpoint=path, resume=True)
    with pytest.raises(InvalidInputError, match="does not exist"):
        classifier().fit(X, Y, checkpoint=tmp_path / "no" / "c.json")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: text.replace('"seconds"', '"second"'),
        lambda text: text.replace('"scope": {', '"scope": {"x": 3, '),
        lambda text: text.replace("stepnet checkpoint", "stepnet model"),
        lambda text: text.replace('"weights": [[', '"weights": [["a", '),
        lambda text: text.replace('"parts": {', '"parts": {"pair": 5, '),
    ],
)
def test_a_damaged_checkpoint_is_named_and_left_alone(tmp_path, damage):
    path = tmp_path / "c.json"
    classifier(time_limit=0.2).fit(X, Y, checkpoint=path)
    path.write_text(damage(path.read_text()))
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match="is damaged"):
        classifier().fit(X, Y, checkpoint=path, resume=True)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_where_it_was(tmp_path):
    """Three of the ten moments that benchmarks/kills.py tries."""
    np.savetxt(tmp_path / "d.csv", np.c_[X, Y], delimiter=",", fmt="%g", header="a,b,c,d,y", comments="")
    command = [sys.executable, "-m", "stepnet", "fit", "d.csv", "--target", "y", "--hidden", "4", "--method", "search"]
    command += ["--checkpoint", "c.json", "--resume", "--time-limit"]
    reported = np.inf
    for moment in range(3):
        process = subprocess.Popen([*command, "100"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        line = process.stderr.readline()
        time.sleep(random.Random(moment).uniform(0, 1.5))
        process.send_signal(signal.SIGKILL)
        first, *others = [
            float(one.split("loss ")[1].split()[0]) for one in (line + process.communicate()[1]).splitlines()
        ]
        assert first <= reported
        reported = min([first, *others])
        assert json.loads((tmp_path / "c.json").read_text())["parts"]["all"]["loss"] <= reported
    done = subprocess.run([*command, "1"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert load(tmp_path / "model.json").certificate_.loss <= reported, done.stdout
