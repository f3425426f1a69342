"""Pages of the gallery as notebooks: the same code, and what it prints."""

import importlib.util

import pytest

from documentation import DOCS, blocks

SPEC = importlib.util.spec_from_file_location("notebooks", DOCS / "_extensions" / "notebooks.py")
PAGES = sorted(page for page in (DOCS / "gallery").glob("*.md") if page.stem != "index")


@pytest.fixture(scope="module")
def notebook():
    pytest.importorskip("sphinx", reason="needs pip install 'stepnet[docs]'")
    module = importlib.util.module_from_spec(SPEC)
    SPEC.loader.exec_module(module)
    return module.notebook


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_has_the_code_and_the_output_of_its_page(notebook, page):
    made = notebook(page.read_text(encoding="utf-8"))
    assert made["nbformat"] == 4
    code = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
    assert code == [block.text.rstrip("\n") for block in blocks(page) if block.kind == "python"]
    outputs = ["".join(cell["outputs"][0]["text"]) for cell in made["cells"] if cell.get("outputs")]
    assert outputs == [block.text for block in blocks(page) if block.kind == "text"]
    assert not any("```" in "".join(cell["source"]) for cell in made["cells"])
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pictures_of_a_page_are_drawn_by_its_code(page):
    text = page.read_text(encoding="utf-8")
    code = "".join(block.text for block in blocks(page) if block.kind == "python")
    for picture in [part.split(")")[0] for part in text.split("](../pictures/")[1:]]:
        assert f'"{picture}"' in code
        assert (DOCS / "pictures" / picture).is_file()
    assert f"\n{page.stem}\n" in (DOCS / "gallery" / "index.md").read_text(encoding="utf-8")
