"""The paper's tables with its numbers beside ours, and those it does not have."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from stepnet.experiments.contenders import CONTENDERS, EPOCHS, FOUR, RADII
from stepnet.experiments.measure import Record
from stepnet.experiments.plan import ROBUST_RADII, ROBUST_ROWS, ROBUST_WIDTH
from stepnet.experiments.printed import SHUFFLES, SPLIT
from stepnet.experiments.results import Results, accuracies, is_false, seconds
from stepnet.experiments.table import ResultTable

NOTHING = "–"


def tables_of(results: Results) -> list[ResultTable]:
    """The tables of the parts that were asked for, as far as there are records for them."""
    makers: dict[str, tuple[Callable[[Results], ResultTable], ...]] = {
        "table1": (table_1,),
        "table2": (table_2,),
        "table3": (table_3,),
        "figures": (speed, accuracy),
        "robust": (robust,),
    }
    found = [make(results) for part in results.parts for make in makers[part]]
    return [table for table in (*found, choice(results), claims(results)) if table.lines]


def table_1(results: Results) -> ResultTable:
    lines = []
    for record in _split_records(results):
        printed = SPLIT.get((record["method"], record["width"]))
        lines.append(
            (
                _title(results, record["method"]),
                str(record["width"]),
                _percent(record.get("accuracy")),
                NOTHING if printed is None else f"{printed.accuracy:.1f}",
                _percent(record.get("gap")),
                _percent(record.get("claimed_gap")),
                NOTHING if printed is None or printed.gap is None else f"{printed.gap:g}",
                _number(record.get("loss")),
                _number(record.get("bound")),
                _claim(record),
                record.get("status") or NOTHING,
                _seconds(seconds(record)),
            )
        )
    head = (
        "Method",
        "d₁",
        "Acc. %",
        "paper's",
        "Gap %",
        "claimed",
        "paper's",
        "Training loss",
        "Bound",
        "Claim",
        "Status",
        "Seconds",
    )
    notes = [
        "Gap: between the exact training loss of the network and the bound; claimed: what the solver states",
        "Claim: the training loss that the solver states, and whether its network has it",
        *_notes(_split_records(results)),
        *_explained(results, "split"),
    ]
    return ResultTable(
        "table1", "Table 1. Breast Cancer, the paper's split", head, tuple(lines), tuple(notes), _rules(lines)
    )


def table_2(results: Results) -> ResultTable:
    lines = []
    for record in _split_records(results):
        printed = SPLIT.get((record["method"], record["width"]))
        line = [_title(results, record["method"]), str(record["width"])]
        for name in ("precision", "recall", "f1"):
            line += [
                _percent(record.get(name)),
                NOTHING if printed is None else f"{getattr(printed, name):.1f}",
            ]
        lines.append(tuple(line))
    head = ("Method", "d₁", "Prec. %", "paper's", "Rec. %", "paper's", "F1 %", "paper's")
    notes = ("Weighted by the sizes of the classes", *_explained(results, "split"))
    return ResultTable("table2", "Table 2. Breast Cancer, the paper's split", head, tuple(lines), notes, _rules(lines))


def table_3(results: Results) -> ResultTable:
    lines, notes = [], []
    for width in results.values("shuffles", "width"):
        for method in results.methods("shuffles"):
            records = results.of("shuffles", method=method, width=width)
            found = accuracies(records)
            printed = SHUFFLES.get((method, width))
            line = [_title(results, method), str(width)]
            for name, reduce in (("average", np.mean), ("maximum", np.max), ("minimum", np.min)):
                line += [
                    f"{reduce(found):.1f}" if len(found) else NOTHING,
                    NOTHING if printed is None else f"{getattr(printed, name):.1f}",
                ]
            losses = [record["loss"] for record in records if "loss" in record]
            line += [
                f"{np.mean(losses):.1f}" if losses else NOTHING,
                _share(records, lambda record: record.get("status") == "OPTIMAL", "status"),
                _share(records, is_false, "claim_is_true"),
                _seconds(float(np.median([seconds(record) for record in records]))),
            ]
            lines.append(tuple(line))
            if len(found) < len(records):
                where = f"{len(records) - len(found)} of {len(records)} shuffles"
                notes.append(f"{CONTENDERS[method].title}: no network in {where}; the numbers are those of the others")
            notes += _summed(records)
    head = (
        "Method",
        "d₁",
        "Avg. %",
        "paper's",
        "Max %",
        "paper's",
        "Min %",
        "paper's",
        "Training loss",
        "OPTIMAL",
        "False claims",
        "Seconds",
    )
    n_shuffles = len(results.values("shuffles", "seed"))
    return ResultTable(
        "table3",
        f"Table 3. Breast Cancer, {n_shuffles} shuffles",
        head,
        tuple(lines),
        ("Training loss: average; seconds: median", *notes, *_explained(results, "shuffles")),
    )


def speed(results: Results) -> ResultTable:
    """Figure 2 at its right end: how many times longer than prove the paper's methods take."""
    lines = []
    largest = max(results.values("figures", "n_rows"), default=0)
    for width in results.values("figures", "width"):
        ours = {r["seed"]: seconds(r) for r in results.of("figures", n_rows=largest, width=width, method="prove")}
        for method in ("exact", "heuristic"):
            theirs = results.of("figures", n_rows=largest, width=width, method=method)
            ratios = [seconds(r) / ours[r["seed"]] for r in theirs if r["seed"] in ours]
            if not ratios:
                continue
            lines.append(
                (
                    CONTENDERS[method].title,
                    str(width),
                    _seconds(float(np.mean([seconds(r) for r in theirs]))),
                    f"{sum(not r['is_finished'] for r in theirs)} of {len(theirs)}",
                    _seconds(float(np.mean(list(ours.values())))),
                    f"{np.exp(np.mean(np.log(ratios))):.0f}",
                    f"{min(ratios):.0f}",
                )
            )
    head = ("Method", "d₁", "Seconds", "at the limit", "prove, seconds", "Ratio", "smallest")
    notes = (
        "Time-outs count as the limit; ratio: geometric mean over instances",
        *_missing(results, "figures"),
    )
    return ResultTable("speed", f"Figure 2, {largest} training rows: time against prove", head, tuple(lines), notes)


