"""Mutants of proofs: folders in which something was changed, and a judge that knows by brute force what is true.

A mutant may still be true: a smaller bound, or a line that changes nothing. So it is not asked whether a mutant is
refused, but whether one that is accepted claims nothing false. To see whether evidence can be bent until it carries a
false claim, half of the mutants start from one: a larger bound with a network of a larger loss, or other rows.
"""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import brute_force
from stepnet import FalsePositives, Network, Recall, StepClassifier, StepScoreClassifier, verify_proof
from stepnet.model.gates import Gate
from stepnet.problem.dataset import Dataset
from stepnet.proof_files.claim import Claim
from stepnet.proof_files.clause_files import _Checking
from stepnet.proof_files.kinds import KINDS
from stepnet.proof_files.question import Watch
from stepnet.proof_files.refutation import Refutation, Step
from stepnet.provers.counting import Counting
from stepnet.runtime.limits import Budget

NUMBERS = [0, 1, -1, 2, 0.5, 1e300, 2**70, -(2**70), float("nan"), float("inf"), None, True, "1", [], {}]


@dataclass(frozen=True)
class Case:
    """A small table and a classifier, whose bound a kind of proof shows."""

    title: str
    kind: str
    model: Callable[[], Any]
    n_features: int
    n_rows: int
    most_weight: int = 1
    n_levels: int = 0  # of every feature; 0 for many

    def write(self, folder: Path, seed: int) -> bool:
        """Fit, and write the proof; False if there is nothing to be proven."""
        rng = np.random.default_rng(seed)
        shape = self.n_rows, self.n_features
        X = np.round(rng.normal(size=shape) * 8) / 8
        if self.n_levels:
            X = rng.integers(0, self.n_levels, shape).astype(float)
        y = rng.permutation(np.arange(self.n_rows) % 2)
        weights = rng.integers(1, self.most_weight + 1, self.n_rows).astype(float)
        weights[0] = 1.0
        model = self.model().fit(X, y, weights)
        if not model.certificate_.bound:
            return False
        kinds = tuple(kind for kind in KINDS if kind.name == self.kind)
        few = patch("stepnet.proof_files.cone_files._MANY", 1)  # so that cones and branches prove small bounds
        with patch("stepnet.proof_files.written.KINDS", kinds), few:
            return bool(model.save_proof(folder, X, y, weights, time_limit=60) == model.certificate_.bound)


def _neurons(*hidden: int, **given: Any) -> Callable[[], Any]:
    return lambda: StepClassifier(hidden, method="prove", time_limit=60, random_state=0, **given)


def _rules(n_rules: int, points: int, per_feature: int) -> Callable[[], Any]:
    return lambda: StepScoreClassifier(
        n_rules, points, rules_per_feature=per_feature, method="prove", time_limit=60, random_state=0
    )


RECALL, ALARMS = [Recall(1, at_least=0.9)], [FalsePositives(1, at_most=0)]
CASES = [
    Case("equal rows", "equal rows", _neurons(2), 1, 12, n_levels=2),
    Case("clauses, one neuron", "clauses", _neurons(1), 2, 9, most_weight=3),
    Case("clauses, two neurons", "clauses", _neurons(2), 1, 10, n_levels=8),
    Case("clauses, three neurons", "clauses", _neurons(3), 1, 10, most_weight=2),
    Case("clauses, limits on errors", "clauses", _neurons(1, constraints=RECALL), 2, 9),
    Case("trees of cones, one feature", "cones", _neurons(1), 1, 10, most_weight=9),
    Case("trees of cones, two features", "cones", _neurons(1), 2, 11, most_weight=12, n_levels=4),
    Case("trees of branches", "branches", _neurons(1), 2, 11, most_weight=9, n_levels=5),
    Case("trees of branches, limits on errors", "branches", _neurons(1, constraints=RECALL), 2, 9, most_weight=3),
    Case("enumeration, one neuron", "enumeration", _neurons(1), 2, 9, most_weight=3),
    Case("enumeration, two neurons", "enumeration", _neurons(2), 1, 10),
    Case("enumeration, points on lines", "enumeration", _neurons(2), 2, 10, n_levels=3),
    Case("enumeration, limits on errors", "enumeration", _neurons(1, constraints=ALARMS), 2, 9, n_levels=4),
    Case("scorecards, two rules", "scorecards", _rules(2, 2, 2), 2, 10, n_levels=5),
    Case("scorecards, one rule per feature", "scorecards", _rules(2, 1, 1), 3, 10, most_weight=3),
]
if Counting().is_available():
    CASES += [
        Case("sums", "sums", _neurons(1), 2, 11, most_weight=5, n_levels=5),
        Case("sums, limits on errors", "sums", _neurons(1, constraints=RECALL), 2, 9),
    ]


