"""Tables as estimators take them: their features, targets and weights, and how columns became features."""

from __future__ import annotations

import copy
import math
import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from stepnet.errors import InvalidInputError
from stepnet.tables.table import RawTable, read_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stepnet.tables.columns import Columns

_MOST_NUMBERS, _MOST_INTEGERS = 12, 100  # that may be classes
_TASKS = ("classification", "regression")
_OPTION = re.compile(r"--(drop|encode|impute|grid|target|task|sample-weight)(?: ('[^']*'|[\w.-]+))?")


class TrainingPart(NamedTuple):
    """What a model is trained on."""

    columns: Columns
    X: Any
    y: Any
    weights: Any


@dataclass(frozen=True)
class Table:
    """The rows of a CSV or Parquet file, or of a data frame, as estimators take them.

    Made by :meth:`read` or :meth:`of`. Text and missing cells become numbers by rules that are learned from the rows.
    A model that :meth:`fit` trained keeps these rules: :func:`stepnet.save` writes them, and ``stepnet predict`` reads
    tables with text and missing cells.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,) or None
    sample_weight : ndarray of shape (n_rows,) or None
    columns : Columns
        How columns become features; ``columns.features`` are the names of the features.
    name : str
        The path of the file, for messages.

    Examples
    --------
    >>> import pandas
    >>> from stepnet import StepClassifier, Table
    >>> columns = {"age": [31, None, 45, 22], "color": ["red", "blue", "blue", "red"], "ill": [0, 1, 1, 0]}
    >>> frame = pandas.DataFrame(columns)
    >>> table = Table.of(frame, target="ill", encode="one_hot", impute="median")
    >>> table.features, table.X[1].tolist()
    (['age', 'color=blue', 'color=red'], [31.0, 1.0, 0.0])
    >>> clf = table.fit(StepClassifier(hidden=(1,), method="prove", random_state=0))
    >>> Table.of(pandas.DataFrame({"age": [50], "color": ["blue"]}), like=clf).predict(clf).tolist()
    [1]
    """

    X: NDArray[Any]
    y: Any
    sample_weight: Any
    columns: Columns
    name: str

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        target: str | None = None,
        *,
        encode: str = "",
        impute: str | float = "",
        drop: Sequence[str] = (),
        grid: float | None = None,
        sample_weight: str | None = None,
        task: str = "classification",
        like: Any = None,
    ) -> Table:
        """From a CSV file (also compressed) or a Parquet file.

        Parameters
        ----------
        path : path
        target : str, optional
            The column of the classes or numbers to predict.
        encode : "one_hot" or "codes", optional
            Text becomes one feature per category, or the number of the category in alphabetical order. Without it,
            text is an error.
        impute : "mean", "median", "most_frequent" or a number, optional
            What replaces missing numbers; missing text becomes the most frequent one. Without it, missing cells are an
            error.
        drop : sequence of str
            Columns to leave out.
        grid : float, optional
            All features become whole numbers on a grid with steps of so many standard deviations, as :class:`Grid`
            makes them.
        sample_weight : str, optional
            The column of row weights.
        task : "classification" or "regression"
            Whether the target holds classes or numbers.
        like : fitted estimator or Table, optional
            Take its columns by its rules, instead of learning them from these rows: for new rows. Columns that no
            answer of the estimator depends on may be missing.
        """
        raw = read_table(os.fspath(path), text=[target])
        return cls._of(raw, target, encode, str(impute), drop, grid, sample_weight, task, like)

    @classmethod
    def of(
        cls,
        frame: Any,
        target: str | None = None,
        *,
        encode: str = "",
        impute: str | float = "",
        drop: Sequence[str] = (),
        grid: float | None = None,
        sample_weight: str | None = None,
        task: str = "classification",
        like: Any = None,
    ) -> Table:
        """From a data frame of pandas or polars; the parameters are those of :meth:`read`."""
        from stepnet.tables.pipelines import cells_of

        if not hasattr(frame, "columns"):
            raise InvalidInputError(
                f"Table.of takes a data frame, not a {type(frame).__name__}; Table.read takes files."
            )
        raw = RawTable("the data frame", cells_of(frame))
        if not raw.columns or not raw.n_rows:
            raise InvalidInputError("the data frame has no rows; it needs at least one row and column.")
        return cls._of(raw, target, encode, str(impute), drop, grid, sample_weight, task, like)

    @classmethod
    def _of(
        cls,
        raw: RawTable,
        target: str | None,
        encode: str,
        impute: str,
        drop: Sequence[str],
        grid: float | None,
        sample_weight: str | None,
        task: str,
        like: Any,
    ) -> Table:
        if task not in _TASKS:
            raise InvalidInputError(f"task={task!r} is not known; choose 'classification' or 'regression'.")
        if like is not None and (encode or impute or drop or grid is not None):
            raise InvalidInputError("like= brings its own rules; omit encode=, impute=, drop= and grid=.")
        dropped = [drop] if isinstance(drop, str) else list(drop)
        try:
            if like is None:
                part = training_part(raw, target, sample_weight, dropped, task == "regression", encode, impute, grid)
                return cls(part.X, part.y, part.weights, part.columns, raw.path)
            y = None if target is None else targets_in(raw, target, is_number=task == "regression")
            columns = like.columns if isinstance(like, Table) else None
            rows = _read_by(columns, raw) if columns else features_of(like, raw, (target, sample_weight))
            return cls(rows.X, y, weights_in(raw, sample_weight), rows.columns, raw.path)
        except InvalidInputError as error:
            raise InvalidInputError(_OPTION.sub(_in_python, str(error))) from error

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        return self.columns.features

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: ArrayLike) -> Table:
        """The table of these rows: numbers, or one boolean per row."""
        import numpy as np

        chosen = np.asarray(rows)
        parts: Any = (None if one is None else one[chosen] for one in (self.X, self.y, self.sample_weight))
        X, y, weights = parts
        return replace(self, X=X, y=y, sample_weight=weights)

    def fit(self, estimator: Any, **options: Any) -> Any:
        """Fit an estimator on the rows, with their weights; it keeps the rules of the columns. Returns the estimator.

        Parameters
        ----------
        estimator : StepClassifier, StepRegressor, StepEnsembleClassifier or StepAutoencoder
        **options
            Passed to its ``fit``, such as ``checkpoint``.
        """
        if not hasattr(type(estimator), "used_features"):
            raise InvalidInputError(
                f"Table.fit takes a stepnet estimator, not a {type(estimator).__name__}: fit that on table.X and "
                f"table.y, and give save(..., columns=table.columns)."
            )
        estimator._columns_of_table = self.columns  # constraints refer to their names
        try:
            return estimator.fit(self.X, self.y, self.sample_weight, **options)
        finally:
            estimator.__dict__.pop("_columns_of_table", None)

    def predict(self, estimator: Any) -> Any:
        """The predictions of an estimator whose features are those of this table."""
        names = [str(name) for name in getattr(estimator, "feature_names_in_", self.features)]
        if names != self.features:
            raise InvalidInputError(
                f"the estimator has the features {', '.join(names)}, the table {', '.join(self.features)}. Read the "
                f"table with like=estimator."
            )
        return without_names(estimator).predict(self.X)


