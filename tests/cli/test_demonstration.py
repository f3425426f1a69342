"""The demonstration: its rules are those of the network, its proof is one, and integer weights predict the same."""

import json
import re
import signal
import sys

import numpy as np
import pytest

from command_line import stepnet
from interrupting import interrupted
from stepnet import Layer, Network, load
from stepnet.cli.demonstration import with_integer_weights
from stepnet.datasets import load_breast_cancer_wisconsin


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = stepnet("demo", "--out", "m.json", "--data", "train.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.slow
def test_the_printed_rules_separate_the_training_rows(shown):
    folder, text = shown
    names, *lines = [line.split(",") for line in (folder / "train.csv").read_text().splitlines()]
    rows = np.array([line[:-1] for line in lines], dtype=float)
    bits = []
    assert max(map(len, text.partition("model written")[0].splitlines())) <= 100
    for rule in re.findall(r"^h\d is on where (.*)$", re.sub(r"\n {6}", " ", text), re.MULTILINE):
        terms, is_at_least, end = re.fullmatch(r"(.*) (≥|≤) (-?[\d.]+)", rule).groups()
        sums = np.zeros(len(rows))
        for sign, number, name in re.findall(r"(-?)\s?(?:(\d+)·)?([a-z_]+)", terms):
            sums += (-1 if sign else 1) * int(number or 1) * rows[:, names.index(name)]
        bits.append(sums >= float(end) if is_at_least == "≥" else sums <= float(end))
    needed = int(re.search(r"^malignant where at least (\d)", text, re.MULTILINE)[1])
    assert len(bits) == 3
    assert ((np.sum(bits, axis=0) >= needed) == [line[-1] == "malignant" for line in lines]).all()
    assert "All numbers are exact." in text


@pytest.mark.slow
def test_the_model_is_what_was_shown(shown):
    folder, _ = shown
    assert stepnet("verify", "m.json", "train.csv", "--target", "class", cwd=folder).returncode == 0


@pytest.mark.slow
def test_two_neurons_are_proven_to_be_too_few_and_models_are_compared(shown):
    _, text = shown
    assert "Two neurons cannot do it, whatever their weights:" in text
    bound = int(re.findall(r"loss \d+ of 559, bound (\d),", text)[-1])
    assert 1 <= bound <= 4
    table = re.findall(r"^(prove|learn|logistic).* (\d+) +([\d.]+) %$", text, re.MULTILINE)
    assert [name for name, _, _ in table] == ["prove", "learn", "logistic"]
    assert table[0][1] == "0"
    assert all(float(accuracy) > 90 for _, _, accuracy in table)


def test_without_time_there_is_no_proof_and_exit_code_1(tmp_path):
    done = stepnet("demo", "--time-limit", "0.01", "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert "Whether two neurons can do it is open" in done.stderr
    facts = json.loads(done.stdout)
    assert facts["two_neurons"]["bound"] == 0
    assert set(facts["models"]) == {"prove, 3 neurons", "learn, 3 neurons", "logistic regression"}


def test_an_interrupt_ends_it_with_a_model(tmp_path):
    command = [sys.executable, "-m", "stepnet", "demo", "--out", "m.json"]
    done = interrupted(command, signal.SIGINT, cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (130, False), done.stderr
    assert load(tmp_path / "m.json").network_.widths == (3, 1)


@pytest.mark.parametrize("seed", range(20))
def test_integer_weights_are_right_where_the_network_was(seed):
    rng = np.random.default_rng(seed)
    X = load_breast_cancer_wisconsin().data[rng.choice(699, 60, replace=False)]
    hidden = rng.normal(size=(3, 9))
    network = Network((Layer(hidden, hidden @ X[:3].mean(axis=0)), Layer(rng.normal(size=(1, 3)), rng.normal(size=1))))
    y = network.predict(X) ^ (rng.random(60) < 0.1)
    found = with_integer_weights(network, X, y)
    assert (found.predict(X) == y)[network.predict(X) == y].all()
    assert all((layer.weights == layer.weights.round()).all() for layer in found.layers)
    assert (found.layers[1].weights >= 0).all()
