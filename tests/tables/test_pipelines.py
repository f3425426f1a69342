"""Pipelines become rules of columns: the same rows to the last bit, or an error that names the step."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

from command_line import stepnet
from exported import needs_compiler
from pipelines import PREPARATIONS, encoded, filled, fitted, network, one_hot, people
from stepnet import StepClassifier, StepRegressor, Table, attack, load, save
from stepnet.errors import InvalidInputError
from stepnet.export import check_export, size_of, to_c, to_onnx, to_rules
from stepnet.report import Report
from stepnet.tables.pipelines import cells_of, unpacked


@pytest.mark.parametrize("name", PREPARATIONS)
def test_the_network_sees_the_same_rows_to_the_last_bit(name):
    pipeline, frame, _ = fitted(name)
    estimator = unpacked(pipeline)
    numbers = estimator.columns_.numbers(cells_of(frame), "the rows")
    np.testing.assert_array_equal(numbers, np.asarray(pipeline[:-1].transform(frame)))
    assert len(set(estimator.columns_.features)) == estimator.n_features_in_
    assert not hasattr(pipeline[-1], "columns_")


@pytest.mark.parametrize("name", PREPARATIONS)
def test_commands_read_tables_as_they_were_before_the_pipeline(name, tmp_path):
    pipeline, frame, y = fitted(name)
    save(pipeline, tmp_path / "model.json")
    frame.assign(state=y).to_csv(tmp_path / "people.csv", index=False)
    assert load(tmp_path / "model.json").columns_ == unpacked(pipeline).columns_
    result = stepnet("predict", "model.json", "people.csv", cwd=tmp_path)
    assert result.stdout.split()[1:] == pipeline.predict(frame).tolist(), result.stderr
    result = stepnet("verify", "model.json", "people.csv", "--target", "state", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "open   data" not in result.stdout


@needs_compiler
@pytest.mark.parametrize("name", ["two scalers", "min-max", "one-hot", "selected", "twice", "frames"])
def test_exported_files_scale_their_features_and_give_the_same_answers(name):
    pipeline, frame, _ = fitted(name)
    assert check_export(pipeline, to_c(pipeline), "c", frame) == 0
    assert check_export(pipeline, to_onnx(pipeline), "onnx", frame) == 0
    assert str(size_of(pipeline)) == str(size_of(unpacked(pipeline)))
    with pytest.raises(InvalidInputError, match=r"scale its features. Use inputs='floats'|first-layer weights"):
        to_c(pipeline, inputs="integers")


@needs_compiler
def test_exported_files_round_as_training_did():
    """Rows on hyperplanes of the scaled features, where another rounding gives another answer.

    There are many neurons, of which each has a row on its hyperplane, and the answer is a number that has them as bits.
    """
    n, rng = 50, np.random.default_rng(0)
    X = rng.normal(3, 7, (400, 2))
    pipeline = make_pipeline(MinMaxScaler((0.1, 0.7)), StepRegressor((n,), method="learn", random_state=0))
    pipeline.fit(X, X[:, 0] - X[:, 1])
    last, scaled = pipeline[-1], pipeline[:-1].transform(X)
    first, above = last.network_.layers
    layers = first.with_(np.tile([1.0, 0.0], (n, 1)), scaled[:n, 0]), above.with_(2.0 ** np.arange(n)[None], [0.0])
    last.network_ = type(last.network_)(layers)
    bits = pipeline.predict(X[:n]).astype(np.int64) >> np.arange(n)
    assert (bits & 1).all()
    assert check_export(pipeline, to_c(pipeline), "c", X) == 0
    assert check_export(pipeline, to_onnx(pipeline), "onnx", X) == 0


def test_rules_are_in_the_units_of_the_table():
    X = pd.DataFrame({"weight": [50.0, 60.0, 70.0, 80.0]})
    pipeline = make_pipeline(StandardScaler(), StepClassifier((), method="exact")).fit(X, [0, 0, 1, 1])
    rules = to_rules(pipeline)
    line = next(line for line in rules.splitlines() if line.startswith("1 where"))
    weight, threshold = line.removeprefix("1 where ").split(",")[0].split("weight ≥ ")
    ratio = float(threshold) / float(weight.rstrip("·") or 1)
    assert 60 < ratio <= 70
    assert "Numbers are rounded" in rules


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_attacks_are_measured_in_the_units_of_the_table(norm):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(0, 100, 30), "b": rng.normal(5, 0.1, 30)})
    pipeline = make_pipeline(StandardScaler(), StepClassifier((3,), method="learn", random_state=0))
    pipeline.fit(X, X.a / 100 > (X.b - 5) * 10)
    found = attack(pipeline, X, norm=norm)
    changed = np.isfinite(found.sizes)
    assert changed.any()
    points = pd.DataFrame(found.points[changed], columns=X.columns)
    assert (pipeline.predict(points) != pipeline.predict(X)[changed]).all()
    order = {"l1": 1, "l2": 2, "linf": np.inf}[norm]
    sizes = np.linalg.norm(points.to_numpy() - X.to_numpy()[changed], order, axis=1)
    np.testing.assert_allclose(sizes, found.sizes[changed], rtol=1e-6, atol=1e-9)
    for i in np.flatnonzero(changed)[:5]:
        moves = rng.normal(0, 1, (200, 2)) * [100, 0.1]
        moves *= 0.999 * found.radii[i] / np.linalg.norm(moves, order, axis=1)[:, None]
        inside = pd.DataFrame(X.to_numpy()[i] + moves, columns=X.columns)
        assert (pipeline.predict(inside) == pipeline.predict(X)[i]).all()
    held = attack(pipeline, X, norm=norm, low=[-50.0, 4.9], high=[50.0, 5.1])
    assert (held.radii >= found.radii * (1 - 1e-9)).all()


def test_a_report_takes_the_rows_of_the_pipeline():
    pipeline, frame, y = fitted("selected")
    report = Report.of(pipeline, (frame, y, None), (frame[:9], y[:9]), radius=0.5)
    assert report.verification
    assert report.n_seen == 9
    assert "; scaled: (age - " in next(one.meaning for one in report.features if one.name == "age")
    assert report.columns == tuple(dict.fromkeys(unpacked(pipeline).columns_.needed(pipeline[-1].used_features)))
    radii = attack(pipeline, frame[:9], y[:9]).radii
    assert report.robustness.certified == (radii > 0.5).mean()


def test_rows_without_names_are_known_by_their_place(tmp_path):
    frame, y = people()
    X = frame[["age", "income", "visits"]].to_numpy(dtype=float)
    pipeline = make_pipeline(ColumnTransformer([("n", filled(StandardScaler()), [2, 0])]), network()).fit(X, y)
    save(pipeline, tmp_path / "model.json")
    assert [column.name for column in load(tmp_path / "model.json").columns_.columns] == [2, 0, 1]
    frame[["age", "income", "visits"]].assign(state=y).to_csv(tmp_path / "t.csv", index=False)
    result = stepnet("verify", "model.json", "t.csv", "--target", "state", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    result = stepnet("predict", "model.json", "t.csv", cwd=tmp_path)
    assert (result.returncode, "has 4 columns, the model 3 features without names" in result.stderr) == (2, True)
    frame[["age", "income", "visits"]].to_csv(tmp_path / "t.csv", index=False)
    assert stepnet("predict", "model.json", "t.csv", cwd=tmp_path).stdout.split()[1:] == pipeline.predict(X).tolist()
    assert np.isfinite(attack(pipeline, X[:5]).radii).any()


def test_a_pipeline_without_a_change_is_a_plain_model(tmp_path):
    frame, y = people()
    pipeline = Pipeline([("nothing", "passthrough"), ("network", network())]).fit(frame[["income", "visits"]], y)
    save(pipeline, tmp_path / "model.json")
    model = load(tmp_path / "model.json")
    assert not hasattr(model, "columns_")
    assert model.feature_names_in_.tolist() == ["income", "visits"]


def test_a_pipeline_on_a_table_brings_both_rules(tmp_path):
    frame, y = people()
    table = Table.of(frame.assign(state=y), "state", encode="one_hot", impute="median", drop=["id"])
    pipeline = make_pipeline(StandardScaler(), network()).fit(table.X, table.y)
    save(pipeline, tmp_path / "model.json", columns=table.columns)
    frame.assign(state=y).to_csv(tmp_path / "people.csv", index=False)
    result = stepnet("verify", "model.json", "people.csv", "--target", "state", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    with pytest.raises(InvalidInputError, match="the columns give 6 features, the pipeline was fitted on 2"):
        save(
            make_pipeline(StandardScaler(), network()).fit(table.X[:, :2], y),
            tmp_path / "m.json",
            columns=table.columns,
        )


def test_unknown_text_is_an_error_even_if_the_encoder_ignores_it(tmp_path):
    pipeline, frame, _ = fitted("ignore")
    save(pipeline, tmp_path / "model.json")
    frame.assign(region="east").to_csv(tmp_path / "people.csv", index=False)
    result = stepnet("predict", "model.json", "people.csv", cwd=tmp_path)
    assert (result.returncode, "'east' did not occur in training" in result.stderr) == (2, True)


NUMBERS = ["income", "visits"]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            [PCA(2)],
            r"the step 'pca' of the pipeline, a PCA, stands in the way: it is not one of StandardScaler.*last step",
        ),
        ([FunctionTransformer(np.log1p)], "a model file cannot hold a function"),
        ([MinMaxScaler(clip=True)], "clip=True is not linear"),
        ([SimpleImputer(add_indicator=True)], "add_indicator=False"),
        ([SimpleImputer(missing_values=-1)], "missing_values=-1 is not NaN"),
        ([StandardScaler(), SimpleImputer()], "after an encoder or a scaler; impute first"),
        ([StandardScaler(), OrdinalEncoder()], "encode first"),
        ([OneHotEncoder(sparse_output=False, max_categories=3)], "infrequent categories"),
        (
            [ColumnTransformer([("inner", PCA(1), NUMBERS)])],
            "the step 'columntransformer: inner' of the pipeline, a PCA",
        ),
        ([FeatureUnion([("a", StandardScaler())], transformer_weights={"a": 2.0})], "it has weights"),
    ],
)
def test_a_step_that_stands_in_the_way_is_named(steps, message, tmp_path):
    frame, y = people()
    pipeline = make_pipeline(*steps, network()).fit(frame[NUMBERS], y)
    for use in (lambda: save(pipeline, tmp_path / "m.json"), lambda: to_c(pipeline), lambda: Report.of(pipeline)):
        with pytest.raises(InvalidInputError, match=message):
            use()
    with pytest.raises(InvalidInputError, match=message):
        attack(pipeline, frame[NUMBERS])


def test_missing_cells_and_texts_that_look_alike_are_no_categories(tmp_path):
    frame, y = people()
    pipeline = make_pipeline(OneHotEncoder(sparse_output=False), network()).fit(frame[["region"]], y)
    with pytest.raises(InvalidInputError, match="a missing cell is a category of 'region'; impute first"):
        save(pipeline, tmp_path / "m.json")
    frame["region"] = np.where(np.arange(len(frame)) % 2, "south", frame["region"].fillna("west"))
    pipeline = make_pipeline(encoded(OrdinalEncoder()), network()).fit(frame[["region"]], y)
    with pytest.raises(InvalidInputError, match="differ in blanks or in type only"):
        save(pipeline, tmp_path / "m.json")


def test_other_models_are_refused_with_the_way_out(tmp_path):
    frame, y = people()
    other = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame[NUMBERS], y)
    with pytest.raises(
        InvalidInputError, match="last step 'logisticregression' of the pipeline is a LogisticRegression"
    ):
        save(other, tmp_path / "m.json")
    search = GridSearchCV(network(), {"hidden": [(1,)]}, cv=2).fit(frame[NUMBERS], y)
    with pytest.raises(InvalidInputError, match="of a search, give best_estimator_"):
        save(search, tmp_path / "m.json")
    with pytest.raises(ValueError, match="not fitted"):
        save(make_pipeline(StandardScaler(), network()), tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()


def test_one_hot_columns_may_be_split_and_dropped():
    frame, y = people()
    split = ColumnTransformer([("last", "passthrough", [2]), ("first", StandardScaler(), [0])])
    pipeline = make_pipeline(ColumnTransformer([("c", one_hot(), ["region"])]), split, network()).fit(frame, y)
    columns = unpacked(pipeline).columns_
    assert columns.features == ["region=west", "region= south"]
    np.testing.assert_array_equal(columns.numbers(cells_of(frame), "rows"), pipeline[:-1].transform(frame))