def without_names(estimator: Any) -> Any:
    """A copy that takes plain arrays without a warning; their columns must be in the right order."""
    estimator = copy.copy(estimator)
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return estimator


def _in_python(match: re.Match[str]) -> str:
    """An option of the command line as an argument in Python."""
    name, value = match[1].replace("-", "_"), (match[2] or "").strip("'").rstrip(".")
    end = "." if (match[2] or "").endswith(".") else ""
    return f"{name}={[value] if name == 'drop' else value!r}{end}" if value else f"{name}="


def training_part(
    table: RawTable,
    target: str | None,
    sample_weight: str | None,
    dropped: Sequence[str],
    is_number: bool,
    encode: str,
    impute: str,
    grid: float | None = None,
) -> TrainingPart:
    """Features, targets and weights of a table; the rules of its columns are learned from its rows."""
    from stepnet.tables.columns import Columns

    if target in (sample_weight, *dropped) and target is not None:
        raise InvalidInputError(f"the target {target!r} cannot be dropped or be the row weight; name another column.")
    labels = None if target is None else targets_in(table, target, is_number=is_number)
    for name in dropped:
        table.column(name)
    others = {target, sample_weight, *dropped}
    names = [name for name in table.names if name not in others]
    if not names:
        raise InvalidInputError(f"{table.path} has no column beside {_listed(others)} to learn from.")
    weights = weights_in(table, sample_weight)
    columns = Columns.learn(table.columns, names, table.path, encode=encode, impute=impute)
    if len(set(columns.features)) < len(columns.features):
        raise InvalidInputError(f"{table.path}: encoded columns get names that other columns have; rename a column.")
    if grid is not None:
        from stepnet.tables.grid import Grid

        if not (math.isfinite(grid) and grid > 0):
            raise InvalidInputError(f"--grid {grid:g} must be a positive number of standard deviations, such as 0.25.")
        columns = columns.with_arithmetic(Grid(grid).fit(columns.numbers(table.columns, table.path)).arithmetic)
    return TrainingPart(columns, columns.numbers(table.columns, table.path), labels, weights)


