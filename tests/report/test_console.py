"""Plain text for a terminal: its content, its width, and commands that can be run."""

import contextlib
import dataclasses
import io

import pytest

from report_models import HOSTILE, SQUARE, XOR, every_kind, fitted, xor
from stepnet import StepClassifier, save
from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import BranchAndBound
from stepnet.bounds.scope import Scope
from stepnet.report import Report, to_text
from stepnet.report.blocks import Code
from stepnet.report.document import document_of

KINDS = every_kind()


@pytest.mark.parametrize("width", [60, 100])
def test_text_fits_the_width(width):
    text = to_text(Report.of(xor(), (SQUARE, [0, 1, 1, 0], None)), width=width)
    code = [line for line in text.splitlines() if line.startswith("    ")]
    assert all(len(line) <= width for line in text.splitlines() if line not in code)
    assert "h1 and not h2" in text


def test_text_has_no_characters_that_steer_a_terminal():
    text = to_text(Report.of(xor(names=(HOSTILE, "[red]b[/red]")), title=HOSTILE))
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert "[red]b[/red]" in text


def test_a_false_certificate_is_shown_loudly():
    model = xor()
    model.certificate_ = dataclasses.replace(model.certificate_, loss=1.0, gap=1.0, status="FEASIBLE")
    text = to_text(Report.of(model, (SQUARE, [0, 1, 1, 0], None)))
    assert "[!!] This certificate is FALSE. Do not rely on this model: it claims loss 1, but" in text


def test_words_of_a_learned_network():
    model = xor((0, 1, 1, 1))
    model.certificate_ = dataclasses.replace(model.certificate_, status="LEARNED")
    text = " ".join(to_text(Report.of(model, (SQUARE, [0, 1, 1, 1], None))).split())
    assert "LEARNED means that the network was trained for new rows, and not for the smallest training loss" in text
    assert "Among all networks of this architecture none has a training loss below 0." in text
    assert "FEASIBLE" not in text
    assert "How the fit went" not in text  # loss and bound were not meant to meet
    assert "Certificate checked." in text


def test_words_of_a_bound_that_a_solver_claims():
    model = xor((0, 1, 1, 1))
    assert model.certificate_.loss == 1
    claim = Bound(0.5, Scope(margin=0.001), BranchAndBound("tight", 1, "HiGHS 1.14"))
    model.certificate_ = dataclasses.replace(
        model.certificate_,
        bound=claim.value,
        gap=0.5,
        scope=claim.scope,
        evidence=claim.evidence,
    )
    text = " ".join(to_text(Report.of(model, (SQUARE, [0, 1, 1, 1], None))).split())
    assert "Loss checked, bound not repeated." in text
    assert "but among networks with margin >= 0.001 none has a loss below 0.5" in text
    assert "the loss can fall by at most 50.0 %" in text
    assert "It rests on HiGHS 1.14" in text


def test_words_of_an_optimal_and_of_a_worst_case_certificate():
    model = xor()
    text = " ".join(to_text(Report.of(model)).split())
    assert (
        "OPTIMAL means that this cannot be improved: among all networks of this architecture none has a smaller loss."
        in text
    )
    assert "No solver has to be trusted" in text
    model.certificate_ = dataclasses.replace(
        model.certificate_, uncertainty="linf ball of radius 0.1", nominal_loss=0.0
    )
    text = " ".join(to_text(Report.of(model)).split())
    assert "if an adversary perturbs them (linf ball of radius 0.1)" in text
    assert "Without perturbations it is 0." in text


@pytest.mark.parametrize("kind", ["binary", "one_hot", "regressor", "autoencoder"])
def test_the_python_lines_run(kind, tmp_path, monkeypatch, recwarn):
    estimator, _ = KINDS[kind]
    save(estimator, tmp_path / "model.json")
    monkeypatch.chdir(tmp_path)
    blocks = [block for part in document_of(Report.of(estimator)).sections[-1].parts for block in part.blocks]
    code = next(block.text for block in blocks if isinstance(block, Code) and block.language == "python")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, {})
    assert "loss" in out.getvalue() or "error" in out.getvalue()
    assert not recwarn.list


def test_models_that_no_command_takes_have_python_lines_only():
    text = to_text(Report.of(KINDS["autoencoder"][0]))
    assert "stepnet verify" not in text
    assert "stepnet predict" not in text
    assert "print(model.verify(X))" in text
    assert "print(model.verify(X, y))" in to_text(Report.of(KINDS["two numbers"][0]))


def test_the_column_of_weights_is_named():
    y, weights = [0, 1, 1, 0], [1.0, 2.0, 1.0, 1.0]
    model = fitted(StepClassifier((2,)), XOR, SQUARE, y, weights)
    text = to_text(Report.of(model, (SQUARE, y, weights), weight="how heavy"))
    assert "stepnet verify model.json data.csv --target y --sample-weight 'how heavy'" in text
