"""Commands that train: demo, fit, prove, widths, tradeoff."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from stepnet.cli import options
from stepnet.cli.fitting import facts_of, fit_shown, summary
from stepnet.cli.inputs import (
    ball_of,
    check_new_folder,
    check_plot,
    check_writable,
    class_weight_of,
    constraints_of,
    group_names,
    hidden_of,
    method_of,
    numbers_of,
    probability_of,
    require_two_classes,
    sparsity_of,
    threshold_of,
    training_rows,
    weights_of,
    widths_of,
    with_groups,
    written_constraints,
)
from stepnet.cli.output import EXIT_FALSE, complain, exit_if, say, write_rows
from stepnet.cli.proofs import saved
from stepnet.cli.streams import fit_streamed, is_stream, labels_of, on_dask, streamed
from stepnet.cli.written import written
from stepnet.errors import InvalidInputError


def demo(
    out: options.Out = Path("model.json"),
    time_limit: options.TimeLimit = 60,
    report: Annotated[Path | None, typer.Option(help="Also write a report, an HTML page.")] = None,
    data: Annotated[Path | None, typer.Option(help="Also write the training rows, a CSV file.")] = None,
    as_json: options.Json = False,
) -> None:
    """Separate the bundled Breast Cancer data by three neurons, and prove that two cannot."""
    from stepnet.cli.demonstration import demonstrate

    check_writable(out, report, data)
    demonstrate(out, time_limit, report, data, as_json=as_json)


def fit(
    data: options.Data,
    target: options.Target,
    out: options.Out = Path("model.json"),
    hidden: options.HiddenOrAuto = "25",
    threshold: options.Threshold = "neuron",
    weights: options.Weights = "real",
    activation: options.Activation = "step",
    output: options.Output = "auto",
    task: Annotated[str, typer.Option(help="classification or regression.")] = "classification",
    loss: Annotated[str, typer.Option(help="misclassified or hinge; for regression squared or absolute.")] = "",
    sparsity: options.Sparsity = "",
    raises: options.Raises = None,
    lowers: options.Lowers = None,
    constraint: options.ConstraintTexts = None,
    norm: Annotated[str, typer.Option(help="Norm of perturbations, with --radius: l1, l2 or linf (default).")] = "",
    radius: Annotated[float, typer.Option(help="How far rows may be perturbed; the worst case is trained for.")] = 0.0,
    method: Annotated[str, typer.Option(help="learn, prove, search, exact or alternating.")] = "learn",
    formulation: options.FormulationName = "auto",
    solver: options.Solver = "auto",
    time_limit: options.TimeLimit = 60,
    gap: Annotated[float, typer.Option(help="Stop at this relative gap.")] = 0.0,
    n_jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = 1,
    random_state: options.Seed = 0,
    sample_weight: options.WeightColumn = None,
    class_weight: options.ClassWeight = None,
    probability: options.Probability = "auto",
    drop: options.Drop = None,
    encode: options.Encode = "",
    impute: options.Impute = "",
    grid: options.Grid = None,
    checkpoint: Annotated[Path | None, typer.Option(help="File that always holds the best network and bound.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume from the checkpoint, if it exists.")] = False,
    config: options.Config = None,
    memory: options.Memory = "",
    dask: options.Dask = "",
    as_json: options.Json = False,
) -> None:
    """Train a network on a table and write the model."""
    from stepnet import StepClassifier, StepRegressor

    chosen = method_of(method, formulation, solver)
    if task not in ("classification", "regression"):
        raise InvalidInputError(f"--task {task} is not known; choose classification or regression.")
    if resume and checkpoint is None:
        raise InvalidInputError("--resume needs a checkpoint; name it with --checkpoint FILE.")
    check_writable(out)
    is_regression = task == "regression"
    others, rules = written_constraints(constraint), {"encode": encode, "impute": impute}
    options_of_rows: Any = {"sample_weight": sample_weight, "drop": drop or [], "task": task, **rules}
    rows: Any = (
        on_dask(data, dask, target, **options_of_rows) if dask else streamed(data, memory, target, **options_of_rows)
    )
    if rows is None:
        groups = group_names(others)
        rows = training_rows(
            data, target, sample_weight, drop, is_number=is_regression, groups=groups, grid=grid, **rules
        )
    else:
        unfit = {"--checkpoint": checkpoint is not None, "--constraint": bool(others), "--grid": grid is not None}
        for option in (option for option, is_given in unfit.items() if is_given):
            raise InvalidInputError(f"{option} is for rows that fit into memory; these are read in blocks. Omit it.")
    parameters: dict[str, Any] = {
        "hidden": hidden_of(hidden),
        "threshold": threshold_of(threshold),
        "weights": weights_of(weights),
        "activation": written(activation),
        "sparsity": sparsity_of(sparsity),
        "constraints": constraints_of(raises, lowers, rows.columns.features, with_groups(others, rows)),
        "uncertainty": ball_of(norm, radius),
        "method": chosen,
        "time_limit": time_limit,
        "gap": gap,
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
    if loss:
        parameters["loss"] = written(loss)
    if class_weight and is_regression:
        raise InvalidInputError("--class-weight is for classes; --task regression predicts numbers. Omit one of them.")
    if not is_regression:
        parameters |= {"output": output, "class_weight": class_weight_of(class_weight, labels_of(rows))}
        parameters["probability"] = probability_of(probability)
    estimator: Any = StepRegressor(**parameters) if is_regression else StepClassifier(**parameters)
    given: Any = {} if is_stream(rows) else {"checkpoint": checkpoint, "resume": resume}
    is_interrupted = (fit_streamed if is_stream(rows) else fit_shown)(estimator, rows, out, **given)
    lines, facts = [summary(estimator)], facts_of(estimator, out)
    if is_regression and not is_stream(rows):
        facts["r2"] = estimator.score(rows.X, rows.y)
        lines.append(f"R² on the training rows {facts['r2']:.4f}")
    say("\n".join([*lines, f"model written to {out}"]), facts, as_json=as_json)
    exit_if(is_interrupted)


def prove(
    data: options.Data,
    target: options.Target,
    hidden: options.Hidden = "2",
    save: Annotated[Path | None, typer.Option(help="New folder for a proof that others can check.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the model.")] = None,
    constraint: options.ConstraintTexts = None,
    time_limit: options.TimeLimit = 600,
    random_state: options.Seed = 0,
    sample_weight: options.WeightColumn = None,
    class_weight: options.ClassWeight = None,
    drop: options.Drop = None,
    encode: options.Encode = "",
    impute: options.Impute = "",
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Prove the smallest loss of a few neurons, and write the proof; exit code 1 if the time was too short."""
    from stepnet import StepClassifier
    from stepnet.proof_files.written import require_provable

    check_writable(out)
    if save is not None:
        check_new_folder(save)
    others = written_constraints(constraint)
    groups = group_names(others)
    rows = training_rows(data, target, sample_weight, drop, encode=encode, impute=impute, groups=groups)
    require_two_classes(rows.y, "prove")
    classifier = StepClassifier(
        hidden=widths_of(hidden),
        constraints=with_groups(others, rows) or None,
        class_weight=class_weight_of(class_weight, rows.y),
        method="prove",
        time_limit=time_limit,
        random_state=random_state,
    )
    if save is not None:
        require_provable(classifier.problem(rows.X, rows.y, rows.weights))
    is_interrupted = fit_shown(classifier, rows, out)
    lines = [summary(classifier), *(f"  chosen   {way}" for way in classifier.result_.ways)]
    if out is not None:
        lines.append(f"model written to {out}")
    facts, trouble = facts_of(classifier, out) | {"ways": classifier.result_.ways, "proof": None}, ""
    if save is not None:
        if not as_json:
            print("\n".join(lines), flush=True)  # writing a proof may take long
            lines = []
        proof = saved(classifier, rows, save, time_limit, is_interrupted=is_interrupted)
        is_interrupted, trouble = proof.is_interrupted, proof.trouble
        facts |= proof.facts
        lines += proof.lines
    if lines or as_json:
        say("\n".join(lines), facts, as_json=as_json)
    if trouble:
        complain(trouble)
    exit_if(is_interrupted)
    if trouble or classifier.certificate_.status != "OPTIMAL":
        sys.exit(EXIT_FALSE)


