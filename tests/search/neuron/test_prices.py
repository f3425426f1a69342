"""Prices of moves: those of brute force over all thresholds, on every path of the computation."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepnet.search.neuron.prices import Prices


def least_loss(columns, gains, weights, fixed):
    """Over all thresholds, in rational numbers: what a row with a positive gain costs if it is off, others if on."""
    rows = np.asarray(columns).T.tolist()
    sums = [sum((Fraction(w) * Fraction(x) for w, x in zip(weights, row, strict=True)), Fraction(0)) for row in rows]
    thresholds = [*set(sums), max(sums) + 1] if fixed is None else [Fraction(fixed)]
    losses = []
    for threshold in thresholds:
        on = [one >= threshold for one in sums]
        losses.append(sum(abs(g) for g, is_on in zip(gains, on, strict=True) if is_on != (g > 0)))
    return float(min(losses))


@st.composite
def neurons(draw):
    kind = draw(st.sampled_from(["binary", "integers", "quarters", "huge"]))
    n, m = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    low, high = {"binary": (0, 1), "integers": (-3, 3), "quarters": (-9, 9), "huge": (-(10**6), 10**6)}[kind]
    column = st.lists(st.integers(low, high), min_size=m, max_size=m)
    columns = np.array(draw(st.lists(column, min_size=n, max_size=n)), dtype=float) / (4 if kind == "quarters" else 1)
    gains = draw(st.lists(st.integers(-3, 3), min_size=m, max_size=m))
    weights = np.array(draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)), dtype=float)
    fixed = draw(st.sampled_from([None, 0.0, 0.5, -1.0]))
    return columns, np.array(gains, dtype=float), weights, fixed


@given(neurons())
def test_the_price_of_a_weight_is_the_least_loss_over_all_thresholds(neuron):
    columns, gains, weights, fixed = neuron
    prices, values = Prices(columns, gains, fixed), np.arange(-2.0, 3.0)
    for feature in range(len(columns)):
        base = weights.copy()
        base[feature] = 0.0
        found = prices.with_weight(prices.sums(base), np.array([feature]), values)[0]
        for value, price in zip(values, found, strict=True):
            base[feature] = value
            assert price == least_loss(columns, gains, base, fixed)


@given(neurons())
def test_the_threshold_has_the_least_loss(neuron):
    columns, gains, weights, fixed = neuron
    loss, threshold = Prices(columns, gains, fixed).threshold(weights @ columns)
    on = weights @ columns >= threshold
    assert loss == np.abs(gains)[on != (gains > 0)].sum()
    assert loss == least_loss(columns, gains, weights, fixed)


@pytest.mark.parametrize("n_features", [1, 7])
def test_histograms_price_as_sorting_does(n_features):
    rng = np.random.default_rng(n_features)
    columns, gains = rng.integers(0, 2, (n_features, 50)).astype(float), rng.integers(-3, 4, 50).astype(float)
    sums, values = rng.integers(-6, 7, 50).astype(float), np.arange(-5.0, 6.0)
    features = np.arange(n_features)
    counted = Prices(columns, gains).with_weight(sums, features, values)
    sorted_ = Prices(columns / 8, gains).with_weight(sums / 8, features, values)  # not integers
    assert (counted == sorted_).all()
