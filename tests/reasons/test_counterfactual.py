"""Counterfactuals are the cheapest changes that there are, as brute force has them, and their bounds hold."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stepnet import Layer, Network, Staircase, StepClassifier, counterfactual
from stepnet.errors import InvalidInputError
from stepnet.model.activations.argmax import ARGMAX
from stepnet.reasons.counterfactual import changed
from stepnet.reasons.demand import Demand
from stepnet.reasons.units import Model

TOP = 4  # grids are 0, ..., TOP in every feature


def random_network(rng, n, widths, kind, *, is_integer):
    """Steps below; above a step, an argmax of three classes or a staircase of three."""
    sizes, layers, n_inputs = [*widths, 3 if kind == "argmax" else 1], [], n
    for k, width in enumerate(sizes):
        weights = rng.integers(-2, 3, (width, n_inputs)) if is_integer else rng.normal(size=(width, n_inputs))
        inner = rng.integers(0, TOP + 1, n_inputs) if k == 0 else rng.integers(0, 2, n_inputs)
        ends = weights @ inner + (0 if is_integer else 0.3 * rng.normal(size=width))
        activation = Staircase((0, 1))
        if k == len(sizes) - 1 and kind != "step":
            activation = ARGMAX if kind == "argmax" else Staircase((0, 1, 2))
            ends = ends if kind == "argmax" else np.column_stack([ends, ends + 1])
        layers.append(Layer(weights, ends, activation))
        n_inputs = width
    return Network(tuple(layers))


def model_of(network):
    n = network.n_features
    last = network.layers[-1]
    classes = np.array([f"c{i}" for i in range(last.activation.n_answers(last.width))])
    return Model(network, tuple(f"x{i}" for i in range(n)), classes, ((),) * n, np.zeros(n, dtype=bool))


def brute_force(model, row, demand, wanted):
    """The smallest price of all points of the grid."""
    axes = [
        [row[i]] if demand.is_fixed[i] else range(int(demand.low[i]), int(demand.high[i]) + 1) for i in range(len(row))
    ]
    points = np.array(list(product(*axes)), dtype=float)
    points = points[np.isin(model.network.predict(points), wanted)]
    return min((demand.price(row, point) for point in points), default=np.inf)


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from(("l0", "l1", "linf")),
    st.sampled_from(("step", "argmax", "staircase")),
    st.lists(st.integers(1, 6), min_size=1, max_size=2),
    st.booleans(),
)
def test_on_integer_grids_it_is_the_cheapest_of_all_points(seed, norm, kind, widths, is_integer):
    rng = np.random.default_rng(seed)
    model = model_of(random_network(rng, 3, widths, kind, is_integer=is_integer))
    row = rng.integers(0, TOP + 1, 3).astype(float)
    code = int(model.network.predict(row[None])[0])
    fixed = np.flatnonzero(rng.random(3) < 0.2).tolist()
    cost = rng.choice([1.0, 2.0, 0.5], 3)
    low, high = np.zeros(3), np.full(3, float(TOP))
    if rng.random() < 0.5:  # ranges of their own, around the row
        low, high = rng.integers(0, row + 1).astype(float), rng.integers(row, TOP + 1).astype(float)
    demand = Demand.of(model, norm=norm, fixed=fixed, integer="all", cost=cost, low=low, high=high)
    others = [c for c in range(len(model.classes)) if c != code]
    wanted = np.array([others[0]]) if rng.random() < 0.5 else np.array(others)
    found, best = changed(model, row, demand, wanted), brute_force(model, row, demand, wanted)
    assert found.is_complete
    assert found.price == best
    assert found.bound == best
    if found.point is not None:
        assert model.network.predict(found.point[None])[0] in wanted
        assert all(found.point[i] == row[i] for i in fixed)
        assert ((low <= found.point) & (found.point <= high)).all()


@pytest.mark.parametrize("seed", range(8))
def test_sets_of_integers_that_a_search_leaves_open_are_tried_point_by_point(seed, monkeypatch):
    monkeypatch.setattr("stepnet.reasons.fewest._MOST_NODES", 0)
    rng = np.random.default_rng(seed)
    model = model_of(random_network(rng, 3, [4], "step", is_integer=False))
    row = rng.integers(0, TOP + 1, 3).astype(float)
    demand = Demand.of(model, norm="l0", fixed=(), integer="all", cost=[1.0, 2.0, 0.5], low=0, high=TOP)
    wanted = 1 - model.network.predict(row[None])
    found, best = changed(model, row, demand, wanted), brute_force(model, row, demand, wanted)
    assert found.is_complete
    assert found.price == found.bound == best


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(("l1", "linf")), st.sampled_from(("step", "argmax")))
def test_with_some_integer_features_no_point_of_a_fine_grid_is_cheaper_than_the_bound(seed, norm, kind):
    rng = np.random.default_rng(seed)
    model = model_of(random_network(rng, 2, (4,), kind, is_integer=bool(seed % 2)))
    row = rng.integers(0, TOP + 1, 2).astype(float)
    code = int(model.network.predict(row[None])[0])
    demand = Demand.of(model, norm=norm, fixed=(), integer=["x0"], cost=None, low=0, high=TOP)
    wanted = np.delete(np.arange(len(model.classes)), code)
    found = changed(model, row, demand, wanted)
    points = np.array(list(product(range(TOP + 1), np.linspace(0, TOP, 401))))
    points = points[np.isin(model.network.predict(points), wanted)]
    best = min((demand.price(row, point) for point in points), default=np.inf)
    assert found.bound <= best
    if found.point is not None:
        assert model.network.predict(found.point[None])[0] in wanted
        assert found.point[0] == round(found.point[0])
        if seed % 2 == 0:  # among whole weights, sides may have no inner point, which bounds do not see
            assert found.is_cheapest
            assert found.price <= best * (1 + 1e-5) + 1e-6


@pytest.fixture(scope="module")
def two_features():
    X = pd.DataFrame({"age": [40, 50, 60, 70, 45, 65], "dose": [1, 1, 3, 3, 2, 4]})
    return StepClassifier(2, method="prove", random_state=0).fit(X, ["no", "no", "yes", "yes", "no", "yes"]), X


def test_it_says_what_would_have_to_be_different_in_one_sentence(two_features):
    clf, X = two_features
    found = clf.counterfactual(X.iloc[3], integer="all", fixed=["age"], low={"dose": 0}, high={"dose": 9})
    if found.point is None:
        assert str(found) == "yes: no allowed change gives a wanted answer, proven"
    else:
        assert str(found).startswith("yes; would be no if dose were ")
    free = clf.counterfactual(X.iloc[3])
    assert free.becomes == "no"
    assert "instead of" in str(free)
    assert str(free).endswith("; proven: no change is cheaper)")
    assert clf.predict(pd.DataFrame([free.point], columns=X.columns)) == ["no"]


def test_a_row_with_a_wanted_answer_needs_no_change(two_features):
    clf, X = two_features
    found = counterfactual(clf, X.iloc[0], classes="no")
    assert (found.price, found.bound, found.changes) == (0.0, 0.0, {})


def test_without_any_way_to_another_answer_this_is_proven():
    clf = StepClassifier(1, method="prove").fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1])
    found = clf.counterfactual([0, 0], fixed=[0])
    assert found.point is None
    assert found.bound == np.inf
    assert "proven" in str(found)


def test_changes_of_a_pipeline_are_in_the_units_of_its_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(20, 90, 60), "dose": rng.integers(0, 9, 60)})
    y = np.where(X.age + 5 * X.dose > 80, "high", "low")
    pipe = make_pipeline(StandardScaler(), StepClassifier(2, random_state=0)).fit(X, y)
    for norm in ("l0", "l1", "linf"):
        for integer in ((), "all"):
            found = counterfactual(pipe, X.iloc[0], norm=norm, integer=integer)
            assert pipe.predict(pd.DataFrame([found.point], columns=X.columns)) != pipe.predict(X.iloc[:1])
            assert found.is_cheapest
            assert integer == () or (found.point == np.round(found.point)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": "l2"}, "norm='l2' is not known; choose one of l0, l1, linf"),
        ({"fixed": ["height"]}, "there is no feature 'height'; the features are age, dose"),
        ({"cost": {"age": 0}}, "must be positive numbers; a feature that must stay goes to fixed="),
        ({"low": 5, "high": 1}, "low lies above high for the feature 'age'"),
        ({"low": {"age": 80}}, "age of the row is 70, outside its range from 80 to inf"),
        ({"classes": "maybe"}, r"there is no class 'maybe'; the classes are \['no', 'yes'\]"),
        ({"cost": [1, 2, 3]}, "one number for each of the 2 features"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_way_out(two_features, options, message):
    clf, X = two_features
    with pytest.raises(InvalidInputError, match=message):
        clf.counterfactual(X.iloc[3], **options)


def test_several_rows_and_fractions_of_integers_are_refused(two_features):
    clf, X = two_features
    with pytest.raises(InvalidInputError, match="one row at a time; got 6"):
        clf.counterfactual(X)
    with pytest.raises(InvalidInputError, match=r"age of the row is 40.5, but integer= says that it is an integer"):
        clf.counterfactual(X.iloc[0] + 0.5, integer=["age"])
