"""Fitted pipelines of scikit-learn as rules for columns: what their steps do to the cells of a table.

A step is understood if it selects columns, imputes, encodes, scales or rounds to a grid; each of these is a rule that a
model file can hold. The rules do the same floating-point operations as scikit-learn, so the network sees the same rows,
bit by bit.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from stepnet.errors import InvalidInputError
from stepnet.tables.columns import Column, Columns
from stepnet.tables.grid import Grid
from stepnet.tables.operations import Operations

_UNDERSTOOD = (
    "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, Grid, SimpleImputer, OneHotEncoder, OrdinalEncoder, "
    "selections of features, ColumnTransformer, FeatureUnion, Pipeline and 'passthrough'"
)
_NOTHING = (("add", 0.0), ("subtract", 0.0), ("multiply", 1.0), ("divide", 1.0))  # operations that change no number
_WAY_OUT = "Transform the rows before the pipeline, or give its last step alone, which takes transformed rows."


@dataclass(frozen=True)
class Feature:
    """One feature on its way through a pipeline: feature ``which`` of a column, and the operations on it so far."""

    column: Column
    which: int = 0
    operations: Operations = ()


Features = list[Feature]


def unpacked(model: Any, columns: Columns | None = None) -> Any:
    """The last step of a fitted pipeline, as a copy that knows how columns become its features; others as they are.

    ``columns``, if given, are those of the table that the pipeline was fitted on.
    """
    if not isinstance(model, Pipeline):
        return model
    check_is_fitted(model)
    *before, (name, last) = model.steps
    if not hasattr(last, "network_"):
        raise InvalidInputError(
            f"the last step {name!r} of the pipeline is a {type(last).__name__}; it must be a fitted stepnet estimator."
        )
    steps = [step for _, step in before if step not in (None, "passthrough")]
    given = next((step for step in (*steps, last) if hasattr(step, "n_features_in_")), last)
    names = getattr(given, "feature_names_in_", range(given.n_features_in_))
    places = [str(one) if isinstance(one, str) else int(one) for one in names]
    is_named = columns is not None or hasattr(given, "feature_names_in_")
    if columns is not None and len(columns.features) != len(places):
        raise InvalidInputError(
            f"the columns give {len(columns.features)} features, the pipeline was fitted on {len(places)}. Give the "
            f"columns of the table that it was fitted on."
        )
    first = [Feature(Column(place)) for place in places] if columns is None else _features(columns)
    features, estimator = _through(before, first), copy.copy(last)
    estimator.columns_ = _columns(features, [] if is_named else places, getattr(last, "feature_names_in_", None))
    if len(estimator.columns_.features) != last.n_features_in_:
        raise InvalidInputError(
            f"the steps of the pipeline give {len(features)} features, its last step was fitted on "
            f"{last.n_features_in_}. Fit the pipeline as a whole."
        )
    if is_named:
        estimator.feature_names_in_ = np.array(estimator.columns_.features, dtype=object)
    if is_named and estimator.columns_.is_plain:
        del estimator.columns_
    return estimator


def before_last(model: Any, X: Any) -> Any:
    """The rows that the last step of a pipeline sees; for other models the rows themselves."""
    is_longer = isinstance(model, Pipeline) and len(model.steps) > 1
    return model[:-1].transform(X) if is_longer else X


def cells_of(frame: Any) -> dict[Any, Any]:
    """The columns of a data frame by name, or those of an array by number."""
    if hasattr(frame, "columns"):
        return {name: _cells(frame[name]) for name in map(str, frame.columns)}
    rows = np.asarray(frame)
    if rows.ndim != 2:
        raise InvalidInputError(f"rows must be a data frame or an array of rows and columns; got shape {rows.shape}.")
    return {i: _cells(rows[:, i]) for i in range(rows.shape[1])}


def _cells(column: Any) -> Any:
    """Numbers as an array, others as a list."""
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    return values.astype(np.float64) if values.dtype.kind in "iuf" else values.tolist()


def _features(columns: Columns) -> Features:
    return [
        Feature(replace(column, kept=None, arithmetic=(), names=()), which, operations)
        for column in columns.columns
        for which, operations in zip(
            range(len(column.features)) if column.kept is None else column.kept,
            column.arithmetic or [()] * len(column.features),
            strict=True,
        )
    ]


def _columns(features: Features, places: Sequence[str | int], names: Any) -> Columns:
    """Neighbours of one column are joined, and places that no feature comes from stand at the end."""
    usual = _different([one.column.features[one.which] for one in features])
    wanted = usual if names is None else [str(name) for name in names]
    groups: list[list[int]] = []
    for i, one in enumerate(features):
        last = features[groups[-1][-1]] if groups else None
        if last is not None and last.column == one.column and last.which < one.which:
            groups[-1].append(i)
        else:
            groups.append([i])
    columns = [_joined([features[i] for i in group], [wanted[i] for i in group]) for group in groups]
    used = {one.column.name for one in features}
    unused = [Column(place, kept=()) for place in places if place not in used]
    return Columns((*columns, *unused))


def _joined(features: Features, names: Sequence[str]) -> Column:
    column, kept = features[0].column, tuple(one.which for one in features)
    operations = tuple(one.operations for one in features)
    return replace(
        column,
        kept=None if kept == tuple(range(len(column.features))) else kept,
        arithmetic=operations if any(operations) else (),
        names=() if list(names) == [column.features[i] for i in kept] else tuple(names),
    )


def _different(names: Iterable[str]) -> list[str]:
    """Names, with a number added to those that occur again."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def _through(steps: Iterable[tuple[str, Any]], features: Features) -> Features:
    for name, step in steps:
        features = _after(step, features, name)
    return features


