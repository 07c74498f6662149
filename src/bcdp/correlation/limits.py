"""Upper confidence limits on distances between distributions, from a table of counts (measured-correlation.md
proves them).

A table has one row for each value of a feature and one column for each cell of the others. Given the row sums, each row
is a sample from the distribution of the others given that value. A limit fails with probability at most `failure`.

The largest distance is that of two rows at one event, which are fixed though unknown. A limit is a maximum over all
rows and events, so it is enough that what it takes the maximum of holds at those.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bcdp.statistics.shared.special import betaincinv, rel_entr

Array = npt.NDArray[np.float64]

_MOST_EXACT_CELLS = 8  # 254 events, each of which is looked at
_MOST_EXACT_VALUES = 32
_HALVINGS = 60


def observed_distance(counts: Array) -> float:
    """The largest distance between two rows' observed distributions, from 0 to 1; rows without people are left out."""
    seen = counts[counts.sum(axis=1) > 0]
    laws, worst = np.unique(seen / seen.sum(axis=1, keepdims=True), axis=0), 0.0
    for a in range(len(laws) - 1):
        worst = max(worst, float(np.abs(laws[a + 1 :] - laws[a]).sum(axis=1).max() / 2))
        if worst >= 1:
            break
    return min(1.0, worst)


def distance_limit(counts: Array, failure: float, integers: bool) -> float:
    """A limit, from 0 to 1, on the distance between the distributions of any two rows; 1 where a row has too few
    people.

    `whole`: the counts are of people, not of people shared out between neighbouring cells.
    """
    values, cells = counts.shape
    if values == 1 or cells == 1:
        return 0.0
    people = counts.sum(axis=1)
    if people.min() == 0:
        return 1.0
    if not is_small(counts, integers):
        return _by_difference(counts, people, failure)
    low, high = event_intervals(counts, failure / 2)
    return min(_by_events(low, high), _by_difference(counts, people, failure / 2))


def is_small(counts: Array, integers: bool) -> bool:
    """Whether every event about the others gets exact limits of its own."""
    values, cells = counts.shape
    return integers and cells <= _MOST_EXACT_CELLS and values <= _MOST_EXACT_VALUES


def _by_difference(counts: Array, people: Array, failure: float) -> float:
    """The observed distance of each two rows plus the radius that Hoeffding's inequality gives one event."""
    half_tail = math.log(1 / failure) / 2
    if (1 / np.sort(people)[:2]).sum() * half_tail >= 1:
        return 1.0
    laws, limit = counts / people[:, None], 0.0
    for a in range(len(laws) - 1):
        distance = np.abs(laws[a + 1 :] - laws[a]).sum(axis=1) / 2
        limit = max(limit, float((distance + np.sqrt((1 / people[a] + 1 / people[a + 1 :]) * half_tail)).max()))
    return min(1.0, limit)


def event_intervals(counts: Array, failure: float) -> tuple[Array, Array]:
    """Clopper-Pearson limits for every row and every set of cells, in the order of binary numbers, both ends left out.

    Any two of them hold together. The lower limit of a set is one minus the upper limit of its complement.
    """
    cells = counts.shape[1]
    sets = (np.arange(1, 2**cells - 1)[:, None] >> np.arange(cells)) & 1
    inside = counts @ sets.T
    outside = counts.sum(axis=1, keepdims=True) - inside
    high = np.where(outside > 0, betaincinv(inside + 1, np.maximum(outside, 1), 1 - failure / 2), 1.0)
    return 1 - high[:, ::-1], high


def _by_events(low: Array, high: Array) -> float:
    between = high[:, None] - low[None, :]
    return min(1.0, max(0.0, float(between[~np.eye(len(low), dtype=bool)].max())))


def odds_limit(counts: Array, failure: float, integers: bool, slack: float = 0.0) -> float:
    """A limit, at least 1, on the ratio between any two rows' chances of a cell; infinite where one was never seen.

    The largest ratio is that of two rows at one cell, which are fixed though unknown: two limits have to hold there.
    `whole`: the counts are of people. `slack`: what a device's rounding may add to a chance.
    """
    values, cells = counts.shape
    if values == 1 or cells == 1:
        return 1.0
    people = counts.sum(axis=1, keepdims=True)
    if people.min() == 0:
        return math.inf
    upper = _exact_upper if integers else _upper_of_shares
    high, low = upper(counts, people, failure / 2), 1 - upper(people - counts, people, failure / 2)
    least, second = np.partition(low, 1, axis=0)[:2]
    others = np.where(np.arange(values)[:, None] == low.argmin(axis=0), second, least)  # the least of the other rows
    with np.errstate(divide="ignore"):
        return max(1.0, float(((high + slack) / np.maximum(others - slack, 0.0)).max()))


def odds_between(low: float, high: float) -> float:
    """The largest ratio between two chances of either of two cells, if that of the first lies between these limits."""
    return math.inf if low <= 0 or high >= 1 else max(high / low, (1 - low) / (1 - high))


def _exact_upper(counts: Array, people: Array, failure: float) -> Array:
    """Clopper-Pearson upper limits on chances."""
    rest = people - counts
    return np.where(rest > 0, betaincinv(counts + 1, np.maximum(rest, 1), 1 - failure), 1.0)


def _upper_of_shares(sums: Array, people: Array, failure: float) -> Array:
    """Upper limits on the means of numbers from 0 to 1, by their sums: Hoeffding's inequality with relative entropy.

    The mean of n such numbers is at most m with probability `exp(-n KL(m, mean))`.
    """
    mean, tail = sums / people, -math.log(failure) / people
    low, high = mean, np.ones_like(mean)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        near = rel_entr(mean, middle) + rel_entr(1 - mean, 1 - middle) <= tail
        low, high = np.where(near, middle, low), np.where(near, high, middle)
    return high
