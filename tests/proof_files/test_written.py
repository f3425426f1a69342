"""Written proofs: whole, checked from nothing but their files, and no change to them goes unnoticed."""

import json
import math
import os
import shutil
import signal
import threading

import numpy as np
import pytest

from conftest import make_problem, solve
from stepnet import Layer, Network, Staircase, StepClassifier, verify_proof
from stepnet.errors import InvalidInputError, NotAcceptedError, SolverError
from stepnet.methods.exact import Exact
from stepnet.methods.prove import Prove
from stepnet.proof_files.written import write_proof
from stepnet.runtime.limits import Budget


def rows(m=26, n=2, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, n)), rng.permutation(np.arange(m) % 2)


@pytest.fixture(name="proof", scope="module")
def _proof(tmp_path_factory):
    """Two neurons on random labels, proven."""
    folder = tmp_path_factory.mktemp("proofs") / "proof"
    X, y = rows()
    problem = make_problem(X, y, (2,))
    certificate, result = solve(problem, Prove(), time_limit=60)
    assert certificate.status == "OPTIMAL"
    assert certificate.loss > 2
    write_proof(folder, problem, result.network, certificate.bound, subsystems=result.subsystems)
    return folder


@pytest.fixture(name="copy")
def _copy(proof, tmp_path, monkeypatch):
    """To be changed: what is noticed must be so without drup, which starts a process for each gate."""
    monkeypatch.setattr("stepnet.proof_files.clause_files.why_not_checked", lambda proof: "too large for drup")
    return shutil.copytree(proof, tmp_path / "copy")


def changed(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_every_claim_of_it_holds(proof):
    verification = verify_proof(proof)
    assert [check.holds for check in verification.checks] == [True] * 9
    assert "the verified checker drup agrees" in str(verification)
    assert "2 gates of 2 neurons" in str(verification)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("subsystems.json", lambda all_of_them: all_of_them[3][1].__setitem__(0, all_of_them[3][1][0] + 1)),
        ("subsystems.json", lambda all_of_them: all_of_them[3][0].__setitem__(0, (all_of_them[3][0][0] + 1) % 26)),
        ("subsystems.json", lambda all_of_them: all_of_them[3][1].__setitem__(0, -all_of_them[3][1][0])),
        ("subsystems.json", lambda all_of_them: all_of_them.pop(0)),
        ("network.json", lambda network: network["layers"][0]["thresholds"].__setitem__(0, 100.0)),
        ("proof.json", lambda claims: claims.update(loss=claims["loss"] - 1)),
        ("proof.json", lambda claims: claims.update(bound=claims["bound"] + 1)),
        ("proof.json", lambda claims: claims.update(bound=claims["bound"] + 1, loss=claims["loss"] + 1)),
        ("proof.json", lambda claims: claims.update(unit=2.0)),
        ("proof.json", lambda claims: claims.update(unit=0)),
        ("proof.json", lambda claims: claims.update(unit=float("inf"))),
        ("proof.json", lambda claims: claims.update(bound=float("nan"))),
        ("proof.json", lambda claims: claims.update(bound=claims["bound"] * (1 + 2.0**-52))),
        ("proof.json", lambda claims: claims.update(bound=str(claims["bound"]))),
        ("proof.json", lambda claims: claims.update(hidden=[2.0])),
        ("proof.json", lambda claims: claims.update(hidden=[1])),
        ("proof.json", lambda claims: claims["gates"].pop()),
        ("proof.json", lambda claims: claims["gates"].__setitem__(1, claims["gates"][0])),
        ("proof.json", lambda claims: claims["gates"][0].update(ordering=[0, 0])),
        ("proof.json", lambda claims: claims.update(fingerprint="0" * 16)),
        ("proof.json", lambda claims: claims.pop("gates")),
    ],
)
def test_a_change_is_noticed(copy, name, change):
    changed(copy / name, change)
    assert not verify_proof(copy)


