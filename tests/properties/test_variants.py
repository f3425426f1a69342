"""Whatever the choices: programs and networks stand for each other, and losses are those of rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brute_force import rational_levels, rational_outputs
from stepnet.constructions.random_network import random_network
from stepnet.formulations.registry import FORMULATIONS
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.activations.staircase import SIGN, STEP, Staircase
from stepnet.problem.architecture import Architecture
from stepnet.problem.constraint import Constraints, Raises
from stepnet.problem.dataset import Dataset
from stepnet.problem.losses.absolute import Absolute
from stepnet.problem.losses.misclassified import MISCLASSIFIED
from stepnet.problem.losses.squared import Squared
from stepnet.problem.problem import Problem
from stepnet.problem.weights import Integers

DOMAINS = st.sampled_from(["real", "binary", "sign", "ternary", Integers(3)])
ACTIVATIONS = st.sampled_from([STEP, SIGN, Staircase((0, 1, 2)), Staircase((1, 0, 2)), Staircase((0, 1), (0.5,))])
OUTPUTS = st.sampled_from(["bit", "ordinal", "argmax", "squared", "absolute"])


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    m, n = draw(st.integers(2, 7)), draw(st.integers(1, 3))
    hidden = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)))
    output, activation = draw(OUTPUTS), draw(ACTIVATIONS)
    is_number = output in ("squared", "absolute")
    domains = [draw(DOMAINS) for _ in hidden]
    domains.append("real" if is_number else draw(DOMAINS))
    X = rng.integers(-4, 5, (m, n)) * 2.0 ** draw(st.integers(-3, 3))
    weights = rng.integers(1, 4, m)
    heads = {"bit": STEP, "ordinal": Staircase((0, 1, 2)), "argmax": ARGMAX}
    n_outputs = 3 if output == "argmax" else (draw(st.integers(1, 2)) if is_number else 1)
    data = (
        Dataset.from_numbers(X, rng.normal(size=(m, n_outputs)), weights)
        if is_number
        else Dataset.from_rows(X, rng.integers(0, 2 if output == "bit" else 3, m), weights)
    )
    threshold = draw(st.sampled_from(["neuron", "layer", 0.0])) if activation in (STEP, SIGN) else "neuron"
    head = heads.get(output, IDENTITY)
    architecture = Architecture.of(n, hidden, threshold, tuple(domains), activation, head, n_outputs)
    loss = {"squared": Squared(ridge=0.5), "absolute": Absolute()}.get(output, MISCLASSIFIED)
    sparsity = draw(st.sampled_from([None, 40, "fewest"])) if not is_number else None
    can_rise = "sign" not in domains and output != "argmax" and list(activation.values) == sorted(activation.values)
    constraints = draw(st.sampled_from([None, Raises(0)])) if can_rise else None
    return Problem(data, architecture, loss, Constraints.of(architecture, sparsity, constraints)), rng


@settings(max_examples=150)
@given(problems())
def test_a_network_survives_the_program_and_its_loss_is_exact(drawn):
    problem, rng = drawn
    network = random_network(problem, rng)
    assert problem.refuses(network) is None
    X, data = problem.dataset.X, problem.dataset
    assert problem.evaluate(network) == _rational_loss(problem, network)
    assume(FORMULATIONS["tight"].accepts(problem))
    encoding = FORMULATIONS["tight"].encode(problem)[0]
    point = encoding.start(network)
    if point is None:  # beyond the limits of a last layer of numbers
        assert problem.loss != MISCLASSIFIED
        return
    decoded = encoding.decode(point)
    assert problem.refuses(decoded) is None
    if problem.loss == MISCLASSIFIED:
        assert (decoded.predict(X) == network.predict(X)).all()
    else:
        np.testing.assert_allclose(decoded.predict(X), network.predict(X), atol=1e-9)
    claimed = encoding.model.objective(point) * problem.accuracy.unit
    np.testing.assert_allclose(claimed, problem.evaluate(network), rtol=1e-9, atol=1e-9 * data.total_weight)
    if encoding.margin == 0:
        assert encoding.model.violation(point) < 1e-7


def _rational_loss(problem, network):
    data = problem.dataset
    layers = [
        (layer.weights.tolist(), layer.thresholds.tolist(), layer.activation.values or "argmax")
        for layer in network.layers
    ]
    if problem.loss == MISCLASSIFIED:
        wrong = rational_levels(layers, data.X) != data.y
        return float(sum(map(Fraction, data.weights[wrong].tolist())))
    layers[-1] = (*layers[-1][:2], None)
    costs = problem.loss.costs(np.array(rational_outputs(layers, data.X), dtype=float), data.y)
    total = (data.weights[:, None] * costs).sum() + problem.loss.penalty(network.layers[-1].weights)
    return pytest.approx(total, rel=1e-12)