def _listed(names: Iterable[str | None]) -> str:
    return ", ".join(filter(None, names))


def targets_in(table: RawTable, target: str, *, is_number: bool) -> Any:
    """Numbers, or classes; too many different numbers are rejected as classes."""
    import numpy as np

    from stepnet.tables.columns import as_floats

    if is_number:
        return _numbers_in(table, target, "the target of a regression must be finite numbers")
    labels = table.labels(target)
    classes = {str(label) for label in labels.tolist()}
    numbers = as_floats(list(classes))
    most = _MOST_INTEGERS if (numbers == np.floor(numbers)).all() else _MOST_NUMBERS
    if len(classes) > most and not np.isnan(numbers).any():
        raise InvalidInputError(
            f"the target {target!r} has {len(classes)} different numbers. To predict numbers, use fit --task "
            f"regression; for classes, group them."
        )
    return labels


def weights_in(table: RawTable, column: str | None) -> Any:
    if column is None:
        return None
    return _numbers_in(table, column, "row weights must be finite and non-negative", lowest=0.0)


def _numbers_in(table: RawTable, column: str, what: str, lowest: float = -math.inf) -> Any:
    """A column of numbers that is not a feature."""
    import numpy as np

    from stepnet.tables.columns import as_floats

    cells = table.column(column)
    numbers = as_floats(cells)
    bad = np.flatnonzero(~np.isfinite(numbers) | (numbers < lowest))
    if len(bad):
        raise InvalidInputError(
            f"{table.path}, data row {bad[0] + 1}, column {column!r}: got {str(cells[bad[0]])!r}, but {what}. Correct "
            f"it, or leave the row out."
        )
    return numbers


@dataclass(frozen=True)
class ModelRows:
    """The rows of a table as a model takes them, with 0 in the features that no answer needs and the table lacks."""

    columns: Columns
    before: Any  # the features before they are scaled
    X: Any
    absent: list[int]

    def present(self, rows: Any) -> tuple[list[str], Any]:
        """Names and columns of the features that the table has."""
        names = self.columns.features
        kept = [i for i in range(len(names)) if i not in self.absent]
        return [names[i] for i in kept], rows[:, kept]


def features_of(estimator: Any, table: RawTable, others: Collection[str | None] = ()) -> ModelRows:
    """The features of a model: its columns by name, encoded as in training; unused ones may be missing.

    A model without names takes all columns but the ``others``.
    """
    from stepnet.tables.columns import Column, Columns

    columns = getattr(estimator, "columns_", None)
    if columns is None:
        names = [name for name in table.names if name not in others]
        if hasattr(estimator, "feature_names_in_"):
            names = [str(name) for name in estimator.feature_names_in_.tolist()]
        elif len(names) != estimator.n_features_in_:
            raise _wrong_number(table, len(names), estimator.n_features_in_)
        columns = Columns(tuple(map(Column, names)))
    return _read_by(columns, table, others, estimator.used_features)


def _read_by(
    columns: Columns, table: RawTable, others: Collection[str | None] = (), used: Collection[int] | None = None
) -> ModelRows:
    import numpy as np

    cells: Any = table.columns
    if columns.has_places:
        cells = dict(enumerate(table.columns[name] for name in table.names if name not in others))
        if len(cells) != (n_places := len({column.name for column in columns.columns})):
            raise _wrong_number(table, len(cells), n_places)
    before = columns.before_operations(cells, table.path, used)
    absent = np.flatnonzero(np.isnan(before).any(axis=0)).tolist()
    before[:, absent] = 0.0
    return ModelRows(columns, before, columns.after_operations(before), absent)


def _wrong_number(table: RawTable, n_columns: int, n_expected: int) -> InvalidInputError:
    return InvalidInputError(
        f"{table.path} has {n_columns} columns, the model {n_expected} features without names; give a table of the "
        f"features alone."
    )
