"""Benchmark instances, and the best network and bound known for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from stepnet.certificate.certificate import Certificate, certify
from stepnet.certificate.verification import Verification
from stepnet.certificate.verify import verify
from stepnet.datasets import load_breast_cancer_wisconsin, make_paper_random
from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.estimators.step_classifier import StepClassifier
from stepnet.experiments.cell import PAPER_SEED
from stepnet.experiments.table import ResultTable, csv_text
from stepnet.formulations.registry import formulation_for
from stepnet.methods.prove import Prove
from stepnet.methods.run import Run
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.runtime.files import write_atomically
from stepnet.runtime.limits import Budget
from stepnet.solvers.writers import write_model

BEST_KNOWN = "best_known.json"
Labelled = tuple[Floats, NDArray[np.int64]]


@dataclass(frozen=True)
class Instance:
    """Rows, classes, and the width of the one hidden layer; each neuron has its own threshold."""

    name: str
    about: str
    width: int
    make: Callable[[], Labelled]

    @cached_property
    def problem(self) -> Problem:
        return StepClassifier((self.width,)).problem(*self.make())


@dataclass(frozen=True)
class Known:
    """The best network and bound known for an instance."""

    network: Network
    certificate: Certificate

    @property
    def rank(self) -> tuple[float, float, bool]:
        """Lower is better: a smaller loss, then a larger bound, then a bound for all networks."""
        return self.certificate.loss, -self.certificate.bound, not self.certificate.scope.is_all


def _random_labels(n: int, m: int) -> Labelled:
    rng = np.random.default_rng(1000 * n + m)
    return rng.normal(size=(m, n)), rng.integers(0, 2, m)


def _planted(n: int, m: int, width: int, flipped: float) -> Labelled:
    """Labels of a random network of this width; a share of them is flipped."""
    rng = np.random.default_rng(1000 * n + 10 * m + width)
    X = rng.normal(size=(m, n))
    bits = X @ rng.normal(size=(n, width)) >= 0.3 * rng.normal(size=width)
    score = bits @ rng.normal(size=width)
    y = (score >= np.median(score)).astype(np.int64)
    return X, np.where(rng.random(m) < flipped, 1 - y, y)


def _contradictory(n: int, m: int) -> Labelled:
    """Few distinct rows with random labels, so that equal rows belong to both classes."""
    rng = np.random.default_rng(1000 * n + m + 7)
    return rng.integers(-1, 2, (m, n)).astype(np.float64), rng.integers(0, 2, m)


def _paper_random(m: int, seed: int) -> Labelled:
    X, y = make_paper_random(seed)
    return X[:m], y[:m]


def _breast_cancer() -> Labelled:
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    X_train, _, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=PAPER_SEED)
    return X_train, y_train


def _all() -> Iterator[Instance]:
    for m, seed in ((20, 0), (20, 1), (160, 0), (160, 1)):
        about = f"the paper's random data, seed {seed}"
        yield Instance(f"paper-m{m}-d20-s{seed}", about, 20, partial(_paper_random, m, seed))
    for n, m, widest in ((3, 20, 3), (3, 30, 3), (3, 50, 3), (5, 30, 2), (5, 50, 2)):
        for width in range(1, widest + 1):
            yield Instance(f"random-n{n}-m{m}-d{width}", "random labels", width, partial(_random_labels, n, m))
    for n, m, width in ((4, 40, 2), (6, 60, 3)):
        name = f"planted-n{n}-m{m}-d{width}"
        yield Instance(name, "planted network", width, partial(_planted, n, m, width, 0.0))
        about = "planted network, a tenth of the labels flipped"
        yield Instance(f"{name}-noisy", about, width, partial(_planted, n, m, width, 0.1))
    for n, m, width in ((2, 30, 2), (3, 60, 3)):
        name = f"contradictory-n{n}-m{m}-d{width}"
        yield Instance(name, "equal rows of both classes", width, partial(_contradictory, n, m))
    for width in (1, 2, 3, 25):
        yield Instance(f"breast-cancer-d{width}", "Breast Cancer, the paper's training rows", width, _breast_cancer)


INSTANCES: dict[str, Instance] = {instance.name: instance for instance in _all()}


def chosen_instances(names: Sequence[str]) -> list[Instance]:
    """The instances with the given names; all if no name is given."""
    for name in names:
        if name not in INSTANCES:
            raise InvalidInputError(f"there is no instance {name!r}; choose one of {', '.join(INSTANCES)}.")
    return [INSTANCES[name] for name in names or INSTANCES]


def best_known(path: Path | None = None) -> dict[str, Known]:
    """The bundled records, or those of a file that :func:`write_records` wrote."""
    text = (path or files("stepnet.experiments").joinpath(BEST_KNOWN)).read_text(encoding="utf-8")
    try:
        return {name: _known(entry) for name, entry in json.loads(text).items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFileError(f"{path or BEST_KNOWN} has no records of instances, or is damaged: {error}") from error


def solve_again(instance: Instance, known: Known | None, time_limit: float, seed: int = 0) -> Known:
    """The result of :class:`~stepnet.methods.prove.Prove` within the time limit, if it is better than ``known``."""
    run = Run(instance.problem, Budget(time_limit), seed=seed)
    with run.budget.catching_interrupts():
        Prove().work(run, None if known is None else known.network)
    result = run.result()
    found = Known(result.network, replace(certify(instance.problem, result), runtime=round(result.runtime, 3)))
    return found if known is None or found.rank < known.rank else known


def write_instance(instance: Instance, folder: Path, formulation: str) -> list[tuple[str, int, int]]:
    """Write the rows as CSV and the programs as .mps; returns name, variables and rows of every program."""
    X, y = instance.make()
    lines = ([*row, code] for row, code in zip(X.tolist(), y.tolist(), strict=True))
    head = [*(f"x{j}" for j in range(X.shape[1])), "y"]
    write_atomically(folder / f"{instance.name}.csv", csv_text([head, *lines]))
    encodings = formulation_for(formulation, instance.problem).encode(instance.problem)
    written = []
    for number, encoding in enumerate(encodings):
        stem = instance.name if len(encodings) == 1 else f"{instance.name}-{number}"
        comment = f"{instance.name}: {instance.about}; {encoding.name}, {encoding.scope}"
        write_model(encoding.model, folder / f"{stem}.mps", comment=comment)
        written.append((f"{stem}.mps", encoding.model.n_columns, encoding.model.n_rows))
    return written


def check(instance: Instance, known: Known) -> Verification:
    """Check a record against the rows, in exact arithmetic."""
    return verify(instance.problem, known.network, known.certificate)


def write_records(records: dict[str, Known], path: Path) -> None:
    """As JSON, one line per instance."""
    lines = [f"{json.dumps(name)}: {json.dumps(_entry(known), allow_nan=False)}" for name, known in records.items()]
    write_atomically(path, "{\n" + ",\n".join(lines) + "\n}\n")


def table_of(
    instances: Sequence[Instance],
    records: dict[str, Known],
    verifications: dict[str, Verification],
    programs: dict[str, list[tuple[str, int, int]]],
) -> ResultTable:
    """All instances with their sizes and records."""
    lines = []
    for instance in instances:
        data, certificate = instance.problem.dataset, records[instance.name].certificate
        written = programs[instance.name]
        size = f"{written[0][1]} × {written[0][2]}" + (f", {len(written)} programs" if len(written) > 1 else "")
        lines.append(
            [
                ("Instance", instance.name),
                ("What", instance.about),
                ("Rows", f"{data.total_weight:g}"),
                ("Features", str(data.n_features)),
                ("Neurons", str(instance.width)),
                ("Variables × rows", size),
                ("Best loss", f"{certificate.loss:g}"),
                ("Bound", f"{certificate.bound:g}"),
                ("Status", certificate.status),
                ("Bound holds for", str(certificate.scope)),
                ("The bound is", f"claimed by {certificate.claimed_by}" if certificate.claimed_by else "recomputed"),
                ("Verified", _verdict(verifications[instance.name])),
            ]
        )
    return ResultTable.of("instances", "Instances and the best known results", lines)


def _verdict(verification: Verification) -> str:
    if not verification:
        return "FALSE"
    return "loss and bound" if all(one.holds for one in verification.checks) else "loss"


def _entry(known: Known) -> dict[str, Any]:
    return {"network": known.network.to_dict(), "certificate": known.certificate.to_dict()}


def _known(entry: dict[str, Any]) -> Known:
    return Known(Network.from_dict(entry["network"]), Certificate.from_dict(entry["certificate"]))
