"""Tables for papers: every neuron has its line, and nothing breaks the markup."""

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from stepnet import StepClassifier
from stepnet.export import to_markdown, to_tex

X = pd.DataFrame(np.random.default_rng(0).integers(0, 9, (60, 2)), columns=["a_1 & 50%", "x|y"])
Y = np.where(X.sum(axis=1) > 8, "yes_#", "no")


@pytest.fixture(scope="module")
def model():
    return StepClassifier(3, random_state=0).fit(X, Y)


def test_markdown_has_a_line_for_each_neuron_with_all_its_cells(model):
    lines = [line for line in to_markdown(model).splitlines() if line.startswith("|")]
    assert len(lines) == 2 + int(model.network_.used_neurons[0].sum())
    assert {line.replace("\\|", "").count("|") for line in lines} == {4}
    assert lines[0] == "| neuron | on where | weight |"
    assert r"yes\_\#" in to_markdown(model)


def test_latex_has_no_bare_special_character(model):
    text = to_tex(model)
    assert r"a\_1 \& 50\%" in text
    assert r"\begin{tabularx}" in text
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert all(line.replace(r"\&", "").count("&") == 2 for line in body)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_latex_compiles(model, tmp_path):
    page = r"\documentclass{article}\usepackage{booktabs,tabularx}\begin{document}" + "\n" + to_tex(model)
    (tmp_path / "page.tex").write_text(page + r"\end{document}")
    done = subprocess.run(["pdflatex", "-halt-on-error", "page.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def test_several_classes_have_a_column_each():
    labels = X.iloc[:, 0].to_numpy() // 3
    model = StepClassifier(4, random_state=0).fit(X, labels)
    assert "| neuron | on where | for 0 | for 1 | for 2 |" in to_markdown(model)


def test_a_single_neuron_is_a_sentence():
    model = StepClassifier((), method="prove").fit(X, Y)
    assert "where" in to_markdown(model)
    assert "tabularx}{" not in to_tex(model)