def _after(step: Any, features: Features, name: str) -> Features:
    """The features that come out of a step."""
    if step is None or step == "passthrough":
        return features
    if step == "drop":
        return []
    for kind, rule in _RULES.items():
        if isinstance(step, kind):
            return rule(step, features, name)
    raise _trouble(step, name, f"it is not one of {_UNDERSTOOD}")


def _trouble(step: Any, name: str, why: str) -> InvalidInputError:
    what = f"the step {name!r} of the pipeline, a {type(step).__name__},"
    return InvalidInputError(f"{what} stands in the way: {why}. {_WAY_OUT}")


def _scaled(*operations: tuple[str, str, str]) -> Callable[[Any, Features, str], Features]:
    """The rule of a scaler: operations, each with the attribute that holds its numbers and the one that enables it."""

    def rule(step: Any, features: Features, name: str) -> Features:
        if getattr(step, "clip", False):
            raise _trouble(step, name, "clip=True is not linear; use clip=False")
        found = []
        for i, one in enumerate(features):
            _require_number(step, one, name)
            numbers = [
                (operation, float(getattr(step, attribute)[i]))
                for operation, attribute, enabled in operations
                if not enabled or getattr(step, enabled)
            ]
            numbers = [each for each in numbers if each not in _NOTHING]
            found.append(replace(one, operations=(*one.operations, *numbers)))
        return found

    return rule


def _on_grid(step: Grid, features: Features, name: str) -> Features:
    found = []
    for one, operations in zip(features, step.arithmetic, strict=True):
        _require_number(step, one, name)
        numbers = tuple(each for each in operations if each not in _NOTHING)
        found.append(replace(one, operations=(*one.operations, *numbers)))
    return found


def _selected(step: Any, features: Features, name: str) -> Features:
    return [features[i] for i in np.flatnonzero(step.get_support()).tolist()]


def _imputed(step: Any, features: Features, name: str) -> Features:
    if step.add_indicator:
        raise _trouble(step, name, "add_indicator=True makes features of missing cells; use add_indicator=False")
    if not _is_nan(step.missing_values):
        raise _trouble(step, name, f"missing_values={step.missing_values!r} is not NaN; make these cells NaN first")
    found = []
    for one, fill in zip(features, step.statistics_.tolist(), strict=True):
        if _is_nan(fill) and not step.keep_empty_features:
            continue  # scikit-learn drops columns without any number
        if one.column.encoding is not None or one.operations:
            raise _trouble(step, name, "it comes after an encoder or a scaler; impute first")
        if one.column.fill is None:
            one = replace(one, column=replace(one.column, fill=fill if isinstance(fill, str) else float(fill)))
        found.append(one)
    return found


