"""Steps become neurons: the bits of each cut, and the sums over these bits that have the values of the steps.

Over bits a sum moves on a grid, and a cut between two of its values is a threshold in their middle: exact, whether the
cut is strict, and however irrational. Over features, ``z > c`` is the complement of ``-z >= -c``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse

from stepnet.errors import ModelFileError
from stepnet.model.arithmetic import Bools, Ints, positive_part, quantum
from stepnet.model.foreign.neurons import Neurons
from stepnet.model.foreign.rationals import ONE, ZERO, Rationals, is_float, times
from stepnet.model.foreign.tensors import Pooled, Sums, Tensor

_ON, _OFF = -1, -2  # in place of the number of a neuron: always on, always off


@dataclass(frozen=True)
class Bits:
    """For each entry the number of a neuron, _ON or _OFF; the bit is the neuron or its complement."""

    neurons: Ints
    are_complements: Bools

    def switched(self, where: Bools) -> Bits:
        """Each bit or, where asked, its complement."""
        constant = np.where(self.neurons == _ON, _OFF, _ON)
        return Bits(
            np.where(where & (self.neurons < 0), constant, self.neurons),
            self.are_complements ^ (where & (self.neurons >= 0)),
        )


def as_sums(tensor: Tensor, neurons: Neurons) -> Sums:
    """The same tensor, with its steps as sums over bits."""
    if isinstance(tensor, Sums):
        return tensor
    if isinstance(tensor, Pooled):
        raise ModelFileError("it adds up the largest of several sums, which is no step; put a Sign after the MaxPool")
    shape, size = tensor.shape, int(np.prod(tensor.shape))
    values = [np.broadcast_to(one, shape).ravel() for one in tensor.values]
    shift, entries, places, rises = values[0], [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0, object)]
    for (cut, strict), below, above in zip(tensor.cuts, values, values[1:], strict=False):
        which = np.flatnonzero(below != above)
        if not len(which):
            continue
        bits = _passed(tensor.of, which, np.broadcast_to(cut, shape).ravel()[which], strict, neurons)
        rise = (above - below)[which]
        base = bits.are_complements | (bits.neurons == _ON)
        shift = shift.copy()
        shift[which[base]] = shift[which[base]] + rise[base]
        real = bits.neurons >= 0
        entries.append(which[real])
        places.append(bits.neurons[real])
        rises.append(np.where(bits.are_complements, -rise, rise)[real])
        neurons.are_signs[bits.neurons[real & (below == -above)[which]]] = True
    terms = np.concatenate(entries), np.concatenate(places), np.concatenate(rises)
    return _gathered(shape, size, shift, terms, neurons)


def _gathered(
    shape: tuple[int, ...], size: int, shift: Rationals, terms: tuple[Ints, Ints, Rationals], neurons: Neurons
) -> Sums:
    """Sums from terms: entry, number of the neuron, factor; each entry gets the scale of its first factor."""
    totals: dict[tuple[int, int], Fraction] = {}
    for entry, place, rise in zip(*(one.tolist() for one in terms), strict=True):
        totals[entry, place] = totals.get((entry, place), ZERO) + rise
    scales: dict[int, Fraction] = {}
    data, rows, columns = [], [], []
    for (entry, place), rise in totals.items():
        if rise:
            ratio = rise / scales.setdefault(entry, abs(rise))
            if not is_float(ratio):
                neurons.note("weights that are products of others are rounded to float64")
            rows.append(entry)
            columns.append(place)
            data.append(float(ratio))
    usual = next(iter(scales.values()), ONE)
    scale = np.empty(size, dtype=object)
    scale[:] = [scales.get(entry, usual) for entry in range(size)]
    matrix = sparse.csr_array((data, (rows, columns)), shape=(size, neurons.n_signals))
    return Sums(shape, matrix, scale.reshape(shape), shift.reshape(shape))


def _passed(of: Sums | Pooled, which: Ints, cuts: Rationals, strict: bool, neurons: Neurons) -> Bits:
    """Where chosen entries of a tensor pass their cuts."""
    if isinstance(of, Sums):
        return _passed_by_sums(of, which, cuts, strict, neurons)
    scale, shift = (np.broadcast_to(one, of.shape).ravel()[which] for one in (of.scale, of.shift))
    if (scale == ZERO).any():
        raise ModelFileError("it multiplies the result of a MaxPool by zero")
    ends, is_up = (cuts - shift) / scale, scale > ZERO
    windows = of.windows[which]
    entry, place = np.nonzero(windows >= 0)
    members, goes_up = windows[entry, place], is_up[entry]
    found, complements = np.empty(len(entry), dtype=np.int64), np.zeros(len(entry), dtype=bool)
    # Upwards one of a window must pass its end; downwards none may pass it in the other sense of strict.
    for part, is_strict in ((goes_up, strict), (~goes_up, not strict)):
        if part.any():
            bits = _passed_by_sums(of.of, members[part], ends[entry[part]], is_strict, neurons)
            found[part], complements[part] = bits.neurons, bits.are_complements
    result = _any(entry, Bits(found, complements), len(which), neurons).switched(~is_up)
    state = _clip_states(of, which, cuts, strict)
    places = np.where(state < 0, result.neurons, np.where(state == 1, _ON, _OFF))
    return Bits(places, result.are_complements & (state < 0))


def _any(groups: Ints, bits: Bits, n_groups: int, neurons: Neurons) -> Bits:
    """Whether some bit of each group is on: a neuron that counts them."""
    is_on = np.bincount(groups, bits.neurons == _ON, n_groups) > 0
    real = bits.neurons >= 0
    groups, members, are_off = groups[real], bits.neurons[real], bits.are_complements[real]
    sizes, n_complements = np.bincount(groups, minlength=n_groups), np.bincount(groups, are_off, n_groups)
    counted = np.flatnonzero((sizes > 1) & ~is_on)
    terms = np.where(are_off, -1.0, 1.0), (groups, members)
    matrix = sparse.csr_array(terms, shape=(n_groups, neurons.n_signals))[counted]
    found = np.where(is_on, _ON, _OFF)
    found[counted] = neurons.add(matrix, np.asarray(0.5 - n_complements[counted], dtype=np.float64))
    alone = (sizes == 1)[groups] & ~is_on[groups]
    found[groups[alone]] = members[alone]
    complements = np.zeros(n_groups, dtype=bool)
    complements[groups[alone]] = are_off[alone]
    return Bits(found, complements)


def _passed_by_sums(of: Sums, which: Ints, cuts: Rationals, strict: bool, neurons: Neurons) -> Bits:
    rows = of.wide(neurons.n_signals)[which]
    rows.sort_indices()
    scale, shift = (np.broadcast_to(one, of.shape).ravel()[which] for one in (of.scale, of.shift))
    found = np.full(len(which), _OFF)
    state = _clip_states(of, which, cuts, strict)
    fixed = (state < 0) & ((np.diff(rows.indptr) == 0) | (scale == ZERO))
    state[fixed] = ((shift > cuts) if strict else (shift >= cuts))[fixed]
    found[state == 1] = _ON
    left = np.flatnonzero(state < 0)
    is_over_features = np.bincount(*_rows_and(rows, rows.indices < neurons.n_features), len(which))[left] > 0
    ends = (cuts[left] - shift[left]) / scale[left]
    is_down = scale[left] < ZERO
    complements = np.zeros(len(which), dtype=bool)
    for chosen, is_real in ((left[is_over_features], True), (left[~is_over_features], False)):
        part = is_over_features == is_real
        if not len(chosen):
            continue
        if is_real:
            found[chosen] = _over_features(rows[chosen], ends[part], is_down[part] ^ strict, scale[chosen], neurons)
            complements[chosen] = strict
        else:
            bits = _over_bits(rows[chosen], ends[part], is_down[part], strict, neurons)
            found[chosen], complements[chosen] = bits.neurons, bits.are_complements
    return Bits(found, complements)


def _clip_states(of: Sums | Pooled, which: Ints, cuts: Rationals, strict: bool) -> Ints:
    """1 and 0 where the ends of a clip pass a cut always or never; else -1."""
    state = np.full(len(which), -1)
    for end, wanted in ((of.low, 1), (of.high, 0)):
        if end is not None:
            ends = np.broadcast_to(end, of.shape).ravel()[which]
            passes = np.asarray((ends > cuts) if strict else (ends >= cuts), dtype=bool)
            state[passes == bool(wanted)] = wanted
    return state


def _rows_and(rows: sparse.csr_array, weights: Bools) -> tuple[Ints, Bools]:
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), weights


def _turned(rows: sparse.csr_array, is_down: Bools) -> sparse.csr_array:
    return sparse.csr_array(sparse.diags_array(np.where(is_down, -1.0, 1.0)) @ rows)


def _over_features(rows: sparse.csr_array, ends: Rationals, is_down: Bools, scale: Rationals, neurons: Neurons) -> Ints:
    """``rows x >= ends``, downwards ``-rows x >= -ends``; rows are scaled where that makes the ends floats."""
    is_odd = np.array([not is_float(end) for end in ends.tolist()])
    if is_odd.any():
        factors = [abs(one) if odd else ONE for one, odd in zip(scale.tolist(), is_odd.tolist(), strict=True)]
        scaled, is_exact = times(rows, factors)
        moved = ends * np.array([*factors, None], dtype=object)[:-1]
        if is_exact and all(map(is_float, moved.tolist())):
            rows, ends = scaled, moved
        else:
            neurons.note("thresholds on the inputs are rounded to float64")
    thresholds = np.array([float(end) for end in ends.tolist()])
    return neurons.add(_turned(rows, is_down), np.where(is_down, -thresholds, thresholds))


def _over_bits(rows: sparse.csr_array, ends: Rationals, is_down: Bools, strict: bool, neurons: Neurons) -> Bits:
    """Thresholds in the middle between two values of the sums; beyond all of them, the bit is constant."""
    grid = Fraction(2) ** quantum(rows.data)
    places: dict[tuple[Fraction, bool], Fraction] = {}
    for end, down in zip(ends.tolist(), is_down.tolist(), strict=True):
        if (end, down) not in places:
            ratio = end / grid
            if down:  # -sum >= -end
                last = math.ceil(ratio) - 1 if strict else math.floor(ratio)
                places[end, down] = -(last + Fraction(1, 2)) * grid
            else:
                first = math.floor(ratio) + 1 if strict else math.ceil(ratio)
                places[end, down] = (first - Fraction(1, 2)) * grid
    thresholds = [places[pair] for pair in zip(ends.tolist(), is_down.tolist(), strict=True)]
    turned = _turned(rows, is_down)
    highest, lowest = (np.asarray(positive_part(sign * turned).sum(axis=1)) for sign in (1, -1))
    slack = 1 + 2.0**-40  # of sums that are rounded
    numbers = np.array([float(one) for one in thresholds])
    found = np.where(numbers > highest * slack, _OFF, np.where(numbers < -lowest * slack, _ON, 0))
    complements = np.zeros(len(found), dtype=bool)
    for j in np.flatnonzero((found == 0) & (np.diff(turned.indptr) == 1)):  # a single bit, or its complement
        found[j], complements[j] = turned.indices[turned.indptr[j]], turned.data[turned.indptr[j]] < 0
    kept = np.flatnonzero((found == 0) & (np.diff(turned.indptr) != 1))
    if not all(is_float(thresholds[j]) for j in kept):
        neurons.note("thresholds are rounded to float64")
    found[kept] = neurons.add(turned[kept], numbers[kept])
    return Bits(found, complements)
