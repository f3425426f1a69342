"""Score files: there are none but the claim, since the checker divides boxes of scorecards by itself."""

from __future__ import annotations

from stepnet.proof_files.kind import Task
from stepnet.proof_files.question import Question, Watch
from stepnet.proof_files.repeated import Repeated
from stepnet.proof_files.score_boxes import KERNELS, MOST_RULES, check_scorecards


class Scorecards(Repeated):
    """All scorecards of a form, by boxes of cuts."""

    name = "scorecards"
    kernels = KERNELS
    claimed = "no scorecard of the form loses less"
    knows_forms = True

    def accepts(self, task: Task) -> bool:
        form = task.question.form
        return form is not None and form["n_rules"] <= MOST_RULES

    def repeat(self, question: Question, watch: Watch) -> str:
        found = check_scorecards(question, watch)
        return f"{found.n_boxes:,} boxes of cuts below {found.n_gates} gates, divided again"