class Judge:
    """Whether the claim of a folder is true; every question is answered once."""

    def __init__(self) -> None:
        self.known: dict[Any, float] = {}

    def is_true(self, folder: Path) -> bool:
        content, data = read(folder), rows_of(folder)
        network = Network.from_dict(json.loads((folder / "network.json").read_text()))
        layers = [(layer.weights.tolist(), layer.thresholds.tolist()) for layer in network.layers]
        loss = brute_force.rational_loss(layers, data.X, data.y, data.weights)
        wrong = np.array(brute_force.rational_answers(layers, data.X)).ravel() != (data.y == 1)
        limits = json.loads((folder / "limits.json").read_text()) if content.get("limits") else []
        is_met = all(np.array(one["coefficients"])[wrong].sum() <= one["most"] for one in limits)
        is_canonical = Dataset.from_rows(data.X, data.y, data.weights).has_fingerprint(content["fingerprint"])
        return bool(is_canonical and is_met and loss == content["loss"]) and bool(
            content["bound"] <= self._best(data, tuple(content["hidden"]), limits, content.get("form"))
        )

    def _best(self, data: Dataset, hidden: tuple[int, ...], limits: list[Any], form: Any) -> float:
        key = data.X.tobytes(), data.y.tobytes(), data.weights.tobytes(), hidden, json.dumps([limits, form])
        if key not in self.known:
            self.known[key] = self._searched(data, hidden, limits, form)
        return self.known[key]

    def _searched(self, data: Dataset, hidden: tuple[int, ...], limits: list[Any], form: Any) -> float:
        if form is not None:
            return brute_force.best_scorecard_loss(data.X, data.y, data.weights, *form.values())
        if not limits:
            return float(brute_force.best_loss(data.X, data.y, hidden, weights=data.weights))
        wrong = np.array(list(brute_force.answer_patterns(data.X, sum(hidden)))) != (data.y == 1)
        for one in limits:
            wrong = wrong[wrong @ np.array(one["coefficients"]) <= one["most"]]
        return float((wrong @ data.weights).min())


@dataclass
class Outcome:
    """What became of the mutants of a case."""

    honest: int = 0
    counts: Counter[str] = field(default_factory=Counter)  # refused, accepted and true, accepted and false
    failures: list[str] = field(default_factory=list)


def tried(case: Case, place: Path, seeds: range, n_mutants: int) -> Outcome:
    """Check the honest proofs of a case, and so many mutants of each."""
    outcome, judge, folders = Outcome(), Judge(), list[Path]()
    place.mkdir(exist_ok=True)
    for seed in seeds:
        folder = place / f"honest-{seed}"
        if case.write(folder, seed):
            folders.append(folder)
    with patch("stepnet.proof_files.clause_files.why_not_checked", lambda proof: "drup is left out"):
        for number, folder in enumerate(folders):
            if verify_proof(folder) and judge.is_true(folder):
                outcome.honest += 1
            else:
                outcome.failures.append(f"{folder}: an honest proof is refused")
            for mutant, words in mutants(folder, folders, place, random.Random(number), n_mutants):
                _count(mutant, words, judge, outcome)
                shutil.rmtree(mutant)
    return outcome


