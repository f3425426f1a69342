"""Referees that share no code with the package: enumeration of all networks, and rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
from scipy.optimize import linprog, minimize


def rational_answers(layers, X):
    """Output bits of a network given as [(weights, thresholds), ...], in rational numbers."""
    answers = []
    for row in np.asarray(X, dtype=float).tolist():
        signals = [Fraction(value) for value in row]
        for weights, thresholds in layers:
            signals = [
                Fraction(
                    int(sum((Fraction(w) * h for w, h in zip(ws, signals, strict=True)), Fraction(0)) >= Fraction(t))
                )
                for ws, t in zip(np.asarray(weights).tolist(), np.asarray(thresholds).tolist(), strict=True)
            ]
        answers.append(int(signals[0]))
    return np.array(answers)


def rational_loss(layers, X, y, weights=None):
    wrong = rational_answers(layers, X) != np.asarray(y)
    weights = np.ones(len(wrong)) if weights is None else np.asarray(weights)
    return float(sum((Fraction(w) for w in weights[wrong].tolist()), Fraction(0)))


def widest(rows, on, sign):
    """The largest δ with a >= t + δ on the chosen rows and a <= t - δ on the others, |w|, |t| <= 1; and such w and t.

    ``sign`` is None for any threshold, or +1, 0, -1 for a threshold of that sign.
    """
    m, n = rows.shape
    side = np.where(on, 1.0, -1.0)
    exempt = (sign == 0) & ~rows.any(axis=1)
    if (exempt & ~on).any():
        return -1.0, None
    # variables w, t, δ;  -side (w·x - t) + δ <= 0
    A = np.hstack([-side[:, None] * rows, side[:, None], np.where(exempt, 0.0, 1.0)[:, None]])
    low, high = {None: (-1, 1), 1: (0, 1), 0: (0, 0), -1: (-1, 0)}[sign]
    bounds = [(-1, 1)] * n + [(low, high), (0, 2)]
    extra = np.zeros((1, n + 2))
    if sign in (1, -1):  # |t| >= δ as well
        extra[0, n], extra[0, n + 1] = -sign, 1.0
    solution = linprog(np.r_[np.zeros(n + 1), -1.0], np.vstack([A, extra]), np.zeros(m + 1), bounds=bounds)
    return (solution.x[-1], solution.x[:-1]) if solution.status == 0 else (-1.0, None)


def touching(rows, on):
    """Whether w·x >= 0 on the chosen rows and w·x < 0 on the others is possible, ties allowed."""
    n = rows.shape[1]
    A = np.where(on, -1.0, 1.0)[:, None] * rows
    b = np.where(on, 0.0, -1.0)
    return linprog(np.zeros(n), A, b, bounds=[(None, None)] * n).status == 0


_CLEARLY = 1e-5  # from a threshold; what is nearer is left to a linear program


def splits(rows, sign=None, margin=1e-7):
    """All sets of rows that one neuron can turn on, as a bool array (sets × rows).

    Rows are added one by one, and a split of the first ones is kept only if it is possible. One side of the new row is
    known to be possible from the neuron before; and where any threshold goes, so is the opposite of a split.
    """
    rows = np.asarray(rows, dtype=float)
    found = [([], None)]
    for i in range(len(rows)):
        bits = (False,) if sign is None and i == 0 else (False, True)
        longer = (
            ([*split, bit], _neuron(rows[: i + 1], [*split, bit], sign, margin, neuron))
            for split, neuron in found
            for bit in bits
        )
        found = [(split, neuron) for split, neuron in longer if neuron is not None]
    half = np.array([split for split, _ in found], dtype=bool).reshape(len(found), len(rows))
    return np.vstack([half, ~half]) if sign is None and len(rows) else half


def _neuron(rows, on, sign, margin, before):
    """A neuron, weights and threshold, that turns these rows on; None if there is none. ``before`` has all but one."""
    on = np.array(on, dtype=bool)
    if sign == 0 and margin <= 1e-6:
        return () if touching(rows, on) else None
    if before is not None:
        side = 1.0 if on[-1] else -1.0
        if side * (rows[-1] @ before[:-1] - before[-1]) >= max(_CLEARLY, margin):
            return before
    most, neuron = widest(rows, on, sign)
    return neuron if most >= margin * (1 - 1e-6) else None


def cube(d):
    return np.array(list(product([0.0, 1.0], repeat=d)))


def signs_of(threshold):
    """The signs that a layer's threshold may have; None: each neuron its own."""
    if threshold == "neuron":
        return [None]
    if threshold == "layer":
        return [1, 0, -1]
    return [int(np.sign(threshold))]


