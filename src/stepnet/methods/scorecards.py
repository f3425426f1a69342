"""Methods for scorecards: learn, search, prove."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepnet.bounds.conflicts import conflict_bound
from stepnet.errors import InvalidInputError, NotAcceptedError
from stepnet.methods.plan import Plan
from stepnet.methods.run import Run
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.scores.card import Card
from stepnet.scores.cuts import CutPoints
from stepnet.scores.form import Form
from stepnet.scores.kernels import KERNELS
from stepnet.scores.learner import ScoreLearner
from stepnet.scores.prover import ScoreProver, accepts_proof
from stepnet.scores.ranks import Ranks
from stepnet.scores.search import KICKS, ScoreSearch
from stepnet.scores.totals import simplest
from stepnet.scores.units import Units

METHODS = ("learn", "search", "prove")
_SEARCH_SHARE, _LEARN_SHARE = 0.3, 0.3  # of the time
_RELAXED_SMALL, _RELAXED, _MANY_RULES = (0.1, 20.0), (0.6, 600.0), 5  # share and seconds, for any function of rules
_SHORT_KICKS = 2  # of a learned start
_SMALLER_SHARE, _SMALLER_SECONDS = 1.0, 1.0  # of the time of the proof, or so many seconds, to look for smaller cards


@dataclass(frozen=True)
class Scoring:
    """How scorecards of a form are found: "learn", "search" or "prove"."""

    method: str
    form: Form
    cut_points: CutPoints

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            names = ", ".join(map(repr, METHODS))
            raise InvalidInputError(f"method={self.method!r} is not known for scorecards; choose {names}.")

    def plan(self, problem: Problem) -> Plan:
        if self.method == "prove" and not (answer := accepts_proof(self.form)):
            raise NotAcceptedError(answer.reason)
        stages = {
            "learn": ("logistic loss of the totals, by exchanging rules",),
            "search": ("logistic loss as a start", "fewest errors, by exchanging rules"),
            "prove": ("logistic loss as a start", "fewest errors, by exchanging rules", "boxes of cut points"),
        }
        return Plan.of(problem, "free bounds", *stages[self.method])

    def work(self, run: Run) -> Card:
        """Work on a run until it is over, or nothing is left to try; the best card."""
        run.plan = run.plan or self.plan(run.problem)
        card = self._begin(run)
        if not run.compiles(KERNELS):
            run.hurry("scorecards", "a rounded sparse logistic fit only, since kernels were still being compiled")
            offered = Offered(run, card)
            offered(self._learner(run).rough())
            return offered.card
        if self.method == "learn":
            return self._learn(run)
        offered = Offered(run, card)
        if not run.is_over:
            self._search(run, offered)
        if self.method == "prove":
            self._prove(run, offered)
        return offered.card

    def _begin(self, run: Run) -> Card:
        run.stage = "constants"
        cards = [Card((), 1), Card((), 0)]
        losses = [run.offer(_network(run, card)) for card in cards]
        run.raise_bound(conflict_bound(run.problem))
        return cards[int(np.argmin(losses))]

    def _learn(self, run: Run) -> Card:
        run.is_learned = True
        run.announce("learning")
        card = self._learner(run).work(
            lambda: run.must_stop() or run.budget.elapsed > run.last_call, seconds=run.budget.remaining
        )
        # The learned card is the answer even if a constant has a smaller training loss.
        run.settle(_network(run, card))
        return card

    def _search(self, run: Run, offered: Offered) -> None:
        run.announce("local search")
        learner = self._learner(run)
        with run.within(_LEARN_SHARE):
            start = learner.work(run.must_stop, _SHORT_KICKS, run.budget.remaining)
        offered(simplest(start, self.form))
        dataset, ranks = run.problem.dataset, Ranks.of(run.problem.dataset)
        units = Units.of(run.problem, dataset.total_weight)
        assert units is not None
        table = ranks.table(np.asarray(dataset.y == 1), units.weights)
        search = ScoreSearch(self.form, self.cut_points, ranks, table, run.seed, KICKS)
        with run.within(_SEARCH_SHARE if self.method == "prove" else 1.0):
            search.work([start], offered, lambda: run.is_over or run.budget.elapsed > run.last_call)

    def _prove(self, run: Run, offered: Offered) -> None:
        prover = ScoreProver(self.form, self.cut_points)
        run.announce("scorecards")
        if not run.is_over:
            is_small = self.form.n_rules < _MANY_RULES
            with run.within(*(_RELAXED_SMALL if is_small else _RELAXED)):
                prover.relax(run, run.must_stop)
            prover.work(run, offered)
        if run.is_proven and not run.must_stop():
            seconds = max(_SMALLER_SECONDS, _SMALLER_SHARE * run.budget.elapsed)
            end = min(run.budget.elapsed + seconds, run.last_call)
            prover.smaller(run, offered, lambda: run.must_stop() or run.budget.elapsed > end)

    def _learner(self, run: Run) -> ScoreLearner:
        return ScoreLearner.of(self.form, self.cut_points, run.problem.dataset, run.seed)


@dataclass
class Offered:
    """The best card so far; of those with the same loss the one with fewer rules, then with smaller points."""

    run: Run
    card: Card

    def __call__(self, card: Card) -> float:
        run, before = self.run, self.run.loss
        loss = run.offer(_network(run, card))
        if loss < before:
            self.card = card
        elif loss == before and card.rank < self.card.rank:
            run.settle(_network(run, card))
            self.card = card
        return loss


def _network(run: Run, card: Card) -> Network:
    architecture = run.problem.architecture
    return card.network(architecture.n_features, architecture.hidden[0])
