"""The rules of a problem: its domains, staircases, thresholds and constraints as arrays for the descent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stepnet.constructions.moved_threshold import can_move
from stepnet.errors import YES, Answer
from stepnet.model.arithmetic import Floats
from stepnet.problem.problem import Problem
from stepnet.problem.weights import WeightDomain
from stepnet.search.descent.layer_rule import LayerRule
from stepnet.search.descent.rules import BEYOND, Rules


def accepts_rules(problem: Problem) -> Answer:
    """Constraints that latent weights can be put back to; if not, the reason is a clause about descent."""
    constraints, domains = problem.constraints, problem.architecture.domains
    if constraints.fewest:
        return Answer("descent keeps limits on the number of weights, and sparsity='fewest' is none")
    if constraints.need_other_answers:
        return Answer("descent takes constraints on weights, not on answers")
    if constraints.limit_errors and not can_move(problem):
        return Answer("descent meets limits on errors by moving the threshold of one output, and there is none to move")
    for row in constraints.rows:
        if len(row.terms) == 1:
            continue
        if any(domains[k].is_integer for (k, _, _), _ in row.terms):
            return Answer("descent keeps constraints that combine weights only if these are real")
        if not row.lower <= 0 <= row.upper:
            return Answer("descent keeps constraints that combine weights only if weights of 0 satisfy them")
    for k, domain in enumerate(domains):
        if domain.is_integer and constraints.touch(k) and not _leaves_values(problem, k):
            return Answer(f"descent finds no {domain.name} weights that the constraints admit")
    return YES


def _leaves_values(problem: Problem, k: int) -> bool:
    """Whether every weight of a whole layer has a value between its ends, 0 among them if weights must be few."""
    constraints, domain = problem.constraints, problem.architecture.domains[k]
    limits = constraints.layer_limits[k] if constraints.layer_limits else None
    is_limited = constraints.total_limit is not None or limits is not None
    low, high = _ends(problem, 1.0)
    inside = (domain.values >= low[k][..., None]) & (domain.values <= high[k][..., None])
    return bool((inside & (domain.values == 0)).any(axis=-1).all() if is_limited else inside.any(axis=-1).all())


def rules_of(problem: Problem, layers: Sequence[LayerRule], output_size: float) -> Rules:
    """The rules of a problem as arrays; outputs that are numbers are in units of ``output_size``."""
    n, n_steps = len(layers), [one.n_steps for one in layers]
    counts = [problem.dataset.n_features, *(one.width for one in layers)]
    steps = [counts[0], *(one.width * one.n_steps for one in layers)]
    d, c, D, C = max(counts[1:]), max(counts[:-1]), max(steps[1:]), max(steps[:-1])
    rules = Rules(
        domains=np.zeros((n, 3), np.float32),
        scales=np.array([one.scale for one in layers]),
        units=np.ones((n, c), np.float32),
        neurons=np.zeros((n, D), np.int64),
        inputs=np.zeros((n, C), np.int64),
        jumps=np.ones((n, C), np.float32),
        centres=np.zeros((n, c), np.float32),
        offsets=np.array([one.offsets for one in layers]),
        low=np.zeros((0, 0, 0), np.float32),
        high=np.zeros((0, 0, 0), np.float32),
        starts=np.zeros(1, np.int64),
        terms=np.zeros((0, 3), np.int64),
        coefficients=np.zeros(0, np.float32),
        sides=np.zeros((0, 2), np.float32),
    )
    values = np.array(problem.architecture.activation.values)
    rises = np.diff(values) / (values.max() - values.min())
    for k, layer in enumerate(layers):
        if layer.domain.is_integer:
            rules.domains[k] = layer.domain.lower, layer.domain.upper, layer.domain.stride
        rules.units[k, : counts[k]] = layer.units
        rules.centres[k, : counts[k]] = layer.centre / layer.unit
        rules.neurons[k, : steps[k + 1]] = np.arange(steps[k + 1]) // n_steps[k]
        below = 1 if k == 0 else n_steps[k - 1]
        rules.inputs[k, : steps[k]] = np.arange(steps[k]) // below
        if k > 0:
            rules.jumps[k, : steps[k]] = np.tile(rises, counts[k])
    return _constrained(problem, layers, rules, (n, d, c), output_size)


def _constrained(
    problem: Problem, layers: Sequence[LayerRule], rules: Rules, shape: tuple[int, ...], output_size: float
) -> Rules:
    """The rules with ends of weights and with linear constraints."""
    if not problem.constraints.restrict_weights:
        return rules
    low, high = np.full(shape, -BEYOND, np.float32), np.full(shape, BEYOND, np.float32)
    for k, (layer, least, most) in enumerate(zip(layers, *_ends(problem, output_size), strict=True)):
        factor = 1.0 if layer.domain.is_integer else layer.units
        own = k, slice(layer.width), slice(least.shape[1])
        low[own], high[own] = np.clip(least * factor, -BEYOND, BEYOND), np.clip(most * factor, -BEYOND, BEYOND)
    joint = [row for row in problem.constraints.rows if len(row.terms) > 1]
    terms = [term for row in joint for term in row.terms]
    return rules._replace(
        low=low,
        high=high,
        starts=np.cumsum([0, *(len(row.terms) for row in joint)]),
        terms=np.array([name for name, _ in terms], np.int64).reshape(-1, 3),
        coefficients=np.array([value / layers[k].units[c] for (k, _, c), value in terms], np.float32),
        sides=np.array([(max(row.lower, -BEYOND), min(row.upper, BEYOND)) for row in joint], np.float32).reshape(-1, 2),
    )


def _ends(problem: Problem, output_size: float) -> tuple[list[Floats], list[Floats]]:
    """The least and the largest value of every weight of the network, layer by layer."""
    architecture = problem.architecture
    shapes = list(zip(architecture.widths, (architecture.n_features, *architecture.hidden), strict=True))
    low, high = [np.full(shape, -np.inf) for shape in shapes], [np.full(shape, np.inf) for shape in shapes]
    for row in problem.constraints.rows:
        if len(row.terms) == 1:
            ((k, j, c), value), *_ = row.terms
            ends = sorted((row.lower / value, row.upper / value))
            size = output_size if k == len(shapes) - 1 else 1.0
            low[k][j, c], high[k][j, c] = max(low[k][j, c], ends[0] / size), min(high[k][j, c], ends[1] / size)
    for k, domain in enumerate(architecture.domains):
        if domain.is_integer:
            low[k], high[k] = domain.lower + _up(low[k], domain), domain.lower + _down(high[k], domain)
    return low, high


def _up(ends: Floats, domain: WeightDomain) -> Floats:
    """The first value of the domain that is not below, from the lowest one on."""
    return np.maximum(np.ceil((np.maximum(ends, domain.lower) - domain.lower) / domain.stride), 0.0) * domain.stride


def _down(ends: Floats, domain: WeightDomain) -> Floats:
    return np.floor((np.minimum(ends, domain.upper) - domain.lower) / domain.stride) * domain.stride