def best_loss(rows, y, hidden, threshold="neuron", weights=None, margin=1e-7):
    """The smallest loss of any network, by enumeration (tiny data, at most two hidden layers).

    ``rows`` in the units in which ``margin`` is meant.
    """
    rows, y = np.asarray(rows, dtype=float), np.asarray(y).astype(bool)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    return _best(rows, y, weights, tuple(hidden), threshold, margin, {})


def _best(rows, y, weights, hidden, threshold, margin, memo):
    if not hidden:
        return min(float(((s != y) @ weights).min()) for s in _all_splits(rows, threshold, margin))
    best = np.inf
    d = hidden[0]
    corners = cube(d)
    for family in _all_splits(rows, threshold, margin):
        for chosen in combinations_with_replacement(range(len(family)), d):
            bits = family[list(chosen)].T  # rows × d
            # Weight of each class at each corner of the cube: the rest depends on nothing else.
            corner = bits @ (1 << np.arange(d)[::-1])
            ones = np.bincount(corner, weights * y, minlength=2**d)
            zeros = np.bincount(corner, weights * ~y, minlength=2**d)
            key = (hidden, tuple(ones - zeros), tuple((ones + zeros) > 0))
            if key not in memo:
                memo[key] = _best_above(corners, ones, zeros, hidden[1:], threshold, margin)
            base = float(np.minimum(ones, zeros).sum())
            best = min(best, base + memo[key])
            if best == 0:
                return 0.0
    return best


_CUBE_FAMILIES = {}


def _best_above(corners, ones, zeros, hidden, threshold, margin):
    """The loss of the layers above, beyond what equal corners cost anyway."""
    base = np.minimum(ones, zeros).sum()
    d = corners.shape[1]
    key = (d, threshold, margin)
    if key not in _CUBE_FAMILIES:
        _CUBE_FAMILIES[key] = np.vstack(_all_splits(corners, threshold, margin))
    if not hidden:
        family = _CUBE_FAMILIES[key]
        return float((family @ zeros + ~family @ ones).min() - base)
    best = np.inf
    for family in _all_splits(corners, threshold, margin):
        for chosen in combinations_with_replacement(range(len(family)), hidden[0]):
            bits = family[list(chosen)].T
            corner = bits @ (1 << np.arange(hidden[0])[::-1])
            upper_ones = np.bincount(corner, ones, minlength=2 ** hidden[0])
            upper_zeros = np.bincount(corner, zeros, minlength=2 ** hidden[0])
            above = _best_above(cube(hidden[0]), upper_ones, upper_zeros, hidden[1:], threshold, margin)
            best = min(best, np.minimum(upper_ones, upper_zeros).sum() + above)
    return float(best - base)


def _all_splits(rows, threshold, margin):
    return [splits(rows, sign, margin) for sign in signs_of(threshold)]


# Variants: staircases, several classes, integer weights; at most one hidden layer.


def rational_levels(layers, X):
    """Answers of a network given as [(weights, thresholds, values), ...] in rational numbers.

    ``values`` are those of a staircase; for the last layer also "argmax".
    """
    answers = []
    for row in np.asarray(X, dtype=float).tolist():
        signals = [Fraction(value) for value in row]
        for weights, thresholds, values in layers:
            sums = [sum((Fraction(w) * h for w, h in zip(ws, signals, strict=True)), Fraction(0)) for ws in weights]
            if values == "argmax":
                scores = [a - Fraction(t) for a, t in zip(sums, thresholds, strict=True)]
                levels = [scores.index(max(scores))]
            else:
                ends = np.asarray(thresholds, dtype=float).reshape(len(sums), -1).tolist()
                levels = [sum(a >= Fraction(t) for t in own) for a, own in zip(sums, ends, strict=True)]
                signals = [Fraction(values[level]) for level in levels]
        answers.append(levels[0])
    return np.array(answers)


