"""Models: blocks become rows, and violations are measured."""

import numpy as np

from stepnet.solvers.model import ModelBuilder


def small_model():
    builder = ModelBuilder()
    x = builder.add_columns("x", 2, 0, 4, cost=[1.0, 2.0], integer=True)
    z = builder.add_columns("z", (1, 2), -1, 1)
    builder.add_rows([(x, 1.0), (z[0], [1.0, -1.0])], lower=1.0)
    builder.add_rows([(z, [[2.0, 0.0]])], upper=1.0)
    builder.offset = 3.0
    return builder.build()


def test_blocks_become_rows_without_zeros():
    model = small_model()
    assert model.matrix.toarray().tolist() == [[1, 0, 1, 0], [0, 1, 0, -1], [0, 0, 2, 0]]
    assert model.matrix.nnz == 5
    assert model.names == ["x_0", "x_1", "z_0_0", "z_0_1"]
    assert model.integer.tolist() == [True, True, False, False]


def test_violation_is_the_largest_miss():
    model = small_model()
    assert model.violation(np.array([1.0, 1.0, 0.0, 0.0])) == 0
    assert model.violation(np.array([1.5, 1.0, 0.0, 0.0])) == 0.5
    assert model.violation(np.array([0.0, 1.0, 0.25, 0.0])) == 0.75
    assert model.violation(np.array([6.0, 1.0, 0.0, 0.0])) == 2


def test_an_objective_limit_is_one_more_row():
    model = small_model().with_objective_at_most(4.0)
    assert model.n_rows == 4
    assert model.violation(np.array([1.0, 1.0, 0.0, 0.0])) == 2.0


def test_products_count_in_violations():
    builder = ModelBuilder()
    x = builder.add_columns("x", 2, 0, 4)
    builder.add_rows([(x[:1], 1.0)], upper=5.0, products=[(x[:1], x[1:], 2.0)])
    model = builder.build()
    assert model.is_bilinear
    assert model.violation(np.array([1.0, 3.0])) == 2.0


def test_integral_models_are_recognised():
    builder = ModelBuilder()
    x = builder.add_columns("x", 2, 0, 4, integer=True)
    builder.add_rows([(x[None, :], 1.0)], upper=3.0)
    assert builder.build().is_integral
    builder.add_rows([(x[None, :], 0.5)], upper=3.0)
    assert not builder.build().is_integral


def test_rows_with_a_condition_name_their_bit_and_stay_as_they_are():
    builder = ModelBuilder()
    x = builder.add_columns("x", 2, 0, 4, integer=True)
    bits = builder.add_columns("b", 2, 0, 1, integer=True)
    builder.add_rows([(x, 1.0)], lower=1.0)
    builder.add_rows([(x, 1.0), (bits, -4.0)], upper=0.0, only_if=(bits, 0))
    model = builder.build().with_objective_at_most(3.0)
    assert model.conditions.rows.tolist() == [2, 3]
    assert model.conditions.bits.tolist() == bits.tolist()
    assert model.conditions.values.tolist() == [0, 0]
    assert model.matrix.toarray()[2:4].tolist() == [[1, 0, -4, 0], [0, 1, 0, -4]]
    assert small_model().conditions.rows.size == 0
