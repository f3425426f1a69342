"""The paper's tables with its numbers beside ours, and some that it does not have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from stepnet.experiments.contenders import CONTENDERS, EPOCHS, FOUR, RADII
from stepnet.experiments.measure import Record
from stepnet.experiments.plan import ROBUST_RADII, ROBUST_ROWS, ROBUST_WIDTH
from stepnet.experiments.printed import SHUFFLES, SPLIT, Printed, PrintedShuffles
from stepnet.experiments.results import Results, accuracies, is_false, seconds
from stepnet.experiments.table import ResultTable

NOTHING = "–"


def tables_of(results: Results) -> list[ResultTable]:
    """The tables of the results' parts that have records."""
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
    records = _split_records(results)
    lines = [
        [
            *_method(results, record["method"], record["width"]),
            ("Acc. %", _percent(record.get("accuracy"))),
            _papers(_printed(record), "accuracy"),
            ("Gap %", _gap(record, "gap")),
            ("claimed", _gap(record, "claimed_gap")),
            _papers(_printed(record), "gap", "g"),
            ("Training loss", _number(record.get("loss"))),
            ("Bound", _number(record.get("bound"))),
            ("Claim", _claim(record)),
            ("Status", record.get("status") or NOTHING),
            ("Seconds", _seconds(seconds(record))),
        ]
        for record in records
    ]
    notes = (
        "Gap: between the exact training loss of the network and the bound; claimed: the solver's gap",
        "Claim: the training loss that the solver claims, and whether its network has it",
        *(f"{CONTENDERS[r['method']].title}, d₁ = {r['width']}: {r['note']}" for r in records if r.get("note")),
        *_explained(results, "split"),
    )
    return ResultTable.of("table1", "Table 1. Breast Cancer, the paper's split", lines, notes, is_grouped=True)


def table_2(results: Results) -> ResultTable:
    lines = []
    for record in _split_records(results):
        line = _method(results, record["method"], record["width"])
        for head, name in (("Prec. %", "precision"), ("Rec. %", "recall"), ("F1 %", "f1")):
            line += [(head, _percent(record.get(name))), _papers(_printed(record), name)]
        lines.append(line)
    notes = ("Weighted by the sizes of the classes", *_explained(results, "split"))
    return ResultTable.of("table2", "Table 2. Breast Cancer, the paper's split", lines, notes, is_grouped=True)


def table_3(results: Results) -> ResultTable:
    lines, notes = [], ["Training loss: average; seconds: median"]
    for width, method in product(results.values("shuffles", "width"), results.methods("shuffles")):
        records = results.of("shuffles", method=method, width=width)
        found, title = accuracies(records), CONTENDERS[method].title
        line = _method(results, method, width)
        for head, name, reduce in (
            ("Avg. %", "average", np.mean),
            ("Max %", "maximum", np.max),
            ("Min %", "minimum", np.min),
        ):
            line += [(head, _reduced(reduce, found)), _papers(SHUFFLES.get((method, width)), name)]
        line += [
            ("Training loss", _reduced(np.mean, [record["loss"] for record in records if "loss" in record])),
            ("OPTIMAL", _share(records, _is_optimal, "status")),
            ("False claims", _share(records, is_false, "claim_is_true")),
            ("Seconds", _seconds(np.median([seconds(record) for record in records]))),
        ]
        lines.append(line)
        if len(found) < len(records):
            missing = f"{len(records) - len(found)} of {len(records)} shuffles"
            notes.append(f"{title}: no network in {missing}; the numbers are those of the others")
        said = [record["note"] for record in records if record.get("note") and "accuracy" in record]
        notes += [f"{title}: {note}, in {said.count(note)} of {len(records)}" for note in dict.fromkeys(said)]
    title = f"Table 3. Breast Cancer, {len(results.values('shuffles', 'seed'))} shuffles"
    return ResultTable.of("table3", title, lines, (*notes, *_explained(results, "shuffles")))


