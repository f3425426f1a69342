"""Fitted pipelines of all steps that are understood, and rows with text and missing cells for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from stepnet import StepClassifier

NUMBERS = ["age", "income", "visits"]


def people(n=90):
    """A frame with numbers, text and missing cells, and two classes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 12, n).round(1),
            "income": rng.lognormal(3, 1, n),
            "visits": rng.integers(0, 5, n),
            "region": rng.choice(["north", " south", "west"], n),
            "id": [f"p{i}" for i in range(n)],
        }
    )
    y = np.where(frame.age + 6 * (frame.region == "north") + rng.normal(0, 5, n) > 52, "ill", "well")
    frame.loc[[3, 8], "age"], frame.loc[[5], "region"] = np.nan, None
    return frame, y


def network():
    return StepClassifier(hidden=(3,), method="learn", random_state=0)


def filled(*steps):
    return make_pipeline(SimpleImputer(strategy="median"), *steps)


def encoded(encoder):
    return make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)


def one_hot(**options):
    return encoded(OneHotEncoder(sparse_output=False, **options))


PREPARATIONS = {
    "standard": lambda: ColumnTransformer([("n", filled(StandardScaler()), NUMBERS)]),
    "min-max": lambda: ColumnTransformer([("n", filled(MinMaxScaler((-1, 3))), NUMBERS)]),
    "max-abs": lambda: ColumnTransformer([("n", filled(MaxAbsScaler()), NUMBERS)]),
    "robust": lambda: ColumnTransformer([("n", filled(RobustScaler(with_centering=False)), NUMBERS)]),
    "two scalers": lambda: ColumnTransformer([("n", filled(StandardScaler(), MinMaxScaler()), NUMBERS)]),
    "no scale": lambda: ColumnTransformer([("n", filled(StandardScaler(with_std=False)), [2, 0])]),
    "mean": lambda: ColumnTransformer([("n", SimpleImputer(), ["age"]), ("p", "passthrough", slice(1, 3))]),
    "constant": lambda: ColumnTransformer([("n", SimpleImputer(strategy="constant", fill_value=-1.5), NUMBERS)]),
    "mask": lambda: ColumnTransformer([("n", filled(), [True, False, True, False, False])]),
    "names": lambda: ColumnTransformer([("n", filled(), slice("age", "visits"))]),
    "selector": lambda: ColumnTransformer([("n", filled(), make_column_selector(dtype_include="number"))]),
    "one-hot": lambda: ColumnTransformer([("c", one_hot(), ["region"]), ("n", filled(), NUMBERS)]),
    "drop first": lambda: ColumnTransformer([("c", one_hot(drop="first"), ["region"]), ("n", filled(), NUMBERS)]),
    "ignore": lambda: ColumnTransformer(
        [("c", one_hot(handle_unknown="ignore"), ["region", "visits"]), ("d", "drop", ["id"]), ("n", filled(), ["age"])]
    ),
    "codes": lambda: ColumnTransformer(
        [("c", encoded(OrdinalEncoder()), ["region", "visits"]), ("n", filled(), ["age"])]
    ),
    "remainder": lambda: ColumnTransformer(
        [("c", one_hot(), ["region"]), ("d", "drop", ["id"])], remainder=filled(StandardScaler())
    ),
    "selected": lambda: Pipeline(
        [
            ("columns", ColumnTransformer([("c", one_hot(), ["region"]), ("n", filled(), NUMBERS)])),
            ("scaler", StandardScaler()),
            ("nothing", "passthrough"),
            ("varied", VarianceThreshold()),
            ("best", SelectKBest(k=3)),
        ]
    ),
    "twice": lambda: FeatureUnion(
        [
            ("plain", ColumnTransformer([("n", filled(), ["age", "income"])])),
            ("scaled", ColumnTransformer([("n", filled(StandardScaler()), ["income", "age"])])),
        ]
    ),
    "frames": lambda: ColumnTransformer(
        [("c", one_hot(), ["region"]), ("n", filled(StandardScaler()), NUMBERS)]
    ).set_output(transform="pandas"),
}


def fitted(name):
    """A fitted pipeline with its rows and classes."""
    frame, y = people()
    return Pipeline([("prepare", PREPARATIONS[name]()), ("network", network())]).fit(frame, y), frame, y
