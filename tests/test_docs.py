"""The table of choices is what the code says, and what it promises holds."""

import importlib.util
from pathlib import Path

import pytest

from conftest import solve
from stepnet.errors import NotAcceptedError

SCRIPT = Path(__file__).resolve().parent.parent / "docs" / "choices.py"
SPEC = importlib.util.spec_from_file_location("choices", SCRIPT)
choices = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(choices)


def test_the_page_is_up_to_date():
    assert choices.PAGE.read_text(encoding="utf-8") == choices.page(), "run: python docs/choices.py"


@pytest.mark.slow
@pytest.mark.parametrize("choice", choices.CHOICES)
def test_methods_do_what_the_table_says(choice):
    problem = choices.CHOICES[choice]
    for name, method in choices.METHODS.items():
        answer = method.accepts(problem)
        if answer:
            certificate, result = solve(problem, method, time_limit=1.0)
            assert certificate.loss == problem.evaluate(result.network), name
        else:
            assert "Use " in answer.reason
            with pytest.raises(NotAcceptedError):
                solve(problem, method, time_limit=1.0)


@pytest.mark.parametrize("choice", choices.CHOICES)
def test_every_refusal_says_what_would_do(choice):
    for answer in choices.answers(choices.CHOICES[choice]).values():
        assert answer or "Use " in answer.reason