def _count(mutant: Path, words: str, judge: Judge, outcome: Outcome) -> None:
    try:
        if not verify_proof(mutant):
            outcome.counts["refused"] += 1
        elif judge.is_true(mutant):
            outcome.counts["accepted and true"] += 1
        else:
            outcome.counts["accepted and false"] += 1
            outcome.failures.append(f"{words}: a false claim is accepted: {(mutant / 'proof.json').read_text()[:400]}")
    except Exception as error:
        outcome.counts["broken"] += 1
        outcome.failures.append(f"{words}: {type(error).__name__}: {error}")


def mutants(
    folder: Path, others: list[Path], place: Path, rng: random.Random, n_mutants: int
) -> Iterator[tuple[Path, str]]:
    """Copies of a folder, changed; and what was done to them. Some are changed twice."""
    starts = [_nothing, _nothing, _larger_bound, _other_rows]
    changes = [_number, _number, _entry, _token, _token, _line, _text, _other_file, _claim]
    if (folder / "gate-1.cnf").is_file():
        changes.append(_own_clauses)
    done = 0
    while done < n_mutants:
        copy = place / "mutant"
        shutil.copytree(folder, copy)
        start = rng.choice(starts)
        chosen = rng.choices(changes, k=rng.choice([1, 1, 2])) if start is _nothing else rng.choices(changes, k=1)
        if start is not _nothing and rng.random() < 0.3:
            chosen = []
        words = [one.__name__ for one in (start, *chosen)]
        if all([start(copy, rng), *(change(copy, rng, others) for change in chosen)]):
            done += 1
            yield copy, f"{folder.name} {' '.join(words)}"
        if copy.exists():
            shutil.rmtree(copy)


def read(folder: Path) -> Any:
    return json.loads((folder / "proof.json").read_text())


def rows_of(folder: Path) -> Dataset:
    _, *lines = csv.reader(io.StringIO((folder / "rows.csv").read_text()))
    table = np.array([[float(cell) for cell in line] for line in lines])
    return Dataset(table[:, :-2], table[:, -2].astype(np.int16), table[:, -1])


# What a claim may be to begin with. Each answers whether it could do its work.


def _nothing(copy: Path, rng: random.Random) -> bool:
    return True


def _larger_bound(copy: Path, rng: random.Random) -> bool:
    """A bound that is too large, with a constant network, which loses more."""
    content, data = read(copy), rows_of(copy)
    path = copy / "network.json"
    network = json.loads(path.read_text())
    for layer in network["layers"][-1:]:
        layer["thresholds"] = [rng.choice([-100.0, 100.0]) for _ in layer["thresholds"]]
    path.write_text(json.dumps(network))
    content["loss"] = float(data.weights[Network.from_dict(network).predict(data.X) != data.y].sum())
    content["bound"] += content["unit"] * rng.choice([1, 1, 2])
    (copy / "proof.json").write_text(json.dumps(content))
    return bool(content["bound"] <= content["loss"])


