"""The best table for given linear targets: an A-optimal design over columns, by an interior-point method.

A table within limits has columns whose entries at two inputs differ by a factor of at most `exp(limits)`. For targets
with values T at the inputs the total second moment of the decoded answer, inputs uniform, is `tr(T T^t M^-1)` with
`M = sum_y f_y f_y^t / mean(f_y)`: convex in how much each column is used, and rows sum to 1 (theory.md, 4.16).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.exact import TOTAL, Floats, Integers
from bcdp.randomizers.dense import Dense

MOST_PRICED = 12  # inputs of which all sets are candidates

_UNUSED = 1e-5  # the probability below which a column is left out: rounding would move its few weights too far
_GAP = 1e-6  # of the objective, at which the search ends
_FASTER = 20.0  # by which the barrier weakens
_ROUNDS = 40
_NEWTON_STEPS = 60
_MOST_AT_ONCE = 300  # columns: more are offered by what they would gain
_OFFERS = 60  # columns that are added at a time
_BEGUN = 40  # sets with which that search begins
_SEARCHES = 8  # for columns, of which there are very many where some are raised
_WORTHWHILE = 2e-3  # of the objective: a smaller possible gain ends the search for columns
_ROUNDING = 1e-3  # of a rise that is left to rounding, which moves low weights up
_SAFE = 1 - 1e-12  # ratios in doubles below their limit times this are below it in truth

Set = npt.NDArray[np.bool_]
Raised = tuple[Sequence[float], Sequence[float]]  # logarithms of weights, and by how much each may be raised


def optimal(
    criterion: Floats,
    limits: Floats,
    sets: Iterable[Set] = (),
    further: Iterable[Set] = (),
    raised: Sequence[Raised] = (),
) -> Dense:
    """The table with the least `criterion` within `limits` on the logarithm of two weights of one symbol.

    `limits`: one matrix, or several of which every symbol keeps one. `criterion`: `T T^t` for targets T. `sets` of
    inputs suggest columns: high there and as low as limits allow elsewhere, and the other way round. Of few inputs all
    sets are tried, single inputs always are; `further` sets are added where they would gain something. A symbol may
    keep a pair that is `raised` in place of limits.

    >>> scores = np.linspace(0, 1, 5)
    >>> table = optimal(np.outer(scores, scores), np.full((5, 5), 1.0))
    >>> table.level <= 1, round(float(table.second_moments(scores).mean() - scores.mean() ** 2), 3)
    (True, 1.117)
    """
    columns, used = _designed(criterion, _alternatives(limits), sets, further, raised)
    probability = columns * used
    kept = probability[:, probability.mean(axis=0) > _UNUSED]
    bounds = [*(limits if np.ndim(limits) == 3 else [limits]), *map(_between, raised)]
    return Dense(round_within(kept / kept.sum(axis=1, keepdims=True), np.array(bounds)))


def least_moment(
    criterion: Floats,
    limits: Floats,
    sets: Iterable[Set] = (),
    further: Iterable[Set] = (),
    raised: Sequence[Raised] = (),
) -> float:
    """The total second moment of the best table, before rounding.

    >>> round(least_moment(np.eye(2), np.full((2, 2), 1.0)), 4)  # (1 + 1 / tanh(1/2)^2) / 2
    2.8413
    """
    columns, used = _designed(criterion, _alternatives(limits), sets, further, raised)
    scaled = columns / np.sqrt(columns.mean(axis=0))
    return float(np.trace(criterion @ np.linalg.pinv((scaled * used) @ scaled.T, hermitian=True)))


def _between(raised: Raised) -> Floats:
    """The largest logarithm of the ratio of two inputs' weights, if all are between a base and what it is raised to."""
    base, rise = map(np.asarray, raised)
    return np.asarray(base[:, None] + rise[:, None] - base)


def _alternatives(limits: Floats) -> list[Floats]:
    """Every matrix of limits, with what follows from it."""
    return list(map(shortest, limits if np.ndim(limits) == 3 else [limits]))


def shortest(limits: Floats) -> Floats:
    """The limits that follow from all of them together: two inputs may be near a third one.

    >>> shortest(np.array([[0, 1, 1], [1, 0, 3], [1, 3, 0]])).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 2.0], [1.0, 2.0, 0.0]]
    """
    result = np.array(limits, dtype=np.float64)
    np.fill_diagonal(result, 0.0)
    for middle in range(len(result)):
        result = np.minimum(result, result[:, [middle]] + result[[middle], :])
    return result


def _designed(
    criterion: Floats,
    limits: Sequence[Floats],
    sets: Iterable[Set],
    further: Iterable[Set],
    raised: Sequence[Raised],
) -> tuple[Floats, Floats]:
    """Columns with a largest entry of 1, and how much each is used."""
    inputs, suggested, more = len(criterion), list(sets), list(further)
    if raised:  # what is raised must not be averaged much, so that rounding has to do without
        limits = [each * (1 - 2 * _ROUNDING) for each in limits]
    single = np.eye(inputs, dtype=np.bool_)
    widest = max(limits, key=lambda each: float(each[~single].min()))  # by which all inputs are told apart
    listed = _columns([widest], [*(suggested[:_BEGUN] if raised else suggested), *single])
    every = list(map(np.array, itertools.product([False, True], repeat=inputs))) if inputs <= MOST_PRICED else []
    if more and not every:
        every = [*suggested, *more, *single]
    offers = _columns(limits, every) if every else listed
    if raised:
        offers = np.hstack([offers, _raised_columns(raised, [*suggested, *single])])
    columns = offers if offers.shape[1] <= _MOST_AT_ONCE else listed
    for search in itertools.count():
        basis, size, _ = np.linalg.svd(columns, full_matrices=False)
        basis = basis[:, size > 1e-9 * size[0]]
        used, gain, value = _interior_point(criterion, columns, basis)
        gains = np.zeros(1) if columns is offers else gain(offers)
        if not gains.max() > _WORTHWHILE * value or (raised and search == _SEARCHES):
            break
        if raised:  # of very many columns those that are not asked are dropped, but for the first, which span all
            first = np.arange(len(used)) < listed.shape[1]
            columns = columns[:, first | (used * columns.mean(axis=0) > _UNUSED / 10)]
        columns = np.hstack([columns, offers[:, np.argsort(-gains)[: _OFFERS * (2 if raised else 1)]]])
    return columns, used


