"""The page in a browser: no error, no request, and nothing that keeps anyone from reading it.

Needs Chromium and axe-core: ``npm install --no-save axe-core`` in the root of the repository, or the environment
variable STEPNET_AXE with the path of axe.min.js.
"""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from report_models import SQUARE, every_kind, fitted, xor
from stepnet import StepClassifier
from stepnet.model.network import Layer, Network
from stepnet.report import Report, to_html

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ROOT = Path(__file__).resolve().parents[2]
AXE = Path(os.environ.get("STEPNET_AXE") or ROOT / "node_modules" / "axe-core" / "axe.min.js")
MUST_RUN = bool(os.environ.get("STEPNET_TEST_ALL"))

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and not MUST_RUN, reason="no Chromium here; `make test-all` requires it"
)
needs_axe = pytest.mark.skipif(
    not AXE.is_file() and not MUST_RUN, reason="no axe-core here (npm install axe-core); `make test-all` requires it"
)

CHROMIUMS_OWN = ("google.com", "googleapis.com", "gstatic.com")  # asked for by the browser, whatever the page
DARK, LIGHT = 0, 1
RUN_AXE = """
<pre id="axe"></pre>
<script>
const types = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
axe.run(document, {runOnly: types}).then(found => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const problems = found.violations.map(one => [one.id, one.impact, one.nodes.map(node => node.html.slice(0, 200))]);
  const passes = found.passes.map(one => one.id);
  document.getElementById("axe").textContent = JSON.stringify({dark, passes, problems});
});
</script>
"""


def browse(page, folder, *flags):
    """Chromium's word on a page: what it wrote, and its log."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
               "--disable-background-networking", "--disable-component-update", "--disable-quic", "--hide-scrollbars",
               "--enable-logging=stderr", "--v=0", f"--user-data-dir={folder / 'profile'}",
               *flags, page.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done


def full():
    """Everything that a report can have."""
    model = xor()
    model.trace_ = ((0.5, 2.0, 0.0), (1.0, 1.0, 0.0), (2.0, 0.0, 0.0))
    return Report.of(model, (SQUARE, [0, 1, 1, 0], None), (SQUARE, [0, 1, 1, 1]), radius=0.2)


def wrong():
    """A false certificate: the loudest page there is."""
    estimator, (X, y) = every_kind()["one_hot"]
    object.__setattr__(estimator.certificate_, "loss", 3.0)
    return Report.of(estimator, (X, y, None))


def large():
    rng = np.random.default_rng(0)
    network = Network((Layer(rng.normal(size=(50, 64)), np.zeros(50)), Layer(rng.normal(size=(1, 50)), [0.0])))
    X = rng.normal(size=(40, 64))
    model = fitted(StepClassifier((50,)), network, X, network.predict(X))
    return Report.of(model, (X, network.predict(X), None))


@pytest.mark.parametrize("report", [full, large], ids=lambda one: one.__name__)
def test_the_page_shows_without_errors_and_without_a_request(report, tmp_path):
    page, picture, log = tmp_path / "report.html", tmp_path / "page.png", tmp_path / "net.json"
    page.write_text(to_html(report()), encoding="utf-8")
    assert page.stat().st_size < 2_000_000
    done = browse(page, tmp_path, f"--screenshot={picture}", "--window-size=1200,3000", f"--log-net-log={log}",
                  "--net-log-capture-mode=Everything")  # fmt: skip
    assert picture.stat().st_size > 50_000
    assert "CONSOLE" not in done.stderr, done.stderr  # Chromium logs what a page complains of so
    hosts = set(re.findall(r'"url":"(?:https?|wss?|ftp)://([^"/:?]*)', log.read_text()))
    assert not {host for host in hosts if not host.endswith(CHROMIUMS_OWN)}


@needs_axe
@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("report", [full, wrong, large], ids=lambda one: one.__name__)
def test_axe_finds_nothing_serious(report, scheme, tmp_path):
    assert AXE.is_file(), "run `npm install --no-save axe-core` here, or set STEPNET_AXE to axe.min.js"
    text = re.sub(r"<meta http-equiv[^>]*>", "", to_html(report()))  # this copy must run a script
    text = text.replace("<details>", "<details open>")
    text = text.replace("</body>", f"<script>{AXE.read_text(encoding='utf-8')}</script>{RUN_AXE}</body>")
    page = tmp_path / "checked.html"
    page.write_text(text, encoding="utf-8")
    done = browse(page, tmp_path, f"--blink-settings=preferredColorScheme={scheme}", "--virtual-time-budget=60000",
                  "--window-size=1200,900", "--dump-dom")  # fmt: skip
    found = json.loads(html.unescape(re.search(r'<pre id="axe">(.*?)</pre>', done.stdout, re.S).group(1)))
    assert found["dark"] == (scheme == DARK)
    assert {"color-contrast", "document-title", "svg-img-alt"} <= set(found["passes"])
    assert not [one for one in found["problems"] if one[1] in ("serious", "critical")], found["problems"]
