"""Equal rows with different targets: no network gets all of them right."""

from __future__ import annotations

import math
from collections.abc import Callable

from stepnet.bounds.bound import Bound
from stepnet.bounds.evidence import Conflicts
from stepnet.bounds.overlaps import Cover, lightest_cover
from stepnet.problem.problem import Problem


def conflict_bound(
    problem: Problem, cover: Cover | None = None, should_stop: Callable[[], bool] = lambda: False
) -> Bound:
    """The least loss of any network of any architecture.

    Equal rows get the same answer, and the loss knows their least cost. Perturbed rows conflict if they can become
    equal; ``cover`` is the lightest cover of such pairs, if it is known.
    """
    dataset, loss = problem.dataset, problem.loss
    if problem.scenarios is not None:
        return Bound()
    architecture = problem.architecture
    value = loss.conflict_cost(dataset, architecture.output.n_answers(architecture.n_outputs))
    if problem.is_uncertain and loss.counts_errors:
        value = max((cover or lightest_cover(problem, should_stop)).value, value)
        if step := dataset.granularity:
            value = math.ceil(value / step - 1e-6) * step  # with several classes the value may be a half
        return Bound(value, evidence=Conflicts(is_perturbed=True))
    if loss.reads_values:
        return Bound(value, evidence=Conflicts("numbers"))
    return Bound(value, evidence=Conflicts()) if value else Bound()
