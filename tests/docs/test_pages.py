"""Every example of the documentation runs, and prints what the page says."""

import re

import pytest

from documentation import DOCS, PAGES, Reader, blocks
from stepnet.cli.app import EXIT_CODES, app

WITH_EXAMPLES = [page for page in PAGES if {block.kind for block in blocks(page)} & {"python", "console"}]


LONG = ("error_limits.md", "add_loss.md", "exact_proof.md", "large_tables.md")
SLOW = ("first_steps.md", "report.md", *LONG)


def marked(page):
    is_slow = page.name in SLOW or page.parent.name == "gallery"
    return pytest.param(page, marks=[pytest.mark.slow] if is_slow else [], id=page.relative_to(DOCS).as_posix())


@pytest.mark.parametrize("page", [marked(page) for page in WITH_EXAMPLES])
def test_the_examples_of_a_page_run_in_order(page, tmp_path):
    Reader(page, tmp_path).read()


def test_there_are_pages_with_examples():
    assert len(WITH_EXAMPLES) >= 10


def test_exit_codes_are_those_of_the_program():
    page = (DOCS / "command_line.md").read_text(encoding="utf-8")
    for code, meaning in EXIT_CODES.items():
        assert f"| {code} | {meaning} |" in page


def test_every_command_of_the_pages_exists():
    known = {command.callback.__name__.replace("_", "-") for command in app.registered_commands}
    texts = [block.text for page in PAGES for block in blocks(page)]
    used = {name for text in texts for name in re.findall(r"^(?:\$ )?stepnet ([\w-]+)", text, re.MULTILINE)}
    assert used == known
