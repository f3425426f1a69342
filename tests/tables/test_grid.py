"""Grid: whole numbers that can be published, and the same ones wherever the model is used."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from command_line import stepnet
from exported import needs_compiler
from pipelines import people
from stepnet import Grid, Integers, StepClassifier, Table, attack, load, save
from stepnet.errors import InvalidInputError
from stepnet.export import check_export, size_of, to_c, to_json, to_onnx, to_rules
from stepnet.report import Report
from stepnet.tables.pipelines import cells_of, unpacked


@parametrize_with_checks([Grid()])
def test_grid_is_a_transformer_of_scikit_learn(estimator, check):
    check(estimator)


def frame(n=60):
    """Numbers of very different units, some of them on the borders of cells."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.normal(50, 12, n).round(1), "income": rng.lognormal(10, 1, n), "dose": rng.integers(0, 9, n) / 1e6}
    )
    grid = Grid().fit(X)
    X.loc[0], X.loc[1] = grid.center_ + 2.5 * grid.delta_, grid.center_ - 500 * grid.delta_
    return X, np.where(X.age > 45 + X.dose * 1e6, "ill", "well")


def fitted(*steps, **choices):
    X, y = frame()
    network = StepClassifier((4,), random_state=0, **{"weights": Integers(3)} | choices)
    return make_pipeline(*(steps or [Grid()]), network).fit(X, y), X, y


def test_center_and_delta_are_short_decimals_and_the_numbers_are_whole():
    X, _ = frame()
    grid = Grid(step=0.5, limit=4).fit(X)
    for delta, std in zip(grid.delta_, X.std(ddof=0), strict=True):
        assert delta == float(f"{0.5 * std:.1e}")
    for center, delta, mean in zip(grid.center_, grid.delta_, X.mean(), strict=True):
        last = 10.0 ** (np.floor(np.log10(delta)) - 1)
        assert abs(center - mean) <= last
        assert len(repr(float(center)).replace("-", "").replace(".", "").strip("0").split("e")[0]) <= 8
    places = grid.transform(X)
    expected = np.clip(np.rint((X.to_numpy() - grid.center_) / grid.delta_), -4, 4)
    np.testing.assert_array_equal(places, expected)
    assert not np.signbit(places[places == 0]).any()
    inside = np.abs(expected) < 4
    away = np.abs(grid.inverse_transform(places) - X.to_numpy()) / grid.delta_
    assert away[inside].max() <= 0.5 + 1e-9


def test_a_constant_feature_has_one_place():
    grid = Grid().fit([[0.1, 3.0]] * 7)
    assert (grid.delta_.tolist(), grid.transform([[0.1, 3.0]]).tolist()) == ([1.0, 1.0], [[0.0, 0.0]])


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"step": 0}, "step=0 must be a positive number of standard deviations"),
        ({"step": "fine"}, "step='fine' must be a positive number"),
        ({"limit": 0}, "limit=0 must be an integer from 1"),
        ({"limit": 2**31}, "must be an integer from 1 to 2"),
        ({"limit": 3.5}, "limit=3.5 must be an integer"),
    ],
)
def test_choices_that_are_no_grid_are_refused(choices, message):
    with pytest.raises(InvalidInputError, match=message):
        Grid(**choices).fit([[0.0], [1.0]])


def test_a_model_file_repeats_the_grid(tmp_path):
    model, X, y = fitted()
    save(model, tmp_path / "model.json")
    X.assign(state=y).to_csv(tmp_path / "rows.csv", index=False)
    assert load(tmp_path / "model.json").columns_ == unpacked(model).columns_
    np.testing.assert_array_equal(
        Table.read(tmp_path / "rows.csv", like=load(tmp_path / "model.json")).X, model[:-1].transform(X)
    )
    result = stepnet("predict", "model.json", "rows.csv", cwd=tmp_path)
    assert result.stdout.split()[1:] == model.predict(X).tolist(), result.stderr
    result = stepnet("verify", "model.json", "rows.csv", "--target", "state", cwd=tmp_path)
    assert (result.returncode, "open   data" in result.stdout) == (0, False), result.stderr
    content = json.loads((tmp_path / "model.json").read_text())
    text = json.dumps(content).replace('["round", 1.0]', '["round", 0.5]')
    (tmp_path / "damaged.json").write_text(text)
    with pytest.raises(Exception, match="columns in the file are damaged"):
        load(tmp_path / "damaged.json")


def beyond(model, X):
    """Rows, borders of cells and their neighbours in doubles, and numbers beyond all limits."""
    center, delta = model[0].center_, model[0].delta_
    borders = [center + (k + 0.5) * delta for k in range(-6, 6)]
    near = [np.nextafter(one, one + side) for one in borders for side in (-1, 1)]
    far = [center + sign * size for sign in (-1, 1) for size in (1e18, 1e300, 1e308)]
    return pd.DataFrame(np.vstack([X.to_numpy(), *borders, *near, *far]), columns=X.columns)


@needs_compiler
@pytest.mark.parametrize("weights", [Integers(3), "real"])
def test_exported_files_round_to_the_grid_and_give_the_same_answers(weights):
    model, X, _ = fitted(weights=weights)
    rows = beyond(model, X)
    source = to_c(model)
    assert check_export(model, source, "c", rows) == 0
    assert check_export(model, to_onnx(model), "onnx", rows) == 0
    assert ("int32_t z[" in source) == (weights != "real")
    with pytest.raises(InvalidInputError, match="export the last step of the pipeline"):
        to_c(model, inputs="integers")
    if weights != "real":
        places = model[:-1].transform(rows)
        assert check_export(model[-1], to_c(model[-1], inputs="integers"), "c", places) == 0
        assert size_of(model).bytes < size_of(fitted(StandardScaler(), weights=weights)[0]).bytes