@pytest.mark.parametrize("name", ["gate-1.cnf", "gate-2.cnf"])
def test_a_clause_that_does_not_follow_is_noticed(copy, name):
    lines = (copy / name).read_text().splitlines()
    lines[5] = f"{-int(lines[5].split()[0])} {lines[5].split(maxsplit=1)[1]}"
    (copy / name).write_text("\n".join(lines))
    verification = verify_proof(copy)
    assert not verification
    assert "does not follow from the gate, the limit or a subsystem" in str(verification)


@pytest.mark.parametrize("change", [lambda lines: lines[:-1], lambda lines: ["1 0", *lines], lambda lines: ["0"], list])
def test_a_gap_in_the_steps_is_noticed(copy, change):
    path = copy / "gate-2.drat"
    lines = change(path.read_text().splitlines())
    path.write_text("\n".join(lines) if lines != path.read_text().splitlines() else "")
    verification = verify_proof(copy)
    assert not verification
    assert "not every step follows by propagation" in str(verification)


@pytest.mark.parametrize("literal", [6917529027641081856, 10**12, 10**30])
def test_a_step_about_no_variable_is_noticed(copy, literal):
    path = copy / "gate-2.drat"
    path.write_text(f"{literal} 0\n{path.read_text()}")
    assert not verify_proof(copy)


def test_a_claim_that_is_left_open_does_not_count_as_checked(proof):
    verification = verify_proof(proof, time_limit=1e-9)
    assert not verification
    assert None in [check.holds for check in verification.checks]


def test_other_neurons_than_steps_do_not_count(tmp_path):
    """One neuron with two thresholds makes no error on XOR, one step does."""
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    classifier = StepClassifier(hidden=(2,), method="prove").fit(X, y)
    classifier.save_proof(tmp_path / "proof", X, y)
    layers = (Layer([[1.0, 1.0]], [[0.5, 1.5]], Staircase([0, 1, 0])), Layer([[1.0]], [0.5]))
    assert (Network(layers).predict(X) == y).all()
    (tmp_path / "proof" / "network.json").write_text(json.dumps(Network(layers).to_dict()))
    changed(tmp_path / "proof" / "proof.json", lambda claims: claims.update(hidden=[1]))
    verification = verify_proof(tmp_path / "proof")
    assert not verification
    assert "other neurons" in str(verification)


@pytest.mark.parametrize("column", [0, -2, -1])
def test_other_rows_are_noticed(copy, column):
    lines = (copy / "rows.csv").read_text().splitlines()
    cells = lines[4].split(",")
    cells[column] = "0" if cells[column] != "0" else "1"
    lines[4] = ",".join(cells)
    (copy / "rows.csv").write_text("\n".join(lines))
    assert not verify_proof(copy)


@pytest.mark.parametrize("name", ["proof.json", "rows.csv", "network.json", "subsystems.json", "gate-1.cnf"])
@pytest.mark.parametrize("text", [None, "", "{", "[1]", "nan,1,1\n"])
def test_a_damaged_file_is_a_false_proof_and_no_traceback(copy, name, text):
    (copy / name).unlink()
    if text is not None:
        (copy / name).write_text(text)
    assert not verify_proof(copy)


def test_loss_zero_needs_no_gates(tmp_path):
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    classifier = StepClassifier(hidden=(2,), method="prove").fit(X, [0, 1, 1, 0])
    classifier.save_proof(tmp_path / "proof", X, [0, 1, 1, 0])
    assert verify_proof(tmp_path / "proof")
    assert not list((tmp_path / "proof").glob("gate*"))


@pytest.mark.parametrize("hidden", [(), (1,), (3,)])
def test_weights_of_rows_and_other_widths(tmp_path, hidden):
    X, y = rows(12, 1, seed=3)
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.5], 12)
    classifier = StepClassifier(hidden=hidden, method="prove", time_limit=60).fit(X, y, weights)
    assert classifier.certificate_.loss > 0
    classifier.save_proof(tmp_path / "proof", X, y, weights)
    assert verify_proof(tmp_path / "proof")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["of classes", "of rows"])
