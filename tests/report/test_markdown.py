"""Markdown with the same numbers, whatever the names."""

import dataclasses
import html
import re

import pytest

from report_models import HOSTILE, SQUARE, every_kind, xor
from stepnet.report import Report, to_html, to_markdown, to_text
from stepnet.report.blocks import Figure, TableBlock
from stepnet.report.document import document_of

KINDS = every_kind()


def tables_of(report):
    for section in document_of(report).sections:
        for part in section.parts:
            for block in part.blocks:
                if isinstance(block, TableBlock):
                    yield block
                elif isinstance(block, Figure) and not block.is_redundant:
                    yield from block.tables


def plain(text):
    """A page or a text as one line of words."""
    text = re.sub(r"<style>.*?</style>|<[^>]+>", " ", text, flags=re.S)
    return " ".join(html.unescape(text).split())


def unescaped(markdown):
    return html.unescape(re.sub(r"\\(.)", r"\1", markdown))


@pytest.mark.parametrize("kind", KINDS)
def test_all_faces_have_the_same_numbers(kind):
    estimator, (X, y) = KINDS[kind]
    estimator.trace_ = ((0.5, 3.0, 0.0), (1.25, 1.0, 0.5))
    radius = 0.15 if hasattr(estimator, "classes_") else None
    report = Report.of(estimator, (X, y, None), (X, y), radius=radius)
    page, markdown, text = plain(to_html(report)), unescaped(to_markdown(report)), to_text(report, width=500)
    n_cells = 0
    for table in tables_of(report):
        for line in table.lines:
            assert " ".join(" ".join(line).split()) in page
            assert f"| {' | '.join(line)} |" in markdown
            assert re.search(r"\s+".join(re.escape(cell) for cell in line if cell), text)
            n_cells += len(line)
    assert n_cells > 60
    for card in document_of(report).cards:
        assert f"{card.label} {card.value} {card.note}" in page
        assert f"| {card.label} | {card.value} | {card.note} |" in markdown
        assert re.search(rf"{re.escape(card.label)}\s+{re.escape(card.value)}\s+{re.escape(card.note)}", text)


def test_tables_keep_their_columns_whatever_the_names():
    report = Report.of(xor(names=(HOSTILE, "b|c")), (SQUARE, [0, 1, 1, 0], None), title=HOSTILE)
    text = to_markdown(report)
    assert "<script" not in text
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if lines[0].startswith("|"):
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
            assert len(widths) == 1
    assert re.sub(r"```.*?```", "", text, flags=re.S).count("\n# ") == 0
    assert text.startswith("# &lt;script&gt;alert('x')&lt;/script&gt;\\|\\`\\*\\_\\[a\\](")


def test_headings_are_in_order_and_code_is_fenced():
    text = to_markdown(Report.of(xor()))
    assert re.findall(r"^## (.*)$", text, re.M) == [
        "What was learned",
        "How large it is",
        "How good it is",
        "How sure it is",
        "How to use it",
    ]
    assert text.count("```") % 2 == 0
    assert "```console\nstepnet predict model.json new.csv" in text
    assert "stepnet verify model.json data.csv --target y --resolve" in text


def test_names_of_files_are_quoted_for_the_shell():
    report = Report.of(xor(), model_name="my model; rm -rf *.json", data_name="some data.csv", target="a b")
    assert "stepnet verify 'my model; rm -rf *.json' 'some data.csv' --target 'a b'" in to_markdown(report)


def test_backticks_do_not_end_code():
    text = to_markdown(Report.of(xor(), model_name="```\nrm"))
    assert "````console\n" in text


def test_a_false_certificate_is_shown_loudly():
    model = xor()
    model.certificate_ = dataclasses.replace(model.certificate_, loss=1.0, gap=1.0, status="FEASIBLE")
    text = to_markdown(Report.of(model, (SQUARE, [0, 1, 1, 0], None)))
    assert "> **This certificate is FALSE.** Do not rely on this model: it claims loss 1, but" in text
    assert text.index("FALSE") < text.index("## What was learned")
