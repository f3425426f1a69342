"""The calculator: its fields, and in a browser the answers of predict, with no error and no request."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

from exported import fitted, real, whole
from keyboard import Page
from report.test_browser import AXE, DARK, LIGHT, RUN_AXE, browse, needs_axe
from report.test_browser import pytestmark as needs_chromium
from stepnet import StepClassifier, StepRegressor, StepScoreClassifier, Table, load, save
from stepnet.datasets import load_breast_cancer_wisconsin
from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.export import to_html
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.staircase import SIGN, Staircase

ANSWERS = """
<pre id="answers"></pre>
<script>
const rows = JSON.parse(document.getElementById("rows").textContent);
const codes = rows.map(row => stepnet.evaluate(row).code);
document.getElementById("answers").textContent = JSON.stringify(codes);
</script>
"""
CHANGES = """
<pre id="found"></pre>
<script>
const at = document.querySelectorAll("#fields input");
const texts = Array.from(at, input => input.value);
const now = stepnet.evaluate(stepnet.featuresOf(texts)).code;
const found = stepnet.model.fields.map((_, i) => stepnet.changes(texts, i, now).map(one => one.text));
document.getElementById("found").textContent = JSON.stringify({texts, found,
  shown: document.getElementById("answer").textContent, list: document.getElementById("changes").textContent,
  wide: document.documentElement.scrollWidth > innerWidth});
