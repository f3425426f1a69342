"""Plain progress: a line per report, and a sign of life where there is none."""

import math
import threading
from types import SimpleNamespace

import pytest

from stepnet.runtime import view
from stepnet.runtime.progress import Progress


class Listener:
    """Stands for standard error; knows when so many lines have come."""

    def __init__(self, n_lines):
        self.lines, self.is_enough, self._n_lines = [], threading.Event(), n_lines

    def isatty(self):
        return False

    def write(self, text):
        self.lines.append(text)
        if len(self.lines) >= self._n_lines:
            self.is_enough.set()

    def flush(self):
        pass

    def wait_for(self, n_lines):
        self._n_lines = n_lines
        self.is_enough.clear()
        if len(self.lines) < n_lines:
            assert self.is_enough.wait(60)


@pytest.fixture(name="listener")
def _listener(monkeypatch):
    listener = Listener(3)
    monkeypatch.setattr(view, "_SILENCE", 0.01)
    monkeypatch.setattr(view, "sys", SimpleNamespace(stderr=listener))  # pytest replaces that of the system
    return listener


def test_the_last_state_is_repeated_with_the_time_that_has_passed(listener):
    with view.showing(60) as show:
        show(Progress(7.0, 3.0, 1.0, 2 / 3, "sat", share=0.5))
        assert listener.is_enough.wait(60)
    seconds, states = zip(*(line.split(" s  ", 1) for line in listener.lines if "(start)" not in line), strict=True)
    assert set(states) == {"loss 3  bound 1  gap 66.7 %  (sat, 50% done)\n"}
    assert list(map(float, seconds)) == sorted(map(float, seconds))
    assert seconds[0] == "    7.00"


def test_work_that_has_not_reported_yet_is_not_silent(listener):
    with view.showing(math.inf, "attacking 9 rows"):
        assert listener.is_enough.wait(60)
    assert all(line.endswith(" s  attacking 9 rows\n") for line in listener.lines)


def test_nothing_is_said_after_the_end(listener):
    with view.showing(60):
        assert listener.is_enough.wait(60)
    assert not any(thread.name == "plain progress" for thread in threading.enumerate())


def test_quick_work_without_a_report_says_nothing(monkeypatch, capsys):
    monkeypatch.setattr(view, "_SILENCE", 1000.0)
    with view.showing(60, "reading the proof"):
        pass
    assert capsys.readouterr().err == ""


def test_parts_of_a_vote_have_no_loss(listener):
    with view.showing(60) as show:
        show(Progress.of_parts(1.0, 3, 4, "members"))
    assert "    1.00 s  loss -  bound -  gap -  (3 of 4 members, 75% done)\n" in listener.lines


def test_of_work_inside_other_work_the_inner_one_is_repeated(listener):
    with view.breaking_silence("predict is at work"):
        with view.showing(math.inf, "reading t.csv"):
            n_before = len(listener.lines)
            assert listener.is_enough.wait(60)
            inside = listener.lines[n_before:]
        n_before = len(listener.lines)
        listener.wait_for(n_before + 3)
        after = listener.lines[n_before:]
    assert all(line.endswith(" s  reading t.csv\n") for line in inside)
    assert all(line.endswith(" s  predict is at work\n") for line in after)


def test_silence_counts_from_the_last_line_of_any_work(listener, monkeypatch):
    monkeypatch.setattr(view, "_SILENCE", 1000.0)
    with view.breaking_silence("predict is at work"):
        view._LOG.said -= 999.99  # as if the command had imported for long
        with view.showing(math.inf, "reading t.csv"):
            listener.wait_for(1)
    assert len(listener.lines) == 1


def test_a_terminal_needs_no_signs_of_life(listener, monkeypatch):
    monkeypatch.setattr(listener, "isatty", lambda: True)
    with view.breaking_silence("predict is at work"):
        assert not any(thread.name == "plain progress" for thread in threading.enumerate())


def test_a_closed_standard_error_is_no_trouble(monkeypatch):
    monkeypatch.setattr(view, "sys", SimpleNamespace(stderr=None))
    with view.breaking_silence("predict is at work"):
        assert not any(thread.name == "plain progress" for thread in threading.enumerate())
