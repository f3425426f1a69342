"""Displays draw what is asked for, on the axes that are given, and import matplotlib only then."""

import subprocess
import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

mpl = pytest.importorskip("matplotlib", reason="the extra report is not installed")
mpl.use("agg")

from matplotlib import pyplot as plt  # noqa: E402

from stepnet import StepClassifier, StepRegressor  # noqa: E402
from stepnet.errors import InvalidInputError  # noqa: E402
from stepnet.plot import NetworkDisplay, RegionsDisplay, TraceDisplay, TradeoffDisplay  # noqa: E402

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


@pytest.fixture(scope="module")
def model():
    return StepClassifier(4, random_state=0).fit(X, Y)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_a_network_has_all_its_nodes(model):
    display = NetworkDisplay.from_estimator(model)
    texts = {text.get_text() for text in display.ax_.texts}
    assert {"x0", "x1", "same"} <= texts
    assert display.n_left_out_ == 7 - len(texts)
    NetworkDisplay.from_estimator(model.network_)


def test_regions_are_the_answers_of_predict(model):
    display = RegionsDisplay.from_estimator(model, X, Y, grid=20)
    points = np.array([[x, y] for y in display.y for x in display.x])
    assert (model.classes_[display.codes].ravel() == model.predict(points)).all()
    assert display.ax_.get_xlabel() == "x0"


def test_the_trace_ends_with_the_loss_and_the_bound_of_the_certificate(model):
    figure, ax = plt.subplots()
    display = TraceDisplay.from_estimator(model, ax=ax)
    assert display.figure_ is figure
    assert display.loss_.get_ydata()[-1] == model.certificate_.loss
    assert display.bound_.get_ydata()[-1] == model.certificate_.bound


def test_a_trade_off_shows_points_and_bounds():
    points = [
        SimpleNamespace(recall=r, at_most=f, recall_at_most=b)
        for r, f, b in ((Fraction(97, 100), 8, 1), (0.9, 3, None))
    ]
    display = TradeoffDisplay.from_tradeoff(SimpleNamespace(points=points, positive="ill"))
    assert display.found_.get_xdata().tolist() == [3, 8]
    assert display.found_.get_ydata().tolist() == [90.0, 97.0]
    assert display.bound_.get_xdata().tolist() == [8]
    assert display.ax_.get_ylabel() == "recall of ill, %"


def test_what_cannot_be_drawn_is_refused(model):
    with pytest.raises(InvalidInputError, match="call fit first"):
        TraceDisplay.from_estimator(StepClassifier())
    with pytest.raises(InvalidInputError, match="the 2 features of the model"):
        RegionsDisplay.from_estimator(model, X[:, :1])
    with pytest.raises(InvalidInputError, match="for classifiers"):
        RegionsDisplay.from_estimator(StepRegressor(1, random_state=0).fit(X, X[:, 0]), X)


def test_matplotlib_is_not_imported_with_the_package():
    code = "import sys, stepnet; stepnet.plot.NetworkDisplay; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