def patterns(rows, kind, domain=None, fixed=None, margin=1e-5):
    """All level (or class) patterns over the rows that one neuron (or one argmax layer) can have.

    ``kind`` is ("stairs", L) or ("argmax", C); ``domain`` a list of integers, or None for real weights;
    ``fixed`` the L thresholds if they are given.
    """
    rows = np.asarray(rows, dtype=float)
    if domain is None:
        found = [[]]
        n_levels = kind[1] + 1 if kind[0] == "stairs" else kind[1]
        for i in range(len(rows)):
            found = [
                [*pattern, level]
                for pattern in found
                for level in range(n_levels)
                if _realisable(rows[: i + 1], [*pattern, level], kind, fixed, margin)
            ]
        return np.array(found, dtype=int).reshape(len(found), len(rows))
    found = set()
    if kind[0] == "stairs":
        for weights in product(domain, repeat=rows.shape[1]):
            sums = rows @ np.array(weights, dtype=float)
            cuts = [*sorted(set(sums.tolist())), np.inf]
            choices = [tuple(fixed)] if fixed is not None else combinations_with_replacement(cuts, kind[1])
            for chosen in choices:
                found.add(tuple((sums[:, None] >= np.array(chosen)).sum(axis=1).tolist()))
    else:
        limit = int(max(abs(v) for v in domain) * np.abs(rows).sum(axis=1).max()) + 1
        shifts = [0] if fixed is not None else range(-limit, limit + 1)
        single = {}
        for weights in product(domain, repeat=rows.shape[1]):
            for shift in shifts:
                single.setdefault(tuple((rows @ np.array(weights, dtype=float) - shift).tolist()))
        scores = np.array(list(single))
        for chosen in product(range(len(scores)), repeat=kind[1]):
            found.add(tuple(scores[list(chosen)].argmax(axis=0).tolist()))
    return np.array(sorted(found), dtype=int)


def _realisable(rows, pattern, kind, fixed, margin):
    """Whether real weights give the pattern with a margin (well above linprog's tolerance), all in [-1, 1]."""
    n = rows.shape[1]
    if kind[0] == "stairs":
        L = kind[1]
        n_variables = n + L + 1  # w, t, factor of fixed thresholds
        constraints, free = [], []
        for row, level in zip(rows, pattern, strict=True):
            for number in range(L):
                side = 1.0 if level > number else -1.0
                entry = np.zeros(n_variables)
                entry[:n], entry[n + number] = -side * row, side
                constraints.append(entry)
                free.append(-margin)
        for number in range(L - 1):
            entry = np.zeros(n_variables)
            entry[n + number], entry[n + number + 1] = 1.0, -1.0
            constraints.append(entry)
            free.append(0.0)
        equal = None
        bounds = [(-1, 1)] * (n + L) + [(margin, 1)]
        if fixed is not None:
            equal = np.zeros((L, n_variables))
            size = max(map(abs, fixed)) or 1.0
            for number, value in enumerate(fixed):
                equal[number, n + number], equal[number, -1] = 1.0, -value / size
        rhs = None if equal is None else np.zeros(L)
        return linprog(np.zeros(n_variables), constraints, free, equal, rhs, bounds=bounds).status == 0
    C = kind[1]
    constraints = []
    for row, own in zip(rows, pattern, strict=True):
        for other in range(C):
            if other != own:
                entry = np.zeros(C * (n + 1))
                entry[own * (n + 1) : (own + 1) * (n + 1)] = [*-row, 1.0]
                entry[other * (n + 1) : (other + 1) * (n + 1)] = [*row, -1.0]
                constraints.append(entry)
    return linprog(np.zeros(C * (n + 1)), constraints, np.full(len(constraints), -margin), bounds=(-1, 1)).status == 0


def best_variant_loss(rows, y, d, values, output, domains=(None, None), fixed=None, weights=None):
    """The smallest loss with d hidden neurons (0: none) of a staircase with these values."""
    rows, y = np.asarray(rows, dtype=float), np.asarray(y)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    if d == 0:
        family = patterns(rows, output, domains[-1])
        return float(((family != y) @ weights).min())
    hidden = patterns(rows, ("stairs", len(values) - 1), domains[0], fixed)
    corners = np.array(list(product(range(len(values)), repeat=d)))
    answers = patterns(np.array(values)[corners], output, domains[1])
    best = np.inf
    for chosen in combinations_with_replacement(range(len(hidden)), d):
        corner = hidden[list(chosen)].T @ (len(values) ** np.arange(d)[::-1])
        best = min(best, float(((answers[:, corner] != y) @ weights).min()))
    return best


# Constraints on weights, and losses of numbers: one hidden layer of steps.


