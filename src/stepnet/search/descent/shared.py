"""A descent on rows that lie in several places, such as the workers of a cluster.

In every round each place makes some steps with its own rows, all from the same weights; then weights, moments and sums
are averaged. What a place does depends on its rows, the weights and the seed alone: it does not matter who computes it,
or how often.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple, Self

import numpy as np
from threadpoolctl import threadpool_limits

from stepnet.model.arithmetic import Floats
from stepnet.model.network import Network
from stepnet.problem.problem import Problem
from stepnet.search.descent import in_numpy
from stepnet.search.descent.descent import (
    KERNELS,
    DescentOptions,
    _completed,
    _has_complements,
    _is_wide,
    _settings,
    _training,
)
from stepnet.search.descent.kernel import Training, descend
from stepnet.search.descent.layer_rule import LayerRule, layer_rules
from stepnet.search.descent.targets import Targets


class Course(NamedTuple):
    """Where a descent is: all that its steps change, so that it can go on elsewhere."""

    arrays: tuple[Any, ...]  # weights, offsets, their moments and their sums
    n_averaged: int = 0

    @classmethod
    def mean(cls, courses: Sequence[Course]) -> Course:
        """Of descents that began at the same place, with rows of their own."""
        together = zip(*(course.arrays for course in courses), strict=True)
        means = tuple(np.mean(np.stack(parts), axis=0, dtype=np.float64).astype(np.float32) for parts in together)
        return cls(means, courses[0].n_averaged)


_OF_COURSE = ("W", "b", "weight_moments", "offset_moments", "weight_sums", "offset_sums")


class SharedDescent(NamedTuple):
    """A descent on rows that lie in several places: each makes steps with its own rows, then weights are averaged."""

    options: DescentOptions
    units: tuple[Floats, Floats]  # means and scales of the features
    target_units: tuple[Floats, float]
    n_rows: int  # in all places
    n_steps: int
    seed: int

    @classmethod
    def of(cls, problem: Problem, options: DescentOptions, units: Any, n_rows: int, share: float, seed: int) -> Self:
        """With a share of the steps of a descent in one place."""
        options = options.for_(problem)
        n_steps = max(1, int(share * _settings(n_rows, problem.dataset.n_features, options).n_steps))
        targets = Targets.of(problem)
        return cls(options, units, (targets.mean, targets.scale), n_rows, n_steps, seed)

    def _begun(self, problem: Problem) -> tuple[Targets, list[LayerRule], Training]:
        targets = Targets(None, *self.target_units)
        targets = targets._replace(values=targets.standardised(problem.dataset.y))
        layers = layer_rules(problem, *self.units, has_complements=_has_complements(problem))
        training = _training(problem, targets, layers, *self.units, np.random.default_rng(self.seed))
        return targets, layers, training

    def start(self, problem: Problem) -> Course:
        """Random hyperplanes through rows of the problem."""
        training = self._begun(problem)[2]
        return Course(tuple(getattr(training, name).copy() for name in _OF_COURSE))

    def steps(self, problem: Problem, course: Course, first: int, end: int, place: int) -> Course:
        """Steps with the rows of a problem, from where the course is."""
        training = self._begun(problem)[2]
        for name, array in zip(_OF_COURSE, course.arrays, strict=True):
            getattr(training, name)[...] = array
        settings = _settings(self.n_rows, problem.dataset.n_features, self.options)._replace(
            n_steps=self.n_steps,
            is_regression=problem.architecture.output.gives_numbers,
            is_ordinal=problem.architecture.output.n_thresholds > 1,
            has_rules=training.V is not training.W,
        )
        rng = np.random.default_rng([self.seed, first, place])
        training.order[:] = rng.permutation(training.order)
        is_wide, seed = _is_wide(problem), int(rng.integers(2**31))
        if not is_wide and not KERNELS.is_compiled:
            KERNELS.compile()  # in numpy the same steps are rounded differently
        with threadpool_limits(1, user_api="blas") if is_wide else nullcontext():
            n_averaged = (in_numpy.descend if is_wide else descend)(training, settings, first, end, seed)
        return Course(tuple(getattr(training, name) for name in _OF_COURSE), course.n_averaged + n_averaged)

    def network(self, problem: Problem, course: Course) -> Network:
        """At the end."""
        targets, layers, training = self._begun(problem)
        W, b, _, _, weight_sums, offset_sums = course.arrays
        if course.n_averaged:
            W, b = weight_sums / course.n_averaged, offset_sums / course.n_averaged
        return _completed(problem, targets, layers, training.rules, training.widths, W, b)