def accuracy(results: Results) -> ResultTable:
    """Figure 1 in numbers."""
    sizes, lines = results.values("figures", "n_rows"), []
    for width in results.values("figures", "width"):
        for method in results.methods("figures"):
            line = [_title(results, method), str(width)]
            for size in sizes:
                found = accuracies(results.of("figures", n_rows=size, width=width, method=method))
                line.append(f"{found.mean():.1f} ± {found.std():.1f} ({len(found)})" if len(found) else NOTHING)
            lines.append(tuple(line))
    head = ("Method", "d₁", *(f"m = {size}" for size in sizes))
    notes = (
        "Mean and standard deviation over the instances that have a network, and how many those are",
        "A third of the rows has random labels: no method can expect more than 83.3 %",
        *_explained(results, "figures"),
    )
    return ResultTable("accuracy", "Figure 1, test accuracy in per cent", head, tuple(lines), notes, _rules(lines))


def robust(results: Results) -> ResultTable:
    lines = []
    for radius in ROBUST_RADII:
        for method in results.methods("robust"):
            records = results.of("robust", radius=radius, method=method)
            if not records:
                continue
            bounds = [record["bound"] for record in records if record.get("bound") is not None]
            has_proof = bool(bounds)
            lines.append(
                (
                    CONTENDERS[method].title,
                    f"{radius:g}",
                    str(len(records)),
                    f"{np.mean([record['loss'] for record in records]):.1f}",
                    f"{np.mean(bounds):.1f}" if has_proof else NOTHING,
                    _share(records, lambda record: record["status"] == "OPTIMAL", "status") if has_proof else NOTHING,
                    f"{accuracies(records).mean():.1f}",
                    _seconds(float(np.median([seconds(record) for record in records]))),
                )
            )
    head = ("Method", "Radius", "Instances", "Worst-case loss", "Bound", "OPTIMAL", "Test acc. %", "Seconds")
    notes = (
        f"Losses: averages, of {ROBUST_ROWS} rows; joint scenarios: the paper's column-and-constraint generation, "
        "which its authors stopped after 24 hours",
        *_explained(results, "robust"),
    )
    title = f"Robust training, random data, {ROBUST_ROWS} rows, {ROBUST_WIDTH} neurons, ℓ∞ moves"
    return ResultTable("robust", title, head, tuple(lines), notes, _rules(lines))


