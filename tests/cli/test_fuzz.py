"""Whatever comes in: no traceback, no half-written file, no wrong answer. benchmarks/fuzz.py tries 2,000 cases."""

import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import fuzzing

FEW = settings(max_examples=25, suppress_health_check=list(HealthCheck), phases=[Phase.generate], derandomize=True)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    fuzzing.make_models(folder)
    return folder


@contextmanager
def copied(models):
    """A folder of its own for each case."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(models, name, dirs_exist_ok=True)
        yield Path(name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", fuzzing.CASES)
def test_nothing_breaks(models, kind):
    @FEW
    @given(st.data())
    def check(data):
        with copied(models) as folder:
            fuzzing.CASES[kind](folder, data.draw)

    check()


HOSTILE = """
import json, sys
from stepnet import load
load("binary.json"); load("encoded.json")
seen = []
WATCHED = ("exec", "compile", "os.system", "subprocess.Popen", "pickle.find_class", "import", "os.exec")
sys.addaudithook(lambda event, args: seen.append((event, str(args)[:80])) if event in WATCHED else None)
for path in sys.argv[1:]:
    try:
        load(path)
    except ValueError:
        pass
print(json.dumps(seen))
"""


def test_loading_a_model_runs_no_code(models):
    """Every place of a model file holds code once; an audit hook sees whether any of it is touched."""
    code = "__import__('os').system('touch hacked')"
    files = []
    for name in ("binary", "encoded"):
        content = json.loads((models / f"{name}.json").read_text())
        for number, path in enumerate(fuzzing.paths_of(content)[1:]):
            copy = json.loads(json.dumps(content))
            place = copy
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = code if number % 2 else {"object": code, "fields": {}}
            files.append(models / f"hostile_{name}_{number}.json")
            files[-1].write_text(json.dumps(copy))
    command = [sys.executable, "-c", HOSTILE, *map(str, files)]
    done = subprocess.run(command, cwd=models, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
    assert not (models / "hacked").exists()
