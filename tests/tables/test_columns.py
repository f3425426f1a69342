"""Columns: text and missing cells become numbers by stated choices, and the same way again."""

import json

import numpy as np
import pytest

from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.tables.columns import Column, Columns

CELLS = {
    "age": ["31", "", "45", "22", "NA"],
    "color": ["red", "blue", " red ", "green", "?"],
    "size": np.array([1.0, np.nan, 3.0, 1.0, 5.0]),
}


def learn(**choices):
    return Columns.learn(CELLS, list(CELLS), "t.csv", **choices)


def test_one_hot_has_a_feature_a_category():
    columns = learn(encode="one_hot", impute="median")
    assert columns.features == ["age", "color=blue", "color=green", "color=red", "size"]
    numbers = columns.numbers(CELLS, "t.csv")
    assert numbers[:, 0].tolist() == [31, 31, 45, 22, 31]
    assert numbers[:, 1:4].tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]]
    assert numbers[:, 4].tolist() == [1, 2, 3, 1, 5]


def test_codes_are_numbers_in_the_order_of_the_alphabet():
    columns = learn(encode="codes", impute="0")
    assert columns.numbers(CELLS, "t.csv").tolist() == [[31, 2, 1], [0, 0, 0], [45, 2, 3], [22, 1, 1], [0, 2, 5]]


@pytest.mark.parametrize(
    ("impute", "fills"),
    [("mean", [98 / 3, 2.5]), ("median", [31, 2]), ("most_frequent", [22, 1]), ("-1.5", [-1.5] * 2)],
)
def test_what_stands_in_for_missing_numbers(impute, fills):
    columns = learn(encode="codes", impute=impute)
    assert [column.fill for column in columns.columns if column.encoding is None] == pytest.approx(fills)
    assert columns.columns[1].fill == "red"


def test_new_rows_are_filled_from_the_training_rows():
    columns = learn(encode="one_hot", impute="mean")
    new = {"size": [""], "color": [None], "age": [float("nan")], "more": ["x"]}
    assert columns.numbers(new, "n.csv").tolist() == [[98 / 3, 0, 0, 1, 2.5]]


def test_a_description_says_what_each_feature_is():
    words = learn(encode="one_hot", impute="7").describe()
    assert words[0] == "age; where age is missing, 7"
    assert words[1] == "1 where color is 'blue', else 0; where color is missing, it counts as 'red'"
    assert learn(encode="codes", impute="7").describe()[1].startswith("the code of color: 0 for 'blue', 1 for 'green'")
    assert Column("a").describe() == ["a"]


@pytest.mark.parametrize(
    ("cells", "choices", "message"),
    [
        (["1", ""], {}, "row 2, column 'a': the cell is empty. Fill it in; or train with --impute median"),
        (["1", "x"], {}, "'x' is not a finite number. Correct it; or train with --encode one_hot"),
        (["1", "x"], {"impute": "mean"}, "row 2, column 'a': 'x' is not a finite number"),
        (["1", "inf"], {"impute": "mean", "encode": "codes"}, "inf is not a finite number. Correct it, or leave"),
        (["", "?"], {"impute": "mean"}, "has no numbers; leave it out"),
        (["x", "y"], {"encode": "hash"}, "choose one_hot or codes"),
        (["x", "y"], {"impute": "best"}, "choose mean, median, most_frequent or a number"),
        (["x", "y"], {"impute": "inf"}, "choose mean"),
        ([f"t{i}" for i in range(300)], {"encode": "codes"}, "300 different texts in 300 rows: names or dates"),
        ([f"2026-01-{i:02}" for i in range(1, 20)], {"encode": "one_hot"}, "names or dates"),
        (["1,5", "2,25", "3,5"], {"encode": "one_hot"}, "comma such as '1,5'"),
        (["1,5", "2", "3"], {}, "'1,5' has a comma. Write numbers with a decimal point"),
    ],
)
def test_cells_that_need_a_choice_are_named(cells, choices, message):
    def numbers():
        return Columns.learn({"a": cells}, ["a"], "t.csv", **choices).numbers({"a": cells}, "t.csv")

    with pytest.raises(InvalidInputError, match=message):
        numbers()


def test_new_rows_that_training_did_not_know():
    columns = Columns.learn({"a": ["x", "y"]}, ["a"], "t.csv", encode="one_hot")
    with pytest.raises(InvalidInputError, match=r"'z' did not occur in training \(known: 'x', 'y'\)"):
        columns.numbers({"a": ["x", "z"]}, "n.csv")
    with pytest.raises(InvalidInputError, match="row 1, column 'a': the cell is empty"):
        columns.numbers({"a": [""]}, "n.csv")
    with pytest.raises(InvalidInputError, match="no column 'a'"):
        columns.numbers({"b": [1]}, "n.csv")


def test_columns_survive_a_file():
    columns = learn(encode="one_hot", impute="median")
    again = Columns.from_list(json.loads(json.dumps(columns.to_list())))
    assert again == columns
    assert not again.is_plain
    assert Columns.learn(CELLS, [], "t").is_plain


@pytest.mark.parametrize(
    "change",
    [
        {"encoding": "magic"},
        {"categories": ["a", "a"]},
        {"categories": []},
        {"categories": 5},
        {"fill": "purple"},
        {"name": -1},
        {"name": 1.5},
        {"more": 1},
        {"categories": ["a", 3.0]},
        {"kept": [7]},
        {"arithmetic": [[["add", 1.0]]]},
        {"kept": [0], "arithmetic": [[["power", 1.0]]]},
        {"kept": [0], "arithmetic": [[["add", "1"]]]},
        {"names": ["a"]},
    ],
)
def test_damaged_columns_are_refused(change):
    data = learn(encode="one_hot", impute="median").to_list()
    data[1] = data[1] | change
    with pytest.raises(ModelFileError):
        Columns.from_list(data)


def test_true_and_false_are_numbers():
    columns = Columns.learn({"a": ["True", "false", " TRUE", "?"]}, ["a"], "t", encode="one_hot", impute="0")
    assert columns.features == ["a"]
    assert columns.numbers({"a": ["true", True, "False", False, ""]}, "n")[:, 0].tolist() == [1, 1, 0, 0, 0]


def test_names_are_quoted_for_the_shell():
    cells = {"is member": ["maybe"]}
    columns = Columns.learn(cells, ["is member"], "t")
    with pytest.raises(InvalidInputError, match="--drop 'is member'"):
        columns.numbers(cells, "t")