def widths(
    data: options.Data,
    target: options.Target,
    loss: Annotated[float, typer.Option(help="Weight of misclassified rows to reach.")] = 0.0,
    most: Annotated[int, typer.Option(help="Largest number of neurons to try.")] = 5,
    plot: Annotated[Path | None, typer.Option(help="Plot of loss and bound over the width.")] = None,
    time_limit: options.TimeLimit = 600,
    random_state: options.Seed = 0,
    sample_weight: options.WeightColumn = None,
    drop: options.Drop = None,
    encode: options.Encode = "",
    impute: options.Impute = "",
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Find the fewest neurons that reach a loss, and the best loss of every width; exit code 1 if it stays open."""
    from stepnet import smallest_width
    from stepnet.runtime.view import showing

    check_plot(plot)
    rows = training_rows(data, target, sample_weight, drop, encode=encode, impute=impute)
    require_two_classes(rows.y, "widths")
    with showing(time_limit, "looking for the fewest neurons"):
        found = smallest_width(
            rows.X,
            rows.y,
            loss,
            sample_weight=rows.weights,
            most=most,
            time_limit=time_limit,
            random_state=random_state,
            on_interrupt="keep",
            show=lambda one: print(
                f"{one.width:3} {'neuron' if one.width == 1 else 'neurons'}: loss {one.loss:g}, bound {one.bound:g}",
                file=sys.stderr,
                flush=True,
            ),
        )
    lines = [str(found)]
    if plot is not None:
        found.plot(plot)
        lines.append(f"plot written to {plot}")
    curve = [{"width": one.width, "loss": one.loss, "bound": one.bound} for one in found.curve]
    say(
        "\n".join(lines),
        {"smallest": found.smallest, "loss": loss, "least": found.least, "curve": curve},
        as_json=as_json,
    )
    exit_if(found.curve[-1].certificate.stop_reason == "interrupted")
    if found.smallest is None:
        sys.exit(EXIT_FALSE)


def tradeoff(
    data: options.Data,
    target: options.Target,
    hidden: options.Hidden = "2",
    positive: Annotated[str, typer.Option(help="Class to be found; default: the second one.")] = "",
    at_most: Annotated[
        str, typer.Option(help="False positives to allow, such as 0,5,10; default: 0,1,2,3,5,8, ...")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Also write the points, a CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot of recall over false positives.")] = None,
    time_limit: options.TimeLimit = 600,
    random_state: options.Seed = 0,
    sample_weight: options.WeightColumn = None,
    drop: options.Drop = None,
    encode: options.Encode = "",
    impute: options.Impute = "",
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Find the best recall for every number of false positives, with a bound; exit code 1 if a point stays open."""
    from stepnet import tradeoff as curve_of
    from stepnet.estimators.tradeoff import COLUMNS
    from stepnet.runtime.view import showing

    check_plot(plot)
    check_writable(out)
    rows = training_rows(data, target, sample_weight, drop, encode=encode, impute=impute)
    require_two_classes(rows.y, "tradeoff")
    with showing(time_limit, "trading recall for false positives"):
        found = curve_of(
            rows.X,
            rows.y,
            positive=positive or None,
            hidden=widths_of(hidden),
            false_positives=numbers_of(at_most, "--at-most") if at_most else None,
            sample_weight=rows.weights,
            time_limit=time_limit,
            random_state=random_state,
            on_interrupt="keep",
            show=lambda one: print(
                f"at most {one.at_most:g} false positives: recall {100 * float(one.recall):.2f} %, "
                f"no network has more than {100 * float(one.recall_at_most):.2f} %",
                file=sys.stderr,
                flush=True,
            ),
        )
    lines = [str(found)]
    if out is not None:
        write_rows(out, COLUMNS, found.rows())
        lines.append(f"points written to {out}")
    if plot is not None:
        found.plot(plot)
        lines.append(f"plot written to {plot}")
    points = [dict(zip(COLUMNS, row, strict=True)) for row in found.rows()]
    say("\n".join(lines), {"positive": found.positive, "hidden": found.hidden, "points": points}, as_json=as_json)
    exit_if(found.points[-1].stop_reason == "interrupted")
    if any(one.status != "OPTIMAL" for one in found.points):
        sys.exit(EXIT_FALSE)