def test_exported_json_names_every_operation():
    model, _, _ = fitted()
    content = json.loads(to_json(model))
    names = {name for feature in content["features"] for name, _ in feature["arithmetic"]}
    assert names == {"subtract", "divide", "round", "at_least", "at_most"}
    assert "of two the even one" in content["meaning"]


def test_rules_print_the_grid_and_whole_weights_exactly():
    model, _, _ = fitted(weights="ternary")
    rules, grid = to_rules(model), model[0]
    used = model[-1].used_features
    assert len(used) > 0
    for i in used:
        name = model.feature_names_in_[i]
        line = next(line for line in rules.splitlines() if line.startswith(f"grid({name}) = min(max(round(({name} - "))
        center, delta = line.split(f"{name} - ")[1].split("), -127)")[0].split(") / ")
        assert (float(center), float(delta)) == (grid.center_[i], grid.delta_[i])
    assert "nearest whole number, of two the even one" in rules


def test_perturbations_on_a_grid_are_refused_in_the_units_of_the_table_and_measured_in_steps():
    model, X, y = fitted()
    with pytest.raises(InvalidInputError, match=r"rounds its features to a grid.*attack\(pipeline\[-1\]"):
        attack(model, X)
    with pytest.raises(InvalidInputError, match="rounds its features to a grid"):
        Report.of(model, (X, y, None), (X[:9], y[:9]), radius=0.5)
    places = model[:-1].transform(X)
    found = attack(model[-1], places)
    moved = np.isfinite(found.sizes)
    assert moved.any()
    near = places[moved] + np.sign(found.points[moved] - places[moved]) * np.floor(found.radii[moved])[:, None]
    safe = found.radii[moved] > np.floor(found.radii[moved])
    assert (model[-1].predict(near[safe]) == model[-1].predict(places[moved][safe])).all()


def test_a_report_shows_the_grid():
    model, X, y = fitted()
    report = Report.of(model, (X, y, None), (X[:9], y[:9]))
    assert any("round((age - " in one.meaning for one in report.features)


def test_text_and_numbers_go_to_the_grid_together():
    rows, y = people()
    rows = rows.dropna()
    columns = ColumnTransformer(
        [("n", "passthrough", ["age", "income"]), ("c", OneHotEncoder(sparse_output=False), ["region"])]
    )
    network = StepClassifier((3,), weights="ternary", random_state=0)
    model = make_pipeline(columns, Grid(), network).fit(rows, y[rows.index])
    numbers = unpacked(model).columns_.numbers(cells_of(rows), "the rows")
    np.testing.assert_array_equal(numbers, model[:-1].transform(rows))


def test_tables_and_commands_put_features_on_a_grid(tmp_path):
    rows, y = people()
    rows.drop(columns="id").assign(state=y).to_csv(tmp_path / "people.csv", index=False)
    table = Table.read(tmp_path / "people.csv", "state", encode="one_hot", impute="median", grid=0.5)
    plain = Table.read(tmp_path / "people.csv", "state", encode="one_hot", impute="median")
    np.testing.assert_array_equal(table.X, Grid(0.5).fit_transform(plain.X))
    again = Table.read(tmp_path / "people.csv", like=table)
    np.testing.assert_array_equal(again.X, table.X)
    with pytest.raises(InvalidInputError, match=r"grid='-1' must be a positive number of standard deviations"):
        Table.read(tmp_path / "people.csv", "state", encode="one_hot", impute="median", grid=-1)
    with pytest.raises(InvalidInputError, match="omit encode=, impute=, drop= and grid="):
        Table.read(tmp_path / "people.csv", like=table, grid=0.5)
    options = ["--encode", "one_hot", "--impute", "median", "--grid", "0.5", "--weights", "3", "--hidden", "2"]
    result = stepnet("fit", "people.csv", "--target", "state", *options, "--out", "model.json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    model = load(tmp_path / "model.json")
    assert model.columns_ == table.columns
    result = stepnet("predict", "model.json", "people.csv", cwd=tmp_path)
    assert result.stdout.split()[1:] == table.predict(model).tolist(), result.stderr
    result = stepnet("attack", "model.json", "people.csv", "--target", "state", cwd=tmp_path)
    assert (result.returncode, "rounds its features to a grid" in result.stderr) == (2, True)


numbers = st.floats(-1e9, 1e9, allow_subnormal=False)


@given(st.lists(numbers, min_size=2, max_size=8), st.floats(0.01, 3), st.integers(1, 1000))
def test_every_row_is_half_a_step_from_its_place_or_beyond_the_limit(values, step, limit):
    X = np.array(values)[:, None]
    grid = Grid(step=step, limit=limit).fit(X)
    places = grid.transform(X)
    assert (places == np.rint(places)).all()
    assert np.abs(places).max() <= limit
    exact = (X - grid.center_) / grid.delta_
    assert (np.abs(places - np.clip(exact, -limit, limit)) <= 0.5).all()
    order = np.argsort(X[:, 0])
    assert (np.diff(places[order, 0]) >= 0).all()
