"""Records of a fictitious run, for tests of tables, figures and files."""

from stepnet.experiments.cell import Cell
from stepnet.experiments.contenders import DNNS, FOUR
from stepnet.experiments.plan import PARTS, Scale, cells_of
from stepnet.experiments.results import Results

EFFORT = Scale("quick", 2, (20, 160), 20.0, 5.0, 5.0, 4.0, 20.0)


def record_of(cell: Cell, **changes) -> dict:
    record = cell.to_dict() | {"name": cell.name, "when": "2026-01-02T03:04:05+00:00", "stepnet": "0", "note": ""}
    record |= {"accuracy": 0.9 + 0.001 * cell.seed, "precision": 0.8, "recall": 0.7, "f1": 0.6}
    record |= {"total": 20.0, "loss": 3.0, "is_finished": True, "seconds": 0.05}
    if cell.method not in DNNS:
        record |= {"bound": 0.0, "gap": 1.0, "status": "FEASIBLE", "claimed_loss": 3.0, "claimed_gap": 0.0}
        record |= {"claim_is_true": True, "scope": "all networks", "proof": "made up"}
    if cell.method in (*FOUR, "joint"):
        record |= {"claimed_loss": 0.0, "claim_is_true": False, "is_finished": False, "seconds": cell.time_limit + 1}
    return record | changes


def made_up_results(parts=tuple(PARTS), change=lambda cell: {}) -> Results:
    cells = cells_of(parts, EFFORT)
    return Results(tuple(parts), EFFORT, tuple(record_of(cell, **change(cell)) for cell in cells))