def _encoded(encoding: str) -> Callable[[Any, Features, str], Features]:
    def rule(step: Any, features: Features, name: str) -> Features:
        if any(one is not None for one in getattr(step, "infrequent_categories_", None) or []):
            raise _trouble(step, name, "it joins infrequent categories; group them in the table")
        dropped = getattr(step, "drop_idx_", None)
        found: Features = []
        for i, (one, values) in enumerate(zip(features, step.categories_, strict=True)):
            if one.column.encoding is not None or one.operations:
                raise _trouble(step, name, "it comes after another encoder or a scaler; encode first")
            column = _with_categories(step, one.column, encoding, values.tolist(), name)
            leaves = None if dropped is None else dropped[i]
            whole = range(len(column.categories)) if encoding == "one_hot" else range(1)
            found += [Feature(column, which) for which in whole if which != leaves]
        return found

    return rule


def _with_categories(step: Any, column: Column, encoding: str, values: list[Any], name: str) -> Column:
    if any(_is_nan(value) for value in values):
        raise _trouble(step, name, f"a missing cell is a category of {column.label!r}; impute first")
    has_text = any(isinstance(value, str) for value in values)
    categories = tuple(value if has_text else float(value) for value in values)
    keys = {value.strip() if isinstance(value, str) else value for value in categories}
    if len(keys) < len(categories) or (has_text and not all(isinstance(value, str) for value in values)):
        raise _trouble(step, name, f"categories of {column.label!r} differ in blanks or in type only; make them equal")
    fill = column.fill if column.fill in categories else None
    return replace(column, encoding=encoding, categories=categories, fill=fill)


def _from_columns(step: ColumnTransformer, features: Features, name: str) -> Features:
    found: Features = []
    for part, transformer, columns in step.transformers_:
        chosen = [features[i] for i in _places(step, columns, len(features))]
        found += _after(transformer, chosen, f"{name}: {part}") if chosen else []
    return found


def _places(step: ColumnTransformer, columns: Any, n_features: int) -> list[int]:
    """The numbers of the columns that are chosen by name, number, mask or slice."""
    if isinstance(columns, str | int):
        columns = [columns]
    known = {str(one): i for i, one in enumerate(getattr(step, "feature_names_in_", ()))}
    if isinstance(columns, slice):
        ends = [known[end] if isinstance(end, str) else end for end in (columns.start, columns.stop)]
        after = 1 if isinstance(columns.stop, str) else 0  # a slice of names has its last one inside
        columns = slice(ends[0], None if ends[1] is None else ends[1] + after, columns.step)
        return list(range(n_features)[columns])
    chosen = [known[one] if isinstance(one, str) else one for one in columns]
    if _are_bools(chosen):
        return [i for i, is_chosen in enumerate(chosen) if is_chosen]
    return [range(n_features)[i] for i in chosen]


def _are_bools(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(value, bool | np.bool_) for value in values)


def _united(step: FeatureUnion, features: Features, name: str) -> Features:
    if step.transformer_weights:
        raise _trouble(step, name, "it has weights; use scalers instead")
    return [one for part, inner in step.transformer_list for one in _after(inner, features, f"{name}: {part}")]


def _nested(step: Pipeline, features: Features, name: str) -> Features:
    return _through(((f"{name}: {part}", inner) for part, inner in step.steps), features)


def _unchanged(step: FunctionTransformer, features: Features, name: str) -> Features:
    if step.func is not None:
        raise _trouble(step, name, "a model file cannot hold a function")
    return features


def _require_number(step: Any, one: Feature, name: str) -> None:
    if isinstance(one.column.fill, str) and one.column.encoding is None:
        raise _trouble(step, name, f"{one.column.label!r} is text; encode it first")


def _is_nan(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


_RULES: dict[Any, Callable[[Any, Features, str], Features]] = {
    StandardScaler: _scaled(("subtract", "mean_", "with_mean"), ("divide", "scale_", "with_std")),
    MinMaxScaler: _scaled(("multiply", "scale_", ""), ("add", "min_", "")),
    MaxAbsScaler: _scaled(("divide", "scale_", "")),
    RobustScaler: _scaled(("subtract", "center_", "with_centering"), ("divide", "scale_", "with_scaling")),
    Grid: _on_grid,
    SimpleImputer: _imputed,
    OneHotEncoder: _encoded("one_hot"),
    OrdinalEncoder: _encoded("codes"),
    SelectorMixin: _selected,
    ColumnTransformer: _from_columns,
    FeatureUnion: _united,
    Pipeline: _nested,
    FunctionTransformer: _unchanged,
}
