"""Programs as files: another reader finds the same optimum."""

import highspy
import numpy as np
import pytest

from conftest import XOR, make_problem
from stepnet.errors import InvalidInputError
from stepnet.formulations.registry import FORMULATIONS
from stepnet.solvers.backends.base import Task
from stepnet.solvers.backends.highs import Highs
from stepnet.solvers.model import ModelBuilder
from stepnet.solvers.writers import write_model


@pytest.mark.parametrize("ending", ["mps", "lp"])
@pytest.mark.parametrize("formulation", ["tight", "paper", "gates"])
def test_a_solver_reads_the_file_and_finds_the_same_optimum(formulation, ending, tmp_path):
    problem = make_problem(XOR, [0, 1, 1, 0], (1,), sample_weight=[3, 2, 5, 4])
    model = FORMULATIONS[formulation].encode(problem)[0].model
    path = tmp_path / f"xor.{ending}"
    write_model(model, path, comment="xor")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    assert (solver.getNumCol(), solver.getNumRow(), solver.getNumNz()) == (
        model.n_columns,
        model.n_rows,
        model.matrix.nnz,
    )
    solver.run()
    assert solver.getObjectiveValue() == pytest.approx(Highs().solve(Task(model)).objective, abs=1e-6)
    lp = solver.getLp()
    assert np.array_equal(lp.col_upper_, model.upper)


def test_rows_with_two_sides_and_equations_survive(tmp_path):
    builder = ModelBuilder()
    x = builder.add_columns("x", 3, 0, 10, cost=[1.0, 1.0, -1.0])
    builder.add_rows([(x[None, :2], 1.0)], lower=2.0, upper=5.0)
    builder.add_rows([(x[None, 1:], 1.0)], lower=4.0, upper=4.0)
    model = builder.build()
    expected = Highs().solve(Task(model)).objective
    for ending in ("mps", "lp"):
        write_model(model, tmp_path / f"m.{ending}")
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.readModel(str(tmp_path / f"m.{ending}"))
        solver.run()
        assert solver.getObjectiveValue() == pytest.approx(expected)


def test_other_endings_and_products_are_refused(tmp_path):
    problem = make_problem(XOR, [0, 1, 1, 0], (2,))
    with pytest.raises(InvalidInputError, match=r"\.mps or \.lp"):
        write_model(FORMULATIONS["tight"].encode(problem)[0].model, tmp_path / "x.txt")
    with pytest.raises(InvalidInputError, match="bilinear"):
        write_model(FORMULATIONS["bilinear"].encode(problem)[0].model, tmp_path / "x.mps")
    assert list(tmp_path.iterdir()) == []
