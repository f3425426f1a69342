"""Sums: every rule of the checker keeps all solutions, and nothing else is accepted."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import make_problem, solve
from stepnet import Exact, verify_proof
from stepnet.model.network import Layer, Network
from stepnet.proof_files import written
from stepnet.proof_files.question import CheckError, Question
from stepnet.proof_files.sum_files import Sums
from stepnet.proof_files.sums import Sum, check_steps, earlier, given_sums, opb_text, renumbered
from stepnet.proof_files.written import write_proof
from stepnet.provers.counting import Counting

HEAD = ["pseudo-Boolean proof version 1.1", "rup >= 0 ;"]
CYCLE = [Sum.of_literals([(1, a), (1, b)], 1) for a, b in ((1, 2), (2, 3), (1, 3))]
TWO_ARE_ON = [*CYCLE, Sum.of_literals([(1, -1), (1, -2), (1, -3)], 2)]  # at least two, and at most one
STEPS = ["pol 2 3 + 4 + 2 d", "pol 6 5 +"]


def lines_of(n_given, steps, last):
    return [*HEAD, *(f"l {number}" for number in range(1, n_given + 1)), *steps, f"c {last}"]


def holds(one, point):
    return sum(value * point[v - 1] for v, value in one.coefficients.items()) >= one.bound


SUMS = st.builds(
    lambda terms, degree: Sum.of_literals([(value, v if on else -v) for v, (value, on) in enumerate(terms, 1)], degree),
    st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=3, max_size=3),
    st.integers(-3, 20),
)


@settings(max_examples=200, deadline=None)
@given(SUMS, st.integers(1, 7))
def test_rules_keep_every_solution(one, divisor):
    for point in itertools.product((0, 1), repeat=3):
        if holds(one, point):
            assert holds(one.saturated(), point)
            assert holds(one.divided(divisor), point)
            assert not one.is_contradiction


@settings(max_examples=100, deadline=None)
@given(SUMS, SUMS, st.sampled_from(["pol 2 3 + 2 d", "pol 2 3 * 3 + s", "pol 2 x1 4 * + ~x2 + 3 d", "pol 3 5 d 2 +"]))
def test_a_refutation_that_is_accepted_is_one(one, other, line):
    try:
        check_steps([one, other], lines_of(2, [line], 4))
    except CheckError:
        return
    assert not any(holds(one, point) and holds(other, point) for point in itertools.product((0, 1), repeat=3))


def test_a_calculation_that_ends_in_a_contradiction_is_accepted():
    assert check_steps(TWO_ARE_ON, lines_of(4, STEPS, 7)) == 2


@pytest.mark.parametrize(
    "lines",
    [
        lines_of(4, STEPS[:1], 6),  # no contradiction
        lines_of(4, ["pol 2 3 + 4 +", "pol 6 5 +"], 7),  # not divided
        lines_of(4, ["pol 2 3 + 4 + 3 d", "pol 6 5 +"], 7),
        lines_of(4, ["pol 2 3 + 4 + 0 d", "pol 6 5 +"], 7),
        lines_of(4, ["pol 2 3 + 4 + -2 d", "pol 6 5 +"], 7),
        lines_of(4, ["pol 7 3 + 4 + 2 d", "pol 6 5 +"], 7),  # a later one
        lines_of(4, ["pol 2 3 + 4 + 2 d", "pol 6 5 + 9"], 7),  # something is left
        lines_of(4, ["pol 2 3 + 4 + 2 d", "pol 6 + 5"], 7),
        lines_of(4, ["rup 1 x1 >= 5 ;", "pol 6 5 +"], 7),  # another rule
        lines_of(4, ["pol x1 -9 *", "pol 6 5 +"], 7),
        lines_of(4, ["pol ~x1 2 * 9 d", "pol 6 5 +"], 7),
        lines_of(3, STEPS, 7),  # other given constraints
        lines_of(4, STEPS, 9),
        HEAD,
    ],
)
def test_anything_else_is_refused(lines):
    with pytest.raises(CheckError):
        check_steps(TWO_ARE_ON, lines)


def test_the_time_limit_is_asked():
    with pytest.raises(TimeoutError):
        check_steps(TWO_ARE_ON, lines_of(4, STEPS, 7), lambda: True)


def test_numbers_of_constraints_are_told_from_factors():
    line = "pol 12 2 * x3 5 * + 4 + ~x7 + 3 d 12 +"
    assert earlier(line) == [12, 4, 12]
    assert renumbered(line, {12: 2, 4: 1}) == "pol 2 2 * x3 5 * + 1 + ~x7 + 3 d 2 +"


# Folders.

X, Y = np.array([[0.0], [1.0], [2.0]]), [0, 1, 0]


def folder_of_three_rows(target):
    """A proof that one row of three is lost: written by hand, so that no solver is needed."""
    problem = make_problem(X, Y, (1,))
    network = Network((Layer(np.array([[1.0]]), np.array([9.0])), Layer(np.array([[1.0]]), np.array([0.5]))))
    write_proof(target, problem, network, 1.0)
    content = json.loads((target / "proof.json").read_text())
    (target / "proof.json").write_text(json.dumps(content | {"kind": "sums"}))
    multipliers = [2 if x == 1 else 1 for x in problem.dataset.X[:, 0].tolist()]
    (target / "subsystems.json").write_text(json.dumps([[[0, 1, 2], multipliers]]))
    sums = given_sums(Question(problem.dataset, (1,), [1, 1, 1], 0), [[0, 1, 2]])
    (target / "sums.opb").write_text(opb_text(sums, 3))
    (target / "sums.pbp").write_text("\n".join(lines_of(2, ["pol 2 3 +"], 4)) + "\n")


def test_a_folder_is_verified_without_the_solver(tmp_path):
    folder_of_three_rows(tmp_path / "proof")
    verification = verify_proof(tmp_path / "proof")
    assert verification, str(verification)
    assert "stepnet's checker" in str(verification)
    assert (tmp_path / "proof" / "sums.opb").read_text().splitlines() == [
        "* #variable= 3 #constraint= 2",
        "+1 ~x1 +1 ~x2 +1 ~x3 >= 3 ;",
        "+1 x1 +1 x2 +1 x3 >= 1 ;",
    ]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("sums.opb", "+1 x1 +1 x2 +1 x3 >= 1", "+1 x1 +1 x2 >= 1"),
        ("sums.opb", ">= 3", ">= 4"),
        ("sums.pbp", "pol 2 3 +", "pol 2 +"),
        ("sums.pbp", "c 4", "c 3"),
        ("subsystems.json", ", 2", ", 3"),
        ("subsystems.json", "[[0, 1, 2]", "[[0, 1, 1]"),
        ("proof.json", '"hidden": [1]', '"hidden": [2]'),
        ("proof.json", '"bound": 1.0', '"bound": 2.0'),
    ],
)
def test_a_folder_that_was_changed_is_refused(tmp_path, name, old, new):
    folder_of_three_rows(tmp_path / "proof")
    file = tmp_path / "proof" / name
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    assert not verify_proof(tmp_path / "proof")


@pytest.mark.skipif(not Counting().is_available(), reason="'stepnet[pb]' is not installed")
@pytest.mark.parametrize("kind", ["plain", "weights", "fractions"])
def test_what_is_written_is_accepted_and_mutants_are_not(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(written, "KINDS", (Sums(),))
    rng = np.random.default_rng(0)
    rows, classes = rng.normal(size=(24, 2)), rng.integers(0, 2, 24)
    weights = {"plain": None, "weights": rng.integers(1, 4, 24), "fractions": rng.random(24)}[kind]
    problem = make_problem(rows, classes, (1,), sample_weight=weights)
    certificate, result = solve(problem, Exact(formulation="counting"))
    assert certificate.status == "OPTIMAL"
    bound = write_proof(tmp_path / "proof", problem, result.network, certificate.bound)
    assert bound == pytest.approx(certificate.bound)
    assert verify_proof(tmp_path / "proof")
    steps = (tmp_path / "proof" / "sums.pbp").read_text().splitlines()
    n_refused = 0
    for place in rng.choice(np.flatnonzero([line.startswith("pol") for line in steps]), 5):
        fewer = [*steps[:place], *steps[place + 1 :]]
        (tmp_path / "proof" / "sums.pbp").write_text("\n".join(fewer) + "\n")
        n_refused += not verify_proof(tmp_path / "proof")
    assert n_refused == 5
