"""Rows that are read block by block: the same answers in whatever blocks they come, and errors that name the block."""

import math

import numpy as np
import pytest
from sklearn.base import clone

from stepnet import (
    Learn,
    Rows,
    StepAutoencoder,
    StepClassifier,
    StepEnsembleClassifier,
    StepRegressor,
    Table,
    load,
    save,
)
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.estimators import fit_rows
from stepnet.estimators.large import Passes
from stepnet.runtime.limits import Budget

polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

QUICK = Learn(epochs=2)


def made(n_rows=3_000, seed=0, n_features=3):
    """Rows of which some are equal, in three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).round(1).astype(np.float32)
    y = np.where(X[:, 0] > 0.5, "high", np.where(X[:, 1] > 0, "low", "middle"))
    y[rng.random(n_rows) < 0.1] = "low"
    return X, y, rng.integers(0, 4, n_rows) / 4


def blocks(n_blocks, X, y, weights=None, **options):
    parts = np.array_split(np.arange(len(X)), n_blocks)

    def read(block):
        rows = parts[block]
        return (X[rows], y[rows]) if weights is None else (X[rows], y[rows], weights[rows])

    return Rows.from_blocks(read, n_blocks, **options)


def table(path, X, y, weights=None, **options):
    columns = {f"x{i}": column for i, column in enumerate(X.T)} | {"y": y}
    if weights is not None:
        columns["w"] = weights
    parquet.write_table(pyarrow.table(columns), path, **options)
    return path


def quick(**options):
    return StepClassifier(hidden=(4,), method=QUICK, random_state=0, **options)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"high": 2.5}])
def test_one_block_ten_blocks_and_a_file_give_the_same_network_and_certificate(tmp_path, class_weight):
    X, y, weights = made()
    path = table(tmp_path / "rows.parquet", X, y, weights, row_group_size=700)
    of_file = Rows.from_parquet(path, target="y", sample_weight="w")
    fits = [
        quick(class_weight=class_weight).fit(rows)
        for rows in (blocks(1, X, y, weights), blocks(10, X, y, weights), of_file)
    ]
    first = fits[0].certificate_
    for fit in fits[1:]:
        found = fit.certificate_
        assert fit.network_ == fits[0].network_
        for name in ("loss", "bound", "fingerprint", "n_rows", "total_weight", "margin", "status", "gap"):
            assert getattr(found, name) == getattr(first, name)
    problem = fits[0].problem(X, y, weights)
    assert first.loss == problem.evaluate(fits[0].network_)
    assert first.fingerprint == problem.dataset.fingerprint
    assert first.n_rows == problem.dataset.n_rows
    assert first.bound > 0
    assert math.isclose(first.bound, quick(class_weight=class_weight).fit(X, y, weights).certificate_.bound)
    assert fits[0].verify(X, y, weights)
    assert fits[2].verify(of_file)
    assert quick(class_weight=class_weight).fit(X, y, weights).verify(blocks(7, X, y, weights))


def test_regression_in_blocks_has_the_loss_of_all_rows():
    X, *_ = made()
    y = np.column_stack([X[:, 0] ** 2, X[:, 1]]).astype(float)
    for targets in (y, y[:, 0]):
        model = StepRegressor(hidden=(4,), method=QUICK, random_state=0)
        one, ten = model.fit(blocks(1, X, targets)), clone(model).fit(blocks(10, X, targets))
        assert one.network_ == ten.network_
        assert one.certificate_.loss == ten.certificate_.loss
        whole = one.problem(X, targets)
        assert math.isclose(one.certificate_.loss, whole.evaluate(one.network_), rel_tol=1e-12)
        assert one.verify(blocks(3, X, targets))
        assert one.verify(X, targets)
        assert np.array_equal(one.predict(blocks(3, X, targets)), one.predict(X))


def test_statistics_do_not_depend_on_the_blocks():
    X, y, weights = made()

    def moments(n_blocks):
        passes = Passes(blocks(n_blocks, X, y, weights), Budget())
        return passes.survey(counts_labels=True, seed=0)

    one, ten = moments(1), moments(10)
    for name in ("mean", "squares", "low", "high", "weight", "n_rows"):
        assert np.array_equal(getattr(one.moments(), name), getattr(ten.moments(), name))
    kept = weights > 0
    assert np.allclose(one.moments().mean, np.average(X[kept], axis=0, weights=weights[kept]))
    assert dict(zip(*np.unique(y, return_counts=True), strict=True)) == one.labels == ten.labels


def test_a_file_that_is_sorted_by_target_is_learned_as_well_as_a_shuffled_one(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 4)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    order = np.argsort(y, kind="stable")
    losses = []
    for name, rows in (("mixed", slice(None)), ("sorted", order)):
        path = table(tmp_path / f"{name}.parquet", X[rows], y[rows], row_group_size=3_000)
        model, rows = quick(), Rows.from_parquet(path, target="y")
        passes = Passes(rows, Budget())
        passes._sample_size = lambda piece: 4_000  # of 60,000 rows
        survey = passes.survey(counts_labels=True, seed=0)
        fit_rows.keep_features(model, rows.features, survey.n_features)
        problem = fit_rows.sample_problem(model, survey, Budget())
        supply = fit_rows.supply_of(passes, survey, problem.dataset, 0, model._piece_dataset)
        fit_rows.keep(model, fit_rows.learned(model, problem, supply, passes, 60.0, 0), Budget())
        assert supply.n_taken > 10
        losses.append(model.certificate_.loss / len(X))
    assert max(losses) < 0.05


def test_categories_and_fills_are_those_of_all_rows(tmp_path):
    rng = np.random.default_rng(0)
    n = 2_000
    color, size = rng.choice(["red", "blue", None], n), rng.normal(size=n).round(2)
    size[rng.random(n) < 0.2] = np.nan
    y = (np.nan_to_num(size) > 0).astype(int)
    content = pyarrow.table({"color": color, "size": pyarrow.array(size, from_pandas=True), "y": y})
    parquet.write_table(content, tmp_path / "t.parquet", row_group_size=300)
    content.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    whole = Table.read(tmp_path / "t.parquet", "y", encode="one_hot", impute="median")
    options = {"target": "y", "encode": "one_hot", "impute": "median"}
    for rows in (
        Rows.from_parquet(tmp_path / "t.parquet", **options),
        Rows.from_csv(tmp_path / "t.csv", **options),
        Rows.from_polars(polars.scan_parquet(tmp_path / "t.parquet"), **options),
        Rows.from_arrow(pyarrow.dataset.dataset(tmp_path / "t.parquet"), **options),
    ):
        assert rows.columns == whole.columns
        model = quick().fit(rows)
        assert model.certificate_.fingerprint == quick().problem(whole.X, whole.y).dataset.fingerprint
        save(model, tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert again.verify(rows)
        assert np.array_equal(again.predict(rows), whole.predict(again))


def test_the_median_of_many_numbers_is_that_of_a_sample_and_the_file_says_so(tmp_path, monkeypatch):
    from stepnet.tables import learning

    monkeypatch.setattr(learning, "_SAMPLE", 100)
    x = np.arange(1_000.0)
    x[::10] = np.nan
    content = pyarrow.table({"x": pyarrow.array(x, from_pandas=True), "y": (np.arange(1_000) > 500).astype(int)})
    parquet.write_table(content, tmp_path / "t.parquet", row_group_size=300)
    model = quick().fit(Rows.from_parquet(tmp_path / "t.parquet", target="y", impute="median"))
    (column,) = model.columns_.columns
    assert column.approximate
    assert 300 < column.fill < 700
    save(model, tmp_path / "model.json")
    assert load(tmp_path / "model.json").columns_ == model.columns_


def test_an_infinite_cell_is_named_by_file_row_group_and_column(tmp_path):
    X, y, _ = made(1_000)
    X[750, 1] = np.inf
    rows = Rows.from_parquet(table(tmp_path / "rows.parquet", X, y, row_group_size=500), target="y")
    with pytest.raises(InvalidInputError, match=r"rows.parquet, row group 2, data row 251, column 'x1'"):
        quick().fit(rows)


def test_a_block_that_changes_between_passes_is_an_error_that_names_it():
    X, y, _ = made(1_000)
    reads = []

    def read(block):
        reads.append(block)
        part = slice(500 * block, 500 * block + 500)
        return (X[part] + (1.0 if reads.count(1) > 1 and block == 1 else 0.0), y[part])

    with pytest.raises(InvalidInputError, match="block 1 has changed since it was first read"):
        quick().fit(Rows.from_blocks(read, 2))


def test_an_unreadable_block_and_one_with_other_columns_are_named(tmp_path):
    X, y, _ = made(1_000)

    def broken(block):
        if block == 1:
            raise OSError("no such disk")
        return X, y

    with pytest.raises(InvalidInputError, match=r"block 1 cannot be read \(OSError: no such disk\)"):
        quick().fit(Rows.from_blocks(broken, 2))
    with pytest.raises(InvalidInputError, match="block 1 has 2 features, the rows before had 3"):
        quick().fit(Rows.from_blocks(lambda block: (X[:, : 3 - block], y), 2))
    table(tmp_path / "a.parquet", X, y)
    table(tmp_path / "b.parquet", X[:, :2], y)
    with pytest.raises(InvalidInputError, match=r"b.parquet has no column 'x2', which .*a.parquet has"):
        quick().fit(Rows.from_parquet(tmp_path / "*.parquet", target="y"))
    content = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(content[:200] + bytes(400) + content[600:])
    with pytest.raises(InvalidInputError, match=r"a.parquet, row group 1.* cannot be read"):
        quick().fit(Rows.from_parquet(tmp_path / "a.parquet", target="y"))


def test_a_class_never_seen_is_an_error_that_names_its_block():
    X, y, _ = made(1_000)
    model = quick().fit(blocks(2, X, y))
    other = y.copy()
    other[900] = "huge"
    with pytest.raises(InvalidInputError, match="block 1: y has the label 'huge'"):
        model.verify(blocks(2, X, other))
    with pytest.raises(InvalidInputError, match="these are not the data of the certificate"):
        model.verify(blocks(2, X[::-1] * 2, y))


def test_a_false_certificate_is_found_out_block_by_block():
    from dataclasses import replace

    X, y, _ = made(1_000)
    model = quick().fit(blocks(2, X, y))
    model.certificate_ = replace(model.certificate_, loss=model.certificate_.loss - 1)
    assert not model.verify(blocks(3, X, y))


def test_what_is_not_learned_block_by_block_says_so():
    X, y, _ = made(500)
    with pytest.raises(NotAcceptedError, match="output='one_vs_one' takes one network per pair"):
        quick(output="one_vs_one").fit(blocks(2, X, y))
    with pytest.raises(InvalidInputError, match="Rows have their targets and weights inside"):
        quick().fit(blocks(2, X, y), y)
    with pytest.raises(InvalidInputError, match="memory_limit='much' must be a number of bytes"):
        blocks(2, X, y, memory_limit="much")
    with pytest.raises(InvalidInputError, match="is too little: the process uses"):
        quick().fit(blocks(2, X, y, memory_limit="1MB"))


def test_estimators_that_take_arrays_alone_say_so():
    X, y, _ = made(300)
    for model in (StepEnsembleClassifier(), StepAutoencoder(hidden=(2,))):
        with pytest.raises(InvalidInputError, match=r"takes arrays here. fit, predict and verify of StepClassifier"):
            model.fit(blocks(2, X, y), y)
    with pytest.raises(InvalidInputError, match="give batches of arrays"):
        quick().partial_fit(blocks(2, X, y), y)


def test_interrupted_while_learning_it_keeps_a_verified_network():
    X, y, _ = made(2_000)
    model = StepClassifier(hidden=(4,), random_state=0, on_interrupt="keep")

    def stop(progress):
        return progress.stage.startswith("learning")

    model.fit(blocks(2, X, y), on_incumbent=stop)
    assert model.certificate_.stop_reason in ("callback", "finished")
    assert model.verify(blocks(3, X, y))


def test_names_of_columns_are_kept(tmp_path):
    X, y, _ = made(600)
    model = quick().fit(Rows.from_parquet(table(tmp_path / "rows.parquet", X, y), target="y"))
    assert model.feature_names_in_.tolist() == ["x0", "x1", "x2"]
    shuffled = Rows.from_polars(polars.read_parquet(tmp_path / "rows.parquet").lazy().select("x2", "y", "x1", "x0"))
    model.__dict__.pop("columns_", None)
    assert np.array_equal(
        model.predict(Rows.from_polars(shuffled.source.frame)), model._by_block(blocks(1, X, y), "predict")
    )


def test_hashes_of_many_rows_go_to_files_and_find_the_same_groups(monkeypatch):
    from stepnet.bounds import row_groups

    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2**64, 500, dtype=np.uint64)[rng.integers(0, 500, 5_000)]
    wholes = rows + rng.integers(0, 2, 5_000).astype(np.uint64)
    found = []
    for most in (2**21, 700):
        monkeypatch.setattr(row_groups, "_IN_MEMORY", most)
        with row_groups.RowGroups() as groups:
            for part in np.array_split(np.arange(5_000), 13):
                groups.add(rows[part], wholes[part])
            found.append(groups.groups())
    assert found[0].n_distinct == found[1].n_distinct == len(np.unique(wholes))
    assert np.array_equal(found[0].suspects, np.sort(found[1].suspects))
    assert found[0].n_suspects == found[1].n_suspects


def test_rows_are_separated_by_looking_closely_at_a_core_of_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    y = (X @ [1.0, 2.0, -1.0] > 0.1).astype(int)
    rows = blocks(4, X, y)
    clf = StepClassifier(hidden=(), method="prove", random_state=0, time_limit=30).fit(rows)
    assert clf.certificate_.status == "OPTIMAL"
    assert clf.certificate_.loss == 0
    assert clf.certificate_.total_weight == 20_000
    assert clf.verify(rows)
    assert clf.score(X, y) == 1.0


def test_a_bound_of_the_core_holds_for_all_rows():
    X, y = np.repeat([[0.0], [1.0], [2.0], [3.0]], 50, axis=0), np.repeat([0, 1, 0, 1], 50)
    clf = StepClassifier(hidden=(), method="prove", random_state=0, time_limit=30).fit(blocks(3, X, y))
    assert (clf.certificate_.loss, clf.certificate_.bound, clf.certificate_.status) == (50, 50, "OPTIMAL")
    with pytest.raises(NotAcceptedError, match="takes two classes and loss='misclassified'"):
        StepRegressor(hidden=(1,), method="prove").fit(blocks(3, X, y.astype(float)))