def test_weights_without_a_common_measure_are_proven_too(kind, tmp_path, monkeypatch):
    X, y = rows()
    weights = np.where(y, 0.7 / 3, 1 / 7) if kind == "of classes" else np.random.default_rng(0).uniform(0.1, 1, 26)
    problem = make_problem(X, y, (2,), sample_weight=weights)
    certificate, result = solve(problem, Prove(), time_limit=60)
    assert (certificate.status, str(certificate.scope)) == ("OPTIMAL", "all networks")
    write_proof(tmp_path / "proof", problem, result.network, certificate.bound, subsystems=result.subsystems)
    verification = verify_proof(tmp_path / "proof")
    assert verification, verification
    claims = json.loads((tmp_path / "proof" / "proof.json").read_text())
    assert claims["bound"] == pytest.approx(certificate.loss, rel=1e-6)
    assert bool(claims["heavy"]) == (kind == "of rows")
    monkeypatch.setattr(
        "stepnet.proof_files.clause_files.why_not_checked", lambda proof: "too large for drup"
    )  # as above
    if claims["heavy"]:
        changed(tmp_path / "proof" / "proof.json", lambda claims: claims["heavy"][0].pop())
        assert "are too light" in str(verify_proof(tmp_path / "proof"))
        changed(tmp_path / "proof" / "proof.json", lambda claims: claims["heavy"].pop(0))
        assert "does not follow" in str(verify_proof(tmp_path / "proof"))
        changed(tmp_path / "proof" / "proof.json", lambda claims: claims["heavy"].append([0, 0, 0, 0, 0, 0, 0]))
        assert "different rows" in str(verify_proof(tmp_path / "proof"))


def test_heavy_rows_of_a_written_proof_weigh_what_the_bound_says(tmp_path):
    """Two rows weigh as little as the slack that bounds have for rounding."""
    X, y = np.repeat(np.arange(10.0), 2)[:, None], np.tile([0, 1], 10)
    weights = np.random.default_rng(0).uniform(0.5, 1, 20)
    weights[-2:] = 1.5 * 2**-34 * 6.25
    problem = make_problem(X, y, (1,), sample_weight=weights)
    alone = Exact(formulation="sat", free_bounds=False, search_share=0)
    certificate, result = solve(problem, alone, time_limit=60)
    write_proof(tmp_path / "proof", problem, result.network, certificate.bound)
    assert verify_proof(tmp_path / "proof")


def test_a_rounded_loss_is_a_bound_that_can_be_written(tmp_path):
    problem = make_problem(np.repeat(np.arange(3), 2)[:, None], [0, 1] * 3, (1,), sample_weight=[0.1] * 6)
    certificate, result = solve(problem, Prove(), time_limit=60)
    assert certificate.loss == math.fsum([0.1] * 3) > 0.3
    write_proof(tmp_path / "proof", problem, result.network, certificate.bound)
    assert verify_proof(tmp_path / "proof")


def test_where_time_is_short_a_smaller_bound_is_proven(tmp_path, monkeypatch):
    monkeypatch.setattr("stepnet.proof_files.written._FOR_ALL", 0.0)  # no time for the bound itself
    problem = make_problem(*rows(), (1,))
    certificate, result = solve(problem, Prove(), time_limit=60)
    assert certificate.status == "OPTIMAL"
    proven = write_proof(tmp_path / "proof", problem, result.network, certificate.bound, budget=Budget(60.0))
    assert 0 < proven < certificate.bound
    verification = verify_proof(tmp_path / "proof")
    assert verification
    assert f"bound {proven:g} of all networks" in str(verification)


def conflicting():
    """Random labels, and five pairs of equal rows with different classes."""
    X, y = rows(40)
    return make_problem(np.vstack([X, X[:5]]), np.append(y, 1 - y[:5]), (2,))


