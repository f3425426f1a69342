"""The command line. Heavy imports wait until a command needs them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from stepnet.errors import StepnetError

if TYPE_CHECKING:
    from stepnet.cli.table import Table
    from stepnet.estimators.base import BaseStep
    from stepnet.verification import Verification

EXIT_FALSE, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="stepnet",
    help="Neural networks of step neurons, trained with a proof of how good they are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Data = Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet file with a header.", show_default=False)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file that fit wrote.", show_default=False)]
Target = Annotated[str, typer.Option(help="Column with the classes or numbers to predict.", show_default=False)]
WeightColumn = Annotated[
    str | None, typer.Option("--sample-weight", help="Column with row weights.", show_default=False)
]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.", show_default=False)]
Hidden = Annotated[str, typer.Option(help="Hidden widths: 25, or 5,5 for two layers, or 0 for a single neuron.")]
Threshold = Annotated[str, typer.Option(help="neuron, layer, or a number.")]
Weights = Annotated[str, typer.Option(help="real, binary, sign or ternary.")]
Output = Annotated[str, typer.Option(help="For several classes: one_vs_one, one_hot or ordinal.")]
Activation = Annotated[str, typer.Option(help="step or sign.")]
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors that stepnet foresees become one line and exit code 2."""
    code = 0
    try:
        app(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except StepnetError as error:
        code = _complain(str(error))
    except BrokenPipeError:
        code = EXIT_FALSE
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - nobody reads on
    except OSError as error:
        code = _complain(f"{error.filename or 'file'}: {error.strerror}")
    except ValueError as error:  # scikit-learn's word on bad data or parameters
        code = _complain(" ".join(str(error).split()))
    except MemoryError:
        code = _complain("there is not enough memory for this; use fewer rows or a smaller --hidden.")
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    _exit(code)


def _complain(message: str) -> int:
    print(f"stepnet: {message}", file=sys.stderr)
    return EXIT_BAD_INPUT


def _exit(code: int) -> None:
    """Leave at once even if something still compiles or winds up in the background."""
    if any(thread.name.startswith("stepnet") for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where to write the model.")] = Path("model.json"),
    hidden: Hidden = "25",
    time_limit: TimeLimit = 60,
) -> None:
    """Train on the Breast Cancer data that come along, and show the certificate."""
    from sklearn.model_selection import train_test_split

    from stepnet import StepClassifier
    from stepnet.datasets import load_breast_cancer_wisconsin

    _check_writable(out)
    rows = load_breast_cancer_wisconsin()
    names = [rows.target_names[code] for code in rows.target]
    split: Any = train_test_split(rows.data, names, test_size=0.2, random_state=42)
    X_train, X_test, y_train, y_test = split
    print(f"Breast Cancer Wisconsin: {len(X_train)} training rows, {len(X_test)} test rows, 9 features.", flush=True)
    classifier = StepClassifier(hidden=_widths(hidden), time_limit=time_limit, random_state=0)
    _fit(classifier, X_train, y_train, None, out, rows.feature_names)
    print(f"test accuracy {100 * classifier.score(X_test, y_test):.1f} %")
    print(f"model written to {out}")
    _exit_if_interrupted(classifier)


@app.command()
def fit(
    data: Data,
    target: Target,
    out: Annotated[Path, typer.Option(help="Where to write the model.")] = Path("model.json"),
    hidden: Hidden = "25",
    threshold: Threshold = "neuron",
    weights: Weights = "real",
    activation: Activation = "step",
    output: Output = "one_vs_one",
    task: Annotated[str, typer.Option(help="classification or regression.")] = "classification",
    loss: Annotated[
        str, typer.Option(help="misclassified or hinge; for regression squared or absolute.", show_default=False)
    ] = "",
    sparsity: Sparsity = "",
    raises: Raises = None,
    lowers: Lowers = None,
    norm: Annotated[
        str,
        typer.Option(
            help="With --radius: how moves of rows are measured, l1, l2 or linf (default).", show_default=False
        ),
    ] = "",
    radius: Annotated[
        float, typer.Option(help="How far rows may be moved: the worst case is trained.", show_default=False)
    ] = 0.0,
    method: Annotated[str, typer.Option(help="prove, learn, search, exact or alternating.")] = "prove",
    formulation: FormulationName = "auto",
    solver: Solver = "auto",
    time_limit: TimeLimit = 60,
    gap: Annotated[float, typer.Option(help="Stop at this relative gap.")] = 0.0,
    n_jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = 1,
    random_state: Seed = 0,
    sample_weight: WeightColumn = None,
    drop: Drop = None,
) -> None:
    """Train a network on a table and write the model."""
    import numpy as np

    from stepnet import StepClassifier, StepRegressor
    from stepnet.errors import InvalidInputError

    chosen = _method(method, formulation, solver)
    if task not in ("classification", "regression"):
        raise InvalidInputError(f"--task {task} is not known; choose classification or regression.")
    _check_writable(out)
    is_regression = task == "regression"
    names, X, y, row_weights = _training_rows(data, target, sample_weight, drop, is_number=is_regression)
    options: dict[str, Any] = {
        "hidden": _widths(hidden),
        "threshold": _threshold(threshold),
        "weights": weights,
        "activation": activation,
        "sparsity": _sparsity(sparsity),
        "constraints": _constraints(raises, lowers, names),
        "uncertainty": _ball(norm, radius),
        "method": chosen,
        "time_limit": time_limit,
        "gap": gap,
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
    if loss:
        options["loss"] = loss
    estimator: Any = StepRegressor(**options) if is_regression else StepClassifier(output=output, **options)
    _fit(estimator, X, y, row_weights, out, names)
    if is_regression:
        print(f"R² on the training rows {estimator.score(X, np.asarray(y)):.4f}")
    print(f"model written to {out}")
    _exit_if_interrupted(estimator)


@app.command()
def predict(
    model: Model,
    data: Data,
    out: Annotated[Path | None, typer.Option(help="CSV file to write; default: standard output.")] = None,
) -> None:
    """Predict the class or the number of every row of a table."""
    from stepnet.cli.table import read_table
    from stepnet.files import write_atomically

    classifier, _, X = _loaded(model, read_table(data))
    answers = classifier.predict(X)
    text = "\n".join(["prediction", *map(str, answers)]) + "\n"
    if out is None:
        sys.stdout.write(text)
    else:
        write_atomically(out, text)
        print(f"{len(answers)} predictions written to {out}")


@app.command()
def prove(
    data: Data,
    target: Target,
    hidden: Hidden = "2",
    save: Annotated[
        Path | None, typer.Option(help="New folder for a proof that others can check.", show_default=False)
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the model.", show_default=False)] = None,
    time_limit: TimeLimit = 600,
    random_state: Seed = 0,
    sample_weight: WeightColumn = None,
    drop: Drop = None,
) -> None:
    """Prove the smallest loss of few neurons, and write the proof; exit code 1 if the time was not enough."""
    from stepnet import StepClassifier
    from stepnet.errors import SolverError

    for path in filter(None, (save, out)):
        _check_writable(path, is_new_folder=path is save)
    names, X, y, row_weights = _training_rows(data, target, sample_weight, drop)
    classifier = StepClassifier(hidden=_widths(hidden), time_limit=time_limit, random_state=random_state)
    _fit(classifier, X, y, row_weights, out, names)
    for way in classifier.result_.ways:
        print(f"  chosen   {way}")
    if out is not None:
        print(f"model written to {out}")
    _exit_if_interrupted(classifier)
    if save is not None:
        try:
            classifier.save_proof(save, X, y, row_weights, time_limit=time_limit)
        except SolverError as error:
            _complain(str(error))
            sys.exit(EXIT_FALSE)
        print(f"proof of bound {classifier.certificate_.bound:g} written to {save}; check it: stepnet verify {save}")
    if classifier.certificate_.status != "OPTIMAL":
        sys.exit(EXIT_FALSE)


@app.command()
def widths(
    data: Data,
    target: Target,
    loss: Annotated[float, typer.Option(help="Weight of misclassified rows to reach.")] = 0.0,
    most: Annotated[int, typer.Option(help="Largest number of neurons to try.")] = 5,
    plot: Annotated[Path | None, typer.Option(help="Picture of loss and bound over the width.")] = None,
    time_limit: TimeLimit = 600,
    random_state: Seed = 0,
    sample_weight: WeightColumn = None,
    drop: Drop = None,
) -> None:
    """Find the fewest neurons that reach a loss, and the best loss of every width; exit code 1 if that is open."""
    from stepnet import smallest_width

    if plot is not None:
        _check_writable(plot)
    _, X, y, row_weights = _training_rows(data, target, sample_weight, drop)
    found = smallest_width(
        X,
        y,
        loss,
        sample_weight=row_weights,
        most=most,
        time_limit=time_limit,
        random_state=random_state,
        show=lambda one: print(
            f"{one.width:3} neurons: loss {one.loss:g}, bound {one.bound:g}", file=sys.stderr, flush=True
        ),
    )
    print(found)
    if plot is not None:
        found.plot(plot)
        print(f"plot written to {plot}")
    if found.curve[-1].certificate.stop_reason == "interrupted":
        sys.exit(EXIT_INTERRUPTED)
    if found.smallest is None:
        sys.exit(EXIT_FALSE)


@app.command()
def verify(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="Model file that fit wrote, or folder that prove --save wrote.", show_default=False
        ),
    ],
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="The training data of a model.", show_default=False)
    ] = None,
    target: Annotated[str, typer.Option(help="Column with the classes or numbers.", show_default=False)] = "",
    resolve: Annotated[bool, typer.Option("--resolve", help="Repeat the solver's proof too.")] = False,
    time_limit: TimeLimit = 600,
    sample_weight: WeightColumn = None,
) -> None:
    """Check a model's certificate against its training data, or a written proof; exit code 1 if a claim is false."""
    from stepnet.errors import InvalidInputError

    if model.is_dir():
        from stepnet import verify_proof

        if data is not None or target or resolve:
            raise InvalidInputError(f"{model} is a folder with a proof, which has its data inside; give nothing else.")
        verification = verify_proof(model, time_limit=time_limit)
    elif data is None or not target:
        raise InvalidInputError("verifying a model needs its training data: stepnet verify MODEL DATA --target COLUMN.")
    else:
        verification = _verified(model, data, target, sample_weight, resolve, time_limit)
    print(verification)
    if not verification:
        sys.exit(EXIT_FALSE)


