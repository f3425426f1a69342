"""What commands take: rows of tables, models with their rows, options in words, and places to write to."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepnet.errors import InvalidInputError
from stepnet.tables.table import read_table

_MOST_NUMBERS, _MOST_WHOLE_NUMBERS = 12, 100  # that may be classes

if TYPE_CHECKING:
    from stepnet.tables.columns import Columns
    from stepnet.tables.table import Table


@dataclass(frozen=True)
class InputRows:
    """Training rows, and how the columns of the table became features."""

    columns: Columns
    X: Any
    y: Any
    weights: Any

    @property
    def names(self) -> list[str]:
        return self.columns.features


def training_rows(
    data: Path,
    target: str,
    sample_weight: str | None,
    drop: list[str] | None,
    *,
    is_number: bool = False,
    encode: str = "",
    impute: str = "",
) -> InputRows:
    from stepnet.tables.columns import Columns

    table = read_table(data, text=[target])
    if target == sample_weight or target in (drop or []):
        raise InvalidInputError(
            f"the target {target!r} cannot be left out or be the weight of rows; name another column."
        )
    labels = targets_of(table, target, is_number=is_number)
    for name in drop or []:
        table.column(name)
    left_out = {target, sample_weight, *(drop or [])}
    names = [name for name in table.names if name not in left_out]
    if not names:
        raise InvalidInputError(f"{data} has no column beside {', '.join(filter(None, left_out))} to learn from.")
    weights = weights_in(table, sample_weight)
    columns = Columns.learn(table.columns, names, table.path, encode=encode, impute=impute)
    if len(set(columns.features)) < len(columns.features):
        raise InvalidInputError(f"{data}: encoded columns get names that others have already; rename a column.")
    return InputRows(columns, columns.numbers(table.columns, table.path), labels, weights)


def targets_of(table: Table, target: str, *, is_number: bool) -> Any:
    if is_number:
        return _numbers_in(table, target, "what a regression predicts must be numbers")
    labels = table.labels(target)
    _require_classes(labels, target)
    return labels


def _require_classes(labels: Any, target: str) -> None:
    """Raise where someone forgot to say that numbers are to be predicted."""
    classes = {str(label) for label in labels.tolist()}
    if len(classes) <= _MOST_NUMBERS:
        return
    try:
        numbers = [float(one) for one in classes]
    except ValueError:
        return
    if len(classes) > _MOST_WHOLE_NUMBERS or not all(number.is_integer() for number in numbers):
        raise InvalidInputError(
            f"the target {target!r} has {len(classes)} different numbers. To predict numbers, use fit --task "
            f"regression; for classes, group them."
        )


def require_two_classes(labels: Any, command: str) -> None:
    n_classes = len(set(labels.tolist()))
    if n_classes > 2:
        raise InvalidInputError(
            f"{command} is for two classes, and there are {n_classes}. Give rows of two of them, or use fit."
        )


def targets_for(estimator: Any, table: Table, target: str) -> Any:
    """What a model should answer; None for an autoencoder, which answers with the rows themselves."""
    from stepnet import StepAutoencoder, StepRegressor

    if isinstance(estimator, StepAutoencoder):
        return None
    if not target:
        raise InvalidInputError(f"{table.path} has the answers in some column; name it with --target COLUMN.")
    return targets_of(table, target, is_number=isinstance(estimator, StepRegressor))


def rows_for(
    estimator: Any, data: Path, target: str, sample_weight: str | None = None
) -> tuple[list[str], Any, Any, Any]:
    """Names and numbers of the features, targets and weights of a table, as a model wants them."""
    table = read_table(data, text=[target])
    names, X = features_of(estimator, table, (target, sample_weight))
    return names, X, targets_for(estimator, table, target), weights_in(table, sample_weight)


def weights_in(table: Table, column: str | None) -> Any:
    if column is None:
        return None
    weights = _numbers_in(table, column, "weights of rows must be numbers")
    if (weights < 0).any():
        row = int((weights < 0).argmax())
        raise InvalidInputError(
            f"{table.path}, data row {row + 1}, column {column!r}: {weights[row]:g} is a negative weight; set it to 0, "
            f"or leave the row out."
        )
    return weights


def _numbers_in(table: Table, column: str, what: str) -> Any:
    """A column of numbers that is no feature."""
    import numpy as np

    from stepnet.tables.columns import as_floats

    cells = table.column(column)
    numbers = as_floats(cells)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        where = f"{table.path}, data row {bad[0] + 1}, column {column!r}"
        raise InvalidInputError(
            f"{where}: {cells[bad[0]]!r} is not a finite number; {what}. Correct it, or leave the row out."
        )
    return numbers


def loaded(model: Path, table: Table, left_out: Collection[str | None] = ()) -> tuple[Any, list[str], Any]:
    """A model, its features, and the rows of a table as it wants them."""
    from stepnet import load

    estimator = load(model)
    names, X = features_of(estimator, table, left_out)
    forget_names(estimator)
    return estimator, names, X


def forget_names(estimator: Any) -> None:
    """Rows from tables are plain arrays, already in the right order."""
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def features_of(estimator: Any, table: Table, left_out: Collection[str | None] = ()) -> tuple[list[str], Any]:
    """Names and numbers of the features: the model's columns by name, encoded as in training.

    A model without names takes all columns but those left out.
    """
    if hasattr(estimator, "columns_"):
        return estimator.columns_.features, estimator.columns_.numbers(table.columns, table.path)
    if hasattr(estimator, "feature_names_in_"):
        names = [str(name) for name in estimator.feature_names_in_]
        return names, table.numbers(names)
    names = [name for name in table.names if name not in left_out]
    if len(names) != estimator.n_features_in_:
        raise InvalidInputError(
            f"{table.path} has {len(names)} columns, the model {estimator.n_features_in_} features without names; "
            f"give a table of the features alone."
        )
    return names, table.numbers(names)


def widths_of(hidden: str) -> tuple[int, ...]:
    try:
        widths = tuple(int(part) for part in hidden.replace(" ", "").strip(",").split(","))
    except ValueError:
        raise InvalidInputError(
            f"--hidden {hidden} must be widths such as 25 or 5,5, or 0 for a single neuron."
        ) from None
    if widths != (0,) and min(widths) < 1:
        raise InvalidInputError(f"--hidden {hidden}: a layer has at least one neuron. Use 0 alone for a single neuron.")
    return () if widths == (0,) else widths


def threshold_of(threshold: str) -> str | float:
    try:
        return float(threshold)
    except ValueError:
        return threshold


def weights_of(weights: str) -> Any:
    from stepnet import Integers

    return Integers(int(weights)) if weights.isdecimal() else weights


def ball_of(norm: str, radius: float) -> Any:
    from stepnet import Ball

    if norm and not radius:
        raise InvalidInputError(
            f"--norm {norm} says how moves are measured; say with --radius how far rows may be moved."
        )
    return Ball(norm or "linf", radius) if radius else None


def method_of(name: str, formulation: str, solver: str) -> Any:
    """A plain name where nothing else is chosen, so that Python and the command line mean the same."""
    from stepnet.methods import registry

    if name not in registry.METHODS:
        raise InvalidInputError(f"--method {name} is not known; choose one of {', '.join(registry.METHODS)}.")
    options = {"formulation": formulation, "solver": solver}
    chosen = {option: value for option, value in options.items() if value != "auto"}
    method = registry.method_of(name, **chosen)
    return method if chosen else name


def class_weight_of(given: list[str] | None, labels: Any) -> Any:
    """None, "balanced", or a dictionary of labels as they are in the data."""
    if not given or given == ["balanced"]:
        return "balanced" if given else None
    known: dict[str, Any] = {str(label): label for label in sorted(set(labels.tolist()))}
    found: dict[Any, float] = {}
    for text in given:
        name, sign, number = text.rpartition("=")
        try:
            found[known[name]] = float(number)
        except (KeyError, ValueError):
            reason = f"there is no class {name!r}" if sign and name not in known else "it is no class and number"
            raise InvalidInputError(
                f"--class-weight {text}: {reason}. Give balanced, or a weight for some of the classes "
                f"{', '.join(known)}, such as {next(iter(known))}=2."
            ) from None
    return found


def sparsity_of(sparsity: str) -> Any:
    if sparsity in ("", "fewest"):
        return sparsity or None
    try:
        limits = tuple(int(part) for part in sparsity.split(","))
    except ValueError:
        raise InvalidInputError(
            f"--sparsity {sparsity} must be a number, one a layer such as 15,5, or fewest."
        ) from None
    return limits[0] if len(limits) == 1 else limits


def constraints_of(raises: list[str] | None, lowers: list[str] | None, names: list[str]) -> Any:
    from stepnet import Lowers, Raises

    for name in (*(raises or []), *(lowers or [])):
        if name not in names:
            raise InvalidInputError(f"there is no feature {name!r} to constrain; the features are {', '.join(names)}.")
    return [*map(Raises, raises or []), *map(Lowers, lowers or [])] or None


def check_folder(out: Path) -> None:
    """A folder that is there or can be made."""
    if out.exists() and not out.is_dir():
        raise InvalidInputError(f"--out {out} is a file; give the name of a folder.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"the folder {str(out)!r} of --out cannot be made: {error.strerror}.") from error
    if not os.access(out, os.W_OK):
        raise InvalidInputError(f"the folder {str(out)!r} of --out cannot be written to; choose another.")


def check_plot(out: Path) -> None:
    """A picture that can be drawn and written."""
    from stepnet.runtime.plots import require_plots

    check_writable(out)
    require_plots(out)


def check_writable(out: Path, *, is_new_folder: bool = False) -> None:
    """Before a long fit, not after it."""
    if is_new_folder and (out.is_file() or (out.is_dir() and any(out.iterdir()))):
        raise InvalidInputError(f"{out} is there already; give the name of a new folder.")

    if not out.parent.is_dir():
        raise InvalidInputError(f"the folder {str(out.parent)!r} of --out does not exist; make it first.")
    if out.is_dir() and not is_new_folder:
        raise InvalidInputError(f"--out {out} is a folder; give a file name.")
    if not os.access(out.parent, os.W_OK):
        raise InvalidInputError(f"the folder {str(out.parent)!r} of --out cannot be written to; choose another.")
