"""Commands need only the columns that the answers of a model depend on."""

import json

import pytest

from command_line import stepnet
from exported import needs_compiler
from stepnet import load

ROWS = [
    (0, "n", 3, 0, 5),
    (1, "n", 2, 0, 1),
    (2, "s", 2, 1, 4),
    (3, "s", 0, 1, 1),
    (4, "w", 3, 1, 0),
    (0, "w", 2, 0, 2),
]
KEPT = [(a, y) for a, _, _, y, _ in ROWS]


def written(path, names, rows):
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of one neuron and one weight, and tables with and without the columns that it does not use."""
    folder = tmp_path_factory.mktemp("columns")
    written(folder / "all.csv", ["a", "place", "b", "y", "c"], ROWS)
    options = ("--hidden", "0", "--sparsity", "1", "--encode", "one_hot", "--method", "exact", "--time-limit", "30")
    result = stepnet("fit", "all.csv", "--target", "y", *options, cwd=folder)
    assert result.returncode == 0, result.stderr
    model = load(folder / "model.json")
    assert model.certificate_.loss == 0
    used = [model.feature_names_in_[i] for i in model.network_.used_features]
    assert used == ["a"]
    written(folder / "few.csv", ["a", "y"], KEPT)
    written(folder / "odd.csv", ["b", "place", "a", "c"], [("", "purple", a, "?") for a, _ in KEPT])
    written(folder / "none.csv", ["b", "y"], [(b, y) for _, _, b, y, _ in ROWS])
    return folder


@pytest.mark.parametrize("table", ["few.csv", "odd.csv"])
def test_predict_ignores_unused_columns_that_are_missing_or_unreadable(folder, table):
    expected = stepnet("predict", "model.json", "all.csv", cwd=folder)
    assert expected.stdout.split() == ["prediction", "0", "0", "1", "1", "1", "0"]
    assert stepnet("predict", "model.json", table, cwd=folder).stdout == expected.stdout


def test_predict_needs_the_used_columns(folder):
    result = stepnet("predict", "model.json", "none.csv", cwd=folder)
    assert (result.returncode, "none.csv has no column 'a'" in result.stderr) == (2, True)


def test_verify_says_what_could_not_be_checked(folder):
    whole = stepnet("verify", "model.json", "all.csv", "--target", "y", cwd=folder)
    assert (whole.returncode, "data" in whole.stdout) == (0, False)
    part = stepnet("verify", "model.json", "few.csv", "--target", "y", cwd=folder)
    assert part.returncode == 0, part.stderr
    fingerprint = load(folder / "model.json").certificate_.fingerprint
    assert part.stdout.splitlines() == [
        f"open   data {fingerprint}: not comparable without 5 columns: place=n, place=s, place=w, b, c",
        "true   loss 0: the network's exact loss is 0",
        "true   OPTIMAL, gap 0: loss and bound give gap 0",
        "true   bound 0 for all networks: no loss is below 0",
    ]


def test_verify_without_columns_still_finds_false_claims_and_other_rows(folder):
    written(folder / "wrong.csv", ["a", "y"], [(a, 1 - y) for a, y in KEPT])
    result = stepnet("verify", "model.json", "wrong.csv", "--target", "y", cwd=folder)
    assert (result.returncode, "FALSE  loss 0: the network's exact loss is 6, unless these are" in result.stdout) == (
        1,
        True,
    )
    written(folder / "short.csv", ["a", "y"], KEPT[:-1])
    result = stepnet("verify", "model.json", "short.csv", "--target", "y", cwd=folder)
    assert (result.returncode, "their rows weigh 5, not 6" in result.stderr) == (2, True)
    result = stepnet("verify", "model.json", "few.csv", "--target", "y", "--resolve", cwd=folder)
    assert (result.returncode, "give the whole table" in result.stderr) == (2, True)


def test_names_without_encoded_columns_are_told_too(folder):
    options = ("--drop", "place", "--hidden", "0", "--sparsity", "1", "--raises", "a", "--out", "plain.json")
    assert stepnet("fit", "all.csv", "--target", "y", *options, "--method", "exact", cwd=folder).returncode == 0
    result = stepnet("verify", "plain.json", "few.csv", "--target", "y", cwd=folder)
    assert "not comparable without 2 columns: b, c" in result.stdout, result.stderr


def test_attack_and_report_take_such_tables(folder):
    full = json.loads(stepnet("attack", "model.json", "all.csv", "--json", cwd=folder).stdout)
    result = stepnet("attack", "model.json", "few.csv", "--json", "--out", "points.csv", cwd=folder)
    assert json.loads(result.stdout)["radii"] == full["radii"]
    assert (folder / "points.csv").read_text().splitlines()[0] == "radius,size,complete,prediction,a"
    options = ("--target", "y", "--to", "text")
    result = stepnet("report", "model.json", "few.csv", "--test", "few.csv", *options, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "new.csv needs the column a." in result.stdout


@needs_compiler
def test_exports_are_checked_on_such_tables(folder):
    for columns in ("used", "all"):
        options = ("--to", "c", "--columns", columns, "--check", "few.csv")
        result = stepnet("export", "model.json", *options, cwd=folder)
        assert "6 rows, 0 differ" in result.stdout, result.stderr
    result = stepnet("export", "model.json", "--to", "c", "--columns", "some", cwd=folder)
    assert (result.returncode, "choose used or all" in result.stderr) == (2, True)


def test_features_are_written_as_far_as_the_table_has_them(folder):
    stepnet("predict", "model.json", "odd.csv", "--features", "features.csv", cwd=folder)
    assert (folder / "features.csv").read_text().splitlines()[0] == "a"
    stepnet("predict", "model.json", "all.csv", "--features", "features.csv", cwd=folder)
    assert (folder / "features.csv").read_text().splitlines()[0] == "a,place=n,place=s,place=w,b,c"
