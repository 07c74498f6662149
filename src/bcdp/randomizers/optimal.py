"""The best table for given linear targets: an A-optimal design over columns, by an interior-point method.

A table within limits has columns whose entries at two inputs differ by a factor of at most `exp(limits)`. For targets
with values T at the inputs the total second moment of the decoded answer, inputs uniform, is `tr(T T^t M^-1)` with
`M = sum_y f_y f_y^t / mean(f_y)`: convex in how much each column is used, and rows sum to 1 (theory.md, 4.16).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

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
_WORTHWHILE = 2e-3  # of the objective: a smaller possible gain ends the search for columns
_SAFE = 1 - 1e-12  # ratios in doubles below their limit times this are below it in truth

Set = npt.NDArray[np.bool_]


def optimal(criterion: Floats, limits: Floats, sets: Iterable[Set] = (), further: Iterable[Set] = ()) -> Dense:
    """The table with the least `criterion` within `limits` on the logarithm of two weights of one symbol.

    `criterion`: `T T^t` for targets T. `sets` of inputs suggest columns: high there and as low as limits allow
    elsewhere, and the other way round. Of few inputs all sets are tried, single inputs always are; `further` sets are
    added where they would gain something.

    >>> scores = np.linspace(0, 1, 5)
    >>> table = optimal(np.outer(scores, scores), np.full((5, 5), 1.0))
    >>> table.level <= 1, round(float(table.second_moments(scores).mean() - scores.mean() ** 2), 3)
    (True, 1.117)
    """
    columns, used = _designed(criterion, shortest(limits), sets, further)
    probability = columns * used
    kept = probability[:, probability.mean(axis=0) > _UNUSED]
    return Dense(round_within(kept / kept.sum(axis=1, keepdims=True), limits))


def least_moment(criterion: Floats, limits: Floats, sets: Iterable[Set] = (), further: Iterable[Set] = ()) -> float:
    """The total second moment of the best table, before rounding.

    >>> round(least_moment(np.eye(2), np.full((2, 2), 1.0)), 4)  # (1 + 1 / tanh(1/2)^2) / 2
    2.8413
    """
    columns, used = _designed(criterion, shortest(limits), sets, further)
    scaled = columns / np.sqrt(columns.mean(axis=0))
    return float(np.trace(criterion @ np.linalg.pinv((scaled * used) @ scaled.T, hermitian=True)))


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


def _designed(criterion: Floats, limits: Floats, sets: Iterable[Set], further: Iterable[Set]) -> tuple[Floats, Floats]:
    """Columns with a largest entry of 1, and how much each is used."""
    inputs, suggested, more = len(limits), list(sets), list(further)
    listed = _columns(limits, [*suggested, *np.eye(inputs, dtype=np.bool_)])
    every = list(map(np.array, itertools.product([False, True], repeat=inputs))) if inputs <= MOST_PRICED else []
    if more and not every:
        every = [*suggested, *more, *np.eye(inputs, dtype=np.bool_)]
    offers = _columns(limits, every) if every else listed
    columns = offers if offers.shape[1] <= _MOST_AT_ONCE else listed
    while True:
        basis, size, _ = np.linalg.svd(columns, full_matrices=False)
        basis = basis[:, size > 1e-9 * size[0]]
        used, gain, value = _interior_point(criterion, columns, basis)
        gains = np.zeros(1) if columns is offers else gain(offers)
        if not gains.max() > _WORTHWHILE * value:
            return columns, used
        columns = np.hstack([columns, offers[:, np.argsort(-gains)[:_OFFERS]]])


def _columns(limits: Floats, sets: Iterable[Set]) -> Floats:
    """For every set its column and the inverse of it, high outside, and the column that tells nothing."""
    distances = np.array([limits[inside].min(axis=0) for inside in sets if inside.any() and not inside.all()])
    logs = np.vstack([np.zeros(len(limits)), -distances, distances - distances.max(axis=1, keepdims=True)])
    return np.asarray(np.exp(np.unique(logs.round(13), axis=0)).T)


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

    A little of every symbol's average is mixed in, more and more of it until the rounded weights are within limits.
    """
    bound = np.exp(np.minimum(limits, 64.0)) * _SAFE
    np.fill_diagonal(bound, 1.0)
    for share in np.minimum(1e-8 * 2.0 ** np.arange(28), 1.0):
        weights = _rounded((1 - share) * ideal + share * ideal.mean(axis=0))
        if weights.min() >= 1 and all((column[:, None] / column <= bound).all() for column in weights.T):
            return weights
    raise refuse("limits", limits.min(), "limits that integer weights can keep")


def _rounded(ideal: Floats) -> Integers:
    """Whole numbers whose rows sum to 2^32, each within one of what it should be."""
    scaled = ideal * float(TOTAL)
    weights = np.floor(scaled).astype(np.int64)
    for row, wanted in zip(weights, scaled, strict=True):
        missing = TOTAL - int(row.sum())
        row[np.argsort(row - wanted, kind="stable")[:missing]] += 1
    return weights
