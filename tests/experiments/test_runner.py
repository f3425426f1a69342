"""Runs: cells in any order, errors that do not stop other cells, kills that lose no finished cell."""

import json
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from made_up import record_of
from stepnet.experiments import runner
from stepnet.experiments.cell import Cell
from stepnet.experiments.contenders import CONTENDERS
from stepnet.experiments.measure import measured
from stepnet.experiments.plan import Scale
from stepnet.experiments.results import NOT_RUN, Results
from stepnet.experiments.store import Store

CELLS = [Cell("robust", "random", seed, 20, 20, "dnn", 4.0, 0.1) for seed in range(4)]
EFFORT = Scale("quick", 1, (20,), 1.0, 1.0, 1.0, 5.0, 1.0)


def test_only_missing_cells_are_run(tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(runner, "measured", lambda cell: ran.append(cell) or record_of(cell))
    store = Store(tmp_path)
    store.put(CELLS[1], record_of(CELLS[1]))
    seen = []
    runner.run_cells(CELLS, store, 1, lambda progress, cell, record: seen.append((progress.n_kept, progress.n_done)))
    assert ran == [CELLS[0], CELLS[2], CELLS[3]]
    assert seen == [(1, 0), (1, 1), (1, 2), (1, 3)]
    runner.run_cells(CELLS, store, 1, lambda *_: None)
    assert len(ran) == 3


def test_the_time_left_falls_to_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "measured", record_of)
    left = []
    runner.run_cells(CELLS, Store(tmp_path), 1, lambda progress, *_: left.append(progress.seconds_left))
    assert left[0] > 0
    assert left[-1] == 0


def test_an_error_in_a_cell_is_kept_as_the_reason_why_it_is_missing(tmp_path):
    bad = Cell("robust", "random", 0, 20, -3, "prove", 4.0, 0.1)
    store = Store(tmp_path)
    runner.run_cells([bad, CELLS[0]], store, 1, lambda *_: None)
    results = Results.read(("robust",), EFFORT, [bad, *CELLS[:2]], store)
    (first, second) = results.missing
    assert first[0] == bad
    assert "-3" in first[1]
    assert second == (CELLS[1], NOT_RUN)
    assert len(results.records) == 1
    assert results.has_errors


def test_methods_that_cannot_run_here_are_left_out_with_the_reason(tmp_path, monkeypatch):
    lacking = replace(CONTENDERS["dnn_keras"], lacks=lambda: "Keras is on holiday")
    monkeypatch.setitem(CONTENDERS, "dnn_keras", lacking)
    keras = Cell("figures", "random", 0, 20, 20, "dnn_keras", 4.0)
    store = Store(tmp_path)
    runner.run_cells([keras], store, 1, lambda *_: None)
    results = Results.read(("figures",), EFFORT, [keras], store)
    assert results.missing == ((keras, "Keras is on holiday"),)
    assert not results.has_errors


@pytest.mark.parametrize("method", ["prove", "learn", "dnn", "dnn_scaled", "ensemble"])
def test_a_cell_gives_the_same_numbers_every_time(method):
    cell = Cell("figures", "random", 0, 20, 20, method, 30.0)
    first, second = measured(cell), measured(cell)
    for record in (first, second):
        assert record.pop("seconds") >= 0
        record.pop("when")
    assert first == second
    assert 0 <= first["accuracy"] <= 1
    assert first["accuracy"] == pytest.approx(first["recall"])  # as always when weighted by class


def test_a_cell_of_ours_is_verified():
    record = measured(Cell("robust", "random", 0, 20, 20, "robust", 30.0, 0.3))
    assert (record["loss"], record["bound"], record["status"]) == (0.0, 0.0, "OPTIMAL")
    assert record["claim_is_true"] is True
    moved = measured(Cell("robust", "random", 0, 20, 20, "moved", 30.0, 1.5))
    assert moved["nominal_loss"] == 0
    assert moved["loss"] > 0  # plain training ignores perturbations


# A program with a plan of seconds, to be killed.
SCRIPT = """
from stepnet.experiments import plan
plan.EFFORTS["quick"] = plan.Scale("quick", 1, (20,), 1.0, 1.0, 1.0, 20.0, 1.0)
from stepnet.cli.app import main
if __name__ == "__main__":
    main(["reproduce", "robust", "--out", "out", "--n-jobs", "1"])
"""


def numbers(folder):
    """What does not depend on the clock."""
    cells = json.loads((folder / "cells.json").read_text())["cells"]
    found = {cell["name"]: {k: v for k, v in cell.items() if k not in ("when", "seconds")} for cell in cells}
    return {name: cell for name, cell in found.items() if cell["method"] != "joint"}


@pytest.mark.slow
@pytest.mark.timeout(400)  # three runs of nine cells
def test_a_killed_run_resumes_and_ends_with_the_same_numbers(tmp_path):
    def start(folder):
        folder.mkdir(exist_ok=True)
        (folder / "run.py").write_text(SCRIPT)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([sys.executable, "run.py"], cwd=folder, **pipes)

    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = start(killed)
    cells = killed / "out" / "cells"
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end and len(list(cells.glob("*.json"))) < 2:
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()[1]
    process.kill()
    process.communicate()
    kept = {path.name: path.read_text() for path in cells.glob("[!.]*.json")}
    assert 2 <= len(kept) < 9
    assert not (killed / "out" / "index.html").exists()

    process = start(killed)
    errors = process.communicate(timeout=120)[1]
    assert process.returncode == 0, errors
    assert f"9 cells, {len(kept)} of them finished by an earlier run" in errors
    assert {name: (cells / name).read_text() for name in kept} == kept  # not run again

    process = start(whole)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "left" in errors
    assert "index.html" in output
    assert numbers(killed / "out") == numbers(whole / "out")
