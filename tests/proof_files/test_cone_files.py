"""Trees of cones as files: accepted as they are written, refused if anything in them is wrong."""

import json
import shutil
from unittest.mock import patch

import numpy as np
import pytest

from conftest import make_problem, solve
from stepnet.methods.exact import Exact
from stepnet.proof_files.checked import verify_proof
from stepnet.proof_files.cone_files import ConeTrees, cone_trees
from stepnet.proof_files.written import write_proof


@pytest.fixture(name="proof", scope="module")
def written(tmp_path_factory):
    """A table with repeated and collinear points, so that cones rely on rows by themselves, and with weights."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (60, 2)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=60) * 3 > 4).astype(int)
    problem = make_problem(X, y, (1,), sample_weight=rng.integers(1, 4, 60))
    certificate, result = solve(problem, Exact(formulation="cones"))
    assert certificate.status == "OPTIMAL"
    folder = tmp_path_factory.mktemp("proofs") / "proof"
    with patch("stepnet.proof_files.written.KINDS", (ConeTrees(),)):
        assert write_proof(folder, problem, result.network, certificate.bound) == certificate.bound
    return problem, folder


def test_a_proof_of_cones_is_accepted(proof):
    _, folder = proof
    verification = verify_proof(folder)
    assert verification, str(verification)
    assert "intervals rounded outward" in str(verification)
    assert json.loads((folder / "proof.json").read_text())["kind"] == "cones"


def mutants():
    """What may be wrong, and how to make it so."""

    def entry(change):
        return lambda trees: trees[-1]["entries"].__setitem__(*change(trees[-1]["entries"]))

    yield "a larger target", lambda trees: trees[-1].update(target=trees[-1]["target"] + 1)
    yield "a smaller target", lambda trees: trees[-1].update(target=trees[-1]["target"] - 1)
    yield "an entry less", lambda trees: trees[-1]["entries"].pop()
    yield "an entry more", lambda trees: trees[-1]["entries"].append(-1)
    yield "no tree", lambda trees: trees.clear()
    yield "no rows", lambda trees: trees[-1].update(rows=[])
    yield "a row twice", lambda trees: trees[-1]["rows"].append(trees[-1]["rows"][0])
    yield "half of the rows", lambda trees: trees[-1].update(rows=trees[-1]["rows"][::2])
    yield "another ray", lambda trees: trees[-1]["rays"][0].__setitem__(0, trees[-1]["rays"][0][0] + 1)
    yield "a ray less", lambda trees: trees[-1]["rays"].pop()
    yield "rays that are all equal", lambda trees: trees[-1].update(rays=[[0] * len(trees[-1]["rays"][0])] * 4)
    yield "a leaf at once", lambda trees: trees[-1].update(entries=[-1] * len(trees[-1]["rays"]))
    yield "an edge that is none", entry(lambda entries: (next(k for k, e in enumerate(entries) if e >= 0), 10**9))
    yield "rows that nobody proved", entry(lambda entries: (entries.index(-1), -1000))
    yield "a number that is none", entry(lambda entries: (0, 0.5))


@pytest.mark.parametrize(("what", "change"), list(mutants()), ids=lambda value: value if isinstance(value, str) else "")
def test_mutants_are_refused(proof, tmp_path, what, change):
    _, folder = proof
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    trees = json.loads((copy / "cones.json").read_text())
    change(trees)
    (copy / "cones.json").write_text(json.dumps(trees))
    assert not verify_proof(copy), what


def test_a_bound_above_the_optimum_cannot_be_written(proof):
    problem, folder = proof
    weights = [int(weight) for weight in problem.dataset.weights]
    bound = int(json.loads((folder / "proof.json").read_text())["bound"])
    assert cone_trees(problem.dataset, weights, bound + 1, lambda: False) == bound
    assert cone_trees(problem.dataset, weights, bound, lambda: True) is None


def test_checking_stops_in_time(proof):
    _, folder = proof
    assert not verify_proof(folder, time_limit=0.0)