def choice(results: Results) -> ResultTable:
    """Which of our methods is compared with the paper's: decided on training rows."""
    widths, lines = results.values("choice", "width"), []
    for method in results.methods("choice"):
        line = [_title(results, method)]
        for width in widths:
            found = accuracies(results.of("choice", method=method, width=width))
            line.append(f"{found.mean():.2f}" if len(found) else NOTHING)
        lines.append((*line, f"{accuracies(results.of('choice', method=method)).mean():.2f}"))
    head = ("Method", *(f"d₁ = {width}, %" for width in widths), "Mean %")
    notes = (
        "Accuracy on held-out fifths of the training rows of the paper's split; no test row is looked at",
        f"robust: rows may be moved by {RADII['folds']:g} in ℓ∞, half a step of the data's integers",
        *_explained(results, "choice"),
    )
    return ResultTable("choice", "Which of our methods: five folds of the training rows", head, tuple(lines), notes)


def claims(results: Results) -> ResultTable:
    """How often what the solver says of the paper's programs is true."""
    lines = []
    for experiment in ("split", "shuffles", "figures"):
        for method in FOUR:
            records = results.of(experiment, method=method)
            stated = [record for record in records if "claim_is_true" in record]
            if not records:
                continue
            finished = [record for record in stated if record["is_finished"]]
            lines.append(
                (
                    CONTENDERS[method].title,
                    {"split": "Tables 1, 2", "shuffles": "Table 3", "figures": "Figures"}[experiment],
                    str(len(records)),
                    str(len(stated)),
                    str(sum(map(is_false, stated))),
                    str(len(finished)),
                    str(sum(map(is_false, finished))),
                )
            )
    head = ("Method", "Where", "Cells", "Claims", "false", "ended before the limit", "false")
    notes = (
        "Claim: the loss that the solver states for its weights, or that there is no solution",
        "False: an exact forward pass of these weights has more errors, or there is a solution",
    )
    return ResultTable("claims", "What the solver's word is worth", head, tuple(lines), notes)


def _split_records(results: Results) -> list[Record]:
    return [
        record
        for width in results.values("split", "width")
        for method in results.methods("split")
        for record in results.of("split", width=width, method=method)
    ]


def _title(results: Results, method: str) -> str:
    return CONTENDERS[method].title + (" (chosen)" if method == results.chosen else "")


def _rules(lines: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    """A rule wherever the second column changes."""
    return tuple(number for number in range(1, len(lines)) if lines[number][1] != lines[number - 1][1])


def _notes(records: Sequence[Record]) -> list[str]:
    """What is to be said of single records."""
    return [f"{CONTENDERS[r['method']].title}, d₁ = {r['width']}: {r['note']}" for r in records if r.get("note")]


def _summed(records: Sequence[Record]) -> list[str]:
    """What is to be said of several records of one method, each thing once."""
    said = [record["note"] for record in records if record.get("note") and "accuracy" in record]
    title = CONTENDERS[records[0]["method"]].title if records else ""
    return [f"{title}: {note}, in {said.count(note)} of {len(records)}" for note in dict.fromkeys(said)]


def _explained(results: Results, experiment: str) -> list[str]:
    """Why cells are missing, and what the DNN is."""
    found = _missing(results, experiment)
    if results.of(experiment, method="dnn"):
        found.append(
            f"DNN: one hidden ReLU layer, cross entropy, {EPOCHS} epochs, rows as they are, by scikit-learn "
            "(the paper: Keras)"
        )
    return found


def _missing(results: Results, experiment: str) -> list[str]:
    reasons = [reason for cell, reason in results.missing if cell.experiment == experiment]
    return [f"{reasons.count(reason)} cells are missing: {reason}" for reason in dict.fromkeys(reasons)]


def _claim(record: Record) -> str:
    if "claim_is_true" not in record:
        return NOTHING
    claim = f"{record['claimed_loss']:g}" if "claimed_loss" in record else "infeasible"
    return f"{claim}, {'true' if record['claim_is_true'] else 'FALSE'}"


def _share(records: Sequence[Record], holds: Callable[[Record], bool], field: str) -> str:
    asked = [record for record in records if field in record]
    return f"{sum(map(holds, asked))} of {len(asked)}" if asked else NOTHING


def _percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.1f}"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:g}"


def _seconds(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
