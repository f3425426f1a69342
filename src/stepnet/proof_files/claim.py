"""Claim: what the files of a proof say, whatever kind it is, and the checks that all kinds share."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from stepnet.certificate.verification import Check
from stepnet.model.activations.staircase import STEP
from stepnet.model.gates import MAX_GATE_INPUTS
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.problem.losses.misclassified import Misclassified
from stepnet.proof_files.question import ErrorLimit, Question
from stepnet.proof_files.score_boxes import refuses

FORMAT, VERSION = "stepnet proof", 1
LIMITS = "limits.json"
FORM, MOST_OF_FORM = ("n_rules", "points", "rules_per_feature"), 100  # of scorecards


class Claim:
    """That a network has a loss, and that none loses less than a bound."""

    n_checks = 3

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.content = self.json("proof.json")
        if self.content["format"] != FORMAT or self.content["version"] != VERSION:
            raise ValueError(f"proof.json is not a {FORMAT} of version {VERSION}")
        self.loss, self.bound, self.unit = (number(self.content[name]) for name in ("loss", "bound", "unit"))
        self.hidden = tuple(map(integer, self.content["hidden"]))
        self.form = None if self.content.get("form") is None else _form(self.content["form"], self.hidden)
        most = MAX_GATE_INPUTS if self.form is None else self.form["n_rules"]
        if len(self.hidden) > 1 or not all(1 <= width <= most for width in self.hidden):
            raise ValueError(f"hidden={self.hidden} is not one layer of at most {most} neurons")
        self.dataset = self._dataset()
        self.limits = self._limits() if self.content.get("limits", False) else []

    @property
    def kind(self) -> str:
        """Files of version 0.1 have no name of a kind."""
        if "kind" not in self.content:
            return "clauses" if self.content["gates"] else "equal rows"
        return str(self.content["kind"])

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def json(self, name: str) -> Any:
        return json.loads(self.text(name))

    @cached_property
    def question(self) -> Question:
        """Losses are multiples of a unit, so the largest one below the bound excludes everything below."""
        return Question.of(self.dataset, self.hidden, self.bound, Fraction(self.unit), self.limits, self.form)

    def checks(self) -> Iterator[Check]:
        yield self._data()
        yield self._network()
        yield self._bound()

    def _dataset(self) -> Dataset:
        _, *lines = csv.reader(io.StringIO(self.text("rows.csv")))
        X = np.array([[float(value) for value in line[:-2]] for line in lines])
        weights = np.array([float(line[-1]) for line in lines])
        return Dataset(X, np.array([int(line[-2]) for line in lines], dtype=np.int16), weights)

    def _limits(self) -> list[ErrorLimit]:
        found = []
        for entry in self.json(LIMITS):
            one = ErrorLimit(str(entry["name"]), tuple(map(integer, entry["coefficients"])), integer(entry["most"]))
            if len(one.coefficients) != self.dataset.n_rows or min(one.coefficients) < 0:
                raise ValueError(f"the limit {one.name!r} needs one coefficient per row, none below 0")
            found.append(one)
        return found

    def _data(self) -> Check:
        claim, data = f"data {self.content['fingerprint']}", self.dataset
        if not (np.isfinite(data.X).all() and set(data.y.tolist()) <= {0, 1} and (data.weights > 0).all()):
            return Check(claim, False, "rows must be finite, classes 0 or 1, weights positive")
        whole = Dataset.from_rows(data.X, data.y, data.weights)
        is_canonical = all(map(np.array_equal, (data.X, data.y, data.weights), (whole.X, whole.y, whole.weights)))
        holds = is_canonical and data.has_fingerprint(self.content["fingerprint"])
        return Check(claim, holds, f"{data.n_rows} distinct rows with the fingerprint {data.fingerprint}")

    def _network(self) -> Check:
        network = Network.from_dict(self.json("network.json"))
        loss = Misclassified().evaluate(self.dataset, network)
        fits = network.widths == (*self.hidden, 1) and network.n_features == self.dataset.n_features
        fits = fits and all(layer.activation == STEP for layer in network.layers)
        claim = f"loss {self.loss:.17g} with {self._words}"
        kind = "steps" if fits else "other neurons"
        if fits and self.form is not None and (reason := refuses(self.form, network.layers)):
            return Check(claim, False, f"the network is no scorecard of the form: {reason}")
        found = f"the network of {kind}, widths {network.widths}, has the loss {loss:.17g}"
        wrong = np.flatnonzero(network.predict(self.dataset.X) != self.dataset.y).tolist() if self.limits else []
        for one in self.limits:
            total = sum(one.coefficients[row] for row in wrong)
            found += f"; {one.name}: {total} of at most {one.most}"
            fits = fits and total <= one.most
        return Check(claim, fits and loss == self.loss, found)

    @property
    def _words(self) -> str:
        """Of the networks that the claim is about."""
        if self.form is None:
            return f"hidden={self.hidden}"
        rules, points, most = (self.form[name] for name in FORM)
        return f"scorecards of up to {rules} rules of 1 to {points} points, up to {most} per feature"

    def _bound(self) -> Check:
        claim = f"bound {self.bound:.17g} of all {'networks' if self.form is None else 'such scorecards'}"
        if not 0 <= self.bound <= self.loss:
            return Check(claim, False, "it is not between 0 and the loss")
        assert self.question  # raises ValueError if weights are not multiples of the unit
        words = f", of networks that meet {len(self.limits)} limits on errors" if self.limits else ""
        return Check(claim, True, f"row weights are multiples of {self.unit:g}{words}")


def _form(content: Any, hidden: tuple[int, ...]) -> dict[str, int]:
    form = {name: integer(content[name]) for name in FORM}
    if min(form.values()) < 1 or max(form.values()) > MOST_OF_FORM or len(hidden) != 1:
        raise ValueError(f"{content} is no form of scorecards with hidden={hidden}")
    return form


def integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not an integer")
    return value


def number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)
