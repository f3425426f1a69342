"""The benchmark instances of this field, and the best that is known of each."""

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
from stepnet.experiments.table import ResultTable
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
    """Rows, classes and a network's width: one hidden layer, each neuron with a threshold of its own."""

    name: str
    about: str
    width: int
    make: Callable[[], Labelled]

    @cached_property
    def problem(self) -> Problem:
        return StepClassifier((self.width,)).problem(*self.make())


@dataclass(frozen=True)
class Known:
    """The best network and bound known of an instance."""

    network: Network
    certificate: Certificate

    def is_better_than(self, other: Known | None) -> bool:
        """A smaller loss, then a larger bound, then one that holds for all networks."""

        def rank(certificate: Certificate) -> tuple[float, float, bool]:
            return certificate.loss, -certificate.bound, not certificate.scope.is_all

        return other is None or rank(self.certificate) < rank(other.certificate)


def _random_labels(n: int, m: int) -> Labelled:
    rng = np.random.default_rng(1000 * n + m)
    return rng.normal(size=(m, n)), rng.integers(0, 2, m)


def _planted(n: int, m: int, width: int, flipped: float) -> Labelled:
    """Labels of a random network with as many neurons, some of them flipped."""
    rng = np.random.default_rng(1000 * n + 10 * m + width)
    X = rng.normal(size=(m, n))
    bits = X @ rng.normal(size=(n, width)) >= 0.3 * rng.normal(size=width)
    score = bits @ rng.normal(size=width)
    y = (score >= np.median(score)).astype(np.int64)
    return X, np.where(rng.random(m) < flipped, 1 - y, y)


def _contradictory(n: int, m: int) -> Labelled:
    """Few different rows and random labels: equal rows of both classes cost what they weigh."""
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
    """Those of the given names; all if none is given."""
    for name in names:
        if name not in INSTANCES:
            raise InvalidInputError(f"there is no instance {name!r}; choose among {', '.join(INSTANCES)}.")
    return [INSTANCES[name] for name in names or INSTANCES]


def best_known(path: Path | None = None) -> dict[str, Known]:
    """The records that come along, or those of a file that :func:`write_instances` wrote."""
    text = (path or files("stepnet.experiments").joinpath(BEST_KNOWN)).read_text(encoding="utf-8")
    try:
        return {name: _known(entry) for name, entry in json.loads(text).items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFileError(f"{path or BEST_KNOWN} has no records of instances, or damaged ones: {error}") from error


def solve_again(instance: Instance, known: Known | None, time_limit: float, seed: int = 0) -> Known:
    """What :class:`~stepnet.methods.prove.Prove` makes of it within the time, if that is better than what is known."""
    run = Run(instance.problem, Budget(time_limit), seed=seed)
    with run.budget.catching_interrupts():
        Prove().work(run, None if known is None else known.network)
    result = run.result()
    found = Known(result.network, replace(certify(instance.problem, result), runtime=round(result.runtime, 3)))
    return found if known is None or found.is_better_than(known) else known


def write_instance(instance: Instance, folder: Path, formulation: str) -> list[tuple[str, int, int]]:
    """Write the rows as CSV and the programs as .mps; name, variables and rows of every program."""
    X, y = instance.make()
    names = [f"x{j}" for j in range(X.shape[1])]
    lines = [",".join([*(repr(float(value)) for value in row), str(code)]) for row, code in zip(X, y, strict=True)]
    write_atomically(folder / f"{instance.name}.csv", "\n".join([",".join([*names, "y"]), *lines]) + "\n")
    encodings = formulation_for(formulation, instance.problem).encode(instance.problem)
    written = []
    for number, encoding in enumerate(encodings):
        stem = instance.name if len(encodings) == 1 else f"{instance.name}-{number}"
        comment = f"{instance.name}: {instance.about}; {encoding.name}, {encoding.scope}"
        write_model(encoding.model, folder / f"{stem}.mps", comment=comment)
        written.append((f"{stem}.mps", encoding.model.n_columns, encoding.model.n_rows))
    return written


def check(instance: Instance, known: Known) -> Verification:
    """The record against the rows, in exact arithmetic."""
    return verify(instance.problem, known.network, known.certificate)


def write_records(records: dict[str, Known], path: Path) -> None:
    """As JSON, an instance a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(_entry(known), allow_nan=False)}" for name, known in records.items()]
    write_atomically(path, "{\n" + ",\n".join(lines) + "\n}\n")


def table_of(
    instances: Sequence[Instance],
    records: dict[str, Known],
    verifications: dict[str, Verification],
    programs: dict[str, list[tuple[str, int, int]]],
) -> ResultTable:
    """The library at a glance."""
    lines = []
    for instance in instances:
        data, certificate = instance.problem.dataset, records[instance.name].certificate
        written = programs[instance.name]
        size = f"{written[0][1]} × {written[0][2]}" + (f", {len(written)} programs" if len(written) > 1 else "")
        lines.append(
            (
                instance.name,
                instance.about,
                f"{data.total_weight:g}",
                str(data.n_features),
                str(instance.width),
                size,
                f"{certificate.loss:g}",
                f"{certificate.bound:g}",
                certificate.status,
                str(certificate.scope),
                f"claimed by {certificate.claimed_by}" if certificate.claimed_by else "recomputed",
                _verdict(verifications[instance.name]),
            )
        )
    head = (
        "Instance",
        "What",
        "Rows",
        "Features",
        "Neurons",
        "Variables × rows",
        "Best loss",
        "Bound",
        "Status",
        "Bound holds for",
        "The bound is",
        "Verified",
    )
    return ResultTable("instances", "Instances and what is known of them", head, tuple(lines))


def _verdict(verification: Verification) -> str:
    if not verification:
        return "FALSE"
    return "loss and bound" if all(one.holds for one in verification.checks) else "loss"


def _entry(known: Known) -> dict[str, Any]:
    certificate = known.certificate.to_dict()
    margin = certificate["margin"] if np.isfinite(certificate["margin"]) else None
    return {"network": known.network.to_dict(), "certificate": certificate | {"margin": margin}}


def _known(entry: dict[str, Any]) -> Known:
    certificate = entry["certificate"]
    margin = np.inf if certificate["margin"] is None else certificate["margin"]
    return Known(Network.from_dict(entry["network"]), Certificate.from_dict(certificate | {"margin": margin}))
