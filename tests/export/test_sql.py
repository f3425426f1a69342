"""The SELECT of a model answers as predict does, on databases, and marks every row that it is not sure of.

SQLite, DuckDB and PostgreSQL run it; BigQuery and the standard are translated for DuckDB by sqlglot.
"""

import numpy as np
import pandas as pd
import pytest

from databases import needs_postgres, on_duckdb, on_sqlite, running_postgres, translated
from exported import ACTIVATIONS, fitted, hard_rows, real, whole
from stepnet import Integers, StepClassifier, StepRegressor, Table
from stepnet.datasets import load_breast_cancer_wisconsin
from stepnet.errors import InvalidInputError
from stepnet.export import to_sql
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.staircase import Staircase

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")

NETWORKS = {
    "one neuron": lambda rng: (real(rng, 1, 3),),
    "real": lambda rng: (real(rng, 5, 3), real(rng, 1, 5)),
    "ternary": lambda rng: (whole(rng, 40, 3), whole(rng, 1, 40)),
    "deep": lambda rng: (real(rng, 6, 3), real(rng, 4, 6), real(rng, 1, 4)),
    "argmax": lambda rng: (real(rng, 6, 3), real(rng, 3, 6, ARGMAX)),
    "ordinal": lambda rng: (real(rng, 5, 3), real(rng, 1, 5, Staircase((0.0, 1.0, 2.0)))),
} | {
    name: lambda rng, a=activation: (real(rng, 4, 3, a), real(rng, 4, 4, a), whole(rng, 1, 4))
    for name, activation in ACTIVATIONS.items()
}


ALWAYS = ["sqlite", "duckdb"]
TRANSLATED = ["ansi", "bigquery"]
SERVED = pytest.param("postgres", marks=[pytest.mark.slow, needs_postgres])
EVERY = [*ALWAYS, SERVED, *(pytest.param(name, marks=pytest.mark.slow) for name in TRANSLATED)]


@pytest.fixture(scope="module")
def postgres():
    with running_postgres() as server:
        yield server


@pytest.fixture
def run(database, request):
    """What answers a statement on a data frame."""
    if database == "postgres":
        return request.getfixturevalue("postgres").answers
    if database in TRANSLATED:
        pytest.importorskip("sqlglot", reason="sqlglot is not installed")
        return translated(database)
    return {"sqlite": on_sqlite, "duckdb": on_duckdb}[database]


def near_thresholds(rng, network, n_rows):
    """Rows around hyperplanes of the first layer: at distances from 1e-16 to 1, relative to their size."""
    first = network.layers[0]
    rows = rng.normal(0, 2, (n_rows, first.n_inputs))
    ends = first.thresholds.reshape(first.width, -1)
    neurons = rng.integers(0, first.width, n_rows)
    weights, chosen = first.weights[neurons], ends[neurons, rng.integers(0, ends.shape[1], n_rows)]
    lengths = np.maximum((weights**2).sum(axis=1), 1e-30)
    onto = rows - (((rows * weights).sum(axis=1) - chosen) / lengths)[:, None] * weights
    away = rng.choice([-1, 1], n_rows) * 10.0 ** rng.uniform(-16, 0, n_rows)
    return onto + (away / np.sqrt(lengths))[:, None] * weights


def compare(model, sql, run, rows, names=None):
    """How many rows have another answer, of those not in doubt; how many are in doubt."""
    frame = pd.DataFrame(rows, columns=names or [f"x{i}" for i in range(rows.shape[1])])
    found = run(sql, frame)
    is_sure = found[1].to_numpy(dtype=bool) == False  # noqa: E712
    return int((found[0].to_numpy() != model.predict(rows))[is_sure].sum()), int((~is_sure).sum())


@pytest.mark.parametrize("database", EVERY)
@pytest.mark.parametrize("name", NETWORKS)
def test_rows_that_are_not_in_doubt_have_the_answers_of_predict(name, database, run):
    rng = np.random.default_rng(len(name))
    model = fitted(*NETWORKS[name](rng))
    rows = np.vstack([rng.normal(0, 2, (100, 3)), near_thresholds(rng, model.network_, 300)])
    differing, doubtful = compare(model, to_sql(model, dialect=database, columns="all"), run, rows)
    assert differing == 0
    assert doubtful < 80


@pytest.mark.parametrize("database", EVERY)
@pytest.mark.parametrize("name", NETWORKS)
def test_integers_are_exact_also_at_thresholds(name, database, run):
    rng = np.random.default_rng(len(name))
    first, *above = NETWORKS[name](rng)
    rows = rng.integers(-20, 21, (300, 3)).astype(float)
    if first.activation != ARGMAX:  # thresholds that rows hit exactly
        hit = np.sort(rows[: first.thresholds.size] @ first.weights.T, axis=0)[: first.thresholds.size].diagonal()
        ends = np.resize(hit, first.thresholds.shape)
        first = first.with_(first.weights, np.sort(ends, axis=-1) if ends.ndim > 1 else ends)
    model = fitted(first, *above)
    sql = to_sql(model, dialect=database, inputs="integers", columns="all")
    assert compare(model, sql, run, rows) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("database", EVERY)
