"""The README's example runs and prints what the README says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
# What may differ from one run to the next.
CHANGING = [
    (r"after [\d.]+ s", "after ... s"),
    (r"margin [\d.e-]+", "margin ..."),
    (r"accuracy [\d.]+", "accuracy ..."),
]


def steady(text):
    for pattern, replacement in CHANGING:
        text = re.sub(pattern, replacement, text)
    return text.strip()


EXAMPLES = re.findall(r"```python\n(.*?)```\s+```\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_the_examples_print_what_the_readme_says(code, output):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert steady(printed.getvalue()) == steady(output)
    for accuracy in re.findall(r"accuracy ([\d.]+)", printed.getvalue()):
        assert float(accuracy) > 90


def test_there_are_examples():
    assert len(EXAMPLES) == 5


def test_every_command_of_the_readme_exists():
    from stepnet.cli.app import app

    known = {command.callback.__name__ for command in app.registered_commands}
    used = set(re.findall(r"^stepnet (\w+)", README, re.MULTILINE))
    assert used
    assert used <= known
