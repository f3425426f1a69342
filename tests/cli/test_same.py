"""The command line and Python are one: the same data and options give the same networks and certificates."""

import numpy as np
import pytest

from command_line import stepnet
from stepnet import Alternating, Ball, Exact, Integers, Lowers, Prove, Raises, StepClassifier, StepRegressor, load

RNG = np.random.default_rng(1)
ROWS = np.round(4 * RNG.normal(size=(40, 3))) / 4
LABELS = np.where(ROWS[:, 0] + ROWS[:, 1] * ROWS[:, 2] + RNG.normal(size=40) > 0, "yes", "no")

CASES = {
    "prove": ("--hidden 2", {"hidden": (2,)}),
    "learn": ("--hidden 3 --method learn", {"hidden": (3,), "method": "learn"}),
    "a chosen width": ("--hidden auto --method learn", {"hidden": "auto", "method": "learn"}),
    "search": ("--hidden 2 --method search --time-limit 1", {"hidden": (2,), "method": "search", "time_limit": 1.0}),
    "a formulation": (
        "--hidden 1 --method prove --formulation gates --solver highs",
        {"hidden": (1,), "method": Prove(exact=Exact(formulation="gates", solver="highs", search_share=0.0))},
    ),
    "exact": ("--hidden 1 --method exact --formulation sat", {"hidden": (1,), "method": Exact(formulation="sat")}),
    "alternating": (
        "--hidden 1 --method alternating --formulation paper --time-limit 1",
        {"hidden": (1,), "method": Alternating(formulation="paper"), "time_limit": 1.0},
    ),
    "integers": ("--hidden 0 --weights 2 --time-limit 1", {"hidden": (), "weights": Integers(2), "time_limit": 1.0}),
    "signs": (
        "--hidden 1 --raises a --lowers c --time-limit 1",
        {"hidden": (1,), "constraints": (Raises("a"), Lowers("c")), "time_limit": 1.0},
    ),
    "robust": (
        "--hidden 2 --radius 0.05 --time-limit 1",
        {"hidden": (2,), "uncertainty": Ball("linf", 0.05), "time_limit": 1.0},
    ),
}
IN_TIME = {"prove", "learn", "a chosen width", "exact", "a formulation"}  # no two runs end alike at a limit


@pytest.fixture(name="table", scope="module")
def write_table(tmp_path_factory):
    path = tmp_path_factory.mktemp("same") / "table.csv"
    lines = [",".join([*map(repr, row), label]) for row, label in zip(ROWS.tolist(), LABELS, strict=True)]
    path.write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    return path


def same(one, other):
    """All of a certificate but the clock."""
    clock = {"runtime", "stop_reason"}
    return {name: value for name, value in one.to_dict().items() if name not in clock} == {
        name: value for name, value in other.to_dict().items() if name not in clock
    }


LONG = {"a chosen width", "a formulation"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in CASES]
)
def test_a_fit_is_the_same_either_way(name, table, tmp_path):
    options, parameters = CASES[name]
    done = stepnet("fit", table, "--target", "y", "--out", "m.json", *options.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    typed = load(tmp_path / "m.json")
    python = StepClassifier(**parameters, random_state=0)
    names = ["a", "b", "c"]
    pandas = pytest.importorskip("pandas")
    python.fit(pandas.DataFrame(ROWS, columns=names), LABELS)
    for parameter, value in typed.get_params().items():
        assert repr(value) == repr(python.get_params()[parameter]), parameter
    if name in IN_TIME:
        assert typed.network_ == python.network_
        assert same(typed.certificate_, python.certificate_)
    assert typed.certificate_.fingerprint == python.certificate_.fingerprint


def test_a_regression_is_the_same_either_way(tmp_path):
    path = tmp_path / "numbers.csv"
    y = np.round(2.0 * (ROWS[:, 0] > 0) + (ROWS[:, 1] > 0.3), 3)
    lines = [",".join(map(repr, [*row, value])) for row, value in zip(ROWS.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    options = "--target y --task regression --hidden 2 --method learn --out m.json"
    assert stepnet("fit", path, *options.split(), cwd=tmp_path).returncode == 0
    typed, python = load(tmp_path / "m.json"), StepRegressor(hidden=(2,), method="learn", random_state=0).fit(ROWS, y)
    assert typed.network_ == python.network_
    assert same(typed.certificate_, python.certificate_)


def test_constraints_keep_their_names(table, tmp_path):
    options = ["--target", "y", "--hidden", "1", "--raises", "b", "--time-limit", "2", "--out", "m.json"]
    done = stepnet("fit", table, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert load(tmp_path / "m.json").constraints == (Raises("b"),)
    done = stepnet("fit", table, *options, "--lowers", "b", "--weights", "sign", cwd=tmp_path)
    assert done.returncode == 2
    assert "b may only raise the score" in done.stderr
