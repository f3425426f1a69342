"""Reasons on the command line: in the units of the table, with rows counted from 1."""

import csv
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from command_line import stepnet
from stepnet import StepClassifier, save


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("why")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 20, (60, 2)), columns=["age", "dose"])
    y = np.where(X.age + 2 * X.dose > 28, "ill", "well")
    X.to_csv(folder / "new.csv", index=False)
    save(StepClassifier(2, random_state=0).fit(X, y), folder / "model.json")
    save(make_pipeline(StandardScaler(), StepClassifier(2, random_state=0)).fit(X, y), folder / "scaled.json")
    return folder


@pytest.mark.parametrize("model", ["model.json", "scaled.json"])
def test_rows_are_explained_as_a_table_or_one_by_one(folder, model):
    table = stepnet("explain", model, "new.csv", cwd=folder)
    assert table.returncode == 0, table.stderr
    assert len(table.stdout.splitlines()) == 61
    one = stepnet("explain", model, "new.csv", "--row", "2", cwd=folder)
    assert one.stdout.startswith(("row 2: ill, not well", "row 2: well, not ill"))
    facts = json.loads(stepnet("explain", model, "new.csv", "--row", "2", "--json", cwd=folder).stdout)
    assert [neuron["name"] for neuron in facts["rows"][0]["neurons"]] == ["h1", "h2"]


def test_importance_lists_every_feature(folder):
    done = stepnet("explain", "model.json", "new.csv", "--importance", cwd=folder)
    assert "dose" in done.stdout
    assert "60 rows" in done.stdout


@pytest.mark.parametrize("model", ["model.json", "scaled.json"])
def test_a_change_predicts_what_it_says(folder, model):
    options = ("--integer", "all", "--low", "0", "--high", "age=30", "--high", "dose=30", "--cost", "age=2")
    done = stepnet("counterfactual", model, "new.csv", *options, "--out", "changed.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((folder / "changed.csv").open()))
    assert len(rows) == 60
    with (folder / "after.csv").open("w") as file:
        file.write("age,dose\n" + "".join(f"{row['age']},{row['dose']}\n" for row in rows))
    after = stepnet("predict", model, "after.csv", cwd=folder).stdout.splitlines()[1:]
    assert after == [row["becomes"] for row in rows]
    assert all(row["becomes"] != row["prediction"] for row in rows)
    assert all(float(row["price"]) == float(row["bound"]) for row in rows)


def test_a_sentence_says_what_would_have_to_be_different(folder):
    done = stepnet(
        "counterfactual", "model.json", "new.csv", "--row", "1", "--fixed", "age", "--norm", "l0", cwd=folder
    )
    assert "would be" in done.stdout
    assert "dose were" in done.stdout
    assert "age were" not in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--row", "61"), "--row 61: the table has rows 1 to 60."),
        (("--cost", "age:2"), "--cost age:2 must be FEATURE=NUMBER, such as age=2."),
        (("--low", "1", "--low", "2"), "must be FEATURE=NUMBER if it is given more than once"),
        (("--classes", "sick"), "there is no such class; the classes are ill, well"),
        (("--norm", "l2"), "norm='l2' is not known; choose one of l0, l1, linf"),
        (("--fixed", "height"), "there is no feature 'height'"),
    ],
)
def test_wrong_options_get_one_line(folder, options, message):
    done = stepnet("counterfactual", "model.json", "new.csv", *options, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_models_go_to_sql_html_tex_and_markdown(folder):
    for to, ending in (("sql", "sql"), ("html", "html"), ("tex", "tex"), ("markdown", "md")):
        done = stepnet("export", "model.json", "--to", to, "--out", f"m.{ending}", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert (folder / f"m.{ending}").stat().st_size > 300
    options = ("--to", "sql", "--dialect", "sqlite", "--table", "people", "--keep", "id", "--inputs", "integers")
    assert stepnet("export", "model.json", *options, "--out", "m.sql", cwd=folder).returncode == 0
    frame = pd.read_csv(folder / "new.csv")
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE people (id, age, dose)")
    database.executemany(
        "INSERT INTO people VALUES (?, ?, ?)", [[i, *row] for i, row in enumerate(frame.to_numpy().tolist())]
    )
    rows = database.execute((folder / "m.sql").read_text()).fetchall()
    predicted = stepnet("predict", "model.json", "new.csv", cwd=folder).stdout.splitlines()[1:]
    assert [row[1] for row in rows] == predicted
    assert [row[0] for row in rows] == list(range(60))


def test_options_of_sql_are_refused_elsewhere(folder):
    done = stepnet("export", "model.json", "--to", "c", "--dialect", "sqlite", cwd=folder)
    assert (done.returncode, "--dialect is for --to sql" in done.stderr) == (2, True)
    done = stepnet("export", "model.json", "--to", "sql", "--dialect", "oracle", cwd=folder)
    assert (done.returncode, "choose one of ansi" in done.stderr) == (2, True)
