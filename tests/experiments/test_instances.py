"""The instance library: files that solvers read, and records that are true."""

from dataclasses import replace

import highspy
import pytest

from stepnet import StepClassifier
from stepnet.bounds.scope import Scope
from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.experiments.instances import (
    INSTANCES,
    best_known,
    check,
    chosen_instances,
    solve_again,
    table_of,
    write_instance,
    write_records,
)

KNOWN = best_known()


def test_there_are_instances_of_every_kind():
    kinds = {name.split("-m")[0].split("-n")[0].split("-d")[0] for name in INSTANCES}
    assert kinds == {"paper", "random", "planted", "contradictory", "breast-cancer"}
    assert set(KNOWN) == set(INSTANCES)


@pytest.mark.parametrize("name", INSTANCES)
def test_every_record_is_true(name):
    verification = check(INSTANCES[name], KNOWN[name])
    assert verification, verification


def test_a_record_that_lies_is_found_out():
    instance, known = INSTANCES["random-n3-m20-d1"], KNOWN["random-n3-m20-d1"]
    lie = replace(known, certificate=replace(known.certificate, loss=known.certificate.loss - 1))
    assert not check(instance, lie)


@pytest.mark.parametrize("formulation", ["tight", "gates"])
def test_solvers_read_the_programs_and_find_the_best_known_loss(tmp_path, formulation):
    instance = INSTANCES["random-n3-m20-d2"]
    best = []
    for name, n_columns, n_rows in write_instance(instance, tmp_path, formulation):
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        assert solver.readModel(str(tmp_path / name)) == highspy.HighsStatus.kOk
        assert (solver.getNumCol(), solver.getNumRow()) == (n_columns, n_rows)
        solver.run()
        best.append(solver.getInfo().objective_function_value)
    assert min(best) == pytest.approx(KNOWN[instance.name].certificate.loss)


def test_the_rows_are_written_so_that_the_same_problem_is_read(tmp_path):
    instance = INSTANCES["contradictory-n2-m30-d2"]
    write_instance(instance, tmp_path, "tight")
    head, *lines = (tmp_path / f"{instance.name}.csv").read_text().splitlines()
    assert head == "x0,x1,y"
    rows = [list(map(float, line.split(","))) for line in lines]
    problem = StepClassifier((2,)).problem([row[:-1] for row in rows], [int(row[-1]) for row in rows])
    assert problem.dataset.fingerprint == instance.problem.dataset.fingerprint


def test_solving_again_never_makes_a_record_worse():
    instance, known = INSTANCES["random-n3-m20-d3"], KNOWN["random-n3-m20-d3"]
    again = solve_again(instance, known, 10.0)
    assert again.certificate.loss <= known.certificate.loss
    fresh = solve_again(INSTANCES["contradictory-n2-m30-d2"], None, 10.0)
    assert fresh.certificate.loss == 6


def test_records_are_read_back_as_written(tmp_path):
    write_records(KNOWN, tmp_path / "records.json")
    again = best_known(tmp_path / "records.json")
    assert {name: known.certificate for name, known in again.items()} == {
        name: known.certificate for name, known in KNOWN.items()
    }


@pytest.mark.parametrize("text", ["", "[]", '{"a": {}}', '{"a": {"network": 3, "certificate": {}}}'])
def test_damaged_records_are_a_clear_error(tmp_path, text):
    (tmp_path / "records.json").write_text(text)
    with pytest.raises(ModelFileError, match="damaged"):
        best_known(tmp_path / "records.json")


def test_the_table_says_what_was_verified():
    instances = chosen_instances(["random-n3-m20-d1", "contradictory-n2-m30-d2"])
    verifications = {one.name: check(one, KNOWN[one.name]) for one in instances}
    programs = {one.name: [("a.mps", 3, 4)] for one in instances}
    table = table_of(instances, KNOWN, verifications, programs)
    assert [line[-1] for line in table.lines] == ["loss", "loss and bound"]
    assert [line[-2].split()[0] for line in table.lines] == ["claimed", "recomputed"]


def test_unknown_names_are_refused_with_those_that_are_known():
    with pytest.raises(InvalidInputError, match=r"no instance 'iris'.*breast-cancer-d1"):
        chosen_instances(["iris"])


def test_a_record_for_all_networks_is_better_than_one_with_a_margin():
    known = next(iter(KNOWN.values()))
    narrow = replace(known, certificate=replace(known.certificate, scope=Scope(margin=0.0001)))
    assert known.rank < narrow.rank


def test_a_smaller_loss_is_better_whatever_the_bound():
    known = KNOWN["contradictory-n2-m30-d2"]
    worse = replace(
        known, certificate=replace(known.certificate, loss=known.certificate.loss + 1, bound=known.certificate.loss + 1)
    )
    assert known.rank < worse.rank


def test_all_records_are_optimal_for_all_networks():
    assert {(one.certificate.status, str(one.certificate.scope)) for one in KNOWN.values()} == {
        ("OPTIMAL", "all networks")
    }
