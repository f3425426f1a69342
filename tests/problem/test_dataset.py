"""Data sets: merged, weighted, in one order; scalings that lose nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import make_problem, random_network
from stepnet.errors import InvalidInputError
from stepnet.problem.dataset import Dataset
from stepnet.problem.row_hashes import fingerprint_of, row_hashes, weighted_sum, with_targets
from stepnet.problem.scaling import Scaling


def test_equal_rows_merge_and_zero_weights_drop():
    data = Dataset.from_rows([[1], [0], [1], [1], [5]], [1, 0, 1, 0, 1], [1, 2, 3, 4, 0])
    rows = sorted(zip(data.X.ravel().tolist(), data.y.tolist(), data.weights.tolist(), strict=True))
    assert rows == [(0, 0, 2), (1, 0, 4), (1, 1, 4)]
    assert len(set(data.group.tolist())) == 2
    assert data.total_weight == 10


def test_all_equal_rows_are_found():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (30, 2)).astype(float), rng.integers(0, 2, 30)
    expected = Dataset.from_rows(X, y)
    assert len(np.unique(np.column_stack([X, y]), axis=0)) == expected.n_rows
    mixed = np.lexsort((np.ones(30), y, *X.T[::-1]))
    assert Dataset.from_rows(X[mixed], y[mixed]).fingerprint == expected.fingerprint


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y, w = rng.integers(0, 3, (20, 2)), rng.integers(0, 2, 20), rng.random(20)
    order = rng.permutation(20)
    one, two = Dataset.from_rows(X, y, w), Dataset.from_rows(X[order], y[order], w[order])
    assert one.fingerprint == two.fingerprint


def test_minus_zero_is_zero():
    assert Dataset.from_rows([[0.0], [-0.0]], [1, 1]).n_rows == 1


def test_fingerprint_tells_labels_weights_and_rows_apart():
    prints = {
        Dataset.from_rows([[0], [1]], [0, 1]).fingerprint,
        Dataset.from_rows([[0], [1]], [1, 0]).fingerprint,
        Dataset.from_rows([[0], [1]], [0, 1], [1, 2]).fingerprint,
        Dataset.from_rows([[0], [2]], [0, 1]).fingerprint,
    }
    assert len(prints) == 4


def test_numbers_to_predict_are_merged_and_named_like_classes():
    X, y = [[0, 1], [0, 1], [2, 3], [0, 1]], [[1.5, 0], [1.5, 0], [1.5, 0], [2.5, 0]]
    data = Dataset.from_numbers(X, y, [1, 2, 3, 4])
    assert data.y.shape == (3, 2)
    assert sorted(data.weights.tolist()) == [3, 3, 4]
    again = Dataset.from_numbers(X[::-1], y[::-1], [4, 3, 2, 1])
    assert again.fingerprint == data.fingerprint != Dataset.from_numbers(X, np.array(y) + 1).fingerprint
    assert (again.y == data.y).all()
    assert Dataset.from_numbers(X, [1, 2, 3, 4]).y.shape == (4, 1)
    with pytest.raises(InvalidInputError, match="finite"):
        Dataset.from_numbers(X, [1, 2, 3, np.nan])


@pytest.mark.parametrize(
    ("X", "y", "w", "message"),
    [
        ([[np.nan]], [0], None, "finite"),
        ([[0.0]], [0], [np.inf], "finite"),
        ([[0.0]], [0], [-1.0], "negative"),
        ([[0.0]], [0], [0.0], "no rows"),
        ([[0.0]], [0, 1], None, "agree"),
        ([0.0], [0], None, "agree"),
    ],
)
def test_bad_rows_are_refused(X, y, w, message):
    with pytest.raises(InvalidInputError, match=message):
        Dataset.from_rows(X, y, w)


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.sampled_from([1e-3, 1.0, 100.0]), st.sampled_from([0.0, 1000.0]), st.booleans())
def test_scaled_rows_lie_in_the_box_and_layers_come_back(seed, scale, offset, centre):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3)) * scale + offset
    X[:, 1] = offset  # a constant feature
    scaling = Scaling.fit(X, centre=centre)
    Z = scaling.apply(X)
    assert np.abs(Z).max() <= 1
    if centre:
        assert Z.shape[1] == 2
        assert (Z.max(axis=0) - Z.min(axis=0) >= 0.5).all()
    layer = random_network(rng, 3, ()).layers[0]
    scaled = scaling.scale(layer)
    size = np.abs(layer.weights) @ np.abs(X).max(axis=0) + 1
    assert np.allclose(
        Z @ scaled.weights.T - scaled.thresholds, X @ layer.weights.T - layer.thresholds, atol=1e-12 * size
    )
    back = scaling.restore(scaled)
    assert np.allclose(X @ back.weights.T - back.thresholds, X @ layer.weights.T - layer.thresholds, atol=1e-12 * size)


def test_centring_is_exact_on_the_data_s_own_grid():
    X = np.array([[1000.0], [1000.125], [1000.375]])
    scaling = Scaling.fit(X, centre=True)
    Z = scaling.apply(X)[:, 0]
    assert ((Z[1:] - Z[:-1]) / scaling.factor[0] == [0.125, 0.25]).all()


def test_only_thresholds_of_their_own_allow_a_shift():
    X = [[1.0, 7.0], [2.0, 7.0]]
    assert make_problem(X, [0, 1]).scaling.kept.tolist() == [True, False]
    assert make_problem(X, [0, 1], threshold="layer").scaling.kept.all()
    assert not make_problem(X, [0, 1], threshold=0.0).scaling.shift.any()
    integers = make_problem([[0.5, 1.0], [0.75, 2.0]], [0, 1], weights="ternary").scaling
    assert integers.grid == 4.0
    assert (integers.factor == 1).all()


@pytest.mark.parametrize("other", [1e-320, 1e-300, 1.0, 1e17, 1e300])
@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e-20, 1e20, 1e300])
@pytest.mark.parametrize("centre", [True, False])
def test_factors_are_finite_for_floats_of_any_size(size, other, centre):
    scaling = Scaling.fit(np.array([[0.0, other], [size, 1.0], [-size / 3, -other]]), centre=centre)
    assert np.isfinite(scaling.factor).all()
    assert (scaling.factor > 0).all()
    assert np.isfinite(scaling.shift).all()


def test_features_too_small_for_weights_are_named():
    scaling = Scaling.fit(np.array([[0.0, 0.0], [1.0, 3e-320]]), centre=True)
    with pytest.raises(InvalidInputError, match=r"feature 1 .* multiply it by a large number"):
        scaling.restored_weights(np.array([[1.0, 1e10]]))


def test_weights_that_leave_the_floats_are_refused_or_counted_right():
    with pytest.raises(InvalidInputError, match="rescale"):
        Dataset.from_rows([[0.0], [1.0]], [0, 1], [1e300, 1e300])
    assert Dataset.from_rows([[0.0], [1.0]], [0, 1], [1e250, 1e-300]).granularity == 0.0


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_fingerprint_is_a_sum_over_rows_whatever_their_blocks_and_weights(seed):
    rng = np.random.default_rng(seed)
    X, y, w = rng.integers(0, 3, (40, 2)) * 1.0, rng.integers(0, 3, 40), rng.choice([1, 0.1, 3, 2**-70, 1e10], 40)
    sums = 0
    for part in np.array_split(rng.permutation(40), 5):
        sums += weighted_sum(with_targets(row_hashes(X[part]), [y[part]]), w[part])
    assert fingerprint_of(sums, 2) == Dataset.from_rows(X, y, w).fingerprint


def test_weighted_sums_of_hashes_are_those_of_rational_numbers():
    p, rng = 2**61 - 1, np.random.default_rng(0)
    hashes, weights = rng.integers(0, 2**64, 50, dtype=np.uint64), rng.random(50) * 2.0 ** rng.integers(-300, 300, 50)
    expected = 0
    for h, w in zip(hashes.tolist(), weights.tolist(), strict=True):
        above, below = w.as_integer_ratio()
        expected += (h >> 3) * above * pow(below, -1, p)
    assert weighted_sum(hashes, weights) == expected % p


def test_a_weight_of_two_is_the_same_as_two_rows():
    assert Dataset.from_rows([[1.5], [1.5]], [0, 0]).fingerprint == Dataset.from_rows([[1.5]], [0], [2]).fingerprint


def test_rows_of_small_numbers_have_different_hashes():
    bits = (np.arange(2**16)[:, None] >> np.arange(16)) & 1
    assert len(np.unique(row_hashes(bits))) == len(bits)
    grid = np.stack(np.meshgrid(*[np.arange(24)] * 4), axis=-1).reshape(-1, 4)
    assert len(np.unique(row_hashes(grid))) == len(grid)
