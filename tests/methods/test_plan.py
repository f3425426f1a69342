"""A fit is planned once, and the plan says what is done and why."""

import pickle

import numpy as np
import pytest

from conftest import make_problem, solve
from stepnet import Alternating, Ball, Exact, Learn, Prove, Search, StepClassifier
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.formulations.registry import FORMULATIONS
from stepnet.methods.registry import METHODS, method_of
from stepnet.provers.registry import PROVERS

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(24, 3)), RNG.integers(0, 2, 24)


@pytest.fixture(name="asked")
def count_questions(monkeypatch):
    """How often each way was asked whether it takes a problem."""
    asked = {}
    for way in (*PROVERS.values(), *FORMULATIONS.values()):
        monkeypatch.setattr(type(way), "accepts", counted(type(way).accepts, asked))
    return asked


def counted(accepts, asked):
    def asked_of(self, problem):
        asked[self.name] = asked.get(self.name, 0) + 1
        return accepts(self, problem)

    return asked_of


@pytest.mark.slow
@pytest.mark.parametrize("uncertainty", [None, Ball("linf", 0.05)])
@pytest.mark.parametrize("method", ["prove", "exact", "search", "learn"])
def test_every_way_is_asked_at_most_once_a_fit(asked, method, uncertainty):
    StepClassifier(hidden=(2,), method=method, uncertainty=uncertainty, time_limit=1, random_state=0).fit(X, Y)
    assert max(asked.values(), default=0) <= 1
    assert not asked or method in ("prove", "exact")


def test_the_plan_is_kept_and_printed(capsys):
    clf = StepClassifier(hidden=(2,), method="prove", verbose=2, random_state=0).fit(X, Y)
    plan = clf.result_.plan
    assert str(plan) in capsys.readouterr().err
    lines = str(plan).splitlines()
    assert lines[0] == "plan for 24 distinct rows of 3 features, hidden=(2,), loss misclassified"
    assert lines[1:3] == [
        "  1. free bounds and linear separation",
        "  2. local search, for up to 30% of the time",
    ]
    assert [way.name for way in plan.ways] == ["cells", "cones", "sat", "gates"]
    assert any(line.startswith("  not one_neuron: ") for line in lines)
    assert str(pickle.loads(pickle.dumps(clf)).result_.plan) == str(plan)


def test_what_is_done_is_what_was_planned():
    problem = make_problem(X, Y, (2,))
    method = Prove(search_share=0.0)
    _, result = solve(problem, method)
    planned = [f"{way.name}: {way.reason}" for way in method.plan(problem).ways]
    assert list(result.ways) == planned[: len(result.ways)] != []


def test_a_problem_is_refused_before_any_work():
    problem = make_problem(X, Y, (2, 2))
    for method in (Exact(formulation="gates"), Exact(formulation="sat"), Prove(exact=Exact(formulation="gates"))):
        with pytest.raises(NotAcceptedError, match="one hidden layer"):
            method.plan(problem)
        assert "one hidden layer" in method.accepts(problem).reason
    assert Exact().accepts(problem)


def test_one_factory_makes_methods_of_names_and_options():
    assert type(method_of("prove")) is Prove
    assert method_of("prove").get_params() == Prove().get_params()
    proved = method_of("prove", formulation="gates", solver="highs", sparse=True)
    assert (proved.exact.formulation, proved.exact.solver, proved.sparse) == ("gates", "highs", True)
    assert proved.exact.search_share == Prove().exact.search_share == 0.0
    assert method_of("exact", solver="scip").solver == "scip"
    assert method_of("alternating", formulation="paper").formulation == "paper"
    own = Search(moves=5)
    assert method_of(own) is own
    assert set(METHODS.values()) == {Prove, Learn, Search, Exact, Alternating}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("x", {}, "choose 'prove', 'learn', 'search', 'exact', 'alternating'"),
        (3, {}, "is not known"),
        (
            "learn",
            {"formulation": "gates"},
            "method='learn' has no option 'formulation'; it has batch, epochs, rate, strength",
        ),
        ("prove", {"epochs": 3}, "method='exact' has no option 'epochs'"),
    ],
)
def test_what_no_method_takes_is_an_error(name, options, message):
    with pytest.raises(InvalidInputError, match=message):
        method_of(name, **options)


@pytest.mark.parametrize("is_left_out", [True, False])
def test_time_that_is_too_little_for_a_program_goes_to_the_search(is_left_out, monkeypatch):
    shares = []
    monkeypatch.setattr("stepnet.methods.prove.search_within", lambda run, share, *_, **__: shares.append(share))
    monkeypatch.setattr(Exact, "close", lambda self, run: None)
    monkeypatch.setattr("stepnet.methods.plan._SECONDS", 1e9 if is_left_out else 0.0)
    solve(make_problem(X, Y, (2,)), Prove())
    assert shares == ([0.3, 1.0] if is_left_out else [0.3])
