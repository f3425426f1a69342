"""Options that several commands share: one name, one meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stepnet.cli.config import read_config

Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="CSV (also .gz, .bz2, .xz, .zip) or Parquet file with a header.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file that fit wrote.")]
AnyModel = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file that fit wrote, an exported network, or an ONNX file.")
]
TrainingData = Annotated[Path | None, typer.Argument(metavar="[DATA]", help="The training data of the model.")]
Target = Annotated[str, typer.Option(help="Column with the classes or numbers to predict.")]
TrueTarget = Annotated[str, typer.Option(help="Column with the classes or numbers.")]
Out = Annotated[Path, typer.Option(help="Where to write the model.")]
WeightColumn = Annotated[str | None, typer.Option("--sample-weight", help="Column with row weights.")]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")]
Encode = Annotated[
    str,
    typer.Option(help="Text columns: one_hot (one feature per category) or codes (0, 1, ... in alphabetical order)."),
]
Impute = Annotated[
    str, typer.Option(help="Missing cells: mean, median, most_frequent or a number; text takes the most frequent.")
]
Grid = Annotated[
    float | None,
    typer.Option(help="Features as whole numbers, in steps of so many standard deviations, such as 0.25."),
]
Hidden = Annotated[str, typer.Option(help="Hidden widths: 25, or 5,5 for two layers, or 0 for a single neuron.")]
HiddenOrAuto = Annotated[
    str,
    typer.Option(
        "--hidden",
        help="Hidden widths: 25, or 5,5 for two layers, 0 for a single neuron; auto chooses by held-out rows.",
    ),
]
Threshold = Annotated[str, typer.Option(help="neuron, layer, or a number.")]
Weights = Annotated[str, typer.Option(help="real, binary, sign, ternary, or a number P for -P, ..., P.")]
Output = Annotated[str, typer.Option(help="For several classes: auto, one_hot, one_vs_one or ordinal.")]
Activation = Annotated[str, typer.Option(help="step or sign.")]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option(help="balanced, or CLASS=NUMBER, the weight of a class (default 1); may be repeated."),
]
Probability = Annotated[str, typer.Option(help="How values become probabilities: auto, sigmoid, isotonic or none.")]
Sparsity = Annotated[str, typer.Option(help="Most non-zero weights: 20 in total, 15,5 by layer, or fewest.")]
Raises = Annotated[list[str] | None, typer.Option(help="Column that may only raise the score; may be repeated.")]
Lowers = Annotated[list[str] | None, typer.Option(help="Column that may only lower the score; may be repeated.")]
ConstraintTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--constraint",
        help="As in Python, such as \"Recall('ill', at_least=0.95)\", FalsePositiveRate(at_most=0.05) or "
        "\"Parity(by='sex', within=0.03)\"; may be repeated.",
    ),
]
FormulationName = Annotated[
    str, typer.Option(help="auto, one_neuron, cells, cones, sat, gates, tight, bilinear or paper.")
]
ProgramName = Annotated[str, typer.Option("--formulation", help="gates, tight or paper.")]
Solver = Annotated[str, typer.Option(help="auto, highs, scip, gurobi or cpsat.")]
TimeLimit = Annotated[float, typer.Option(help="Seconds.")]
Seed = Annotated[int, typer.Option(help="Seed.")]
Memory = Annotated[
    str,
    typer.Option(
        help="Memory to use, such as 1GB; rows that do not fit, and patterns such as 'a/*.parquet', are read in blocks."
    ),
]
Dask = Annotated[
    str, typer.Option("--dask", help="Address of a Dask scheduler whose workers read the Parquet files and learn.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Config = Annotated[
    Path | None,
    typer.Option(
        is_eager=True,
        callback=read_config,
        help="TOML file with these options by name; the command line takes precedence.",
    ),
]
