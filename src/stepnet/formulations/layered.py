"""Programs with one variable per weight, threshold and activation: what Lemma 1 and Theorem 2 share.

Variables
    w^k_jl   weight of neuron j of layer k on input l          in [-1, 1] (or the integer domain)
    t^k_jr   threshold r: per neuron, per layer, or fixed         in [-1, 1]
    u^ik_jr  whether neuron j of layer k reaches it on row i     in {0, 1}
    s^ik_jlr the product w^k_jl · u^i,k-1_lr                    in the domain of w, and 0
    e^i      row i is misclassified                             in {0, 1}
Objective
    min Σ_i weight_i · e^i
Rows, with a^ik_j = Σ_l w^1_jl x^i_l in the first layer and, for activations with values v_0, ..., v_R,
a^ik_j = Σ_l (v_0 w^k_jl + Σ_r (v_r - v_{r-1}) s^ik_jlr) above (a step: Σ_l s^ik_jl)
    a^ik_j >= t^k_jr + ε_on  - M (1 - u^ik_jr)
    a^ik_j <= t^k_jr - ε_off + M u^ik_jr
    t^k_jr <= t^k_j,r+1
    s <= upper u,  s >= lower u,  s <= w - lower (1 - u),  s >= w - upper (1 - u)     with u = u^i,k-1_lr
The output, for a row of class c
    one bit    a >= t + ε if c = 1,  a <= t - ε if c = 0                    unless e^i
    ordinal    t_c + ε <= a <= t_{c+1} - ε                                  unless e^i
    argmax     a_c - t_c >= a_o - t_o + ε for every other class o           unless e^i
    numbers    :mod:`stepnet.formulations.real_output`, with its own costs
Zero inputs. If all thresholds are fixed at 0, a neuron whose inputs are all 0 is on with a = t = 0 and
cannot have a margin: ε_on is dropped for rows x^i = 0, and above the first layer for rows with
    z^ik = 1  iff  u^i,k-1 = 0.
Fixed thresholds other than 0. A fixed threshold c stands for any threshold of its sign: real weights absorb
the factor. So t^k_j is free in [ε, 1] or [-1, -ε], and decoding scales each neuron to c. The fixed
thresholds of a staircase share one such factor per neuron.
Constraints. The user's linear constraints are rows on w (for a single weight, its bounds). If the number of
non-zero weights matters, each weight has n^k_jl in {0, 1} with lower n <= w <= upper n.
Limits on errors. Σ_i a_i e^i <= b. Rows of two classes with a_i < 0 in some limit also have the implication of the
other side of the threshold if e^i = 1, so that e^i = 1 means that the row is wrong.
Integers. If the weights and inputs of a layer are integers, a < t means a <= t - 1 and no margin
is needed; a learned threshold T is decoded as T - 1/2.
Scenarios. If several rows of the data set are points of one owner, they share e (or p), the largest.
Joint scenarios, as in the paper, have their own e each, and the objective is m >= Σ_i weight_i · e^i for all of them.
Counting. If the output neuron has weights -1, 0 and 1 on integer neurons with learned thresholds, all
of them are taken to be 1: a neuron of weight -1 is complemented (-w and 1 - T, which swaps on and off),
one of weight 0 gets a threshold that it never reaches, and the output's thresholds are shifted accordingly.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from stepnet.errors import YES, Answer
from stepnet.formulations.base import Formulation, refuses_programs
from stepnet.formulations.layered_builder import LayeredBuilder
from stepnet.formulations.layered_encoding import LayeredEncoding
from stepnet.formulations.style import Style
from stepnet.problem.problem import Problem

_LARGEST_INTEGER = 2.0**40


class Layered(Formulation):
    """One program in a style."""

    is_layered = True

    @property
    @abstractmethod
    def style(self) -> Style:
        """How the program is written."""

    def accepts(self, problem: Problem) -> Answer:
        """Any depth, threshold, activation, output and domain; integer weights need data on a coarse enough grid."""
        if reason := refuses_programs(problem, self.name):
            return Answer(reason)
        is_plain = problem.architecture.is_plain and problem.loss.counts_errors
        if is_plain and not problem.constraints.restrict_weights:
            return YES
        if not self.style.takes_variants:
            return Answer(
                f"formulation={self.name!r} accepts real weights, steps and misclassified rows of two classes. "
                f"Use formulation='tight'."
            )
        return Answer(_refuses_loss(problem) or _refuses_values(problem))

    def encode(self, problem: Problem) -> list[LayeredEncoding]:
        rows = problem.scaling.apply(problem.dataset.X) if self.style.scaled else problem.dataset.X.astype(np.float64)
        return [LayeredBuilder(problem, self.name, self.style, rows).build()]


def _refuses_loss(problem: Problem) -> str:
    """Why the loss cannot be written for this architecture and these rows; nothing if it can."""
    loss, architecture = problem.loss, problem.architecture
    if not loss.reads_values:
        return loss.refuses_architecture(architecture)
    if problem.constraints.fewest:
        return "sparsity='fewest' is for misclassified rows. Give the number of non-zero weights instead."
    if reason := loss.refuses_architecture(architecture):
        return reason
    if problem.scenarios is not None and problem.scenarios.joint is not None:
        return f"joint scenarios are for misclassified rows, not loss={loss.name!r}. Use scenarios='rows'."
    if problem.uncertainty is not None and architecture.n_outputs > 1:
        return "scenarios of rows with several targets are not written as programs. Use method='search'."
    return ""


def _refuses_values(problem: Problem) -> str:
    """Why integer weights or thresholds of 0 do not go with the activation or the data; nothing if they do."""
    architecture, values = problem.architecture, problem.architecture.activation.values
    if architecture.fixed_threshold == 0 and architecture.hidden and values[0] != 0 and 0 in values:
        return (
            f"thresholds of 0 with {architecture.activation.name} need 0 as the lowest value. Use threshold='neuron'."
        )
    if any(domain.is_integer for domain in architecture.domains[1:]) and any(v != round(v) for v in values):
        return f"integer weights above {architecture.activation.name} need integer values. Use weights='real' there."
    if not architecture.domains[0].is_integer:
        return ""
    rows = problem.scaling.apply(problem.dataset.X)
    largest = np.abs(rows).sum(axis=1).max() * architecture.domains[0].limit
    if largest <= _LARGEST_INTEGER and (rows == np.round(rows)).all():
        return ""
    return (
        f"weights={architecture.domains[0].name!r} need data that are integers after multiplication by a "
        f"power of two, below 2^40; these are not. Round them first, for example X = np.round(X * 64) / 64."
    )
