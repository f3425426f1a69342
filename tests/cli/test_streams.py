"""Commands on tables that do not fit into memory: the same models and answers, in blocks."""

import json
import os

import numpy as np
import pytest

from command_line import stepnet as run
from stepnet import load

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def stepnet(*arguments):
    return run(*arguments, cwd=os.getcwd())


@pytest.fixture
def folder(tmp_path):
    """Three files of one table, with text and missing cells."""
    rng = np.random.default_rng(0)
    (tmp_path / "parts").mkdir()
    for part in range(3):
        x, color = rng.normal(size=400).round(1), rng.choice(["red", "blue"], 400)
        y = np.where((x > 0) ^ (color == "red"), "yes", "no")
        x[::9] = np.nan
        columns = {"x": pyarrow.array(x, from_pandas=True), "color": color, "y": y}
        parquet.write_table(pyarrow.table(columns), tmp_path / "parts" / f"{part}.parquet", row_group_size=150)
    return tmp_path


def test_a_pattern_of_files_is_fitted_predicted_and_verified_in_blocks(folder):
    model, parts = folder / "model.json", folder / "parts"
    rules = ["--encode", "one_hot", "--impute", "median", "--hidden", "3", "--method", "Learn(epochs=1)"]
    done = stepnet("fit", f"{parts}/*.parquet", "--target", "y", *rules, "--out", model)
    assert done.returncode == 0, done.stderr
    assert "rows, " in done.stderr
    assert "a second" in done.stderr
    done = stepnet("verify", model, f"{parts}/*.parquet", "--target", "y", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["holds"]
    table = pyarrow.concat_tables([parquet.read_table(parts / f"{i}.parquet") for i in range(3)])
    parquet.write_table(table, folder / "whole.parquet")
    answers = {}
    for name, data in (("blocks", f"{parts}/*.parquet"), ("whole", folder / "whole.parquet")):
        for ending in ("csv", "parquet"):
            out = folder / f"answers of {name}.{ending}"
            done = stepnet("predict", model, data, "--out", out)
            assert "1200 predictions written" in done.stdout, done.stderr
        answers[name] = (folder / f"answers of {name}.csv").read_text()
        assert (
            parquet.read_table(folder / f"answers of {name}.parquet")["prediction"].to_pylist()
            == answers[name].split()[1:]
        )
    assert answers["blocks"] == answers["whole"]
    done = stepnet("verify", model, folder / "whole.parquet", "--target", "y", "--json")  # in memory
    assert json.loads(done.stdout)["holds"], done.stderr
    assert load(model).certificate_.total_weight == 1200


def test_rows_that_fit_are_read_at_once_and_others_in_blocks(folder):
    from pathlib import Path

    from stepnet.cli.streams import streamed

    file = folder / "parts" / "0.parquet"
    assert streamed(file, "1GB", "y") is None
    assert streamed(file, "", "y") is None
    assert streamed(file, "1kB", "y") is not None
    assert streamed(Path(folder / "nothing.parquet"), "1kB", "y") is None


def test_a_fault_while_predicting_leaves_no_file(folder):
    model, parts = folder / "model.json", folder / "parts"
    rules = ["--encode", "one_hot", "--impute", "0", "--hidden", "2", "--method", "Learn(epochs=1)"]
    assert stepnet("fit", parts, "--target", "y", *rules, "--out", model).returncode == 0
    bad = pyarrow.table({"x": [1.0], "color": ["green"], "y": ["no"]})
    parquet.write_table(bad, parts / "3.parquet")
    out = folder / "answers.parquet"
    done = stepnet("predict", model, parts, "--out", out)
    assert done.returncode == 2
    assert "3.parquet, row group 1, data row 1, column 'color': 'green' did not occur in training" in done.stderr
    assert not out.exists()
    assert not [name for name in os.listdir(folder) if "answers" in name]


def test_a_full_disk_leaves_no_file(tmp_path):
    from stepnet.cli import streams

    def answers():
        yield np.arange(5)
        raise OSError(28, "No space left on device")

    for ending in ("csv", "parquet"):
        with pytest.raises(OSError, match="No space left"):
            streams.write_answers(tmp_path / f"out.{ending}", answers(), "prediction")
    assert not os.listdir(tmp_path)