def cheapest_patterns(rows, domain=None, bounds=(-1, 1), margin=1e-5):
    """Each bit pattern that one step neuron can have over the rows, and the fewest non-zero weights it takes.

    ``bounds`` are one pair for all weights or a pair each; ``domain`` a list of integers, or None for reals.
    """
    rows = np.asarray(rows, dtype=float)
    n = rows.shape[1]
    pairs = [bounds] * n if np.ndim(bounds) == 1 else list(bounds)
    fewest = {}
    if domain is not None:
        for weights in product(domain, repeat=n):
            if all(low <= w <= high for w, (low, high) in zip(weights, pairs, strict=True)):
                sums = rows @ np.array(weights, dtype=float)
                for cut in [*sums, np.inf]:
                    pattern = tuple((sums >= cut).tolist())
                    fewest[pattern] = min(fewest.get(pattern, n), int(np.count_nonzero(weights)))
        return fewest
    for used in product([False, True], repeat=n):
        limits = [pair if is_used else (0, 0) for pair, is_used in zip(pairs, used, strict=True)]
        found = [[]]
        for i in range(len(rows)):
            found = [
                [*pattern, bit]
                for pattern in found
                for bit in (False, True)
                if _is_split(rows[: i + 1], [*pattern, bit], limits, margin)
            ]
        for pattern in map(tuple, found):
            fewest[pattern] = min(fewest.get(pattern, n), sum(used))
    return fewest


def _is_split(rows, pattern, limits, margin):
    side = np.where(pattern, -1.0, 1.0)[:, None]
    A = side * np.hstack([rows, -np.ones((len(rows), 1))])
    return linprog(np.zeros(rows.shape[1] + 1), A, np.full(len(rows), -margin), bounds=[*limits, (-1, 1)]).status == 0


def best_constrained_loss(rows, y, d, domains, *, total=np.inf, layers=(np.inf, np.inf), bounds=((-1, 1), (-1, 1))):
    """The least number of wrong rows, and the fewest non-zero weights that have it."""
    y = np.asarray(y).astype(bool)
    hidden = cheapest_patterns(rows, domains[0], bounds[0])
    answers = cheapest_patterns(cube(d), domains[1], bounds[1])
    best = (np.inf, np.inf)
    for chosen in combinations_with_replacement(hidden, d):
        n_hidden = sum(hidden[pattern] for pattern in chosen)
        corner = np.array(chosen).T @ (1 << np.arange(d)[::-1])
        for answer, n_output in answers.items():
            if n_hidden <= layers[0] and n_output <= layers[1] and n_hidden + n_output <= total:
                best = min(best, (float((np.array(answer)[corner] != y).sum()), n_hidden + n_output))
    return best


def best_real_loss(rows, y, weights, d, kind, *, ridge=0.0, limit=np.inf, intercept=True):
    """The least loss with d step neurons below outputs with weights up to ``limit``."""
    y = np.asarray(y, dtype=float).reshape(len(rows), -1)
    return min(
        _best_output(np.array(chosen).T.astype(float), y, weights, kind, ridge, limit, intercept)
        for chosen in combinations_with_replacement(cheapest_patterns(rows), d)
    )


def least_squares_error(A, b, limits):
    """The least |A x - b|² with |x_j| <= limits_j: in closed form for all ways to hold weights at their limits.

    Some optimum has independent columns for the weights that are within their limits, so that its own way gives it;
    the others give points within the limits as well, once they are clipped.
    """
    limits = np.array(limits)
    ends = [(-limit, None, limit) if np.isfinite(limit) else (None,) for limit in limits]
    best = np.inf
    for held in product(*ends):
        free = np.array([end is None for end in held])
        x = np.array([end or 0.0 for end in held])
        x[free] = np.linalg.lstsq(A[:, free], b - A @ x, rcond=None)[0].clip(-limits[free], limits[free])
        best = min(best, float(((A @ x - b) ** 2).sum()))
    return best


def _best_output(H, y, weights, kind, ridge, limit, intercept):
    m, d = H.shape
    A = np.hstack([H, np.ones((m, 1))]) if intercept else H
    free = [(-limit, limit)] * d + ([(-np.inf, np.inf)] if intercept else [])
    total = 0.0
    for target in y.T:
        if kind == "squared":
            left = np.vstack([np.sqrt(weights)[:, None] * A, np.sqrt(ridge) * np.eye(d, A.shape[1])])
            right = np.append(np.sqrt(weights) * target, np.zeros(d))
            total += least_squares_error(left, right, [high for _, high in free])
        else:
            signs = target if kind == "hinge" else np.ones(m)
            sides = [(-signs[:, None] * A, -np.ones(m) if kind == "hinge" else -target)]
            if kind == "absolute":
                sides.append((A, target))
            rows = np.vstack([np.hstack([side, -np.eye(m)]) for side, _ in sides])
            cost = np.append(np.zeros(A.shape[1]), weights)
            total += linprog(cost, rows, np.concatenate([r for _, r in sides]), bounds=[*free, *[(0, None)] * m]).fun
    return total


