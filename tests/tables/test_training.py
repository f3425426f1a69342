"""Table: what --encode and --impute do, in Python."""

import warnings

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from command_line import stepnet
from stepnet import Raises, StepAutoencoder, StepClassifier, StepEnsembleClassifier, StepRegressor, Table, load, save
from stepnet.errors import InvalidInputError

ROWS = "age,color,heavy,ill\n31,red,1,no\n,blue,2,yes\n45,red,1,yes\n22,green,1,no\n61,,3,yes\n"
OPTIONS = {"target": "ill", "encode": "one_hot", "impute": "median"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "new.csv").write_text("color,age\ngreen,22\n,61\nblue,?\n")
    return tmp_path


@pytest.fixture
def table(folder):
    return Table.read(folder / "people.csv", **OPTIONS, drop=["heavy"])


def network(**options):
    return StepClassifier(hidden=(2,), method="exact", random_state=0, **options)


def test_a_table_is_what_the_command_line_trains_on(folder, table):
    command = ("fit", "people.csv", "--target", "ill", "--hidden", "2", "--method", "exact", "--drop", "heavy")
    result = stepnet(*command, "--encode", "one_hot", "--impute", "median", cwd=folder)
    assert result.returncode == 0, result.stderr
    model = load(folder / "model.json")
    assert table.columns == model.columns_
    assert table.features == model.feature_names_in_.tolist() == ["age", "color=blue", "color=green", "color=red"]
    assert table.X.tolist()[1] == [38.0, 1.0, 0.0, 0.0]
    assert table.y.tolist() == ["no", "yes", "yes", "no", "yes"]
    assert len(table) == 5
    assert model.verify(pd.DataFrame(table.X, columns=table.features), table.y)


def test_a_model_that_a_table_trained_reads_raw_tables(folder, table):
    clf = table.fit(network())
    save(clf, folder / "model.json")
    result = stepnet("predict", "model.json", "new.csv", cwd=folder)
    assert result.stdout.split()[1:] == ["no", "yes", "yes"], result.stderr
    assert stepnet("verify", "model.json", "people.csv", "--target", "ill", cwd=folder).returncode == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (clf, load(folder / "model.json")):
            new = Table.read(folder / "new.csv", like=model)
            assert (new.y, new.sample_weight) == (None, None)
            assert new.predict(model).tolist() == ["no", "yes", "yes"]
        assert Table.read(folder / "new.csv", like=table).predict(clf).tolist() == ["no", "yes", "yes"]


def test_data_frames_give_the_same_table(folder, table):
    frame = pd.read_csv(folder / "people.csv")
    for same in (frame, polars.read_csv(folder / "people.csv")):
        other = Table.of(same, **OPTIONS, drop="heavy")
        assert (other.columns, other.X.tolist(), other.y.tolist()) == (
            table.columns,
            table.X.tolist(),
            table.y.tolist(),
        )


def test_weights_numbers_and_names_in_constraints(folder):
    table = Table.read(folder / "people.csv", **OPTIONS, sample_weight="heavy")
    assert table.sample_weight.tolist() == [1, 2, 1, 1, 3]
    clf = table.fit(network(constraints=[Raises("age")]))
    assert clf.certificate_.total_weight == 8
    numbers = Table.read(folder / "people.csv", "heavy", encode="codes", impute=0, drop=["ill"], task="regression")
    assert numbers.y.dtype == float
    assert numbers.X[1, 0] == 0
    regressor = numbers.fit(StepRegressor(hidden=(1,), method="learn", random_state=0))
    save(regressor, folder / "r.json")
    assert load(folder / "r.json").columns_ == numbers.columns


def test_other_estimators_keep_the_columns(folder, table):
    votes = table.fit(StepEnsembleClassifier(3, hidden=(2,), random_state=0))
    features = Table.read(folder / "people.csv", encode="one_hot", impute="median", drop=["heavy", "ill"])
    coder = features.fit(StepAutoencoder(1, random_state=0))
    for name, model in {"v.json": votes, "c.json": coder}.items():
        save(model, folder / name)
        assert load(folder / name).columns_ == table.columns
        assert stepnet("predict", name, "people.csv", cwd=folder).returncode == 0


def test_rows_of_a_table_can_be_taken(table):
    part = table.take([0, 2])
    assert (part.y.tolist(), part.X.tolist()) == (["no", "yes"], table.X[[0, 2]].tolist())
    assert table.take(np.array([True, False, False, False, True])).y.tolist() == ["no", "yes"]
    assert part.columns == table.columns


def test_models_of_a_search_are_saved_with_the_columns(folder, table):
    search = GridSearchCV(network(), {"hidden": [(1,), (2,)]}, cv=2).fit(table.X, table.y)
    save(search.best_estimator_, folder / "model.json", columns=table.columns)
    assert load(folder / "model.json").columns_ == table.columns
    assert not hasattr(search.best_estimator_, "columns_")
    with pytest.raises(InvalidInputError, match="the columns give 4 features, the estimator was fitted on 2"):
        save(network().fit(table.X[:, :2], table.y), folder / "m.json", columns=table.columns)


def test_a_later_fit_forgets_the_columns(table):
    clf = table.fit(network())
    assert clf.columns_ == table.columns
    assert not hasattr(clone(clf), "columns_")
    clf.fit(table.X[:, :1], table.y)
    assert not hasattr(clf, "columns_")
    clf = table.fit(network())
    with pytest.raises(ValueError, match="one class only"):
        table.take([1, 2]).fit(clf)
    assert clf.columns_ == table.columns
    clf.fit(table.X[:, :1], table.y)
    assert not hasattr(clf, "columns_")


def test_messages_speak_python(folder):
    path = folder / "people.csv"
    for options, message in [
        ({"target": "ill"}, r"train with impute='median' \(or mean, most_frequent, a number\), .* drop=\['age'\]\."),
        ({"target": "ill", "impute": "mean"}, "train with encode='one_hot'"),
        ({"target": "ill", "impute": "best"}, "impute='best' is not known"),
        ({"target": "ill", "encode": "hash"}, "encode='hash' is not known"),
        ({"target": "ill", "task": "both"}, "task='both' is not known"),
        ({"target": "nobody"}, "has no column 'nobody'"),
        ({"target": "ill", "drop": ["ill"]}, "cannot be dropped"),
        ({"target": "ill", "encode": "one_hot", "like": network()}, "like= brings its own rules"),
    ]:
        with pytest.raises(InvalidInputError, match=message) as error:
            Table.read(path, **options)
        assert "--" not in str(error.value)
    with pytest.raises(InvalidInputError, match=r"Table.of takes a data frame, .*Table.read takes files"):
        Table.of("people.csv")
    with pytest.raises(InvalidInputError, match="the data frame has no rows"):
        Table.of(pd.DataFrame({"a": []}))


def test_estimators_that_do_not_match_are_refused(folder, table):
    with pytest.raises(InvalidInputError, match=r"not a LogisticRegression: .*columns=table.columns"):
        table.fit(LogisticRegression())
    clf = network().fit(pd.DataFrame(table.X[:, :2], columns=["age", "size"]), table.y)
    with pytest.raises(InvalidInputError, match="Read the table with like=estimator"):
        table.predict(clf)
