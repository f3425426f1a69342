"""The package imports without extras, and cheaply."""

import subprocess
import sys

import pytest

import stepnet


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_every_public_name_exists():
    for name in stepnet.__all__:
        assert getattr(stepnet, name) is not None
    assert set(stepnet.__all__) <= set(dir(stepnet))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        stepnet.nothing  # noqa: B018


def test_works_without_any_extra():
    code = """
import sys
EXTRAS = ("pyscipopt", "gurobipy", "ortools", "onnx", "matplotlib", "jinja2", "pandas", "pyarrow", "dask")
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ImportError(f"there is no {name}")
sys.meta_path.insert(0, Missing())
from stepnet import StepClassifier
clf = StepClassifier(hidden=(2,), method="prove", random_state=0).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
print(clf.certificate_.loss, clf.certificate_.status)
"""
    result = run(code)
    assert result.stdout.split() == ["0.0", "OPTIMAL"], result.stderr


def test_the_command_line_starts_and_helps_without_heavy_imports():
    heavy = ("numpy", "scipy", "sklearn", "numba", "highspy", "ortools", "pandas")
    code = f"""
import contextlib, io, sys
from stepnet.cli.app import main
for command in ([], ["fit"], ["reproduce"]):
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main([*command, "--help"])
print([name for name in {heavy} if name in sys.modules])
"""
    result = run(code)
    assert result.stdout.strip() == "[]", result.stderr


def test_importing_leaves_the_log_alone():
    result = run(
        "import logging, stepnet.methods.exact; print(logging.getLogger('stepnet').handlers, logging.root.handlers)"
    )
    assert result.stdout.strip() == "[] []", result.stderr
