"""Options that several commands share: one name, one meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stepnet.cli.config import read_config

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="CSV (also .gz, .bz2, .xz, .zip) or Parquet file with a header.", show_default=False
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file that fit wrote.", show_default=False)]
Target = Annotated[str, typer.Option(help="Column with the classes or numbers to predict.", show_default=False)]
WeightColumn = Annotated[
    str | None, typer.Option("--sample-weight", help="Column with row weights.", show_default=False)
]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.", show_default=False)]
Encode = Annotated[
    str,
    typer.Option(
        help="Text columns: one_hot (a feature a category) or codes (0, 1, ... by the alphabet).", show_default=False
    ),
]
Impute = Annotated[
    str,
    typer.Option(
        help="Missing cells: mean, median, most_frequent or a number; text takes the most frequent.",
        show_default=False,
    ),
]
Hidden = Annotated[str, typer.Option(help="Hidden widths: 25, or 5,5 for two layers, or 0 for a single neuron.")]
Threshold = Annotated[str, typer.Option(help="neuron, layer, or a number.")]
Weights = Annotated[str, typer.Option(help="real, binary, sign, ternary, or a number P for -P, ..., P.")]
Output = Annotated[str, typer.Option(help="For several classes: one_vs_one, one_hot or ordinal.")]
Activation = Annotated[str, typer.Option(help="step or sign.")]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option(
        help="balanced, or CLASS=NUMBER: what a row of a class weighs, 1 if not said; may be repeated.",
        show_default=False,
    ),
]
Sparsity = Annotated[
    str, typer.Option(help="Most non-zero weights: 20 in all, 15,5 by layer, or fewest.", show_default=False)
]
Raises = Annotated[
    list[str] | None,
    typer.Option(help="Column that may only raise the score; may be repeated.", show_default=False),
]
Lowers = Annotated[
    list[str] | None,
    typer.Option(help="Column that may only lower the score; may be repeated.", show_default=False),
]
FormulationName = Annotated[str, typer.Option(help="auto, one_neuron, cells, sat, gates, tight, bilinear or paper.")]
ProgramName = Annotated[str, typer.Option("--formulation", help="gates, tight or paper.")]
Solver = Annotated[str, typer.Option(help="auto, highs, scip, gurobi or cpsat.")]
TimeLimit = Annotated[float, typer.Option(help="Seconds.")]
Seed = Annotated[int, typer.Option(help="Seed.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Config = Annotated[
    Path | None,
    typer.Option(
        is_eager=True,
        callback=read_config,
        help="TOML file with these options by name; the command line goes first.",
        show_default=False,
    ),
]
