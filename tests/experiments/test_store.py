"""Stores: finished cells are found again, damaged ones and errors are not."""

import json

import pytest

from made_up import record_of
from stepnet.experiments.cell import Cell
from stepnet.experiments.store import Store

CELL = Cell("split", "breast_cancer", 42, None, 25, "prove", 4.0)


def test_a_record_is_found_again(tmp_path):
    Store(tmp_path).put(CELL, record_of(CELL))
    assert Store(tmp_path).get(CELL)["loss"] == 3.0
    assert Store(tmp_path).records() == [record_of(CELL) | {"name": CELL.name}]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"name": "other"}'])
def test_a_damaged_file_is_a_cell_to_run_again(tmp_path, text):
    store = Store(tmp_path)
    (tmp_path / "cells" / f"{CELL.name}.json").write_text(text)
    assert store.get(CELL) is None


def test_an_error_is_a_cell_to_run_again_with_a_reason(tmp_path):
    store = Store(tmp_path)
    store.put(CELL, CELL.to_dict() | {"error": "ValueError: on purpose"})
    assert store.get(CELL) is None
    assert store.error(CELL) == "ValueError: on purpose"
    assert store.records() == []


def test_results_passed_on_as_one_file_are_read(tmp_path):
    (tmp_path / "cells.json").write_text(json.dumps({"cells": [record_of(CELL)]}))
    assert Store(tmp_path).get(CELL)["loss"] == 3.0


@pytest.mark.parametrize("text", ["", "[]", '{"cells": 3}', '{"cells": [1]}'])
def test_a_damaged_file_of_all_cells_is_no_file(tmp_path, text):
    (tmp_path / "cells.json").write_text(text)
    assert Store(tmp_path).get(CELL) is None


def test_another_limit_is_another_cell(tmp_path):
    store = Store(tmp_path)
    store.put(CELL, record_of(CELL))
    assert store.get(Cell("split", "breast_cancer", 42, None, 25, "prove", 5.0)) is None
