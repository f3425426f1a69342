"""The page stands alone, keeps its structure whatever names it is given, and says what the report says."""

import dataclasses
import re
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from report_models import HOSTILE, LINE, SQUARE, every_kind, fitted, xor
from stepnet import StepClassifier, StepRegressor
from stepnet.model.activations.argmax import ARGMAX
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.network import Layer, Network
from stepnet.report import Report, to_html
from stepnet.report.svg import ticks

KINDS = every_kind()
VOID = {"meta", "link", "br", "hr", "img", "input"}
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


class Page(HTMLParser):
    """What a page consists of; fails where tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes), tuple(self.open)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def all(self, tag):
        return [attributes for name, attributes, _ in self.tags if name == tag]


def of(model, train=None, **options):
    return to_html(Report.of(model, train, **options))


def full(names=("a", "b"), classes=("no", "yes")):
    """XOR with everything that a report can have."""
    y = np.array(classes)[[0, 1, 1, 0]]
    model = xor(y, names=names)
    model.trace_ = ((0.5, 2.0, 0.0), (1.0, 0.0, 0.0))
    return of(model, (SQUARE, y, None), test=(SQUARE, y), radius=0.1, title=names[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("has_rows", [True, False])
def test_pages_of_every_kind_are_well_formed(kind, has_rows):
    estimator, (X, y) = KINDS[kind]
    page = Page(of(estimator, (X, y, None) if has_rows else None))
    headings = [tag for tag, _, _ in page.tags if tag in HEADINGS]
    assert headings.count("h1") == 1
    levels = list(map(HEADINGS.index, headings))
    assert levels[0] == 0
    assert all(below - above <= 1 for above, below in pairwise(levels))
    ids = [attributes["id"] for _, attributes, _ in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for attributes in page.all("a")]
    assert links[0] == "#main"
    assert {link[1:] for link in links} <= set(ids)
    assert len(page.all("table")) == len(page.all("caption"))
    assert all(attributes.get("scope") in ("row", "col") for attributes in page.all("th"))
    assert all(attributes.get("aria-label") for _, attributes, _ in page.tags if attributes.get("tabindex") == "0")
    assert {"main", "header", "footer", "nav"} <= {tag for tag, _, _ in page.tags}
    for svg in page.all("svg"):
        assert svg["role"] == "img"
        assert set(svg["aria-labelledby"].split()) <= set(ids)
    assert page.all("html") == [{"lang": "en"}]


def test_the_page_loads_nothing_and_runs_nothing():
    text = full()
    page = Page(text)
    assert not {"script", "img", "iframe", "object", "embed", "form", "base"} & {tag for tag, _, _ in page.tags}
    for _, attributes, _ in page.tags:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "srcset", "action", "xlink:href"):
            assert attributes.get(name, "#").startswith(("#", "data:,"))
    assert not re.search(r"@import|url\(|https?://", text)
    policy = next(one["content"] for one in page.all("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert len(text) < 2e6


def test_hostile_names_stay_names():
    names, classes = (HOSTILE, '"><svg onload=alert(1)>'), ("</title><b>no</b>", "{{ 7 * 7 }}")
    page, plain = Page(full(names, classes)), Page(full())
    assert [tag for tag, _, _ in page.tags if tag != "title"] == [tag for tag, _, _ in plain.tags if tag != "title"]
    assert "{{ 7 * 7 }}" in page.text
    assert "<script>alert('x')</script>" in page.text
    assert "\x1b" not in page.text


def test_the_drawing_tells_signs_by_colour_and_by_dashes():
    text = full()
    svg = ET.fromstring(re.search(r'<svg[^>]*class="drawing network">.*?</svg>', text, re.S).group(0))
    weights = [path for path in svg.iter("path") if "weight" in path.get("class")]
    assert [path.get("class") for path in weights].count("weight positive") == 5
    assert [path.get("class") for path in weights].count("weight negative") == 1
    assert {path.find("title").text for path in weights} >= {"a → h1: 1", "h2 → output: -1"}
    assert re.search(r"\.negative \{[^}]*stroke-dasharray", text)
    assert {"a", "b", "h1", "h2", "output", "on: yes", "off: no"} <= {node.text for node in svg.iter("text")}


def test_widths_of_lines_are_relative_within_a_layer():
    network = Network((Layer([[4.0, 2.0], [1.0, 0.0]], [1.0, 1.0]), Layer([[0.1, 0.1]], [0.05])))
    model = fitted(StepClassifier((2,)), network, SQUARE, np.array([0, 0, 1, 1]), names=("a", "b"))
    svg = re.search(r'<svg[^>]*class="drawing network">.*?</svg>', of(model), re.S).group(0)
    widths = {
        path.find("title").text.split(":")[0]: float(path.get("stroke-width"))
        for path in ET.fromstring(svg).iter("path")
    }
    assert len(widths) == 5
    assert widths["a → h1"] > widths["b → h1"] > widths["a → h2"]
    assert widths["h1 → output"] == widths["h2 → output"] == widths["a → h1"]


def test_large_networks_are_drawn_in_part_and_say_so():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(50, 64))
    network = Network((Layer(weights, np.zeros(50)), Layer(rng.normal(size=(1, 50)), [0.0])))
    X = rng.normal(size=(30, 64))
    model = fitted(StepClassifier((50,)), network, X, network.predict(X))
    text = of(model, (X, network.predict(X), None))
    assert "Only the strongest are drawn; 38 features, 24 neurons and 2,924 lines are left out." in Page(text).text
    assert text.count("<path") == 64 * 50 + 50 - 2924
    assert len(text) < 2e6


def test_a_false_certificate_is_shown_loudly():
    model = xor()
    model.certificate_ = dataclasses.replace(model.certificate_, loss=1.0, gap=1.0, status="FEASIBLE")
    text = of(model, (SQUARE, [0, 1, 1, 0], None))
    page = Page(text)
    assert (
        "This certificate is FALSE. Do not rely on this model: it claims loss 1, but the network's exact loss is 0"
        in page.text
    )
    assert "the network's exact loss is 0" in page.text
    assert 'role="alert"' in text
    assert 'class="card bad"' in text
    assert 'role="alert"' not in of(xor(), (SQUARE, [0, 1, 1, 0], None))


def test_without_training_rows_nothing_is_said_to_be_checked():
    text = Page(of(xor())).text
    assert "Not checked here." in text
    assert "Certificate checked." not in text


def test_flat_curves_and_outputs_without_variance_are_drawn_too():
    network = Network((Layer([[1.0]], [9.0]), Layer([[1.0]], [0.0], IDENTITY)))
    model = fitted(StepRegressor((1,)), network, LINE, np.zeros(6))
    model.trace_ = ((0.0, 0.0, 0.0),)
    page = Page(of(model, (LINE, np.zeros(6), None)))
    assert "nan" not in page.text
    assert all("nan" not in value for _, attributes, _ in page.tags for value in attributes.values() if value)


def test_the_chart_of_the_fit_steps_from_point_to_point():
    text = full()
    svg = ET.fromstring(re.search(r'<svg[^>]*class="drawing trace">.*?</svg>', text, re.S).group(0))
    loss = next(path for path in svg.iter("path") if path.get("class") == "line loss")
    assert len(re.findall(r"V", loss.get("d"))) == 1
    assert {"loss, finally 0", "bound, finally 0"} <= {node.text for node in svg.iter("text")}


@pytest.mark.parametrize("ends", [(0.0, 1.0), (0.0, 7.3), (-2.0, 1e6), (0.0, 3e-7), (0.0, 559.0)])
def test_ticks_are_few_round_numbers_within_the_range(ends):
    found = ticks(*ends)
    assert 3 <= len(found) <= 8
    assert ends[0] <= found[0]
    assert found[-1] <= ends[1] * (1 + 1e-9)


def test_many_features_classes_and_long_names_stay_small():
    rng = np.random.default_rng(0)
    scores = Network(
        (Layer(rng.normal(size=(3, 3000)), np.zeros(3)), Layer(rng.normal(size=(60, 3)), np.zeros(60), ARGMAX))
    )
    X, y = rng.normal(size=(120, 3000)), np.arange(120) % 60
    model = fitted(
        StepClassifier((3,), output="one_hot"), scores, X, y, names=[f"{'x' * 1000}{i}" for i in range(3000)]
    )
    text = of(model, (X, y, None))
    assert len(text) < 2e6
    words = Page(text).text
    assert "(the first 500 of 3,000)" in words
    assert "Training rows: the most frequent errors" in words
    assert "and 2960 more." in words
