"""The points table, in all formats."""

from __future__ import annotations

import re
from html import unescape

import numpy as np

from stepnet import StepScoreClassifier
from stepnet.scores.card import Card, Rule
from stepnet.scores.sheet import Counts, attainable, sheet_of
from stepnet.scores.shown import FORMATS

CARD = Card((Rule(0, True, 53.0, 3), Rule(1, False, 0.5, 2)), 3)
SHEET = sheet_of(CARD, ["age_<x>", "b|c"], ("no", "yes"), Counts({0: (10, 1), 5: (4, 4)}), lambda s: s / 10.0)


def test_every_attainable_total_has_a_line_with_answer_rows_share_and_exact_interval() -> None:
    lines = SHEET.tables[1].lines
    assert [line[0] for line in lines] == ["0", "2", "3", "5"]
    assert lines[0] == ("0", "no", "< 0.1 %", "10", "10.0 %", "0.3 to 44.5 %")
    assert lines[1] == ("2", "no", "20.0 %", "0", "–", "0.0 to 100.0 %")
    assert lines[3] == ("5", "yes", "50.0 %", "4", "100.0 %", "39.8 to 100.0 %")
    assert SHEET.tables[1].marked == (2, 3)


def test_all_formats_have_all_cells_and_escape_names() -> None:
    cells = {cell for table in SHEET.tables for line in (table.columns, *table.lines) for cell in line}
    text, page = FORMATS["text"](SHEET), FORMATS["html"](SHEET)
    assert all(cell in text for cell in cells)
    assert {unescape(cell) for cell in re.findall(r"<t[dh](?: [^>]*)?>(.*?)</t[dh]>", page)} == cells
    assert "<x>" not in page
    assert r"b\|c ≤ 0.5" in FORMATS["markdown"](SHEET)
    assert r"age\_\textless{}x\textgreater{} \(\ge\) 53" in FORMATS["latex"](SHEET)


def test_totals_are_all_sums_of_points() -> None:
    assert attainable(CARD) == [0, 2, 3, 5]


def test_a_card_and_its_network_give_the_same_answers() -> None:
    X = np.random.default_rng(0).normal(50, 5, size=(200, 2))
    X[:, 1] /= 100
    network = CARD.network(2)
    assert network.predict(X).tolist() == (CARD.totals(X) >= 3).astype(int).tolist()
    assert Card.of_network(network) == CARD


def test_a_fitted_scorecard_prints_its_table_and_its_certificate() -> None:
    ages = [[31], [45], [52], [54], [60], [75]]
    score = StepScoreClassifier(n_rules=1, method="prove", random_state=0).fit(ages, ["no"] * 3 + ["yes"] * 3)
    assert "x0 ≥ 53" in str(score)
    assert "OPTIMAL" in str(score)
    assert "OPTIMAL" in score._repr_html_()
    assert "<table>" in score._repr_mimebundle_()["text/html"]
    assert str(StepScoreClassifier()) == "StepScoreClassifier()"
