"""Every relative link and anchor of the pages and of the README leads somewhere; nothing here asks the network."""

import re

import pytest

from documentation import DOCS, PAGES, ROOT

FILES = [*sorted(ROOT.glob("*.md")), *PAGES]
_CODE = re.compile(r"^```.*?^```\s*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)


def links(file):
    return _LINK.findall(_CODE.sub("", file.read_text(encoding="utf-8")))


def anchors(file):
    """As GitHub and the pages make them: small letters, dashes for spaces, no punctuation."""
    headings = _HEADING.findall(
        re.sub(r"^```.*?^```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def name(file):
    return file.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("file", FILES, ids=name)
def test_links_lead_somewhere(file):
    for link in links(file):
        path, _, anchor = link.partition("#")
        if re.match(r"\w+:", path):
            continue
        target = (file.parent / path).resolve() if path else file
        assert target.exists(), f"{name(file)}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{name(file)}: {link} is none of {sorted(anchors(target))}"


def test_there_are_links():
    assert sum(len(links(file)) for file in FILES) > 40


def test_every_page_is_in_a_table_of_contents():
    listed = set(
        re.findall(r"^(?:[^\n`<]*<)?([\w/]+)>?$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    gallery = re.findall(r"^(\w+)$", (DOCS / "gallery" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    listed |= {f"gallery/{name}" for name in gallery}
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES} - {"index"}
    assert pages - listed == set()


def test_every_public_name_has_an_entry():
    import stepnet

    text = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    entries = set(re.findall(r"auto(?:class|function):: stepnet\.(\w+)", text))
    assert set(stepnet.__all__) - entries - {"datasets"} == set()
    assert all(f"stepnet.datasets.{one}" in text for one in stepnet.datasets.__all__)
