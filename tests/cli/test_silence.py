"""Plain logs of commands: a sign of life wherever work takes long, on standard error alone."""

import json
import sys
import time

import pytest

import stepnet as package
from command_line import stepnet
from stepnet.cli import inputs, reports

COMMANDS = {
    "predict": ("predict", "m.json", "xor.csv", "--json"),
    "verify": ("verify", "m.json", "xor.csv", "--target", "mood", "--json"),
    "attack": ("attack", "m.json", "xor.csv", "--target", "mood", "--json"),
    "report": ("report", "m.json", "xor.csv", "--target", "mood", "--to", "text"),
    "export": ("export", "m.json", "--to", "onnx", "--check", "xor.csv"),
    "fit": ("fit", "xor.csv", "--target", "mood", "--hidden", "1", "--method", "search", "--time-limit", "1"),
}


@pytest.fixture(name="xor")
def _xor(tmp_path):
    (tmp_path / "xor.csv").write_text("rain,sun,mood\n0,0,calm\n0,1,wild\n1,0,wild\n1,1,calm\n")
    stepnet("fit", "xor.csv", "--target", "mood", "--hidden", "2", "--out", "m.json", cwd=tmp_path)
    return tmp_path


def slow_until_said(function, words):
    """The function, which begins its work only after standard error has the words."""

    def slow(*arguments, **options):
        end = time.monotonic() + 60
        while words not in sys.stderr.getvalue() and time.monotonic() < end:
            time.sleep(0.001)
        return function(*arguments, **options)

    return slow


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_reads_for_long_says_so(xor, monkeypatch, command):
    words = "s  computing the report\n" if command == "report" else "s  reading xor.csv\n"
    for module in (inputs, reports):
        monkeypatch.setattr(module, "read_table", slow_until_said(module.read_table, words))
    result = stepnet(*COMMANDS[command], cwd=xor, silence=0.01)
    assert result.returncode == 0, result.stderr
    assert words in result.stderr
    assert result.messages == ""


def test_work_without_a_stage_of_its_own_is_not_silent(xor, monkeypatch):
    monkeypatch.setattr(package, "load", slow_until_said(package.load, "s  predict is at work\n"), raising=False)
    result = stepnet("predict", "m.json", "xor.csv", cwd=xor, silence=0.01)
    assert "s  predict is at work\n" in result.stderr
    assert result.stdout.split() == ["prediction", "calm", "wild", "wild", "calm"]


def test_the_answer_stays_one_json_object(xor, monkeypatch):
    monkeypatch.setattr(inputs, "read_table", slow_until_said(inputs.read_table, "s  reading xor.csv\n"))
    result = stepnet("predict", "m.json", "xor.csv", "--json", cwd=xor, silence=0.01)
    assert json.loads(result.stdout)["rows"] == 4


def test_a_quick_command_says_nothing(xor):
    assert stepnet("predict", "m.json", "xor.csv", cwd=xor).stderr == ""