</script>
"""


def cancer(hidden=3):
    data = load_breast_cancer_wisconsin()
    X = pd.DataFrame(data.data, columns=data.feature_names)
    return StepClassifier(hidden, random_state=0).fit(X, np.array(data.target_names)[data.target]), X


def open_page(text, folder, extra, *flags):
    """A copy of the page that may run another script, in Chromium; what that script wrote."""
    text = re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</body>", f"{extra}</body>")
    page = folder / "page.html"
    page.write_text(text, encoding="utf-8")
    done = browse(page, folder, "--virtual-time-budget=60000", "--dump-dom", *flags)
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


def written(dom, name):
    return json.loads(html.unescape(re.search(rf'<pre id="{name}">(.*?)</pre>', dom, re.S).group(1)))


def test_fields_have_the_ranges_of_the_training_rows():
    model, X = cancer()
    page = to_html(model)
    assert page.count('type="number"') == X.shape[1]
    assert page.count("1 to 10") == X.shape[1]
    assert '<label for="field-0">clump_<wbr>thickness</label>' in page
    assert "http://" not in page
    assert "https://" not in page


def test_ranges_are_kept_in_model_files(tmp_path):
    model, _ = cancer()
    save(model, tmp_path / "model.json")
    assert load(tmp_path / "model.json").ranges_ == model.ranges_ == ((1.0, 10.0, True),) * 9
    assert to_html(load(tmp_path / "model.json")) == to_html(model)
    content = json.loads((tmp_path / "model.json").read_text())
    del content["ranges"]  # as in files of earlier versions
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert "1 to 10" not in to_html(load(tmp_path / "old.json"))
    content["ranges"] = [[2, 1, True]] * 9
    (tmp_path / "damaged.json").write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match="the ranges do not match the features"):
        load(tmp_path / "damaged.json")


def test_text_columns_become_choices_and_names_are_escaped(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a<b,size,y\n" + "red,1,x\nblue,2,y\ngreen,3,x\nred,4,y\n" * 3)
    table = Table.read(path, "y", encode="one_hot", impute="median")
    model = StepClassifier(2, random_state=0).fit(table.X, table.y)
    model.columns_ = table.columns
    page = to_html(model, columns="all", title="<b>&")
    assert "<h1>&lt;b&gt;&amp;</h1>" in page
    assert ">red</option>" in page
    assert "empty counts as" in page
    assert "a&lt;b" in page


def test_the_policy_names_the_script_by_its_hash():
    page = to_html(cancer()[0])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-")
    assert "unsafe-eval" not in policy


def test_numbers_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InvalidInputError, match="a calculator is for classifiers"):
        to_html(StepRegressor(1, random_state=0).fit(X, X[:, 0]))


NETWORKS = {
    "steps": lambda rng: (real(rng, 5, 3), real(rng, 1, 5)),
    "ties": lambda rng: (whole(rng, 6, 3), whole(rng, 1, 6)),
    "argmax": lambda rng: (real(rng, 6, 3), whole(rng, 3, 6, ARGMAX)),
    "stairs": lambda rng: (real(rng, 3, 3, SIGN), real(rng, 1, 3, Staircase((0.0, 1.0, 2.0)))),
}


@needs_chromium
@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_of_10_000_rows_no_answer_differs(name, tmp_path):
    rng = np.random.default_rng(len(name))
    model = fitted(*NETWORKS[name](rng))
    first = model.network_.layers[0]
    rows = np.vstack([rng.normal(0, 2, (3000, 3)), rng.integers(-3, 4, (4000, 3)), rng.normal(0, 2, (3000, 3))])
    weights, ends = first.weights[0], first.thresholds.reshape(first.width, -1)[0, 0]
    if weights.any():  # the last rows are on a hyperplane, up to rounding
        rows[7000:] -= ((rows[7000:] @ weights - ends) / (weights @ weights))[:, None] * weights
    data = json.dumps(rows.tolist())
    extra = f'<script type="application/json" id="rows">{data}</script>{ANSWERS}'
    codes = written(open_page(to_html(model, columns="all"), tmp_path, extra), "answers")
    assert len(codes) == 10_000
    assert (np.array(codes) != model.network_.predict(rows)).sum() == 0


@needs_chromium
@pytest.mark.slow
def test_the_page_answers_and_its_changes_change_the_answer_on_a_phone(tmp_path):
    model, X = cancer()
    page = to_html(model, columns="all")
    found = written(open_page(page, tmp_path, CHANGES, "--window-size=390,844"), "found")
    row = np.array(found["texts"], dtype=float)
    answer = model.predict(pd.DataFrame([row], columns=X.columns))[0]
    assert found["shown"] == answer
    assert not found["wide"]
    for i, texts in enumerate(found["found"]):
        for text in texts:
            changed = row.copy()
            changed[i] = float(text)
            assert model.predict(pd.DataFrame([changed], columns=X.columns))[0] != answer
            between = np.arange(min(row[i], changed[i]) + 1, max(row[i], changed[i]))
            for number in between:  # no nearer integer does it
                changed[i] = number
                assert model.predict(pd.DataFrame([changed], columns=X.columns))[0] == answer


@needs_chromium
@pytest.mark.slow
def test_the_page_runs_under_its_policy_without_errors_and_without_a_request(tmp_path):
    page, picture, log = tmp_path / "page.html", tmp_path / "page.png", tmp_path / "net.json"
    page.write_text(to_html(cancer()[0]), encoding="utf-8")
    done = browse(page, tmp_path, "--window-size=390,1600", f"--screenshot={picture}", f"--log-net-log={log}")
    assert picture.stat().st_size > 20_000
    assert "CONSOLE" not in done.stderr, done.stderr
    hosts = set(re.findall(r'"url":"(?:https?|wss?|ftp)://([^"/:?]*)', log.read_text()))
    assert not {host for host in hosts if not host.endswith(("google.com", "googleapis.com", "gstatic.com"))}
    dom = browse(page, tmp_path, "--virtual-time-budget=10000", "--dump-dom").stdout
    assert re.search(r'<p id="answer">(benign|malignant)</p>', dom)


@needs_chromium
@pytest.mark.slow
def test_a_keyboard_is_enough_and_a_screen_reader_is_told_all(tmp_path):
    model, X = cancer()
    path = tmp_path / "page.html"
    path.write_text(to_html(model, title="Tissue", columns="all"), encoding="utf-8")
    with Page(path, tmp_path) as page:
        assert page.ask("document.documentElement.scrollWidth") == 390  # nothing hangs over on a phone
        focused, answer = "document.activeElement", "document.getElementById('answer').textContent"
        for i in range(X.shape[1]):
            page.press("Tab")
            assert page.ask(f"{focused}.id") == f"field-{i}"
            assert page.ask(f"getComputedStyle({focused}).outlineStyle") == "solid"
        page.press("ArrowUp")
        assert page.ask(f"{focused}.value") == "6"
        page.press("Backspace", "10")
        row = pd.DataFrame([[5.0] * 8 + [10.0]], columns=X.columns)
        assert page.ask(answer) == model.predict(row)[0]
        for _ in range(8):
            page.press("Shift+Tab", "Backspace", "1")
        row.iloc[0, :8] = 1.0
        assert page.ask(answer) == model.predict(row)[0]
        page.press("Backspace")
        assert page.ask(answer) == "–"
        assert page.ask(f"{focused}.ariaInvalid") == "true"
        page.press(*["Tab"] * 9, "Enter")  # start again
        assert page.ask("document.getElementById('field-8').value") == "5"
        page.press("Tab")
        assert page.ask(f"{focused}.className") == "scroll"  # the table can be scrolled by keys
        spoken = page.spoken()
        fields = [(name.replace("_ ", "_"), note) for role, name, note in spoken if role == "spinbutton"]
        assert fields == [(name, "1 to 10") for name in X.columns]
        assert [role for role, *_ in spoken].count("status") == 1  # an answer is said once
        assert ("form", "The row", "") in spoken
        assert not page.errors


@needs_chromium
@pytest.mark.slow
def test_the_points_of_a_scorecard_light_up(tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 9, (60, 2)), columns=["age", "dose"])
    score = StepScoreClassifier(n_rules=2, random_state=0).fit(X, np.where(X.sum(axis=1) > 8, "ill", "well"))
    path = tmp_path / "page.html"
    path.write_text(to_html(score, columns="all"), encoding="utf-8")
    with Page(path, tmp_path) as page:
        for one, other in ((0, 0), (8, 8), (5, 3)):
            page.ask(f"document.getElementById('field-0').value = '{one}'")
            page.ask(f"document.getElementById('field-1').value = '{other}'")
            page.ask("document.getElementById('fields').dispatchEvent(new Event('input'))")
            why = score.explain(pd.Series({"age": one, "dose": other}))
            assert page.ask("document.getElementById('total').textContent") == f"{why.total:g}"
            assert page.ask("document.getElementById('answer').textContent") == why.answer
            lit = page.ask("Array.from(document.querySelectorAll('tr.on th'), one => one.textContent)")
            states = page.ask("Array.from(document.querySelectorAll('td.state'), one => one.textContent)")
            assert states.count("yes") == len(lit) == sum(neuron.value == 1 for neuron in why.neurons)
        assert "points</th>" in path.read_text()


@needs_chromium
@needs_axe
@pytest.mark.slow
@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_axe_finds_nothing_serious_in_the_calculator(scheme, tmp_path):
    extra = f"<script>{AXE.read_text(encoding='utf-8')}</script>{RUN_AXE}"
    flags = (f"--blink-settings=preferredColorScheme={scheme}", "--window-size=390,844")
    found = written(open_page(to_html(cancer()[0]), tmp_path, extra, *flags), "axe")
    assert found["dark"] == (scheme == DARK)
    assert {"color-contrast", "label"} <= set(found["passes"])
    assert not [one for one in found["problems"] if one[1] in ("serious", "critical")], found["problems"]