def _other_rows(copy: Path, rng: random.Random) -> bool:
    """Some row has another class, weight or place, and the fingerprint and the loss are right for that."""
    content, data = read(copy), rows_of(copy)
    X, y, weights = data.X.copy(), data.y.copy(), data.weights.copy()
    for _ in range(rng.choice([1, 1, 2])):
        row, what = rng.randrange(len(y)), rng.randrange(3)
        if what == 0:
            y[row] = 1 - y[row]
        elif what == 1:
            weights[row] = max(1.0, weights[row] + rng.choice([-1, 1]))
        else:
            X[row, rng.randrange(X.shape[1])] += rng.choice([-2, -1, -0.5, 0.5, 1, 2])
    data = Dataset.from_rows(X, y, weights)
    cells = [[*row, code, weight] for row, code, weight in zip(data.X, data.y, data.weights, strict=True)]
    header = (copy / "rows.csv").read_text().splitlines()[0]
    lines = [",".join([*(repr(float(x)) for x in row[:-2]), str(row[-2]), repr(float(row[-1]))]) for row in cells]
    (copy / "rows.csv").write_text("\n".join([header, *lines]) + "\n")
    network = Network.from_dict(json.loads((copy / "network.json").read_text()))
    content["fingerprint"] = data.fingerprint
    content["loss"] = float(data.weights[network.predict(data.X) != data.y].sum())
    (copy / "proof.json").write_text(json.dumps(content))
    return bool(content["bound"] <= content["loss"])


# Changes. Each answers whether there was something to change.


def _number(copy: Path, rng: random.Random, others: list[Path]) -> bool:
    """A number in a JSON file is another one, or none."""
    return _in_json(copy, rng, _changed_number)


def _entry(copy: Path, rng: random.Random, others: list[Path]) -> bool:
    """An entry of a JSON file is missing, there twice or elsewhere."""
    return _in_json(copy, rng, _changed_entry)


def _in_json(copy: Path, rng: random.Random, change: Callable[[Any, random.Random], bool]) -> bool:
    path = rng.choice(sorted(copy.glob("*.json")))
    try:
        content = json.loads(path.read_text())
    except ValueError:
        return False
    is_done = change(content, rng)
    path.write_text(json.dumps(content))
    return is_done


def _containers(content: Any) -> list[Any]:
    found = [content] if isinstance(content, list | dict) else []
    for part in found and (content.values() if isinstance(content, dict) else content):
        found = [*found, *_containers(part)]
    return [one for one in found if one]


def _changed_number(content: Any, rng: random.Random) -> bool:
    places = [
        (part, key)
        for part in _containers(content)
        for key, value in (part.items() if isinstance(part, dict) else enumerate(part))
        if isinstance(value, int | float)
    ]
    if not places:
        return False
    part, key = rng.choice(places)
    value = part[key]
    part[key] = rng.choice([value + 1, value + 1, value - 1, value - 1, -value, 2 * value, rng.choice(NUMBERS)])
    return True


def _changed_entry(content: Any, rng: random.Random) -> bool:
    parts = _containers(content)
    if not parts:
        return False
    part = rng.choice(parts)
    if isinstance(part, dict):
        part.pop(rng.choice(sorted(part)))
        return True
    place, other = rng.randrange(len(part)), rng.randrange(len(part))
    what = rng.randrange(4)
    if what == 0:
        part.pop(place)
    elif what == 1:
        part.insert(other, part[place])
    elif what == 2:
        part[place], part[other] = part[other], part[place]
    else:
        del part[place:]
    return True


def _chosen_text(copy: Path, rng: random.Random) -> Path:
    names = sorted(copy.iterdir())
    plain = [path for path in names if path.suffix in (".cnf", ".drat", ".csv")]
    return rng.choice(plain if rng.random() < 0.7 else names)


def _token(copy: Path, rng: random.Random, others: list[Path]) -> bool:
    """A number in a line of text is another one."""
    path = _chosen_text(copy, rng)
    lines = path.read_text().splitlines()
    if not lines:
        return False
    place, mark = rng.randrange(len(lines)), "," if path.suffix == ".csv" else " "
    tokens = lines[place].split(mark)
    k = rng.randrange(len(tokens))
    try:
        value = int(tokens[k])
    except ValueError:
        tokens[k] = rng.choice(["0", "1", "-1", "x", "", "1e9"])
    else:
        tokens[k] = str(rng.choice([value + 1, value - 1, -value, 0, 10**12]))
    if rng.random() < 0.2:
        tokens.pop(k)
    lines[place] = mark.join(tokens)
    path.write_text("\n".join(lines) + "\n")
    return True