def speed(results: Results) -> ResultTable:
    """The right end of Figure 2: how many times longer than prove the paper's methods take."""
    lines = []
    largest = max(results.values("figures", "n_rows"), default=0)
    for width, method in product(results.values("figures", "width"), ("exact", "heuristic")):
        ours = {r["seed"]: seconds(r) for r in results.of("figures", n_rows=largest, width=width, method="prove")}
        theirs = results.of("figures", n_rows=largest, width=width, method=method)
        ratios = [seconds(r) / ours[r["seed"]] for r in theirs if r["seed"] in ours]
        if ratios:
            lines.append(
                [
                    ("Method", CONTENDERS[method].title),
                    ("d₁", str(width)),
                    ("Seconds", _seconds(np.mean([seconds(r) for r in theirs]))),
                    ("at the limit", f"{sum(not r['is_finished'] for r in theirs)} of {len(theirs)}"),
                    ("prove, seconds", _seconds(np.mean(list(ours.values())))),
                    ("Ratio", f"{np.exp(np.mean(np.log(ratios))):.0f}"),
                    ("smallest", f"{min(ratios):.0f}"),
                ]
            )
    notes = ("Time-outs count as the limit; ratio: geometric mean over instances", *_missing(results, "figures"))
    return ResultTable.of("speed", f"Figure 2, {largest} training rows: time compared with prove", lines, notes)


def accuracy(results: Results) -> ResultTable:
    """Figure 1 in numbers."""
    lines = []
    for width, method in product(results.values("figures", "width"), results.methods("figures")):
        line = _method(results, method, width)
        for size in results.values("figures", "n_rows"):
            found = accuracies(results.of("figures", n_rows=size, width=width, method=method))
            cell = f"{found.mean():.1f} ± {found.std():.1f} ({len(found)})" if len(found) else NOTHING
            line.append((f"m = {size}", cell))
        lines.append(line)
    notes = (
        "Mean and standard deviation over the instances that have a network, and the number of those instances",
        "A third of the rows has random labels: no method can expect more than 83.3 %",
        *_explained(results, "figures"),
    )
    return ResultTable.of("accuracy", "Figure 1, test accuracy in per cent", lines, notes, is_grouped=True)


def robust(results: Results) -> ResultTable:
    lines = []
    for radius, method in product(ROBUST_RADII, results.methods("robust")):
        records = results.of("robust", radius=radius, method=method)
        bounds = [record["bound"] for record in records if record.get("bound") is not None]
        if records:
            lines.append(
                [
                    ("Method", CONTENDERS[method].title),
                    ("Radius", f"{radius:g}"),
                    ("Instances", str(len(records))),
                    ("Worst-case loss", _reduced(np.mean, [record["loss"] for record in records])),
                    ("Bound", _reduced(np.mean, bounds)),
                    ("OPTIMAL", _share(records, _is_optimal, "status") if bounds else NOTHING),
                    ("Test acc. %", _reduced(np.mean, accuracies(records))),
                    ("Seconds", _seconds(np.median([seconds(record) for record in records]))),
                ]
            )
    notes = (
        f"Losses: averages, of {ROBUST_ROWS} rows; joint scenarios: the paper's column-and-constraint generation, "
        "which its authors stopped after 24 hours",
        *_explained(results, "robust"),
    )
    title = f"Robust training, random data, {ROBUST_ROWS} rows, {ROBUST_WIDTH} neurons, ℓ∞ perturbations"
    return ResultTable.of("robust", title, lines, notes, is_grouped=True)


def choice(results: Results) -> ResultTable:
    """Which of our methods is compared with the paper's: decided on training rows."""
    lines = []
    for method in results.methods("choice"):
        line = [("Method", _title(results, method))]
        for width in results.values("choice", "width"):
            found = accuracies(results.of("choice", method=method, width=width))
            line.append((f"d₁ = {width}, %", _reduced(np.mean, found, ".2f")))
        found = accuracies(results.of("choice", method=method))
        lines.append([*line, ("Mean %", _reduced(np.mean, found, ".2f"))])
    notes = (
        "Accuracy on held-out fifths of the training rows of the paper's split; no test row is used",
        f"robust: rows may be perturbed by {RADII['folds']:g} in ℓ∞, half a step of the data's integers",
        *_explained(results, "choice"),
    )
    return ResultTable.of("choice", "Which of our methods: five folds of the training rows", lines, notes)


