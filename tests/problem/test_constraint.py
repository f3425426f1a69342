"""Constraints mean what they say; those that mean nothing or clash are named."""

import numpy as np
import pytest

from stepnet import Constraint, Lowers, Raises, StepClassifier, StepRegressor
from stepnet.constructions.feasibility import feasible_weights
from stepnet.errors import InvalidInputError
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.constraint import Constraints
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem

REAL, TERNARY = (Architecture.of(2, (2,), "neuron", weights) for weights in ("real", "ternary"))
NAMES = ["age", "weight"]
DATA = Dataset.from_rows([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def network(hidden, output):
    return Network((Layer(hidden, np.zeros(len(hidden)) + 0.5), Layer([output], [0.5])))


def test_sparsity_counts_all_layers_or_each():
    full, thin = network([[1, 1], [1, 1]], [1, 1]), network([[1, 0], [0, 0]], [1, 0])
    assert Constraints.of(REAL, 2).refuses(thin, DATA) is None
    assert "6 non-zero weights" in Constraints.of(REAL, 2).refuses(full, DATA)
    assert Constraints.of(REAL, (4, 1)).refuses(thin, DATA) is None
    assert Constraints.of(REAL, (4, 1)).refuses(full, DATA)
    assert Constraints.of(REAL, (None, 2)).refuses(full, DATA) is None
    assert not Constraints.of(REAL, "fewest").restrict


def test_an_input_that_may_only_raise_the_score_does():
    up = Constraints.of(REAL, None, Raises("age"), NAMES)
    assert up.refuses(network([[1, -1], [0, 1]], [1, 2]), DATA) is None
    assert "age may only raise" in up.refuses(network([[-1, 1], [0, 1]], [1, 2]), DATA)
    assert up.refuses(network([[1, 1], [0, 1]], [1, -2]), DATA)
    down = Constraints.of(REAL, None, [Lowers(0)])
    assert down.refuses(network([[-1, 1], [0, 1]], [1, 2]), DATA) is None
    assert down.refuses(network([[1, 1], [0, 1]], [1, 2]), DATA)


@pytest.mark.slow
def test_scores_of_a_fit_rise_with_the_input_only():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=40) > 0) ^ (rng.random(40) < 0.1)
    classifier = StepClassifier((3,), method="prove", constraints=[Raises(0)], time_limit=5, random_state=0).fit(X, y)
    steps = np.linspace(-3, 3, 50)
    for other in (-1.0, 0.0, 1.0):
        answers = classifier.predict(np.column_stack([steps, np.full(50, other)])).astype(int)
        assert (np.diff(answers) >= 0).all()


def test_rows_follow_the_units_of_the_features():
    tilt = Constraint({(1, 0, "age"): 1.0, (1, 0, "weight"): -100.0}, lower=0.0, name="tilt")
    constraints = Constraints.of(REAL, None, [tilt], NAMES)
    X = [[1000.0, 0.01], [3000.0, 0.02], [2000.0, 0.04], [500.0, 0.03]]
    problem = Problem(Dataset.from_rows(X, [0, 1, 1, 0]), REAL, constraints=constraints)
    (row,) = problem.scaled_rows()
    inside = network([[1.0, 0.001], [0, 0]], [1, 1])
    outside = network([[1.0, 1.0], [0, 0]], [1, 1])
    assert constraints.refuses(inside, problem.dataset) is None
    assert "tilt" in constraints.refuses(outside, problem.dataset)
    assert row.holds([layer.weights for layer in problem.scale(inside).layers])
    assert not row.holds([layer.weights for layer in problem.scale(outside).layers])


