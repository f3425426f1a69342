"""Work that would not fit is refused before it begins."""

import math

import numpy as np
import pytest

from stepnet import Exact, StepClassifier
from stepnet.errors import OutOfMemoryError
from stepnet.methods import plan
from stepnet.runtime import memory


def test_peak_and_available_are_plausible():
    assert memory.peak() is None or 10e6 < memory.peak() < 1e12
    assert memory.available() > 1e6


def test_a_container_may_have_less(tmp_path, monkeypatch):
    limit, used = tmp_path / "max", tmp_path / "current"
    limit.write_text("5000000\n")
    used.write_text("1000000\n")
    monkeypatch.setattr(memory, "_LIMITS", ((limit, used),))
    assert memory.available() == 4e6
    limit.write_text("max\n")
    assert memory.available() > 4e6
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "none")
    assert memory.available() == math.inf


def test_a_system_that_does_not_tell_has_no_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_LIMITS", ())
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    for text in ("MemTotal: 4000 kB\n", "MemAvailable:\n", "MemAvailable: many kB\n"):
        (tmp_path / "meminfo").write_text(text)
        assert memory.available() == math.inf


def test_sizes_in_words():
    assert [memory.in_words(size) for size in (2e3, 3.25e6, 1.5e10)] == ["2 kB", "3.25 MB", "15 GB"]


def test_training_says_so_before_it_starts(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000.0)
    with pytest.raises(OutOfMemoryError, match=r"training on 100 rows × 5 features takes about 12 kB .* 1 kB are free"):
        StepClassifier().fit(np.arange(500.0).reshape(100, 5), np.arange(100) % 2)


def test_a_program_that_is_too_large_is_not_built(monkeypatch):
    monkeypatch.setattr(plan, "available", lambda: 1e6)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    clf = StepClassifier((2, 2), method=Exact(formulation="tight"), time_limit=30, random_state=0).fit(X, y)
    assert clf.certificate_.stop_reason == "program too large for the memory"
    assert clf.verify(X, y)


def test_a_vote_of_very_many_pairs_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1e6)
    X = np.arange(120.0)[:, None]
    with pytest.raises(OutOfMemoryError, match=r"the vote of 7140 networks, each for two of 120 classes"):
        StepClassifier((3,), output="one_vs_one").fit(X, np.arange(120))
