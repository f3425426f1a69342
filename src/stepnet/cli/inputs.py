"""What commands read: the rows of tables, models, options given as text, and paths to write to."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepnet.cli.written import written
from stepnet.errors import InvalidInputError
from stepnet.runtime.view import showing
from stepnet.tables.table import read_table
from stepnet.tables.training import ModelRows, features_of, targets_in, without_names

if TYPE_CHECKING:
    from stepnet.tables.columns import Columns
    from stepnet.tables.table import RawTable


@dataclass(frozen=True)
class InputRows:
    """Training rows, and how the columns of the table became features."""

    columns: Columns
    X: Any
    y: Any
    weights: Any
    groups: dict[str, Any] = field(default_factory=dict)  # columns that are no features, as they are in the table


def read(data: Path, *text: str) -> RawTable:
    """A table, whose reading may take long; the columns ``text`` are kept as written."""
    with showing(math.inf, f"reading {data}"):
        return read_table(data, text=text)


def training_rows(
    data: Path,
    target: str,
    sample_weight: str | None,
    drop: list[str] | None,
    *,
    is_number: bool = False,
    encode: str = "",
    impute: str = "",
    groups: Collection[str] = (),
    grid: float | None = None,
) -> InputRows:
    from stepnet.tables.training import training_part

    table = read(data, target)
    part = training_part(table, target, sample_weight, drop or [], is_number, encode, impute, grid)
    others = {name: list(table.column(name)) for name in groups if name not in part.columns.features}
    return InputRows(*part, groups=others)


def targets_for(estimator: Any, table: RawTable, target: str) -> Any:
    """What a model should predict; None for an autoencoder, which reconstructs the rows themselves."""
    from sklearn.base import is_regressor

    if not hasattr(estimator, "predict"):
        return None
    if not target:
        raise InvalidInputError(f"{table.path} has the targets in some column; name it with --target COLUMN.")
    return targets_in(table, target, is_number=is_regressor(estimator))


def probability_of(text: str) -> str | None:
    return None if text == "none" else text


def require_two_classes(labels: Any, command: str) -> None:
    n_classes = len(set(labels.tolist()))
    if n_classes > 2:
        raise InvalidInputError(f"{command} is for two classes, got {n_classes}. Give rows of two of them, or use fit.")


def check_order(model: Path, data: Path | None, command: str) -> None:
    """Raise if there is a model where a table belongs; ``command`` is what to type, with MODEL and DATA in it."""
    if data is not None and _is_model(data):
        right = command if _is_model(model) else command.replace("MODEL", str(data)).replace("DATA", str(model))
        raise InvalidInputError(f"{data} is a model, and a table belongs there. The right order: stepnet {right}.")


def _is_model(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b'"format": "stepnet model"' in file.read(200)
    except OSError:
        return False


def model_in(path: Path) -> Any:
    """A model that fit wrote, or the network of an ONNX or exported JSON file."""
    from stepnet import load
    from stepnet.cli.output import complain
    from stepnet.model.foreign.given import given_model

    given = given_model(path)
    if given is None:
        return load(path)
    for note in given.notes:
        complain(f"the network differs from {path}: {note}.")
    return given


def loaded(
    model: Path, table: RawTable, others: Collection[str | None] = (), *, is_attacked: bool = False
) -> tuple[Any, ModelRows]:
    """A model, and the rows of a table as it expects them; attacked ones answer with classes."""
    from stepnet.model.foreign.given import GivenModel

    estimator = model_in(model)
    if is_attacked and isinstance(estimator, GivenModel):
        estimator = estimator.as_classifier()
    rows = features_of(estimator, table, others)
    estimator = without_names(estimator)  # the rows are plain arrays, already in the right order
    estimator.columns_ = rows.columns  # messages and constraints refer to their names
    return estimator, rows


def _integers(text: str) -> tuple[int, ...] | None:
    """Integers with commas between them, or a tuple of them as in Python; None if it is anything else."""
    try:
        return tuple(map(int, text.strip(", ").split(",")))
    except ValueError:
        value = written(text)
        return value if isinstance(value, tuple) and all(type(one) is int for one in value) else None


def hidden_of(hidden: str) -> tuple[int, ...] | str:
    return "auto" if hidden.strip() == "auto" else widths_of(hidden)


def widths_of(hidden: str) -> tuple[int, ...]:
    widths = _integers(hidden)
    if widths in ((), (0,)):
        return ()
    if widths is None or min(widths) < 1:
        raise InvalidInputError(
            f"--hidden {hidden} must be positive widths such as 25 or 5,5, or 0 for a single neuron."
        )
    return widths


def numbers_of(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in text.strip("()[], ").split(",")]
    except ValueError:
        raise InvalidInputError(f"{option} {text} must be numbers with commas between them, such as 0,5,10.") from None


def sparsity_of(sparsity: str) -> Any:
    if sparsity in ("", "fewest"):
        return sparsity or None
    limits = _integers(sparsity) or written(sparsity)  # a tuple may have None in it
    if not isinstance(limits, tuple) or not limits:
        raise InvalidInputError(f"--sparsity {sparsity} must be a number, one per layer such as 15,5, or fewest.")
    return limits[0] if len(limits) == 1 else limits


def threshold_of(threshold: str) -> str | float:
    try:
        return float(threshold)
    except ValueError:
        return threshold


def weights_of(weights: str) -> Any:
    from stepnet import Integers

    return Integers(int(weights)) if weights.isdecimal() else written(weights)


def ball_of(norm: str, radius: float) -> Any:
    from stepnet import Ball

    if isinstance(ball := written(norm), Ball) and not radius:
        return ball
    if norm and not radius:
        raise InvalidInputError(f"--norm {norm} needs --radius: how far rows may be perturbed, measured in this norm.")
    return Ball(norm or "linf", radius) if radius else None


def method_of(name: str, formulation: str, solver: str) -> Any:
    """The plain name if nothing else is chosen, so that model files are the same as from Python."""
    from stepnet.methods import registry
    from stepnet.methods.base import Method

    if isinstance(method := written(name), Method) and formulation == solver == "auto":
        return method
    if name not in registry.METHODS:
        raise InvalidInputError(f"--method {name} is not known; choose one of {', '.join(registry.METHODS)}.")
    options = {"formulation": formulation, "solver": solver}
    chosen = {option: value for option, value in options.items() if value != "auto"}
    if name in ("learn", "search") and chosen:
        option, value = next(iter(chosen.items()))
        raise InvalidInputError(
            f"--{option} {value} is for programs, and --method {name} solves none; add --method prove, exact or "
            f"alternating."
        )
    method = registry.method_of(name, **chosen)
    return method if chosen else name


def class_weight_of(given: list[str] | None, labels: Any) -> Any:
    """None, "balanced", or a dictionary with labels as they are in the data."""
    if not given or given == ["balanced"]:
        return "balanced" if given else None
    known: dict[str, Any] = {str(label): label for label in sorted(set(labels.tolist()))}
    found: dict[Any, float] = {}
    for text in given:
        name, sign, number = text.rpartition("=")
        try:
            found[known[name]] = float(number)
        except (KeyError, ValueError):
            reason = f"there is no class {name!r}" if sign and name not in known else "it is not CLASS=NUMBER"
            raise InvalidInputError(
                f"--class-weight {text}: {reason}. Give balanced, or a weight for some of the classes "
                f"{', '.join(known)}, such as {next(iter(known))}=2."
            ) from None
    return found


def written_constraints(texts: list[str] | None) -> list[Any]:
    """Constraints as they are written in Python."""
    from stepnet.problem.constraint import Restriction

    found = [written(text) for text in texts or []]
    for text, one in zip(texts or [], found, strict=True):
        if not isinstance(one, Restriction):
            raise InvalidInputError(
                f"--constraint {text} is none; write it as in Python, such as \"Recall('ill', at_least=0.95)\" or "
                f"FalsePositiveRate(at_most=0.05)."
            )
    return found


def group_names(constraints: list[Any]) -> list[str]:
    """The columns that limits on errors compare."""
    return [one.by for one in constraints if isinstance(getattr(one, "by", None), str)]


def with_groups(constraints: list[Any], rows: InputRows) -> list[Any]:
    """With the cells of columns that are no features in place of their names."""
    return [
        replace(one, by=rows.groups[one.by]) if getattr(one, "by", None) in rows.groups else one for one in constraints
    ]


def constraints_of(
    raises: list[str] | None, lowers: list[str] | None, names: list[str], others: Sequence[Any] = ()
) -> Any:
    from stepnet import Lowers, Raises

    for name in (*(raises or []), *(lowers or [])):
        if name not in names:
            raise InvalidInputError(f"there is no feature {name!r} to constrain; the features are {', '.join(names)}.")
    return [*map(Raises, raises or []), *map(Lowers, lowers or []), *others] or None


def check_folder(out: Path) -> None:
    """Create a folder if it does not exist."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"--out {out} cannot be created ({error.strerror}); choose another.") from error
    _require_folder(out)


def check_new_folder(path: Path) -> None:
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise InvalidInputError(f"{path} exists already; give the name of a new folder.")
    _require_folder(path.parent)


def check_writable(*paths: Path | None) -> None:
    """Files that can be written, checked before a long fit and not after it."""
    for path in filter(None, paths):
        if path.is_dir():
            raise InvalidInputError(f"{path} is a folder; give a file name.")
        _require_folder(path.parent)


def check_plot(path: Path | None) -> None:
    from stepnet.runtime.plots import require_plots

    if path is not None:
        check_writable(path)
        require_plots(path)


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InvalidInputError(f"the folder {str(folder)!r} does not exist; create it first.")
    if not os.access(folder, os.W_OK):
        raise InvalidInputError(f"the folder {str(folder)!r} is not writable; choose another.")
