"""Plans: every table has every method, and budgets are kept."""

import pytest

from stepnet.errors import InvalidInputError
from stepnet.experiments.contenders import FOUR, OURS
from stepnet.experiments.plan import EFFORTS, PARTS, cells_of, effort_of, parts_of
from stepnet.experiments.runner import _expected


@pytest.mark.parametrize("budget", EFFORTS)
def test_every_cell_has_a_name_of_its_own(budget):
    names = [cell.name for cell in cells_of(tuple(PARTS), effort_of(budget))]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("part", ["table1", "table2", "table3"])
def test_every_table_has_the_papers_four_the_dnn_and_ours(part):
    cells = [cell for cell in cells_of((part,), EFFORTS["full"]) if cell.experiment == PARTS[part]]
    assert {cell.method for cell in cells} >= {*FOUR, "dnn", "dnn_scaled", *OURS}


def test_the_figures_have_ten_instances_of_three_widths():
    cells = cells_of(("figures",), EFFORTS["full"])
    assert {cell.width for cell in cells} == {20, 50, 100}
    assert {cell.seed for cell in cells} == set(range(10))
    assert max(cell.n_rows for cell in cells) == 160
    assert all(cell.time_limit >= 60 for cell in cells if cell.method in FOUR)


def test_tables_1_and_2_share_their_cells():
    assert cells_of(("table1",), EFFORTS["quick"]) == cells_of(("table1", "table2"), EFFORTS["quick"])


@pytest.mark.parametrize(("budget", "minutes"), [("quick", 15), ("full", 600)])
def test_two_cores_are_expected_to_keep_the_budget(budget, minutes):
    cells = cells_of(tuple(PARTS), EFFORTS[budget])
    assert sum(map(_expected, cells)) / 2 < 60 * minutes


def test_unknown_words_are_refused_with_those_that_are_known():
    with pytest.raises(InvalidInputError, match="table1, table2, table3, figures, robust or all"):
        parts_of("table4")
    with pytest.raises(InvalidInputError, match="choose quick or full"):
        effort_of("huge")
