"""The site builds without a warning, asks nothing of the network, and knows every command."""

import re
import subprocess
import sys

import pytest

from documentation import DOCS
from stepnet.cli.app import app

pytest.importorskip("sphinx", reason="needs pip install 'stepnet[docs]'")
pytest.importorskip("myst_parser", reason="needs pip install 'stepnet[docs]'")
pytest.importorskip("furo", reason="needs pip install 'stepnet[docs]'")

pytestmark = pytest.mark.slow

_LOADS = re.compile(r"<(?:script|img|iframe|link)\b[^>]*>", re.IGNORECASE)
_ADDRESS = re.compile(r"""(?:src|href)=["']?(?:https?:)?//""", re.IGNORECASE)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html", "-d", out / "trees"]
    done = subprocess.run([*command, DOCS, out / "html"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return out / "html"


def test_pages_load_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        for tag in _LOADS.findall(page.read_text(encoding="utf-8")):
            assert not _ADDRESS.search(tag), f"{page.name}: {tag}"
    for style in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", style.read_text(encoding="utf-8")), style.name


def test_the_command_line_page_has_every_command_and_option(site):
    text = (site / "command_line.html").read_text(encoding="utf-8")
    for command in app.registered_commands:
        assert f"stepnet {command.callback.__name__.replace('_', '-')}" in text
    for option in ("--target", "--hidden", "--resolve", "--dask"):
        assert option in text


def test_formulas_are_drawn_by_the_browser(site):
    text = (site / "explanation" / "mathematics.html").read_text(encoding="utf-8")
    assert text.count("<math") > 50
    assert "MathJax" not in text