def claims(results: Results) -> ResultTable:
    """How often the solver's claims about the paper's programs are true."""
    lines = []
    places = {"split": "Tables 1, 2", "shuffles": "Table 3", "figures": "Figures"}
    for experiment, method in product(places, FOUR):
        records = results.of(experiment, method=method)
        stated = [record for record in records if "claim_is_true" in record]
        finished = [record for record in stated if record["is_finished"]]
        if records:
            lines.append(
                [
                    ("Method", CONTENDERS[method].title),
                    ("Where", places[experiment]),
                    ("Cells", str(len(records))),
                    ("Claims", str(len(stated))),
                    ("false", str(sum(map(is_false, stated)))),
                    ("ended before the limit", str(len(finished))),
                    ("false", str(sum(map(is_false, finished)))),
                ]
            )
    notes = (
        "Claim: the loss that the solver states for its weights, or that there is no solution",
        "False: an exact forward pass of these weights has more errors, or there is a solution",
    )
    return ResultTable.of("claims", "How often the solver's claims are true", lines, notes)


def _split_records(results: Results) -> list[Record]:
    return [
        record
        for width in results.values("split", "width")
        for method in results.methods("split")
        for record in results.of("split", width=width, method=method)
    ]


def _title(results: Results, method: str) -> str:
    return CONTENDERS[method].title + (" (chosen)" if method == results.chosen else "")


def _method(results: Results, method: str, width: int) -> list[tuple[str, str]]:
    """The first two columns."""
    return [("Method", _title(results, method)), ("d₁", str(width))]


def _printed(record: Record) -> Printed | None:
    return SPLIT.get((record["method"], record["width"]))


def _papers(printed: Printed | PrintedShuffles | None, name: str, digits: str = ".1f") -> tuple[str, str]:
    """The column with the number that the paper prints, if it prints one."""
    return "paper's", _number(getattr(printed, name, None), digits)


def _explained(results: Results, experiment: str) -> list[str]:
    """Why cells are missing, and what the DNN is."""
    found = _missing(results, experiment)
    if results.of(experiment, method="dnn"):
        found.append(
            f"DNN: one hidden ReLU layer, cross entropy, {EPOCHS} epochs, unscaled rows, by scikit-learn "
            "(the paper: Keras)"
        )
    return found


def _missing(results: Results, experiment: str) -> list[str]:
    return [f"{count} cells are missing: {reason}" for reason, count in results.reasons(experiment).items()]


def _claim(record: Record) -> str:
    if "claim_is_true" not in record:
        return NOTHING
    claim = f"{record['claimed_loss']:g}" if "claimed_loss" in record else "infeasible"
    return f"{claim}, {'true' if record['claim_is_true'] else 'FALSE'}"


def _gap(record: Record, name: str) -> str:
    """Nothing for a network that was learned for new rows: its training loss is not what it is judged by."""
    return NOTHING if record.get("status") == "LEARNED" else _percent(record.get(name))


def _is_optimal(record: Record) -> bool:
    return bool(record["status"] == "OPTIMAL")


def _share(records: Sequence[Record], holds: Callable[[Record], bool], field: str) -> str:
    """Of the records that have a field."""
    having = [record for record in records if field in record]
    return f"{sum(map(holds, having))} of {len(having)}" if having else NOTHING


def _reduced(reduce: Callable[[Any], Any], values: Any, digits: str = ".1f") -> str:
    return f"{reduce(values):{digits}}" if len(values) else NOTHING


def _percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.1f}"


def _number(value: float | None, digits: str = "g") -> str:
    return NOTHING if value is None else f"{value:{digits}}"


def _seconds(value: Any) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
