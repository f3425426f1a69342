"""The files that contributors expect are there, parse, and agree with each other and with the code."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from documentation import DOCS, ROOT

yaml = pytest.importorskip("yaml", reason="needs pip install 'stepnet[docs]'")

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
YAML_FILES = [
    ".github/workflows/ci.yml",
    ".github/ISSUE_TEMPLATE/bug.yml",
    ".github/ISSUE_TEMPLATE/feature.yml",
    ".github/ISSUE_TEMPLATE/config.yml",
    ".pre-commit-config.yaml",
    "CITATION.cff",
]


def parsed(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", YAML_FILES)
def test_files_of_settings_parse(name):
    assert isinstance(parsed(name), dict)


@pytest.mark.parametrize(
    "name", ["LICENSE", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md", ".github/PULL_REQUEST_TEMPLATE.md"]
)
def test_texts_for_contributors_are_there(name):
    assert len((ROOT / name).read_text(encoding="utf-8").split()) > 20


def test_the_workflow_runs_the_checks_on_every_python_that_is_promised():
    job = parsed(".github/workflows/ci.yml")["jobs"]["test"]
    assert ".ci/run" in [step.get("run") for step in job["steps"]]
    promised = {name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)}
    assert set(job["strategy"]["matrix"]["python"]) == promised
    assert PROJECT["requires-python"] == f">={min(promised, key=lambda one: int(one[2:]))}"


def test_hooks_call_tools_of_the_environment():
    hooks = [hook for repository in parsed(".pre-commit-config.yaml")["repos"] for hook in repository["hooks"]]
    assert [hook["entry"] for hook in hooks] == [".venv/bin/ruff check", ".venv/bin/ruff format", ".venv/bin/mypy"]


def test_issue_templates_ask_something():
    for name in ("bug", "feature"):
        template = parsed(f".github/ISSUE_TEMPLATE/{name}.yml")
        assert {"name", "description", "body"} <= set(template)
        assert any(field.get("validations", {}).get("required") for field in template["body"])


def test_addresses_are_those_of_one_repository():
    assert set(PROJECT["urls"]) == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    home = PROJECT["urls"]["Homepage"]
    assert all(address.startswith(home) for address in PROJECT["urls"].values())
    assert parsed("CITATION.cff")["repository-code"] == home
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", DOCS / "first_steps.md"]
    assert all(home in file.read_text(encoding="utf-8") for file in files)


def test_the_version_to_cite_is_that_of_the_package():
    import stepnet

    assert parsed("CITATION.cff")["version"] == stepnet.__version__


def test_targets_of_make_that_are_named_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for file in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        named = set(re.findall(r"(?:^|`)make ([\w-]+)", file.read_text(encoding="utf-8"), re.MULTILINE))
        assert {"demo", "test"} <= named <= targets


def test_the_architecture_names_classes_where_they_are():
    text = (DOCS / "dev" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"\| `(\w+)` \| `([\w/]+\.py)` \|$", text, re.MULTILINE)
    assert len(named) >= 9
    for name, file in named:
        tree = ast.parse(Path(ROOT, "src", "stepnet", file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}, file