def test_of_100_000_rows_of_a_learned_network_no_answer_differs(database, run):
    data = load_breast_cancer_wisconsin()
    model = StepClassifier(25, random_state=0).fit(data.data, data.target)
    rng = np.random.default_rng(0)
    whole_rows = rng.integers(1, 11, (50_000, 9)).astype(float)
    sql = to_sql(model, dialect=database, inputs="integers", columns="all")
    assert compare(model, sql, run, whole_rows) == (0, 0)
    rows = near_thresholds(rng, model.network_, 50_000)
    differing, doubtful = compare(model, to_sql(model, dialect=database, columns="all"), run, rows)
    assert differing == 0
    assert doubtful < 15_000  # distances from 1e-16 on: a fifth of these rows is too close for floats


@pytest.mark.parametrize("database", EVERY)
def test_text_and_missing_cells_follow_the_rules_of_the_model(database, run, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("colour,size,y\n" + "red,1,a\nblue,2,b\ngreen,,a\nred,4,b\n,3,b\nblue,1,a\n" * 3)
    for encode in ("one_hot", "codes"):
        table = Table.read(path, "y", encode=encode, impute="median")
        model = StepClassifier(3, random_state=0).fit(table.X, table.y)
        model.columns_ = table.columns
        frame = pd.DataFrame({"colour": ["red", "blue", None, "pink", "NA", " green "], "size": [1, None, 3, 4, 5, 6]})
        found = run(to_sql(model, dialect=database, columns="all"), frame)
        known = frame.drop(index=3).replace({np.nan: None})
        cells = {name: known[name].tolist() for name in known}
        expected = model.predict(table.columns.numbers(cells, "here"))
        assert found[0].drop(index=3).tolist() == expected.tolist()
        assert pd.isna(found[0][3])
        assert pd.isna(found[1][3])


@pytest.mark.parametrize("database", EVERY)
def test_names_and_classes_are_quoted_and_kept_columns_come_first(database, run):
    X = pd.DataFrame({'a "b"': [0, 1, 2, 3], "select": [0, 0, 1, 1]})
    model = StepClassifier(1, method="prove").fit(X, ["it's", "it's", 'a "b"', 'a "b"'])
    sql = to_sql(model, dialect=database, keep=["row; --"])
    found = run(sql, X.assign(**{"row; --": [10, 11, 12, 13]}))
    assert found[0].tolist() == [10, 11, 12, 13]
    assert found[1].tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("database", EVERY)
def test_numbers_are_those_of_predict_up_to_rounding(database, run):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = StepRegressor(4, random_state=0).fit(X, X[:, 0] - X[:, 1])
    found = run(to_sql(model, dialect=database, columns="all"), pd.DataFrame(X, columns=["x0", "x1"]))
    assert found[0].to_numpy(float) == pytest.approx(model.predict(X), abs=1e-12)


@pytest.mark.parametrize("database", EVERY)
def test_cells_that_are_no_finite_numbers_have_no_answer_or_what_is_imputed(database, run, tmp_path):
    frame = pd.DataFrame({"size": ["1", "", "NA", "nan", " 4 ", "-Infinity"]})
    if database == "sqlite":  # others stop at text that is no number
        frame = pd.DataFrame({"size": [*frame["size"], "1e400", "4 litres", "-", "1e"]})
        plain = StepClassifier(1, method="prove").fit(pd.DataFrame({"size": [1.0, 2.0, 4.0]}), ["s", "m", "m"])
        found = run(to_sql(plain, dialect=database), frame)
        assert found[0].dropna().to_dict() == {0: "s", 4: "m"}
        assert found[1].dropna().to_dict() == {0: 0, 4: 0}
    path = tmp_path / "data.csv"
    path.write_text("size,y\n1,s\n2,m\n4,m\n,m\n")
    table = Table.read(path, "y", impute="median")
    model = StepClassifier(1, method="prove").fit(table.X, table.y)
    model.columns_ = table.columns
    found = run(to_sql(model, dialect=database), frame)
    assert found[0].dropna().to_dict() == {0: "s", 1: "m", 2: "m", 3: "m", 4: "m"}


@pytest.mark.parametrize("database", EVERY)
def test_infinite_numbers_have_no_answer(database, run):
    model = fitted(real(np.random.default_rng(0), 2, 2), real(np.random.default_rng(1), 1, 2))
    frame = pd.DataFrame({"x0": [0.0, np.inf, -np.inf, 1.0], "x1": [0.0, -np.inf, 1.0, np.nan]})
    for inputs in ("floats", "integers"):
        found = run(to_sql(model, dialect=database, inputs=inputs, columns="all"), frame)
        assert found[0].isna().tolist() == found[1].isna().tolist() == [False, True, True, True]


@pytest.mark.parametrize("database", ALWAYS)  # PostgreSQL and BigQuery stop where a product overflows or underflows
@pytest.mark.parametrize("name", NETWORKS)
def test_of_rows_of_all_scales_none_is_wrong_that_is_not_in_doubt(name, database, run):
    rng = np.random.default_rng(len(name))
    model = fitted(*NETWORKS[name](rng))
    rows = np.clip(hard_rows(rng, model.network_.layers[0]), -1e307, 1e307)
    tiny = rng.integers(-9, 10, (200, 3)) * 5e-324
    first = model.network_.layers[0]
    assert compare(model, to_sql(model, dialect=database, columns="all"), run, np.vstack([rows, tiny]))[0] == 0
    low = first.with_(first.weights, np.sort(rng.integers(-9, 10, first.thresholds.shape) * 5e-324))
    model = fitted(low, *model.network_.layers[1:])  # thresholds as small as what underflow takes away
    assert compare(model, to_sql(model, dialect=database, columns="all"), run, tiny)[0] == 0


@pytest.mark.parametrize("database", EVERY)
def test_the_table_may_be_a_query_and_may_have_any_name(database, run):
    model = fitted(real(np.random.default_rng(0), 2, 1), real(np.random.default_rng(1), 1, 2))
    frame = pd.DataFrame({"given": [-2.0, 0.0, 2.0]})
    expected = model.predict(frame.to_numpy()).tolist()
    table = "(WITH step_features AS (SELECT given AS x0 FROM data) SELECT x0 FROM step_features)"
    assert run(to_sql(model, dialect=database, table=table), frame)[0].tolist() == expected


@pytest.mark.parametrize("database", ["sqlite", pytest.param("duckdb", marks=pytest.mark.slow)])
def test_a_thousand_features_and_neurons_are_not_too_many(database, run):
    rng = np.random.default_rng(0)
    model = fitted(whole(rng, 2, 1100), whole(rng, 1, 2))
    rows = rng.integers(-3, 4, (5, 1100)).astype(float)
    assert compare(model, to_sql(model, dialect=database, columns="all"), run, rows)[0] == 0
    model = fitted(real(rng, 1100, 1), real(rng, 1, 1100))
    assert compare(model, to_sql(model, dialect=database, columns="all"), run, rows[:, :1])[0] == 0


@pytest.mark.parametrize("dialect", ["ansi", "sqlite", "duckdb", "postgres", "bigquery"])
def test_every_dialect_is_written_as_it_is_read(dialect):
    sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    X = pd.DataFrame({'a "b"': [0, 0, 1, 1], "select": [0, 1, 0, 1], "it's": [0, 0, 0, 0]})
    model = StepClassifier(2, method="prove", weights=Integers(2)).fit(X, ["it's", "a\\", "a\\", "it's"])
    for inputs in ("floats", "integers"):
        sql = to_sql(model, dialect=dialect, table="my_table", keep=["row; --"], inputs=inputs, columns="all")
        (tree,) = sqlglot.parse(sql, read=None if dialect == "ansi" else dialect)
        assert tree.named_selects == ["row; --", "prediction", "in_doubt"]
        assert {table.name for table in tree.find_all(sqlglot.exp.Table)} >= {"my_table"}
        read = {column.name for column in tree.ctes[0].find_all(sqlglot.exp.Column)}
        assert read == {"row; --", *X.columns}
        assert {"it's", "a\\"} <= {text.this for text in tree.find_all(sqlglot.exp.Literal)}


def test_what_cannot_be_written_is_refused():
    model = StepClassifier(2, method="prove", weights=Integers(2)).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    with pytest.raises(InvalidInputError, match="dialect='mysql' is not known; choose one of ansi"):
        to_sql(model, dialect="mysql")
    with pytest.raises(InvalidInputError, match="inputs='bits' is not known for SQL"):
        to_sql(model, inputs="bits")
    with pytest.raises(InvalidInputError, match="the result would have two columns prediction; rename the one to keep"):
        to_sql(model, keep=["id", "Prediction"])
    wide = fitted(whole(np.random.default_rng(0), 2000, 1), whole(np.random.default_rng(0), 1, 2000))
    with pytest.raises(InvalidInputError, match="a step with 2,002 columns, and sqlite takes 2,000"):
        to_sql(wide, dialect="sqlite")
