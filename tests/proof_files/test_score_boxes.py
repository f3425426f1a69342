"""Proofs about scorecards: what the checker finds is what brute force finds, and only scorecards of the form count."""

import json
import shutil
from fractions import Fraction

import numpy as np
import pytest

import brute_force
from stepnet import Layer, Network, StepClassifier, StepScoreClassifier, verify_proof
from stepnet.problem.dataset import Dataset
from stepnet.proof_files.question import CheckError, LossError, Question, Watch
from stepnet.proof_files.score_boxes import check_scorecards, gates_of, refuses
from stepnet.runtime.limits import Budget
from stepnet.scores.form import Form
from stepnet.scores.totals import totals_of


def answer(data, form, bound):
    """The loss that the checker found instead, or None if it believes the bound."""
    n_rules, points, per_feature = form
    named = {"n_rules": n_rules, "points": points, "rules_per_feature": per_feature}
    question = Question.of(data, (n_rules,), float(bound), Fraction(1), (), named)
    try:
        check_scorecards(question, Watch(Budget()))
    except LossError as error:
        return error.units
    return None


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("form", [(1, 1, 1), (2, 2, 2), (2, 2, 1), (3, 1, 2)])
def test_the_optimum_is_believed_and_nothing_above_it(seed, form):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(4, 9), rng.integers(1, 3)
    data = Dataset.from_rows(rng.integers(0, 4, (m, n)) * 1.0, rng.integers(0, 2, m), rng.integers(1, 4, m) * 1.0)
    best = brute_force.best_scorecard_loss(data.X, data.y, data.weights, *form)
    assert answer(data, form, best) is None
    assert answer(data, form, best + 1) == best


@pytest.mark.parametrize(("n_rules", "points"), [(1, 1), (2, 5), (3, 3), (4, 5)])
def test_every_function_of_rules_has_one_gate(n_rules, points):
    """As many as the prover has, which enumerates them by another way."""
    found = list(gates_of(n_rules, points))
    assert len(found) == len(totals_of(Form(n_rules, points, n_rules)))


def layers(weights, thresholds, points, threshold):
    return Network((Layer(weights, thresholds), Layer([points], [threshold]))).layers


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (layers([[1.0, 0.0], [0.0, -2.0]], [1.0, 1.0], [1, 3], 2.0), ""),
        (layers([[1.0, 0.0], [0.0, 0.0]], [1.0, 0.0], [1, 0], 1.0), ""),
        (layers([[1.0, 2.0]], [1.0], [1], 1.0), "other than one feature"),
        (layers([[0.0, 0.0]], [1.0], [1], 1.0), "other than one feature"),
        (layers([[1.0, 0.0]], [1.0], [4], 1.0), "has 4 points"),
        (layers([[1.0, 0.0]], [1.0], [-1], 1.0), "has -1 points"),
        (layers([[1.0, 0.0]], [1.0], [1.5], 1.0), "has 1.5 points"),
        (layers([[1.0, 0.0]], [1.0], [1], 0.5), "not whole"),
        (layers([[1.0, 0.0], [-1.0, 0.0]], [1.0, 0.0], [1, 1], 1.0), "too many rules"),
        (layers([[1.0, 0.0]] * 3, [1.0] * 3, [1] * 3, 1.0), "other layers"),
    ],
)
def test_only_scorecards_of_the_form_count(given, reason):
    found = refuses({"n_rules": 2, "points": 3, "rules_per_feature": 1}, given)
    assert reason in found
    assert bool(reason) == bool(found)


@pytest.fixture(name="saved", scope="module")
def _saved(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] > 0.3) ^ (rng.random(80) < 0.2)
    model = StepScoreClassifier(n_rules=2, points=3, method="prove", random_state=0).fit(X, y)
    folder = tmp_path_factory.mktemp("proofs") / "proof"
    assert model.certificate_.status == "OPTIMAL"
    assert model.save_proof(folder, X, y) == model.certificate_.bound
    return folder


def test_a_proof_of_a_scorecard_is_written_and_checked(saved):
    verification = verify_proof(saved)
    assert verification
    assert "bound" in str(verification)
    assert "of all such scorecards" in str(verification)
    assert "boxes of cuts below 3 gates, divided again" in str(verification)
    assert verify_proof(saved, time_limit=0.0).checks[-1].holds is None


@pytest.mark.parametrize(
    "change",
    [
        lambda claims: claims.update(bound=claims["bound"] + 1, loss=claims["loss"] + 1),
        lambda claims: claims.update(bound=claims["bound"] + 1),
        lambda claims: claims["form"].update(points=0),
        lambda claims: claims["form"].update(n_rules=1),
        lambda claims: claims["form"].update(n_rules=7),
        lambda claims: claims["form"].pop("points"),
        lambda claims: claims.pop("form"),
        lambda claims: claims.update(kind="clauses"),
        lambda claims: claims.update(kind="nothing that is known"),
    ],
)
def test_a_change_is_noticed(saved, tmp_path, change):
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in saved.iterdir():
        (copy / path.name).write_text(path.read_text())
    claims = json.loads((copy / "proof.json").read_text())
    change(claims)
    (copy / "proof.json").write_text(json.dumps(claims))
    assert not verify_proof(copy)


def test_a_proof_for_all_networks_of_a_width_is_none_for_scorecards_of_more_rules(tmp_path):
    """One rule is a neuron, so a proof for one neuron says nothing about two rules."""
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 1, 1, 0, 0, 1, 1])
    StepScoreClassifier(n_rules=1, method="prove", random_state=0).fit(X, y).save_proof(tmp_path / "card", X, y)
    StepClassifier(hidden=(1,), method="prove", random_state=0).fit(X, y).save_proof(tmp_path / "proof", X, y)
    assert verify_proof(tmp_path / "card")
    assert verify_proof(tmp_path / "proof")
    shutil.copy(tmp_path / "card" / "network.json", tmp_path / "proof")
    path = tmp_path / "proof" / "proof.json"
    claims = json.loads(path.read_text())
    path.write_text(json.dumps(claims | {"form": {"n_rules": 2, "points": 1, "rules_per_feature": 2}}))
    verification = verify_proof(tmp_path / "proof")
    assert not verification
    assert "not about scorecards" in str(verification)


def test_more_rules_than_boxes_are_for_are_refused():
    data = Dataset.from_rows([[0.0], [1.0]], [0, 1])
    with pytest.raises(CheckError, match="up to 6 rules"):
        answer(data, (7, 1, 7), 1)