def _columns(limits: Sequence[Floats], sets: Iterable[Set]) -> Floats:
    """For every set its column and the inverse of it, high outside, and the column that tells nothing."""
    some = [inside for inside in sets if inside.any() and not inside.all()]
    distances = np.array([each[inside].min(axis=0) for each in limits for inside in some])
    logs = np.vstack([np.zeros(len(limits[0])), -distances, distances - distances.max(axis=1, keepdims=True)])
    return np.asarray(np.exp(np.unique(logs.round(13), axis=0)).T)


def _raised_columns(raised: Sequence[Raised], sets: Iterable[Set]) -> Floats:
    """Each base, raised at every set and outside it."""
    some = np.array([side for inside in sets for side in (inside, ~inside)])
    logs = np.vstack([np.asarray(base) + (np.asarray(rise) - _ROUNDING) * some for base, rise in raised])
    return np.asarray(np.exp(np.unique((logs - logs.max(axis=1, keepdims=True)).round(13), axis=0)).T)


def _interior_point(
    criterion: Floats, columns: Floats, basis: Floats
) -> tuple[Floats, Callable[[Floats], Floats], float]:
    """How much each column is used for the least criterion with rows that sum to 1, by Newton steps and a barrier.

    And for other columns the rate at which the criterion would fall with their probability, and the criterion.
    """
    count = columns.shape[1]
    criterion = basis.T @ criterion @ basis
    scaled = basis.T @ columns / np.sqrt(columns.mean(axis=0))
    used = np.full(count, 1 / columns.sum(axis=1).mean())
    strength = 0.0
    for _ in range(_ROUNDS):
        for _ in range(_NEWTON_STEPS):
            inverse = np.linalg.inv((scaled * used) @ scaled.T)
            value = float(np.trace(criterion @ inverse))
            strength = strength or count / value
            informs, costs = scaled.T @ inverse @ scaled, scaled.T @ (inverse @ criterion @ inverse) @ scaled
            slope = -strength * np.diag(costs) - 1 / used
            curvature = 2 * strength * informs * costs + np.diag(used**-2.0)
            lacking = 1 - columns @ used
            solved = np.linalg.solve(curvature, np.column_stack([slope, columns.T]))
            price = np.linalg.lstsq(columns @ solved[:, 1:], -(lacking + columns @ solved[:, 0]), rcond=None)[0]
            step = -(solved[:, 0] + solved[:, 1:] @ price)
            decrement = math.sqrt(max(float(step @ curvature @ step), 0.0))
            used = used + step * _length(step / used, decrement)
            if decrement < 1e-3 and np.abs(1 - columns @ used).max() < 1e-9:
                break
        if count / strength < _GAP * value:
            break
        strength *= _FASTER
    inner = basis @ inverse @ criterion @ inverse @ basis.T

    def gain(offers: Floats) -> Floats:
        """By the dual prices of the rows."""
        share = offers.mean(axis=0)
        return np.asarray((np.einsum("xy,xz,zy->y", offers, inner, offers) / share - price @ offers / strength) / share)

    return used, gain, value


def _length(relative: Floats, decrement: float) -> float:
    """How far to go along a Newton step: nothing may reach 0, and far from the path steps are damped."""
    fall = float((-relative).max())
    return min(1.0, 0.95 / fall if fall > 0 else 1.0, 1.0 if decrement < 0.5 else 1 / (1 + decrement) ** 0.5)


def round_within(ideal: Floats, limits: Floats) -> Integers:
    """Integer weights close to `2^32 * ideal`, rows summing to 2^32, every two within the limits of their inputs.

    A little of every symbol's average is mixed in, more and more of it until the rounded weights are within limits. Of
    several limits every symbol keeps one.
    """
    bounds = np.exp(np.minimum(limits if np.ndim(limits) == 3 else [limits], 64.0)) * _SAFE
    for bound in bounds:
        np.fill_diagonal(bound, 1.0)
    for share in np.minimum(1e-8 * 2.0 ** np.arange(28), 1.0):
        weights = _rounded((1 - share) * ideal + share * ideal.mean(axis=0))
        if weights.min() >= 1 and all(_keeps(column, bounds) for column in weights.T):
            return weights
    raise refuse("limits", np.min(limits), "limits that integer weights can keep")


def _keeps(column: Integers, bounds: Floats) -> bool:
    """Whether the weights of a symbol keep one of the bounds on their ratios."""
    ratios = column[:, None] / column
    return any((ratios <= bound).all() for bound in bounds)


def _rounded(ideal: Floats) -> Integers:
    """Whole numbers whose rows sum to 2^32, each within one of what it should be."""
    scaled = ideal * float(TOTAL)
    weights = np.floor(scaled).astype(np.int64)
    for row, wanted in zip(weights, scaled, strict=True):
        missing = TOTAL - int(row.sum())
        row[np.argsort(row - wanted, kind="stable")[:missing]] += 1
    return weights