def test_equal_rows_with_different_classes_are_proof_enough(tmp_path):
    problem = conflicting()
    _, result = solve(problem, Prove(), time_limit=5)
    assert write_proof(tmp_path / "proof", problem, result.network, 5.0, budget=Budget(0.0)) == 5
    verification = verify_proof(tmp_path / "proof")
    assert verification
    assert "equal rows of different classes cost 5" in str(verification)
    changed(tmp_path / "proof" / "proof.json", lambda content: content.update(bound=6.0))
    assert not verify_proof(tmp_path / "proof")


def test_where_time_is_short_the_free_bound_is_proven(tmp_path):
    problem = conflicting()
    _, result = solve(problem, Prove(), time_limit=5)
    assert write_proof(tmp_path / "proof", problem, result.network, 6.0, budget=Budget(0.0)) == 5
    assert verify_proof(tmp_path / "proof")


def test_checks_are_shown_as_they_are_done(proof):
    shown = []
    verification = verify_proof(proof, show=shown.append)
    assert [one.stage for one in shown] == [f"{i} of 9 checks" for i in range(1, 10)]
    assert len(verification.checks) == 9
    assert shown[-1].share == 1


def test_ctrl_c_while_a_proof_is_written_interrupts_and_leaves_nothing(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    classifier = StepClassifier(hidden=(2,), method="prove", random_state=0).fit(X, y)  # whose clauses take long
    timer = threading.Timer(1.0, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        classifier.save_proof(tmp_path / "proof", X, y, time_limit=60)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_proven_is_not_written(tmp_path):
    X, y = rows()
    problem = make_problem(X, y, (2,))
    certificate, result = solve(problem, Prove(), time_limit=60)
    target = tmp_path / "proof"
    with pytest.raises(SolverError, match="does not hold for all networks"):
        write_proof(target, problem, result.network, certificate.loss + 1)
    with pytest.raises(SolverError, match="the time limit was reached before"):
        write_proof(target, problem, result.network, certificate.loss, budget=Budget(0.0))
    with pytest.raises(NotAcceptedError, match="up to 5 neurons"):
        write_proof(target, make_problem(X, y, (6,)), result.network, 1.0)
    assert not list(tmp_path.iterdir())
    target.write_text("")
    with pytest.raises(InvalidInputError, match="already exists"):
        write_proof(target, problem, result.network, certificate.loss)
    with pytest.raises(InvalidInputError, match="make it first"):
        write_proof(tmp_path / "a" / "b", problem, result.network, certificate.loss)
    with pytest.raises(InvalidInputError, match="there is no directory"):
        verify_proof(tmp_path / "nowhere")
    with pytest.raises(InvalidInputError, match=r"has no proof\.json"):
        verify_proof(tmp_path)


def test_other_data_than_those_of_the_certificate_are_refused(tmp_path):
    X, y = rows()
    classifier = StepClassifier(hidden=(1,), method="prove", time_limit=60).fit(X, y)
    with pytest.raises(InvalidInputError, match="not the data of the certificate"):
        classifier.save_proof(tmp_path / "proof", X + 1, y)


@pytest.mark.parametrize("width", [1, 2])
def test_equal_and_proportional_columns_are_proven_and_checked(width, tmp_path):
    X, y = rows(m=16)
    X = np.round(64 * X) / 64  # so that all columns below are exact
    wide = np.column_stack([X, X[:, 0], 4 * X[:, 1], np.full(len(X), 3.0), X[:, 0] + 0.5])
    proven = []
    for name, columns in (("narrow", X), ("wide", wide)):
        classifier = StepClassifier(hidden=(width,), method="prove", random_state=0).fit(columns, y)
        assert classifier.certificate_.status == "OPTIMAL"
        proven.append(classifier.save_proof(tmp_path / name, columns, y))
        assert verify_proof(tmp_path / name)
    assert proven == [classifier.certificate_.loss] * 2
