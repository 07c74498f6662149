"""Tables for lists to tick: one answer out of the items and as many dummies as may be ticked (theory.md, 4.17).

Whoever ticks fewer than `most` items also ticks the first dummies, so that every row has `most` likely answers, each
`hit` times, and all others `miss` times. An item is decoded by whether it is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bcdp.errors import refuse
from bcdp.exact import TOTAL, Floats
from bcdp.randomizers.dense import Dense

_SAFE = 1 - 1e-12  # a ratio of whole numbers in doubles below its limit times this is below it in truth


def padded(sets: Sequence[Sequence[int]], items: int, most: int, budget: float) -> Dense:
    """The table of padded subset selection for these sets of items, each of at most `most`.

    >>> table = padded([(), (0,), (1,), (0, 1)], 2, 2, 1.0)
    >>> table.level <= 1, table.symbols
    (True, 5)
    """
    ratio = math.exp(budget) * _SAFE
    miss = int(TOTAL / (most * ratio + items))
    hit = int(miss * ratio)
    if miss < 1 or hit <= miss:
        raise refuse("budget", budget, "one that integer weights can keep")
    weights = np.full((len(sets), items + most), miss, dtype=np.int64)
    for row, ticked in zip(weights, sets, strict=True):
        row[[*ticked, *range(items, items + most - len(ticked))]] = hit
    rest = np.full((len(sets), 1), TOTAL - most * hit - items * miss)  # an answer that says nothing
    return Dense(np.hstack([weights, rest]) if rest.any() else weights)


def padded_moment(items: int, most: int, budget: Floats) -> Floats:
    """The total second moment of the decoded items, half of those ticked that may be."""
    hit = np.exp(budget) / (most * np.exp(budget) + items)
    miss = 1 / (most * np.exp(budget) + items)
    ticked = most / 2
    chance = ticked * hit + (items - ticked) * miss  # that an item is the answer, over all items
    return np.asarray((chance * (1 - 2 * miss) + items * miss**2) / (hit - miss) ** 2)


def one_item(sets: Sequence[Sequence[int]], items: int, budget: float) -> Dense:
    """The table that asks about one item, drawn at random: ticked or not, by randomized response."""
    ratio = math.exp(budget) * _SAFE
    each = TOTAL // items
    low = math.ceil(each / (1 + ratio))
    if not 1 <= low < each - low:
        raise refuse("budget", budget, "one that integer weights can keep")
    has = np.array([[item in ticked for item in range(items)] for ticked in sets])
    yes = np.where(has, each - low, low)
    rest = np.full((len(sets), 1), TOTAL - items * each)
    weights = np.hstack([yes, each - yes, *([rest] if rest.any() else [])])
    return Dense(weights)


def one_item_moment(items: int, budget: Floats) -> Floats:
    """The total second moment of the decoded items: a share is a mean on half the scale, of a part of the people."""
    return np.asarray(items * items * (1 + 1 / np.tanh(budget / 2) ** 2) / 4 + 0 * budget)
