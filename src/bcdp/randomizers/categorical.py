"""Randomizers for categories: randomized response, subset selection, Hadamard bits, geometries, and the best of them.

Every builder keeps the level of the integer table within the budget, exactly (theory.md, 4.2).
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations, takewhile

import numpy as np

from bcdp.errors import InputError, refuse
from bcdp.exact import TOTAL, Floats, check_budget, check_whole, exp_down, round_rows, smallest_other
from bcdp.randomizers.dense import Dense
from bcdp.randomizers.hadamard import LARGEST_ORDER, Hadamard
from bcdp.randomizers.projective import MOST_POINTS, projective
from bcdp.randomizers.protocol import Table
from bcdp.randomizers.response import MOST_INPUTS, Response

MOST_SUBSET_CELLS = 2**16


def binary(budget: float) -> Response:
    """Randomized response between two inputs, within the budget.

    >>> binary(math.log(3)).keep / 2**32
    0.75
    """
    return response(2, budget)


def response(levels: int, budget: float) -> Response:
    """Randomized response between so many inputs, within the budget; refused where integers cannot express it.

    Equal weights need `levels` to divide 2^32: for other numbers of inputs there is a least budget, about
    `levels^2 / 2^32`.

    >>> table = response(4, 1.0)
    >>> 0.999 < table.level <= 1.0
    True
    """
    check_whole("levels", levels, 2, MOST_INPUTS)
    other = smallest_other(levels, check_budget(budget))
    return Response(levels=levels, keep=TOTAL - (levels - 1) * other, other=other)


def subset(levels: int, size: int, budget: float) -> Dense:
    """Subset selection within the budget: a random subset of `size` inputs, more likely one that holds the true one.

    Symbols are the subsets in lexicographic order.

    >>> subset(4, 2, 1.0).level <= 1.0
    True
    """
    check_whole("levels", levels, 2, MOST_INPUTS)
    check_whole("size", size, 1, levels - 1)
    check_budget(budget)
    if not subset_fits(levels, size):
        raise refuse("size", size, f"a size with levels * subsets of at most {MOST_SUBSET_CELLS}")
    members = np.zeros((levels, math.comb(levels, size)), dtype=np.bool_)
    for symbol, chosen in enumerate(combinations(range(levels), size)):
        members[list(chosen), symbol] = True
    ideal = np.where(members, 1.0, math.exp(-budget))
    return Dense(round_rows(ideal / ideal.sum(axis=1, keepdims=True), budget))


def hadamard(levels: int, budget: float) -> Hadamard:
    """One bit about a random Hadamard row, within the budget; its order is the least power of 2 from `levels` on.

    >>> table = hadamard(3, 1.0)
    >>> table.level <= 1.0
    True
    """
    check_whole("levels", levels, 2, LARGEST_ORDER)
    order = 1 << (levels - 1).bit_length()
    cell = TOTAL // order
    flip = math.ceil(cell / (exp_down(check_budget(budget)) + 1))
    return Hadamard(levels=levels, order=order, keep=cell - flip)


@lru_cache(maxsize=1024, typed=True)
def categorical(levels: int, budget: float, geometries: bool = True) -> Table:
    """The family with the least total second moment of the decoded indicators, within the budget.

    `geometries`: whether hyperplanes may be answered, of which a certificate never looks at single weights. They are
    not where subsets of every size can be built, which are as good but for rounding.

    >>> categorical(4, 3.0).to_dict()["family"], categorical(1000, 1.0).to_dict()["family"]
    ('response', 'projective')
    """
    check_whole("levels", levels, 2, MOST_POINTS)
    check_budget(budget)
    if levels > MOST_INPUTS:
        return projective(levels, budget)
    candidates: list[Table] = [hadamard(levels, budget)]
    expected = {size: float(subset_moment(levels, size, np.array(budget))) for size in subset_sizes(levels)}
    size = min(expected, key=expected.__getitem__)
    try:
        candidates.insert(0, response(levels, budget))
        if size > 1 and expected[size] < hadamard_moment(levels, np.array(budget)):
            candidates.append(subset(levels, size, budget))
        if geometries and not all_subsets_fit(levels):
            candidates.append(projective(levels, budget))
    except InputError:
        pass  # the budget is too small for these integers; Hadamard bits can always be built
    return min(candidates, key=lambda table: table.second_moment)


def subset_fits(levels: int, size: int) -> bool:
    """Whether subset selection with subsets of this size is small enough to be written out."""
    return levels * math.comb(levels, size) <= MOST_SUBSET_CELLS


def all_subsets_fit(levels: int) -> bool:
    """Whether subsets of every size up to half the inputs can be built: one of these sizes is the best.

    >>> all_subsets_fit(10), all_subsets_fit(100)
    (True, False)
    """
    return levels <= MOST_INPUTS and subset_sizes(levels)[-1] == max(1, levels // 2)


def subset_sizes(levels: int) -> list[int]:
    """The sizes from 1 to half the inputs that can be built; size 1 is randomized response and always can."""
    return [1, *takewhile(lambda size: subset_fits(levels, size), range(2, levels // 2 + 1))]


def subset_moment(levels: int, size: int, budget: Floats) -> Floats:
    """The total second moment of subset selection at each budget, before rounding; size 1 is randomized response.

    An input is in the reported subset with probability `hit` if it is the true one, else `miss`; the decoded indicator
    is `(1[in the subset] - miss) / (hit - miss)`, so its squared length is the same for every subset.
    """
    hit = size / (size + (levels - size) * np.exp(-budget))
    miss = (size - hit) / (levels - 1)
    contrast = hit * (levels - size) * -np.expm1(-budget) / (levels - 1)  # hit - miss, exact near budget 0
    with np.errstate(divide="ignore"):
        total = (size * (1 - miss) ** 2 + (levels - size) * miss**2) / contrast**2
    return np.asarray(total, dtype=np.float64)


def hadamard_moment(levels: int, budget: Floats) -> Floats:
    """The total second moment of Hadamard bits at each budget, before rounding."""
    with np.errstate(divide="ignore"):
        total = (levels - 1) / np.tanh(budget / 2) ** 2 + 1 / levels
    return np.asarray(total, dtype=np.float64)
