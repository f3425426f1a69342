"""Tables: the paper's numbers beside ours, verdicts on claims, and a reason for everything that is missing."""

import re

import pytest

from made_up import EFFORT, made_up_results, record_of
from stepnet.experiments.contenders import FOUR
from stepnet.experiments.plan import cells_of
from stepnet.experiments.results import NOT_RUN, Results
from stepnet.experiments.table import ResultTable
from stepnet.experiments.tables import tables_of


def table(results, key):
    (found,) = (one for one in tables_of(results) if one.key == key)
    return found


def line(found, *start):
    (one,) = (line for line in found.lines if line[: len(start)] == start)
    return dict(zip([f"{number} {name}" for number, name in enumerate(found.head)], one, strict=True))


def test_table_1_has_the_papers_numbers_and_the_verdict_on_the_solvers_claim():
    one = line(table(made_up_results(), "table1"), "BDNN", "25")
    assert one["2 Acc. %"] == "94.2"
    assert one["3 paper's"] == "69.3"
    assert one["4 Gap %"] == "100.0"
    assert one["5 claimed"] == "0.0"
    assert one["7 Training loss"] == "3"
    assert one["9 Claim"] == "0, FALSE"
    assert one["11 Seconds"] == "20"  # a time-out counts as the limit


def test_a_network_for_new_rows_is_not_judged_by_a_gap():
    results = made_up_results(change=lambda cell: {"status": "LEARNED"} if cell.method == "learn" else {})
    one = line(table(results, "table1"), "stepnet learn", "25")
    assert (one["4 Gap %"], one["5 claimed"], one["10 Status"]) == ("–", "–", "LEARNED")


def test_tables_have_a_line_for_every_method_and_width():
    results = made_up_results()
    for key in ("table1", "table2"):
        titles = [line[:2] for line in table(results, key).lines]
        for method in ("BDNN", "BDNN₀", "BDNN heur.", "BDNN₀ heur.", "DNN", "stepnet ensemble", "stepnet robust"):
            assert (method, "25") in titles
            assert (method, "50") in titles
    assert line(table(results, "table2"), "BDNN heur.", "50")["3 paper's"] == "91.5"


def test_table_3_averages_over_shuffles():
    one = line(table(made_up_results(), "table3"), "BDNN heur.", "25")
    assert (one["2 Avg. %"], one["4 Max %"], one["6 Min %"]) == ("90.5", "90.9", "90.0")
    assert (one["3 paper's"], one["5 paper's"], one["7 paper's"]) == ("93.2", "97.1", "85.0")
    assert one["10 False claims"] == "10 of 10"
    assert line(table(made_up_results(), "table3"), "DNN", "25")["10 False claims"] == "–"


def test_the_method_that_is_best_on_training_rows_is_marked_everywhere():
    best = made_up_results(change=lambda cell: {"accuracy": 0.99} if cell.method == "learn" else {})
    assert best.chosen == "learn"
    for key in ("table1", "table2", "table3", "choice"):
        assert any("stepnet learn (chosen)" in line[0] for line in table(best, key).lines)


def test_the_choice_does_not_depend_on_test_rows():
    change = lambda cell: {"accuracy": 0.99} if cell.method == "prove" and cell.experiment != "choice" else {}  # noqa: E731
    assert made_up_results(change=change).chosen == made_up_results().chosen


def test_speed_is_the_ratio_of_times_with_timeouts_at_the_limit():
    one = line(table(made_up_results(), "speed"), "BDNN", "100")
    assert one["5 Ratio"] == "100"  # 5 s over 0.05 s
    assert one["6 smallest"] == "100"
    assert one["3 at the limit"] == "2 of 2"


def test_a_method_without_a_network_is_explained():
    def change(cell):
        return {"note": "HiGHS found no solution within 5 s", "drop": True} if cell.method == "exact" else {}

    results = made_up_results(change=change)
    for record in results.records:
        if record.pop("drop", False):
            for name in ("accuracy", "precision", "recall", "f1", "loss", "gap", "claim_is_true", "status"):
                del record[name]
    first = table(results, "table1")
    assert line(first, "BDNN", "25")["2 Acc. %"] == "–"
    assert "BDNN, d₁ = 25: HiGHS found no solution within 5 s" in first.notes
    third = table(results, "table3")
    assert "BDNN: no network in 10 of 10 shuffles; the numbers are those of the others" in third.notes
    claims = line(table(results, "claims"), "BDNN", "Figures")
    assert (claims["2 Cells"], claims["3 Claims"]) == ("12", "0")


def test_cells_that_were_not_run_are_counted():
    cells = cells_of(("table3",), EFFORT)
    done = tuple(record_of(cell) for cell in cells if cell.method not in FOUR)
    missing = tuple((cell, NOT_RUN) for cell in cells if cell.method in FOUR)
    results = Results(("table3",), EFFORT, done, missing)
    assert f"40 cells are missing: {NOT_RUN}" in table(results, "table3").notes


def test_no_table_without_records():
    assert tables_of(Results(("table1", "figures"), EFFORT, ())) == []


def test_markdown_is_a_table():
    text = ResultTable("k", "A title", ("a", "b"), (("1|2", "3"),), ("One", "Two")).markdown()
    assert text == "### A title\n\n| a | b |\n| :-- | --: |\n| 1/2 | 3 |\n- One\n- Two"


@pytest.mark.parametrize("found", tables_of(made_up_results()), ids=lambda found: found.key)
def test_latex_has_no_letter_that_latex_does_not_know(found):
    text = found.latex()
    assert text.isascii(), [letter for letter in text if not letter.isascii()]
    body = text[text.index(r"\toprule") :]
    columns = len(found.head)
    for row in re.findall(r"^(.*) \\\\$", body, re.MULTILINE):
        assert len(re.split(r"(?<!\\)&", row)) == columns
    assert not re.search(r"(?<!\\)[%#]", text)
    assert text.count("{") == text.count("}")
    assert text.count("$") % 2 == 0