@pytest.mark.parametrize(
    ("architecture", "sparsity", "constraints", "message"),
    [
        (REAL, -1, None, "sparsity=-1"),
        (REAL, (1, 2, 3), None, "2 layers"),
        (REAL, "few", None, "'fewest'"),
        (REAL, None, ["age"], "list or tuple of Constraint"),
        (REAL, None, [Raises("height")], "one of age, weight"),
        (REAL, None, [Constraint({(3, 0, 0): 1}, lower=0)], "layers are 1 to 2"),
        (REAL, None, [Constraint({(1, 5, 0): 1}, lower=0)], "no weight"),
        (REAL, None, [Constraint({(2, 0, 7): 1}, lower=0)], "from 0 to 1"),
        (REAL, None, [Constraint({"age": 1}, lower=0)], "name one as"),
        (REAL, None, [Constraint({}, lower=0)], "needs terms"),
        (REAL, None, [Constraint({(1, 0, 0): 1})], "needs a number"),
        (REAL, None, [Constraint({(1, 0, 0): 1}, lower=None)], "needs a number"),
        (REAL, None, [Constraint({(1, 0, 0): 1}, lower=0, upper="1")], "needs a number"),
        (REAL, None, [Constraint({(1, 0, 0): 1}, lower=0, upper=float("nan"))], "needs a number"),
        (REAL, None, [Constraint({(1, 0, 0): 1}, lower=1, upper=0)], "lower <= upper"),
        (REAL, None, [Constraint({(1, 0, 0): 1}, lower=1)], "multiplied by any positive number"),
        (REAL, None, [Constraint({(1, 0, 0): 1, (1, 1, 0): -1}, lower=0)], "one neuron"),
    ],
)
def test_bad_constraints_are_named_with_a_way_out(architecture, sparsity, constraints, message):
    with pytest.raises(InvalidInputError, match=message):
        Constraints.of(architecture, sparsity, constraints, NAMES)


def test_constraints_that_clash_are_named_and_no_others():
    rows = [
        Constraint({(1, 0, 0): 1}, lower=1, name="a"),
        Constraint({(1, 0, 0): 1, (1, 0, 1): 1}, upper=-1, name="b"),
        Constraint({(1, 1, 1): 1}, lower=1, name="c"),
    ]
    data = Dataset.from_rows([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(InvalidInputError, match=r"together, with ternary, ternary weights: a; b\. Drop"):
        feasible_weights(Problem(data, TERNARY, constraints=Constraints.of(TERNARY, None, rows)))
    signs = Architecture.of(2, (2,), "neuron", "sign")
    with pytest.raises(InvalidInputError, match="sparsity=3"):
        feasible_weights(Problem(data, signs, constraints=Constraints.of(signs, 3)))
    with pytest.raises(InvalidInputError, match="a; b"):
        StepClassifier((2,), weights="ternary", constraints=rows).fit([[0, 1], [1, 0]], [0, 1])


def test_outputs_that_are_numbers_take_any_constraint():
    X, y = np.arange(6.0)[:, None], [0.0, 0, 3, 3, 5, 5]
    limited = Constraint({(2, 0, 0): 1, (2, 0, 1): 1}, upper=4.0, name="not above 4 in all")
    regressor = StepRegressor((2,), constraints=[limited], method="exact", random_state=0).fit(X, y)
    assert regressor.network_.layers[1].weights.sum() <= 4.0 + 1e-6
    assert regressor.certificate_.loss > 0
    assert StepRegressor((2,), method="prove", random_state=0).fit(X, y).certificate_.loss == pytest.approx(
        0, abs=1e-12
    )


@pytest.mark.parametrize("sparsity", [8, 100, (6, 2), (None, 5)])
def test_a_limit_that_every_network_keeps_is_none(sparsity):
    architecture = Architecture.of(3, (2,), "neuron", "real")
    assert Constraints.of(architecture, sparsity) == Constraints.of(architecture)


def test_a_void_limit_of_one_layer_leaves_that_of_another():
    architecture = Architecture.of(3, (2,), "neuron", "real")
    assert Constraints.of(architecture, (5, 2)).layer_limits == (5, None)
    assert Constraints.of(architecture, 7).total_limit == 7
