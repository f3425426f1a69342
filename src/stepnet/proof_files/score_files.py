"""Score files: there are none but the claim, since the checker divides boxes of scorecards by itself."""

from __future__ import annotations

import time
from collections.abc import Iterator

from stepnet.certificate.verification import Check
from stepnet.proof_files.claim import Claim
from stepnet.proof_files.kind import BetterNetworkError, Kind, Parts, Task
from stepnet.proof_files.question import CheckError, LossError, Watch
from stepnet.proof_files.score_boxes import KERNELS, MOST_RULES, check_scorecards
from stepnet.runtime.limits import Budget


class Scorecards(Kind):
    """All scorecards of a form, by boxes of cuts."""

    name = "scorecards"
    knows_forms = True

    def accepts(self, task: Task) -> bool:
        form = task.question.form
        return form is not None and form["n_rules"] <= MOST_RULES

    def write(self, task: Task, budget: Budget) -> Parts | None:
        """What the checker would refuse, or has no time for, is not written."""
        if not KERNELS.is_done(budget.remaining):
            return None
        try:
            check_scorecards(task.question, Watch(budget))
        except LossError as error:
            raise BetterNetworkError(task.weights.loss_of(error.units)) from error
        except TimeoutError:
            return None
        return Parts()

    def checks(self, claim: Claim, watch: Watch) -> Iterator[Check]:
        words, begin = "no scorecard of the form loses less", time.monotonic()
        try:
            if not KERNELS.is_done(watch.budget.remaining):
                raise TimeoutError
            found = check_scorecards(claim.question, watch)
        except CheckError as error:
            yield Check(words, False, str(error))
        except TimeoutError:
            yield Check(words, None, "the time is up")
        else:
            boxes = f"{found.n_boxes:,} boxes of cuts below {found.n_gates} gates, divided again"
            yield Check(words, True, f"{boxes} ({time.monotonic() - begin:.1f} s)")
