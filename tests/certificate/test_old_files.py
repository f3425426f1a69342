"""Whatever version 0.1.0 wrote can still be read, and says the same."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from stepnet import StepClassifier, load, save, verify_proof
from stepnet.bounds.evidence import BranchAndBound, OfMasters, Trivial
from stepnet.bounds.scope import ALL_NETWORKS, Scope

FILES = Path(__file__).resolve().parents[1] / "files_of_0_1"
RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(16, 2)), 1)
Y = (RNG.random(16) < 0.5).astype(int)
HIGHS = "HiGHS 1.14.0"


@pytest.mark.parametrize(
    ("name", "rows", "scope", "evidence"),
    [
        ("margin", 16, Scope(margin=0.0001), BranchAndBound("gates", 1, HIGHS)),
        ("paper", 8, ALL_NETWORKS, Trivial()),
        ("robust", 8, Scope(margin=0.0001, at_perturbed_rows=True), OfMasters(BranchAndBound("gates", 2, HIGHS))),
        ("numbers", 10, Scope(margin=0.0001, largest_weight=7.2), BranchAndBound("tight", 1, HIGHS)),
        ("online", None, Scope(margin=0.0001), BranchAndBound("gates", 1, HIGHS)),
        ("proven", 16, ALL_NETWORKS, None),
    ],
)
def test_model_files_are_read_verified_and_written_anew(name, rows, scope, evidence, tmp_path):
    model, content = load(FILES / f"{name}.json"), json.loads((FILES / f"{name}.json").read_text())
    certificate = model.certificate_
    assert certificate.scope == scope
    assert evidence is None or certificate.evidence == evidence
    assert certificate.claimed_by == content["certificate"]["claimed_by"]
    assert (certificate.loss, certificate.bound) == (content["certificate"]["loss"], content["certificate"]["bound"])
    if rows is not None:
        assert model.verify(X[:rows], X[:rows, 0] if name == "numbers" else Y[:rows])
    save(model, tmp_path / "again.json")
    assert load(tmp_path / "again.json").certificate_ == certificate


def test_a_checkpoint_is_resumed(tmp_path):
    path = tmp_path / "checkpoint.json"
    shutil.copy(FILES / "checkpoint.json", path)
    old = json.loads(path.read_text())["parts"]["all"]
    model = StepClassifier(hidden=(1,), method="prove", random_state=0, time_limit=5).fit(
        X, Y, checkpoint=path, resume=True
    )
    assert model.certificate_.loss <= old["loss"]
    assert model.certificate_.bound >= old["bound"]["value"]


@pytest.mark.slow
def test_a_saved_proof_is_checked():
    assert verify_proof(FILES / "proof")