def rational_outputs(layers, X):
    """Outputs of a network given as [(weights, thresholds, values), ...] in rational numbers; the last is linear."""
    answers = []
    for row in np.asarray(X, dtype=float).tolist():
        signals = [Fraction(value) for value in row]
        for weights, thresholds, values in layers:
            sums = [sum((Fraction(w) * h for w, h in zip(ws, signals, strict=True)), Fraction(0)) for ws in weights]
            ends = np.asarray(thresholds, dtype=float).reshape(len(sums), -1).tolist()
            if values is None:
                signals = [a - Fraction(own[0]) for a, own in zip(sums, ends, strict=True)]
            else:
                levels = [sum(a >= Fraction(t) for t in own) for a, own in zip(sums, ends, strict=True)]
                signals = [Fraction(values[level]) for level in levels]
        answers.append(signals)
    return answers


# The smallest move that changes an answer: all sides of all first-layer hyperplanes.


def smallest_move(network, row, norm):
    """By enumeration of activation regions of a network of steps (their closures; a program each)."""
    W, T = network.layers[0].weights, network.layers[0].thresholds
    d, n = W.shape
    layers = [(layer.weights, layer.thresholds) for layer in network.layers]
    now, best = rational_answers(layers, row[None])[0], np.inf
    for bits in product([0, 1], repeat=d):
        if rational_answers(layers[1:], np.array(bits, dtype=float)[None])[0] == now:
            continue
        signs = np.where(np.array(bits) == 1, 1.0, -1.0)
        G, h = signs[:, None] * W, signs * (T - W @ row)
        if norm == "linf":
            eye, ones = np.eye(n), np.ones((n, 1))
            A = np.block([[-G, np.zeros((d, 1))], [eye, -ones], [-eye, -ones]])
            bounds = [(None, None)] * n + [(0, None)]
            found = linprog(np.r_[np.zeros(n), 1], A, np.r_[-h, np.zeros(2 * n)], bounds=bounds)
            best = min(best, found.fun) if found.status == 0 else best
        elif norm == "l1":
            found = linprog(np.ones(2 * n), np.hstack([-G, G]), -h, bounds=(0, None))
            best = min(best, found.fun) if found.status == 0 else best
        else:
            inside = linprog(np.zeros(n), -G, -h, bounds=(None, None))
            if inside.status == 0:
                rows = {"type": "ineq", "fun": lambda z, G=G, h=h: G @ z - h, "jac": lambda z, G=G: G}
                options = {"ftol": 1e-14, "maxiter": 300}
                found = minimize(
                    lambda z: z @ z, inside.x, jac=lambda z: 2 * z, constraints=rows, method="SLSQP", options=options
                )
                best = min(best, np.sqrt(found.fun))
    return best


# Uncertain rows: every row x may become any point of a ball around it.


def best_robust_loss_on_a_line(x, y, radii, weights, d):
    """One feature, d thresholds: d + 1 cells with a class each; a row is right if all cells it can be moved to are."""
    ends = np.unique(np.concatenate([x - radii, x + radii]))
    places = np.concatenate([[ends[0] - 1], (ends[1:] + ends[:-1]) / 2, [ends[-1] + 1]])
    best = np.inf
    for thresholds in combinations_with_replacement(places.tolist(), d):
        first = np.searchsorted(thresholds, x - radii, side="right")
        last = np.searchsorted(thresholds, x + radii, side="right")
        for classes in product([0, 1], repeat=d + 1):
            wrong = [(np.array(classes)[a : b + 1] != c).any() for a, b, c in zip(first, last, y, strict=True)]
            best = min(best, float(weights[wrong].sum()))
    return best


