"""Descent: networks that do well on new data, by noisy straight-through gradients.

The rows are standardised, the units are ±1 inside, and every forward pass goes through
noise. What regularises (decay, L1, dropout, smoothed labels, jittered rows) fades as rows get many.
Mean and scale go back into weights and thresholds, so that the result is a step network like any other.
What weights and thresholds must be like is in the rules of the problem; rows that may move do so in training.
Numbers to predict are standardised too, and learned by their squared errors whatever the loss.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from stepnet.constructions.last_layer import cautious
from stepnet.errors import Answer
from stepnet.model.activations.staircase import STEP
from stepnet.model.arithmetic import Floats
from stepnet.model.network import Layer, Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.compiling import Compiling
from stepnet.search.descent import in_numpy
from stepnet.search.descent.finish import finished, with_best_offset
from stepnet.search.descent.kernel import Settings, Training, descend, logistic_noise
from stepnet.search.descent.layer_rule import LayerRule, layer_rules, set_offsets, warn_of_scales
from stepnet.search.descent.perturbations import accepts_perturbations, norm_of, reach_of
from stepnet.search.descent.problem_rules import accepts_rules, rules_of
from stepnet.search.descent.rules import FREE, Rules
from stepnet.search.descent.sparsity import keep_largest
from stepnet.search.descent.supply import Supply
from stepnet.search.descent.targets import Targets, mean_and_scale
from stepnet.search.padding import accepts_width

_FEWEST_STEPS, _MOST_STEPS = 2_000, (50_000, 200_000)  # the most for up to 1.6 and from 6.4 million rows of batch 64
_NOISE = 0.5
_FEW_PER_FEATURE, _MANY_ROWS = 20, 5_000  # rows; from here on regularisation fades, and from there on faster
_STEP, _WIDE_STEP = (64, 0.02), (256, 0.01)  # rows and rate
_SEVERAL = 0.5  # of the strength, with one output per class
_CHUNK_WORK = 20_000_000  # multiplications between two looks at the clock
_JUDGED = 0.1  # of the time, before it is judged how many steps there can be
_THINNED = 0.35  # the share of the steps after which only the largest weights stay, where they must be few
_SLOWER = 20  # in numpy, so many times fewer steps between two looks
_WIDE = 75_000  # padded weights; from here on products of matrices are faster than the kernel


@dataclass(frozen=True, kw_only=True)
class DescentOptions:
    """How to learn; ``strength`` scales all that regularises but the noise, ``batch`` and ``rate`` follow the width."""

    epochs: int = 300
    batch: int | None = None
    rate: float | None = None
    strength: float = 0.7
    noise: float = 1.0
    fewest: int | None = None  # steps

    def for_(self, problem: Problem) -> DescentOptions:
        """For a problem: large matrices take more rows at once for little more time; several classes need more room."""
        (batch, rate), output = _WIDE_STEP if _is_wide(problem) else _STEP, problem.architecture.output
        strength = self.strength * (_SEVERAL if output.is_compared else 1.0)
        return replace(self, batch=self.batch or batch, rate=self.rate or rate, strength=strength)


def accepts_descent(problem: Problem) -> Answer:
    """What descent learns: one output per class, one for two or for ordered classes, or numbers, with any weights.

    If not, the reason is a clause about descent: another method takes its place.
    """
    architecture = problem.architecture
    if reason := problem.loss.refuses_architecture(architecture):
        return Answer(reason)
    if problem.loss.weighs_answers:
        return Answer(f"descent knows errors and numbers, not loss={problem.loss.name!r}")
    if problem.loss.bound is not None and not architecture.output.gives_numbers:
        return Answer(f"descent takes {problem.loss.name} without a bound")
    if architecture.output.is_unusual:
        return Answer("descent takes output='one_hot', 'one_vs_one' or 'ordinal'")
    return accepts_rules(problem) and accepts_perturbations(problem) and accepts_width(problem.architecture)


def descend_network(
    problem: Problem,
    *,
    seed: int | list[int],
    options: DescentOptions | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    on_share: Callable[[float], None] = lambda share: None,
    seconds: float = math.inf,
    on_hurry: Callable[[], object] = lambda: None,
    is_raw: bool = False,
    supply: Supply | None = None,
) -> Network:
    """Train a network of the problem's architecture; stopped early, the network as it is then.

    It begins in numpy where the kernel is not compiled yet, and goes on with the kernel as soon as it is; wide networks
    stay in numpy, with one thread, so that the same seed gives the same network in any process. If the steps until now
    show that all of them take longer than ``seconds``, there are fewer: a short course with an end does better than a
    long one without. Then, and if it is stopped, ``on_hurry`` is called. With ``is_raw`` the offset of an output is not
    fitted to the rows once more: it is for sums of networks that are fitted as a whole. With a ``supply``, the rows of
    the problem are a sample of more, some of which take their places on the way.
    """
    is_wide = _is_wide(problem)
    with threadpool_limits(1, user_api="blas") if is_wide else nullcontext():
        return _descended(
            problem,
            seed,
            options,
            should_stop,
            on_share,
            lambda: not is_wide and KERNELS.is_compiled,
            seconds,
            on_hurry,
            is_raw=is_raw,
            supply=supply,
        )


def _is_wide(problem: Problem) -> bool:
    """Whether the arrays of the weights are large; the kernel works on what pads them too."""
    widths = problem.architecture.widths
    return len(widths) * max(widths) * max(problem.dataset.n_features, *widths[:-1], 1) >= _WIDE


def _descended(
    problem: Problem,
    seed: int | list[int],
    options: DescentOptions | None,
    should_stop: Callable[[], bool],
    on_share: Callable[[float], None],
    is_compiled: Callable[[], bool],
    seconds: float = math.inf,
    on_hurry: Callable[[], object] = lambda: None,
    *,
    is_raw: bool = False,
    supply: Supply | None = None,
) -> Network:
    options = (options or DescentOptions()).for_(problem)
    rng = np.random.default_rng(seed)
    mean, scale = mean_and_scale(problem.dataset.X, problem.dataset.weights) if supply is None else supply.units
    warn_of_scales(problem, scale)
    targets, are_numbers = Targets.of(problem), problem.architecture.output.gives_numbers
    layers = layer_rules(problem, mean, scale, has_complements=_has_complements(problem))
    training = _training(problem, targets, layers, mean, scale, rng)
    n_draws = len(training.order)
    if supply is not None:
        n_draws, training = supply.n_rows, _without_repetitions(training, problem.dataset, supply, rng)
    settings = _settings(n_draws, problem.dataset.n_features, options)._replace(
        is_regression=are_numbers,
        is_ordinal=problem.architecture.output.n_thresholds > 1,
        has_rules=training.V is not training.W,
        norm=norm_of(problem),
    )
    whole = max(1, _CHUNK_WORK // (settings.batch * (problem.dataset.n_features + 1) * training.V.shape[1]))
    first, n_averaged, begin, planned, is_thinned = 1, 0, time.perf_counter(), settings.n_steps, False
    while first <= settings.n_steps:
        if first > _THINNED * settings.n_steps and not is_thinned:
            keep_largest(problem.constraints, training.widths, training.W, training.rules)
            is_thinned = True
        if supply is not None:
            for fresh in supply.due((first - 1) / settings.n_steps, settings.n_steps * settings.batch):
                _take_in(training, targets, fresh, mean, scale, rng)
        make_steps, chunk = (descend, whole) if is_compiled() else (in_numpy.descend, -(-whole // _SLOWER))
        if supply is not None and (n_refills := supply.n_refills(settings.n_steps * settings.batch)):
            chunk = min(chunk, -(-settings.n_steps // (n_refills + 1)))
        end = min(first + chunk, settings.n_steps + 1)
        if not is_thinned:
            end = min(end, max(first, int(_THINNED * settings.n_steps)) + 1)
        n_averaged += make_steps(training, settings, first, end, int(rng.integers(2**31)))
        elapsed = time.perf_counter() - begin
        if elapsed > _JUDGED * seconds:  # judged anew each time: kernels may be ready now, or the machine less busy
            affordable = int(seconds / elapsed * (end - 1))
            settings = settings._replace(n_steps=min(planned, max(end - 1, affordable)))
        on_share((end - 1) / settings.n_steps)
        first = end
        if should_stop():
            break
    if first <= planned:
        on_hurry()
    widths, rules, W, b = training.widths, training.rules, training.W, training.b
    if n_averaged:
        W, b = training.weight_sums / n_averaged, training.offset_sums / n_averaged
    del training  # its rows take much memory
    return _completed(problem, targets, layers, rules, widths, W, b, is_raw=is_raw)


def _completed(
    problem: Problem,
    targets: Targets,
    layers: list[LayerRule],
    rules: Rules,
    widths: Any,
    W: Any,
    b: Any,
    *,
    is_raw: bool = False,
) -> Network:
    """The network of weights and offsets at the end of a descent, its last layer fitted to the rows once more."""
    W, b = W.astype(np.float64), b.astype(np.float64)
    keep_largest(problem.constraints, widths, W, rules)
    network = finished(problem, layers, rules, W, b)
    if problem.architecture.output.gives_numbers:
        network = targets.restored(network)
        if not (problem.is_uncertain or problem.constraints.touch(len(layers) - 1)):
            network = cautious(problem, network)
        elif problem.loss.bound is not None:
            network = _bounded(network, problem.loss.bound)
    has_offset = problem.architecture.output == STEP and layers[-1].offsets == FREE
    if problem.loss.counts_errors and has_offset and not is_raw:
        network = with_best_offset(problem, network)
    return shared_thresholds(network) if _has_complements(problem) else network


def _has_complements(problem: Problem) -> bool:
    """Whether thresholds that a layer shares are learned one by one, and made equal by complements of neurons."""
    is_free = problem.architecture.is_plain and not problem.constraints.rows
    return is_free and problem.architecture.threshold == "layer"


def _bounded(network: Network, bound: float) -> Network:
    *below, last = network.layers
    return Network((*below, last.with_(np.clip(last.weights, -bound, bound), last.thresholds)))


def _settings(n_draws: int, n_features: int, options: DescentOptions) -> Settings:
    batch, rate = options.batch or _STEP[0], options.rate or _STEP[1]
    fading = min(1.0, (_MANY_ROWS / n_draws) ** 1.5) * min(1.0, (_FEW_PER_FEATURE * n_features / n_draws) ** 0.5)
    fading *= options.strength
    most = float(np.clip(2 * n_draws / batch, *_MOST_STEPS))
    return Settings(
        batch=batch,
        n_steps=int(np.clip(options.epochs * n_draws / batch, options.fewest or _FEWEST_STEPS, most)),
        rate=rate,
        noise_from=_NOISE * options.noise,
        noise_to=_NOISE * options.noise,
        decay=1.0 * fading,
        shrink=0.05 * np.sqrt(fading),
        dropout=0.1 * fading,
        smoothing=0.05 * fading,
        jitter=0.2 * np.sqrt(fading),
        averaged=0.3,
    )


def _training(
    problem: Problem,
    targets: Targets,
    layers: list[LayerRule],
    mean: Floats,
    scale: Floats,
    rng: np.random.Generator,
) -> Training:
    """Random hyperplanes through random rows, and everything at rest."""
    dataset = problem.dataset
    rows = np.empty(dataset.X.shape, dtype=np.float32)
    for c, column in enumerate(dataset.X.T):
        rows[:, c] = (column - mean[c]) / scale[c]
    widths = np.array([dataset.n_features, *problem.architecture.widths])
    steps = np.array([dataset.n_features, *(one.width * one.n_steps for one in layers)])
    shape = (len(widths) - 1, int(widths[1:].max()), int(widths[:-1].max()))
    W, b = np.zeros(shape, dtype=np.float32), np.zeros((shape[0], int(steps[1:].max())), dtype=np.float32)
    for k, (n_inputs, width) in enumerate(pairwise(widths.tolist())):
        W[k, :width, :n_inputs] = rng.normal(size=(width, n_inputs)) / np.sqrt(n_inputs)
    through = rows[rng.integers(len(rows), size=steps[1])]
    set_offsets(layers, W, b, through)
    order, row_weights = _draws(dataset)
    rng.shuffle(order)
    rules, has_rules = rules_of(problem, layers, targets.scale), any(not one.is_plain for one in layers)
    has_rules |= problem.constraints.restrict_weights
    return Training(
        X=rows,
        targets=targets.values,
        row_weights=row_weights,
        order=order,
        noise=logistic_noise(rng),
        widths=widths,
        steps=steps,
        W=W,
        b=b,
        weight_moments=np.zeros((2, *shape), dtype=np.float32),
        offset_moments=np.zeros((2, *b.shape), dtype=np.float32),
        weight_sums=np.zeros_like(W),
        offset_sums=np.zeros_like(b),
        rules=rules,
        M=np.zeros_like(W) if has_rules else W,
        V=np.zeros((len(steps) - 1, steps[1:].max(), steps[:-1].max()), dtype=np.float32) if has_rules else W,
        B=np.zeros_like(b) if has_rules else b,
        radii=problem.radii.astype(np.float32) if problem.is_uncertain else np.zeros(1, dtype=np.float32),
        reach=reach_of(problem, scale),
    )


def _draws(dataset: Dataset) -> tuple[NDArray[np.int32], Any]:
    """How often a row comes in an epoch, and its weight when it does.

    Whole weights, such as those of merged rows, are repetitions as long as that stays moderate.
    """
    numbers = np.arange(dataset.n_rows, dtype=np.int32)
    if dataset.has_repetitions:
        return np.repeat(numbers, dataset.repetitions.astype(np.int32)), np.ones(dataset.n_rows, dtype=np.float32)
    return numbers, dataset.repetitions.astype(np.float32)


def _without_repetitions(training: Training, dataset: Dataset, supply: Supply, rng: np.random.Generator) -> Training:
    """Every row comes once in an epoch, so that another can take its place."""
    weights = (dataset.weights / supply.mean_weight).astype(np.float32)
    return training._replace(order=rng.permutation(dataset.n_rows).astype(np.int32), row_weights=weights)


def _take_in(
    training: Training, targets: Targets, fresh: Dataset, mean: Floats, scale: Floats, rng: np.random.Generator
) -> None:
    """Fresh rows take the places of others, chosen at random."""
    places = rng.choice(len(training.X), fresh.n_rows, replace=False)
    training.X[places] = (fresh.X - mean) / scale
    training.targets[places] = targets.standardised(fresh.y)
    training.row_weights[places] = fresh.weights


class State(NamedTuple):
    """A descent before its first step, for who makes the steps."""

    training: Training
    mean: Floats  # of the features
    scale: Floats
    target_mean: Floats  # of numbers to predict; 0 and 1 for classes
    target_scale: float

    @classmethod
    def of(cls, problem: Problem, rng: np.random.Generator) -> State:
        mean, scale = mean_and_scale(problem.dataset.X, problem.dataset.weights)
        targets = Targets.of(problem)
        layers = layer_rules(problem, mean, scale, has_complements=_has_complements(problem))
        training = _training(problem, targets, layers, mean, scale, rng)
        return cls(training, mean, scale, targets.mean, targets.scale)


def make_steps(
    problem: Problem,
    training: Training,
    options: DescentOptions,
    n_rows: int,
    settings: dict[str, Any],
    steps: range,
    seed: int,
) -> None:
    """Some steps, as a descent on so many rows makes them but for some settings."""
    usual = _settings(n_rows, problem.dataset.n_features, options)
    usual = usual._replace(is_regression=problem.architecture.output.gives_numbers, **settings)
    is_compiled = KERNELS.is_compiled and not _is_wide(problem)
    (descend if is_compiled else in_numpy.descend)(training, usual, steps.start, steps.stop, seed)


def shared_thresholds(network: Network) -> Network:
    """The same answers with one threshold per layer: neurons with a negative one are complemented.

    Then every hidden threshold is positive, and scaling each neuron makes them all 1.
    """
    layers: list[Layer] = []
    weights, thresholds = network.layers[0].weights, network.layers[0].thresholds
    for above in network.layers[1:]:
        flipped = thresholds <= 0
        signs = np.where(flipped, -1.0, 1.0)
        tiny = 1e-9 * (np.abs(weights).max(axis=1, initial=0.0) + 1e-300)
        positive = np.where(flipped, np.maximum(np.nextafter(-thresholds, np.inf), tiny), thresholds)
        layers.append(Layer(signs[:, None] * weights / positive[:, None], np.ones(len(positive))))
        weights = above.weights * signs
        thresholds = above.thresholds - above.weights[:, flipped].sum(axis=1)
    layers.append(network.layers[-1].with_(weights, thresholds))
    return Network(tuple(layers))


def _compile() -> None:
    problem = Problem(Dataset.from_rows([[0.0], [1.0]], [0, 1]), Architecture.of(1, (1,), "neuron", "real"))
    _descended(problem, 0, None, lambda: True, lambda share: None, lambda: True)


KERNELS = Compiling("descent", _compile, __name__, descend)
