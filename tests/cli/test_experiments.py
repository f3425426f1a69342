"""``reproduce`` and ``instances`` as typed."""

import json

import pytest

from command_line import stepnet
from made_up import record_of
from stepnet.experiments import instances as library
from stepnet.experiments.plan import cells_of, effort_of
from stepnet.experiments.store import Store


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "table9"], "table9 is not known; choose one of table1"),
        (["reproduce", "--budget", "huge"], "--budget huge is not known; choose quick or full"),
        (["reproduce", "--out", "file"], "--out file cannot be created (File exists)"),
        (["instances", "--only", "iris"], "there is no instance 'iris'"),
        (["instances", "--out", "file/sub"], "cannot be created"),
        (["instances", "--formulation", "best", "--only", "random-n3-m20-d1"], "'best'"),
    ],
)
def test_bad_input_is_one_line_that_names_the_way_out(tmp_path, arguments, message):
    (tmp_path / "file").write_text("")
    result = stepnet(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "paper-results" / "index.html").exists()


def test_rendering_shows_what_there_is_and_says_what_is_missing(tmp_path):
    cells = cells_of(("table3",), effort_of("quick"))
    store = Store(tmp_path / "paper-results")
    for cell in cells[: len(cells) // 2]:
        store.put(cell, record_of(cell))
    result = stepnet("reproduce", "table3", "--render", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "cells are missing: not run yet" in result.stderr
    text = (tmp_path / "paper-results" / "results.md").read_text()
    assert "Table 3" in text
    assert "Table 1" not in text


def test_instances_are_written_with_a_table_and_their_records(tmp_path):
    result = stepnet("instances", "--only", "random-n3-m20-d1", "--only", "planted-n4-m40-d2", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "2 instances in instances, 2 records verified" in result.stdout
    folder = tmp_path / "instances"
    assert (folder / "random-n3-m20-d1.mps").read_text().startswith("* random-n3-m20-d1: random labels")
    assert "planted-n4-m40-d2" in (folder / "instances.md").read_text()
    assert set(json.loads((folder / "best_known.json").read_text())) == {"random-n3-m20-d1", "planted-n4-m40-d2"}
    assert len((folder / "instances.csv").read_text().splitlines()) == 3


def test_ctrl_c_keeps_the_instances_that_are_finished(tmp_path, monkeypatch):
    write, calls = library.write_instance, []

    def interrupted(*arguments):
        if calls:
            raise KeyboardInterrupt
        calls.append(arguments)
        return write(*arguments)

    monkeypatch.setattr(library, "write_instance", interrupted)
    result = stepnet("instances", "--only", "random-n3-m20-d1", "--only", "planted-n4-m40-d2", cwd=tmp_path)
    assert result.returncode == 130
    assert "1 instances in instances, 1 records verified" in result.stdout
    assert set(json.loads((tmp_path / "instances" / "best_known.json").read_text())) == {"random-n3-m20-d1"}