def best_robust_neuron(X, y, radii, weights, norm):
    """One neuron and what an output can make of it: all sets of rows that a hyperplane keeps on their sides."""
    m, n = X.shape
    best = float(min(weights[y == 0].sum(), weights[y == 1].sum()))
    for kept in product([False, True], repeat=m):
        chosen = np.array(kept)
        loss = float(weights[~chosen].sum())
        if loss >= best:
            continue
        # ±(p - q)·x ∓ t - r s >= δ, with s the dual norm of p - q, at most 1
        sides = np.where(y[chosen] == 1, 1.0, -1.0)
        rows = sides[:, None] * X[chosen]
        size = np.ones(2 * n) if norm == "linf" else np.zeros(2 * n)
        inside = np.hstack([rows, -rows]) - radii[chosen, None] * size
        extra = np.zeros((0, 2 * n + 3))
        s = np.zeros((chosen.sum(), 1))
        if norm == "l1":
            s = -radii[chosen, None]
            eye = np.eye(n)
            extra = np.hstack(
                [np.vstack([eye, -eye]), np.vstack([-eye, eye]), np.zeros((2 * n, 1)), -np.ones((2 * n, 1))]
            )
            extra = np.hstack([extra, np.zeros((2 * n, 1))])
        A = np.vstack([-np.hstack([inside, -sides[:, None], s, -np.ones((chosen.sum(), 1))]), extra])
        cap = np.concatenate([size, [0.0, float(norm == "l1"), 0.0]])
        found = linprog(
            np.r_[np.zeros(2 * n + 2), -1.0],
            np.vstack([A, cap]),
            np.r_[np.zeros(len(A)), 1.0],
            bounds=[(0, None)] * (2 * n) + [(None, None), (0, 1), (None, 1)],
        )
        if found.status == 0 and found.x[-1] > 1e-5:
            best = loss
    return best


def answer_patterns(rows, d):
    """All answers that networks of one hidden layer of d neurons (0: a single neuron) give to the rows."""
    rows = np.asarray(rows, dtype=float)
    neurons = splits(rows)
    if not d:
        return {tuple(map(bool, bits)) for bits in neurons}
    found, seen = set(), {}
    for chosen in combinations_with_replacement(range(len(neurons)), d):
        corners, number = np.unique(neurons[list(chosen)].T.astype(float), axis=0, return_inverse=True)
        key = corners.tobytes()
        if key not in seen:
            seen[key] = splits(corners)
        found |= {tuple(map(bool, bits[number.ravel()])) for bits in seen[key]}
    return found


def recounted(kind, y, answers, weights, groups):
    """Recall, false positive rate, precision or a difference between groups, in rationals; None if not defined."""
    weights = [Fraction(weight) for weight in np.asarray(weights).tolist()]

    def share(of, among):
        total = sum((weights[i] for i in among), Fraction(0))
        return sum((weights[i] for i in among if of(i)), Fraction(0)) / total if total else None

    everyone = range(len(y))
    if kind == "recall":
        return share(lambda i: answers[i], [i for i in everyone if y[i]])
    if kind == "false_positive_rate":
        return share(lambda i: answers[i], [i for i in everyone if not y[i]])
    if kind == "false_positives":
        return sum((weights[i] for i in everyone if answers[i] and not y[i]), Fraction(0))
    if kind == "precision":
        return share(lambda i: y[i], [i for i in everyone if answers[i]])
    among = {"recall": lambda i: y[i], "false_positive_rate": lambda i: not y[i], "selection_rate": lambda i: True}
    known = [
        share(lambda i: answers[i], [i for i in everyone if groups[i] == group and among[kind[1]](i)])
        for group in sorted(set(groups))
    ]
    known = [value for value in known if value is not None]
    return max(known) - min(known)


def best_scorecard_loss(X, y, weights, n_rules, points, per_feature):
    """The smallest loss of a scorecard, by trying all rules, points and thresholds."""
    X, y, weights = np.asarray(X), np.asarray(y).astype(bool), np.asarray(weights)
    rules = [(f, column >= cut) for f, column in enumerate(X.T) for cut in np.unique(column)]
    rules += [(f, column <= cut) for f, column in enumerate(X.T) for cut in np.unique(column)]
    best = float(min(weights[y].sum(), weights[~y].sum()))
    for size in range(1, n_rules + 1):
        for chosen in combinations_with_replacement(rules, size):
            if np.bincount([feature for feature, _ in chosen]).max() > per_feature:
                continue
            for given in product(range(1, points + 1), repeat=size):
                totals = sum(p * on for p, (_, on) in zip(given, chosen, strict=True))
                for threshold in range(1, sum(given) + 1):
                    best = min(best, float(weights[(totals >= threshold) != y].sum()))
    return best
