"""The files of a run: others can read them, and the page works without a network."""

import csv
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from made_up import made_up_results
from stepnet.experiments.output import write_results

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("STEPNET_TEST_ALL"), reason="no Chromium here; `make test-all` requires it"
)

CHROMIUMS_OWN = ("google.com", "googleapis.com", "gstatic.com")  # asked for by the browser, whatever the page


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    results = made_up_results()
    out = tmp_path_factory.mktemp("results")
    write_results(results, list(results.records), out)
    return out


@pytest.mark.slow
def test_csv_and_json_have_every_cell(folder):
    with open(folder / "cells.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    content = json.loads((folder / "cells.json").read_text())
    assert [line["name"] for line in lines] == [cell["name"] for cell in content["cells"]]
    assert len(lines) == len(made_up_results().records)
    assert content["run"]["python"]
    assert content["run"]["run"] == "2026-01-02"


def test_tables_and_figures_are_there(folder):
    for key in ("table1", "table2", "table3", "speed", "accuracy", "robust", "choice", "claims"):
        assert (folder / "tables" / f"{key}.md").read_text().startswith("### ")
        assert r"\begin{tabular}" in (folder / "tables" / f"{key}.tex").read_text()
    text = (folder / "results.md").read_text()
    for key in ("figure1", "figure2"):
        assert (folder / "figures" / f"{key}.png").read_bytes().startswith(b"\x89PNG")
        assert f"figures/{key}.png" in text


@pytest.mark.parametrize(("key", "label"), [("figure1", "test accuracy (%)"), ("figure2", "runtime (s)")])
def test_figures_name_their_axes_and_curves(folder, key, label):
    svg = (folder / "figures" / f"{key}.svg").read_text()
    words = set(ET.fromstring(svg).itertext())
    assert {label, "BDNN", "BDNN heur.", "DNN", "stepnet prove", "stepnet learn"} <= words


class Loads(HTMLParser):
    """The addresses that a page loads or links to."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        self.addresses += [value for name, value in attributes if name in ("src", "href", "srcset", "action")]


def test_the_page_is_self_contained(folder):
    text = (folder / "index.html").read_text()
    parser = Loads()
    parser.feed(text)
    assert all(address.startswith(("#", "data:")) for address in parser.addresses)
    assert not re.search(r"@import|url\((?!data:)", text)
    assert "<script" not in text
    assert len(text) < 2e6


@needs_chromium
def test_the_page_renders_in_a_browser_without_errors_and_without_a_network(folder, tmp_path):
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--disable-quic", "--hide-scrollbars",
             f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr", "--v=0",
             f"--log-net-log={tmp_path / 'net.json'}", "--net-log-capture-mode=Everything"]  # fmt: skip
    picture = tmp_path / "page.png"
    command = [CHROMIUM, *flags, f"--screenshot={picture}", "--window-size=1200,4000", (folder / "index.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 50_000
    assert "CONSOLE" not in done.stderr, done.stderr  # Chromium logs errors of a page so
    log = (tmp_path / "net.json").read_text()
    hosts = set(re.findall(r'"url":"(?:https?|wss?|ftp)://([^"/:?]*)', log))
    assert not {host for host in hosts if not host.endswith(CHROMIUMS_OWN)}

    command = [CHROMIUM, *flags[:-2], "--dump-dom", (folder / "index.html").as_uri()]
    page = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout
    assert page.count("<table>") == 8
    assert page.count("<img ") == 2
