"""The kernels of scorecards, compiled together."""

from __future__ import annotations

import numpy as np

from stepnet.problem.dataset import Dataset
from stepnet.runtime.compiling import Compiling
from stepnet.scores.boxes import divide
from stepnet.scores.cuts import CutPoints
from stepnet.scores.form import Form
from stepnet.scores.learner import ScoreLearner
from stepnet.scores.prover import Work
from stepnet.scores.ranks import Ranks
from stepnet.scores.search import ScoreSearch
from stepnet.scores.totals import totals_of


def _compile() -> None:
    """Call every kernel, on four points in the plane."""
    form, data = Form(2, 1, 2), Dataset.from_rows([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0])
    ranks = Ranks.of(data)
    table = ranks.table(np.asarray(data.y == 1), np.ones(4, np.int64))
    work = Work(table, totals_of(form), 2)
    work.begin()
    work.go_on(np.full(len(work.totals), 3, np.int64))
    ScoreSearch(form, CutPoints(), ranks, table, kicks=1).work([], lambda card: 0.0, lambda: False)
    ScoreLearner.of(form, CutPoints(), data, 0).work(lambda: False, kicks=1)


KERNELS = Compiling("scorecards", _compile, __name__, divide)
