"""Hybrid-dimensional grids (HDG): tables and ranges of ordered features under local differential privacy.

Yang, Wang, Li, Cheng and Su, Answering Multi-Dimensional Range Queries under Local Differential Privacy, PVLDB 14(3),
2020 (arXiv 2009.06538). People are split into equal groups, one for each feature and one for each pair; a group tells
the cell of its grid by optimal local hashing. Negative cells are removed and grids that share a feature made to agree;
a table of single values follows by scaling until it has the shares of all cells. Granularities are by the paper's
formula. Written from the paper and checked against the program of its authors: two-way-tables.md has the figures.

Nothing here protects anybody: answers are drawn in counts, from the exact law of an ideal hash.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Grid = tuple[int, ...]  # the numbers of its features: one or two
Oracle = Callable[[Array, float, np.random.Generator], Array]

_NOISE_1, _NOISE_2 = 0.7, 0.03  # the paper's constants for how uneven people are within a cell
_ROUNDS = 100


def granularities(people: int, features: int, budget: float) -> tuple[float, float]:
    """How many parts a feature has in its own grid, and in one with another feature, before they are rounded."""
    groups = features + features * (features - 1) // 2
    gain = math.exp(budget) - 1
    alone = (people * gain**2 * _NOISE_1**2 / (2 * groups * math.exp(budget))) ** (1 / 3)
    together = math.sqrt(2 * _NOISE_2 * gain * math.sqrt(people / (groups * math.exp(budget))))
    return alone, together


def rounded(granularity: float, values: int) -> int:
    """The nearest power of two from 2 to the number of values; the lower one of two that are equally near."""
    if granularity >= values:
        return values
    low = 2 ** max(int(math.log2(max(granularity, 2.0))), 1)
    return min(low if granularity - low <= 2 * low - granularity else 2 * low, values)


def single_values(people: int, features: int, budget: float) -> tuple[float, float]:
    """Every value a part of its own, whatever the noise: not in the paper, for features whose values have no order."""
    return math.inf, math.inf


def hashing(counts: Array, budget: float, rng: np.random.Generator) -> Array:
    """Unbiased counts from answers by optimal local hashing to round(e^budget) + 1 values.

    An answer speaks for the own cell with the chance that it is true, for each other one with that of a collision, and
    under an ideal hash independently: the answers that speak for a cell are the sum of two binomial numbers.
    """
    e = math.exp(budget)
    size = round(e) + 1
    own, other = e / (e + size - 1), 1 / size
    people = int(counts.sum())
    told = rng.binomial(counts.astype(np.int64), own) + rng.binomial(people - counts.astype(np.int64), other)
    return np.asarray((told - people * other) / (own - other))


def response(counts: Array, budget: float, rng: np.random.Generator) -> Array:
    """Unbiased counts from generalized randomized response."""
    size, people = len(counts), int(counts.sum())
    other = 1 / (math.exp(budget) + size - 1)
    own = math.exp(budget) * other
    law = np.full((size, size), other) + np.eye(size) * (own - other)
    told = sum(rng.multinomial(int(count), row) for count, row in zip(counts, law, strict=True))
    return np.asarray((told - people * other) / (own - other))


def better(counts: Array, budget: float, rng: np.random.Generator) -> Array:
    """Whichever of the two has the smaller variance for so many cells: not in the paper, and never worse."""
    few = len(counts) - 2 < 3 * math.exp(budget)
    return (response if few else hashing)(counts, budget, rng)


def not_negative(shares: Array) -> Array:
    """Shares that are at least 0 and sum to 1: the same is taken off all that stay above 0 (norm-sub)."""
    found = shares.copy()
    for _ in range(shares.size + 1):
        above = found > 0
        if not above.any():
            return np.full_like(shares, 1 / shares.size)
        found = np.where(above, found, 0.0)
        found = np.where(above, found + (1 - found.sum()) / above.sum(), 0.0)
        if (found >= 0).all():
            return found
    return found


@dataclass(frozen=True)
class Estimate:
    """The shares of the cells of every grid, and of every pair of single values."""

    cells: dict[Grid, Array]
    tables: dict[Grid, Array]

    def inside(self, pair: Grid, low: tuple[int, int], high: tuple[int, int]) -> float:
        """The share of the people whose values of two features are from `low` to `high`, the latter included."""
        return float(self.tables[pair][low[0] : high[0] + 1, low[1] : high[1] + 1].sum())


def estimated(
    people: Codes,
    values: Sequence[int],
    budget: float,
    rng: np.random.Generator,
    oracle: Oracle = hashing,
    sizes: Callable[[int, int, float], tuple[float, float]] = granularities,
) -> Estimate:
    """What a collection finds; `people` has one row each, with codes from 0 for the ordered values of every feature."""
    alone, together = sizes(len(people), len(values), budget)
    coarse = [rounded(together, size) for size in values]
    fine = [max(rounded(alone, size), coarse[number]) for number, size in enumerate(values)]
    grids: list[Grid] = [(number,) for number in range(len(values))] + list(combinations(range(len(values)), 2))
    groups = np.array_split(rng.permutation(len(people)), len(grids))
    cells: dict[Grid, Array] = {}
    for grid, group in zip(grids, groups, strict=True):
        parts = [(fine if len(grid) == 1 else coarse)[number] for number in grid]
        places = [people[group, number] * size // values[number] for number, size in zip(grid, parts, strict=True)]
        counts = np.bincount(np.ravel_multi_index(places, parts), minlength=math.prod(parts)).astype(float)
        cells[grid] = (oracle(counts, budget, rng) / len(group)).reshape(parts)
    cells = agreeing(cells, coarse)
    return Estimate(cells, {grid: single_table(cells, grid, values) for grid in grids if len(grid) == 2})


def agreeing(cells: dict[Grid, Array], coarse: Sequence[int], rounds: int = _ROUNDS) -> dict[Grid, Array]:
    """Cells that are at least 0 and give a feature the same shares in every grid, as nearly as both can be."""
    cells = {grid: not_negative(found) for grid, found in cells.items()}
    for _ in range(rounds):
        for number, parts in enumerate(coarse):
            _agree(cells, number, parts)
        cells = {grid: not_negative(found) for grid, found in cells.items()}
    return cells


def _agree(cells: dict[Grid, Array], number: int, parts: int) -> None:
    """The shares of one feature become their mean over its grids, each weighed by one over the cells that it adds."""
    grids = [grid for grid in cells if number in grid]
    sums = {grid: _sums(cells[grid], grid.index(number), parts) for grid in grids}
    added = {grid: cells[grid].size // parts for grid in grids}
    mean = sum(sums[grid] / added[grid] for grid in grids) / sum(1 / added[grid] for grid in grids)
    for grid in grids:
        change = (mean - sums[grid]) / added[grid]
        axis = grid.index(number)
        shape = [1] * len(grid)
        shape[axis] = cells[grid].shape[axis]
        cells[grid] = cells[grid] + np.repeat(change, shape[axis] // parts).reshape(shape)


def _sums(found: Array, axis: int, parts: int) -> Array:
    """The shares of so many equal parts of one feature."""
    others = tuple(place for place in range(found.ndim) if place != axis)
    return np.asarray(found.sum(axis=others).reshape(parts, -1).sum(axis=1))


def single_table(cells: dict[Grid, Array], pair: Grid, values: Sequence[int]) -> Array:
    """The table of single values: from even shares, scaled to those of all cells of its three grids until it stands."""
    sizes = [values[number] for number in pair]
    table = np.full(sizes, 1 / math.prod(sizes))
    alone = [cells[(number,)] for number in pair]
    both = cells[pair]
    places = [np.arange(size) * len(own) // size for size, own in zip(sizes, alone, strict=True)]
    blocks = [np.arange(size) * parts // size for size, parts in zip(sizes, both.shape, strict=True)]
    for _ in range(_ROUNDS):
        before = table
        for axis in (0, 1):
            seen = np.bincount(places[axis], table.sum(axis=1 - axis), len(alone[axis]))
            factor = np.divide(alone[axis], seen, out=np.zeros_like(seen), where=seen > 0)[places[axis]]
            table = table * (factor[:, None] if axis == 0 else factor[None])
        rows = np.add.reduceat(table, np.searchsorted(blocks[0], np.arange(both.shape[0])), axis=0)
        seen = np.add.reduceat(rows, np.searchsorted(blocks[1], np.arange(both.shape[1])), axis=1)
        factor = np.divide(both, seen, out=np.zeros_like(seen), where=seen > 0)
        table = table * factor[np.ix_(blocks[0], blocks[1])]
        table = table / table.sum()
        if np.abs(table - before).sum() < 1e-6:
            break
    return np.asarray(table)
