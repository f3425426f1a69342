"""Descent: a network of the architecture, however early it ends; the same one from the same seed."""

from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from climbers import CASES, far_rows, made, problem_of
from conftest import make_problem, random_network
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import SIGN
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.losses.squared import Squared
from stepnet.runtime.compiling import Compiling
from stepnet.search.descent.descent import KERNELS, DescentOptions, accepts_descent, descend_network, shared_thresholds

TAKEN = [name for name in CASES if accepts_descent(made(name))]
SHORT = DescentOptions(epochs=1)


@pytest.fixture(autouse=True, params=["compiled", "in numpy"])
def _kind(request, monkeypatch):
    """The kernel, and what does the same before it is compiled."""
    if request.param == "compiled":
        assert KERNELS.is_done(100)
    else:
        monkeypatch.setattr(Compiling, "is_compiled", False)
        monkeypatch.setattr("stepnet.search.descent.descent._FEWEST_STEPS", 400)  # which takes long enough


class Stop:
    """Says stop after some looks, and remembers the shares that were done."""

    def __init__(self, after):
        self.after, self.looks, self.shares = after, 0, []

    def __call__(self):
        self.looks += 1
        return self.looks >= self.after


def test_it_takes_all_models_and_says_why_not_the_rest():
    assert set(CASES) - set(TAKEN) == {"hinge with a bound"}
    assert accepts_descent(made("hinge with a bound")).reason == "descent takes hinge without a bound"


@pytest.mark.slow
@pytest.mark.parametrize("name", TAKEN)
def test_the_network_is_one_of_the_problem_and_the_same_for_the_same_seed(name):
    problem = made(name)
    one, two, other = (descend_network(problem, seed=seed, options=SHORT) for seed in (3, 3, 4))
    assert problem.refuses(one) is None
    assert np.isfinite(problem.evaluate(one))
    assert one == two
    assert one != other


@pytest.mark.parametrize("name", TAKEN)
def test_told_to_stop_it_ends_with_the_network_as_it_is_then(name, monkeypatch):
    monkeypatch.setattr("stepnet.search.descent.descent._CHUNK_WORK", 100_000)  # so that it looks often
    problem = made(name)
    early, late = Stop(2), Stop(10**9)
    network = descend_network(problem, seed=0, should_stop=early, on_share=early.shares.append)
    assert problem.refuses(network) is None
    assert early.looks == len(early.shares) == 2
    descend_network(problem, seed=0, should_stop=late, on_share=late.shares.append)
    assert late.shares[:2] == early.shares
    assert late.shares == sorted(late.shares)
    assert (late.looks == len(late.shares)) & (late.looks > 2)
    assert late.shares[-1] == 1.0


@pytest.mark.parametrize(
    "choices", [{}, {"hidden": (3, 2)}, {"activation": SIGN}, {"threshold": "layer"}, {"hidden": ()}]
)
def test_rows_that_a_line_tells_apart_are_learned(choices):
    rng = np.random.default_rng(0)
    problem, X = problem_of(rng, **choices), rng.normal(size=(60, 3))
    y = (X @ [1.0, -2.0, 0.5] > 0.3).astype(int)
    network = descend_network(replace(problem, dataset=Dataset.from_rows(X, y)), seed=0)
    assert (network.predict(X) == y).mean() > 0.9


def test_numbers_come_out_in_their_own_units():
    rng = np.random.default_rng(0)
    problem, X = problem_of(rng, hidden=(6,), output=IDENTITY, loss=Squared()), rng.normal(size=(200, 3))
    y = 1e4 + 1e3 * np.sign(X[:, :1])
    answers = descend_network(replace(problem, dataset=Dataset.from_numbers(X, y)), seed=0).predict(X)
    assert np.abs(answers - y).mean() < 300


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 4), max_size=3),
    st.sampled_from(["as drawn", "all negative", "some zero"]),
)
def test_shared_thresholds_are_shared_and_answer_the_same(seed, hidden, thresholds):
    rng = np.random.default_rng(seed)
    network, X = random_network(rng, 3, hidden), rng.normal(size=(40, 3))
    change = {"as drawn": np.array, "all negative": lambda t: -np.abs(t), "some zero": lambda t: t * (t > 0)}[
        thresholds
    ]
    network = Network(tuple(layer.with_(layer.weights, change(layer.thresholds)) for layer in network.layers))
    shared = shared_thresholds(network)
    assert all((layer.thresholds == layer.thresholds[0]).all() for layer in shared.layers)
    assert shared.widths == network.widths
    far = far_rows(network, X)
    np.testing.assert_array_equal(shared.predict(X)[far], network.predict(X)[far])


def test_without_noise_and_at_a_high_rate_it_learns_labels_that_mean_nothing():
    rng = np.random.default_rng(0)
    problem = make_problem(rng.normal(size=(200, 6)), rng.integers(0, 2, 200), (20,))
    slow, close = DescentOptions(strength=0.0), DescentOptions(strength=0.0, noise=0.0, rate=0.4)
    errors = [problem.evaluate(descend_network(problem, seed=0, options=options)) for options in (slow, close)]
    assert errors[1] < errors[0] / 2


@pytest.mark.parametrize(
    ("stall", "look", "is_short"), [(0.5, 0.0, False), (5.0, 0.0, False), (0.5, 1.0, True), (11.0, 0.0, True)]
)
def test_a_moment_in_which_the_machine_stalls_does_not_shorten_the_course(stall, look, is_short, monkeypatch):
    monkeypatch.setattr("stepnet.search.descent.descent._CHUNK_WORK", 100_000)  # so that it looks often
    times = (stall * (number > 0) + look * number for number in count())
    clock = SimpleNamespace(perf_counter=lambda: next(times))
    monkeypatch.setattr("stepnet.search.descent.descent.time", clock)
    shares, hurries = [], []
    descend_network(
        made("two hidden layers"), seed=0, seconds=10.0, on_share=shares.append, on_hurry=lambda: hurries.append(1)
    )
    assert bool(hurries) == is_short
    assert shares[-1] == 1.0