def _verified(
    model: Path, data: Path, target: str, sample_weight: str | None, resolve: bool, time_limit: float
) -> Verification:
    from stepnet import StepRegressor
    from stepnet.cli.table import read_table

    table = read_table(data)
    classifier, _, X = _loaded(model, table, (target, sample_weight))
    row_weights = None if sample_weight is None else table.numbers([sample_weight])[:, 0]
    labels = table.numbers([target])[:, 0] if isinstance(classifier, StepRegressor) else table.labels(target)
    found: Verification = classifier.verify(X, labels, row_weights, resolve=resolve, time_limit=time_limit)
    return found


@app.command()
def attack(
    model: Model,
    data: Data,
    target: Annotated[str, typer.Option(help="Column with the true classes; default: the model's answers count.")] = "",
    norm: Annotated[str, typer.Option(help="l1, l2 or linf.")] = "linf",
    radius: Annotated[
        list[float] | None,
        typer.Option(help="Radius to tell the certified share for; may be repeated.", show_default=False),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file for the moved rows.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Picture of the certified share over the radius.")] = None,
    n_jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = 1,
) -> None:
    """Find for every row the smallest move that changes the model's answer, exact."""
    import numpy as np

    from stepnet.cli.attacks import draw, table_of_shares, write_csv
    from stepnet.cli.table import read_table
    from stepnet.errors import InvalidInputError
    from stepnet.uncertainty.attack import attack as attack_rows

    for path in (out, plot):
        if path is not None:
            _check_writable(path)
    if any(not np.isfinite(one) or one < 0 for one in radius or []):
        raise InvalidInputError(f"--radius {radius} must be numbers that are not negative.")
    table = read_table(data)
    classifier, names, X = _loaded(model, table, (target,))
    labels = table.labels(target) if target else None
    norms: Any = norm
    found = attack_rows(classifier, X, labels, norm=norms, n_jobs=n_jobs)
    print(table_of_shares(found, radius or []))
    if out is not None:
        write_csv(found, classifier, names, out)
        print(f"moved rows written to {out}")
    if plot is not None:
        draw(found, norm, plot)
        print(f"plot written to {plot}")


@app.command()
def solvers() -> None:
    """List the solvers, which are installed, and how to install the others."""
    from stepnet.backends.registry import BACKENDS

    for backend in BACKENDS.values():
        state = (
            f"version {backend.version()}"
            if backend.is_available()
            else (f"not installed: pip install 'stepnet[{backend.extra}]'")
        )
        print(f"{backend.name:8} {backend.title:8} {state}")


@app.command()
def export(
    data: Data,
    target: Target,
    to: Annotated[str, typer.Option(help="mps or lp.")] = "mps",
    out: Annotated[Path | None, typer.Option(help="File to write; default: the data's name.")] = None,
    hidden: Hidden = "2",
    threshold: Threshold = "neuron",
    weights: Weights = "real",
    activation: Activation = "step",
    output: Output = "one_hot",
    formulation: ProgramName = "tight",
    sample_weight: WeightColumn = None,
    drop: Drop = None,
) -> None:
    """Write the mixed-integer program of a table as .mps or .lp for any solver."""
    from stepnet import StepClassifier
    from stepnet.errors import InvalidInputError
    from stepnet.formulations.registry import formulation_for
    from stepnet.milp.write import write_model

    if to not in ("mps", "lp"):
        raise InvalidInputError(f"--to {to} is not known; choose mps or lp.")
    if out is not None and out.suffix.lower() != f".{to}":
        raise InvalidInputError(f"--out {out} does not end in .{to}, as --to {to} asks; change one of them.")
    _, X, y, row_weights = _training_rows(data, target, sample_weight, drop)
    classifier = StepClassifier(
        _widths(hidden), threshold=_threshold(threshold), weights=weights, activation=activation, output=output
    )
    problem = classifier.problem(X, y, row_weights)
    encodings = formulation_for(formulation, problem).encode(problem)
    base = out or Path(data.stem).with_suffix(f".{to}")
    for number, encoding in enumerate(encodings):
        name = base if len(encodings) == 1 else base.with_name(f"{base.stem}_{number}{base.suffix}")
        comment = f"{encoding.name}; {problem.dataset.n_rows} distinct rows, data {problem.dataset.fingerprint}"
        write_model(encoding.model, name, comment=comment)
        print(f"{encoding.name}: {encoding.model.n_columns} variables, {encoding.model.n_rows} rows in {name}")


@app.command()
def reproduce(
    which: Annotated[str, typer.Argument(help="table1, table2, table3, figures, robust or all.")] = "all",
    budget: Annotated[str, typer.Option(help="quick (minutes) or full (hours).")] = "quick",
    out: Annotated[Path, typer.Option(help="Folder for cells, tables, figures and the page.")] = Path("paper-results"),
    n_jobs: Annotated[int, typer.Option(help="Cells at once; -1 for all cores.")] = -1,
    dask: Annotated[str, typer.Option(help="Address of a Dask scheduler to run the cells on.")] = "",
    render: Annotated[bool, typer.Option("--render", help="Run nothing; write what finished cells give.")] = False,
) -> None:
    """Run the paper's experiments with ours beside them; started again, it goes on where it ended."""
    import contextlib

    from stepnet.cli.experiments import on_cluster, showing_cells
    from stepnet.experiments.reproduce import reproduce as run

    _check_folder(out)
    try:
        with showing_cells() as show, on_cluster(dask) if dask else contextlib.nullcontext():
            jobs = None if dask else n_jobs
            results, paths = run(which, budget=budget, out=out, n_jobs=jobs, show=show, render_only=render)
    except KeyboardInterrupt:
        print(f"interrupted; finished cells are in {out}, and the same command goes on from there", file=sys.stderr)
        raise
    for reason, count in results.reasons().items():
        print(f"{count} cells are missing: {reason}", file=sys.stderr)
    print(f"tables and figures in {out}; open {paths[0]} in a browser")
    if results.has_errors:
        sys.exit(EXIT_FALSE)


@app.command()
def instances(
    out: Annotated[Path, typer.Option(help="Folder for the programs, the rows and the table.")] = Path("instances"),
    only: Annotated[
        list[str] | None, typer.Option(help="Name of an instance; may be repeated. Default: all.", show_default=False)
    ] = None,
    formulation: ProgramName = "tight",
    solve: Annotated[float, typer.Option(help="Seconds to try to improve each record.")] = 0.0,
) -> None:
    """Write the benchmark instances of this field as .mps, with the best that is known, each verified."""
    from stepnet.cli.experiments import write_library
    from stepnet.experiments.instances import chosen_instances

    chosen = chosen_instances(only or [])
    _check_folder(out)
    if not write_library(chosen, out, formulation, solve):
        sys.exit(EXIT_FALSE)


def _fit(classifier: BaseStep, X: Any, y: Any, row_weights: Any, out: Path | None, names: list[str]) -> None:
    """Fit with progress, write the model at once, then print the certificate."""
    import numpy as np

    from stepnet import save
    from stepnet.view import showing

    with showing(classifier.time_limit) as show:
        classifier.fit(X, y, row_weights, on_incumbent=show)
    if out is not None:
        classifier.feature_names_in_ = np.array(names, dtype=object)
        save(classifier, out)
        del classifier.feature_names_in_  # the rows here are plain arrays; only the file keeps the names
    print(classifier.certificate_)


def _exit_if_interrupted(classifier: BaseStep) -> None:
    if classifier.certificate_.stop_reason == "interrupted":
        sys.exit(EXIT_INTERRUPTED)


def _training_rows(
    data: Path, target: str, sample_weight: str | None, drop: list[str] | None, *, is_number: bool = False
) -> tuple[list[str], Any, Any, Any]:
    from stepnet.cli.table import read_table
    from stepnet.errors import InvalidInputError

    table = read_table(data)
    labels = table.numbers([target])[:, 0] if is_number else table.labels(target)
    for name in drop or []:
        table.column(name)
    left_out = {target, sample_weight, *(drop or [])}
    names = [name for name in table.names if name not in left_out]
    if not names:
        raise InvalidInputError(f"{data} has no column beside {', '.join(filter(None, left_out))} to learn from.")
    row_weights = None if sample_weight is None else table.numbers([sample_weight])[:, 0]
    return names, table.numbers(names), labels, row_weights


def _loaded(model: Path, table: Table, left_out: Collection[str | None] = ()) -> tuple[Any, list[str], Any]:
    """A model, its features, and the rows of a table that it wants: those features, by name.

    A model without names takes all columns but those left out.
    """
    from stepnet import load

    classifier = load(model)
    names = [name for name in table.names if name not in left_out]
    if hasattr(classifier, "feature_names_in_"):
        names = [str(name) for name in classifier.feature_names_in_]
        del classifier.feature_names_in_  # the rows are a plain array, already in the right order
    return classifier, names, table.numbers(names)


def _widths(hidden: str) -> tuple[int, ...]:
    from stepnet.errors import InvalidInputError

    try:
        widths = tuple(int(part) for part in hidden.replace(" ", "").strip(",").split(","))
    except ValueError:
        raise InvalidInputError(
            f"--hidden {hidden} must be widths such as 25 or 5,5, or 0 for a single neuron."
        ) from None
    return () if widths == (0,) else widths


def _threshold(threshold: str) -> str | float:
    try:
        return float(threshold)
    except ValueError:
        return threshold


def _ball(norm: str, radius: float) -> Any:
    from stepnet import Ball
    from stepnet.errors import InvalidInputError

    if norm and not radius:
        raise InvalidInputError(
            f"--norm {norm} says how moves are measured; say with --radius how far rows may be moved."
        )
    return Ball(cast("Any", norm or "linf"), radius) if radius else None


def _method(name: str, formulation: str, solver: str) -> Any:
    from stepnet import Alternating, Exact, Learn, Prove, Search
    from stepnet.errors import InvalidInputError

    exact = Exact(formulation=formulation, solver=solver)
    alternating = Alternating(formulation="tight" if formulation == "auto" else formulation, solver=solver)
    methods: dict[str, Any] = {
        "prove": Prove(exact=exact),
        "learn": Learn(),
        "search": Search(),
        "exact": exact,
        "alternating": alternating,
    }
    if name not in methods:
        raise InvalidInputError(f"--method {name} is not known; choose one of {', '.join(methods)}.")
    return methods[name]


def _sparsity(sparsity: str) -> Any:
    from stepnet.errors import InvalidInputError

    if sparsity in ("", "fewest"):
        return sparsity or None
    try:
        limits = tuple(int(part) for part in sparsity.split(","))
    except ValueError:
        raise InvalidInputError(
            f"--sparsity {sparsity} must be a number, one a layer such as 15,5, or fewest."
        ) from None
    return limits[0] if len(limits) == 1 else limits


def _constraints(raises: list[str] | None, lowers: list[str] | None, names: list[str]) -> Any:
    from stepnet import Lowers, Raises
    from stepnet.errors import InvalidInputError

    for name in (*(raises or []), *(lowers or [])):
        if name not in names:
            raise InvalidInputError(f"there is no feature {name!r} to constrain; the features are {', '.join(names)}.")
    found = [Raises(names.index(name)) for name in raises or []]
    return [*found, *(Lowers(names.index(name)) for name in lowers or [])] or None


def _check_folder(out: Path) -> None:
    """A folder that is there or can be made."""
    from stepnet.errors import InvalidInputError

    if out.exists() and not out.is_dir():
        raise InvalidInputError(f"--out {out} is a file; give the name of a folder.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"the folder {str(out)!r} of --out cannot be made: {error.strerror}.") from error
    if not os.access(out, os.W_OK):
        raise InvalidInputError(f"the folder {str(out)!r} of --out cannot be written to; choose another.")


def _check_writable(out: Path, *, is_new_folder: bool = False) -> None:
    """Before a long fit, not after it."""
    from stepnet.errors import InvalidInputError

    if is_new_folder and (out.is_file() or (out.is_dir() and any(out.iterdir()))):
        raise InvalidInputError(f"{out} is there already; give the name of a new folder.")

    if not out.parent.is_dir():
        raise InvalidInputError(f"the folder {str(out.parent)!r} of --out does not exist; make it first.")
    if out.is_dir() and not is_new_folder:
        raise InvalidInputError(f"--out {out} is a folder; give a file name.")
    if not os.access(out.parent, os.W_OK):
        raise InvalidInputError(f"the folder {str(out.parent)!r} of --out cannot be written to; choose another.")
