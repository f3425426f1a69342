"""Every example of the documentation runs, and prints what the page says."""

import pytest

from documentation import DOCS, PAGES, Reader, blocks

WITH_EXAMPLES = [page for page in PAGES if {block.kind for block in blocks(page)} & {"python", "console"}]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_the_examples_of_a_page_run_in_order(page, tmp_path):
    Reader(page, tmp_path).read()


def test_there_are_pages_with_examples():
    assert len(WITH_EXAMPLES) >= 10