def _line(copy: Path, rng: random.Random, others: list[Path]) -> bool:
    """Lines are missing, there twice, or in another order."""
    path = _chosen_text(copy, rng)
    lines = path.read_text().splitlines()
    if len(lines) < 2:
        return False
    place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(4)
    if what == 0:
        lines.pop(place)
    elif what == 1:
        lines.insert(other, lines[place])
    elif what == 2:
        lines[place], lines[other] = lines[other], lines[place]
    else:
        del lines[min(place, other) : max(place, other)]
    path.write_text("\n".join(lines) + "\n")
    return True


def _text(copy: Path, rng: random.Random, others: list[Path]) -> bool:
    """A file is cut off, a character is another one, or there is no file."""
    path = rng.choice(sorted(copy.iterdir()))
    text = path.read_text()
    place = rng.randrange(len(text) + 1)
    what = rng.randrange(4)
    if what == 0:
        path.unlink()
    elif what == 1:
        path.write_text(text[:place])
    else:
        path.write_text(text[:place] + rng.choice("0123456789-,. []{}\nx\0") + text[place + 1 :])
    return True


def _other_file(copy: Path, rng: random.Random, others: list[Path]) -> bool:
    """A file is one of another proof of the same kind, or of another gate."""
    path = rng.choice(sorted(copy.iterdir()))
    sources = [folder / path.name for folder in others if (folder / path.name).is_file()]
    sources += [other for other in copy.iterdir() if other.suffix == path.suffix and other != path]
    if not sources:
        return False
    path.write_text(rng.choice(sorted(sources)).read_text())
    return True


def _own_clauses(copy: Path, rng: random.Random, others: list[Path]) -> bool:
    """All clauses of the claim as it is now, which are well-founded, and steps that say they contradict each other."""
    try:
        claim = Claim(copy)
        checking = _Checking(claim, Watch(Budget()))
        for number, entry in enumerate(claim.content["gates"], 1):
            formula = checking._formula(Gate(tuple(entry["weights"]), entry["threshold"]), entry["ordering"])
            clauses = [*formula.clauses, *([literal] for literal in formula.at_most(claim.question.limit))]
            for subsystem in checking.subsystems:
                clauses += formula.of_subsystem(subsystem.rows)
            proof = Refutation(tuple(map(tuple, clauses)), (Step(()),))
            (copy / f"gate-{number}.cnf").write_text(proof.to_dimacs())
            if rng.random() < 0.5:
                (copy / f"gate-{number}.drat").write_text(proof.to_drat())
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return False
    return bool(claim.content["gates"])


def _claim(copy: Path, rng: random.Random, others: list[Path]) -> bool:
    """The claim is one about other networks, or is proven in another way."""
    try:
        content = read(copy)
    except (OSError, ValueError):
        return False
    form = {"n_rules": rng.choice([1, 2]), "points": rng.choice([1, 2]), "rules_per_feature": rng.choice([1, 2])}
    other_claims: list[dict[str, Any]] = [
        {"kind": rng.choice([kind.name for kind in KINDS])},
        {"hidden": rng.choice([[], [1], [2], [3], [1, 1]])},
        {"form": rng.choice([None, form, form | {"points": 10**9}, {}])},
        {"unit": rng.choice([0.5, 2.0, 3.0, 0.0, -1.0])},
        {"limits": rng.choice([True, False])},
        {"bound": content.get("loss")},
        {"gates": rng.choice([[], content.get("gates"), [{"weights": [1], "threshold": 1, "ordering": []}]])},
        {"heavy": [rng.sample(range(9), rng.choice([1, 2, 3]))]},
        {"impossible": [rng.sample(range(9), rng.choice([1, 2, 3]))]},
        {"grain": rng.choice([0, 1, 2, 100])},
    ]
    content |= rng.choice(other_claims)
    (copy / "proof.json").write_text(json.dumps(content))
    return True
