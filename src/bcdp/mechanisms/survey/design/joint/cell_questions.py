"""Questions about two features as one: an answer names some of the cells of their table (theory.md, section 4.7).

A subset question over all cells reveals rows, columns and what both have together equally well. Where all subsets would
be too many, a cyclic family of them does: all shifts of a few sets, chosen so that every two cells are together in
nearly equally many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bcdp.exact import round_rows
from bcdp.mechanisms.survey.design.joint.subset_families import SubsetFamily
from bcdp.mechanisms.survey.design.joint.tables import Interactions, information_curves
from bcdp.mechanisms.survey.estimation.readings import Reading
from bcdp.randomizers import Dense, Table, categorical, marginal_target, numeric_values
from bcdp.randomizers.categorical import subset_moment

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_MOST_WEIGHTS = 2**15  # of a table with a cyclic family
_MOST_SETS = 12  # of which a cyclic family is made
_STARTS = 6
_SWEEPS = 30


@dataclass(frozen=True)
class CellQuestion:
    """One question about all cells of the table of two features, and how well it reveals each part of that table."""

    places: tuple[SubsetFamily, SubsetFamily]
    table: Table
    hits: tuple[float, float, float]  # of rows, columns, what both have together: 1 if the answer is always the truth

    @property
    def means(self) -> Array:
        """What is revealed about each feature, as the mean of its standardised hit."""
        return np.array(self.hits[:2])

    @property
    def information(self) -> Array:
        """What is revealed about each feature, as one over the second moment of its decoded answer."""
        return information_curves(self.places).at(self.means)

    def information_of(self, interactions: Interactions) -> Array:
        """What is revealed about each feature, and about what both have together, as often as that is wanted."""
        means = np.array([*self.hits[:2], *(self.hits[2] for _ in interactions)])
        return information_curves(self.places, interactions).at(means)


@lru_cache(maxsize=1024)
def best_whole(families: tuple[SubsetFamily, SubsetFamily], budget: float) -> CellQuestion:
    """The question about all cells, within the budget, of least error over the whole table."""
    cells = math.prod(family.kind.values for family in families)
    sizes = sorted(range(1, cells // 2 + 1), key=lambda size: float(subset_moment(cells, size, np.array(budget))))
    candidates = [categorical(cells, budget, geometries=False)]
    if sizes[0] > 1 and 2 * cells**2 <= _MOST_WEIGHTS:
        candidates.append(_cyclic_subset(cells, sizes[0], budget))
    table = min(candidates, key=lambda table: table.second_moment)
    return CellQuestion(families, table, _hits(families, table))


def _hits(families: tuple[SubsetFamily, SubsetFamily], table: Table) -> tuple[float, float, float]:
    """How well a table reveals rows, columns and the rest, from its own second moments."""
    sizes = (families[0].kind.values, families[1].kind.values)
    parts, full = [], []
    for number, family in enumerate(families):
        categories = family.kind.name == "categorical"
        own = np.eye(sizes[number]) - 1 / sizes[number] if categories else numeric_values(2)[:, None]
        parts.append(marginal_target(sizes, number, own))
        full.append(1 / family.scale)
    both = (parts[0][:, :, None] * parts[1][:, None, :]).reshape(len(parts[0]), -1)
    wanted = ((parts[0], full[0]), (parts[1], full[1]), (both, full[0] * full[1]))
    row_hit, column_hit, pair_hit = (math.sqrt(truth / Reading(table, part).second_moment) for part, truth in wanted)
    return row_hit, column_hit, pair_hit


def _cyclic_subset(values: int, size: int, budget: float) -> Dense:
    """Subset selection with all shifts of some sets of this size, within the budget."""
    sets = balanced_sets(values, size, min(_MOST_SETS, _MOST_WEIGHTS // values**2))
    shifts = (np.arange(values)[:, None] - np.arange(values)) % values  # of the value, by so many places
    members = np.hstack([members_of_set[shifts] for members_of_set in sets])
    ideal = np.where(members == 1, 1.0, math.exp(-budget))
    return Dense(round_rows(ideal / ideal.sum(axis=1, keepdims=True), budget))


@lru_cache(maxsize=256)
def balanced_sets(values: int, size: int, number: int) -> Integers:
    """So many sets of `size` values, a row of indicators for each; any two values are in nearly equally many shifts.

    >>> int(balanced_sets(7, 3, 1).sum())
    3
    """
    candidates = [_evened(values, size, number, start) for start in range(_STARTS)]
    return min(candidates, key=lambda candidate: candidate[1])[0]


def _evened(values: int, size: int, number: int, start: int) -> tuple[Integers, int]:
    """Sets whose values were exchanged one by one, as long as that evens out which are together, and how uneven it is.

    Shifts hold two values as often as the sets have pairs that are equally many places apart.
    """
    rng = np.random.default_rng([values, size, number, start])
    sets = np.zeros((number, values), dtype=np.int64)
    for indicator in sets:
        indicator[rng.choice(values, size, replace=False)] = 1
    positions = np.arange(values)
    ahead, behind = (positions[:, None] + positions) % values, (positions[:, None] - positions) % values
    together: Integers = np.sum(
        [indicator @ indicator[ahead] for indicator in sets], axis=0
    )  # pairs so many places apart
    for _ in range(_SWEEPS):
        before = sets.copy()
        for indicator in sets:
            for leaving in rng.permutation(np.flatnonzero(indicator)):
                indicator[leaving] = 0
                joining = indicator[ahead] + indicator[behind]  # the pairs that each value would make
                together = together - joining[leaving]
                cost = ((together + joining)[:, 1:] ** 2).sum(axis=1)
                cost[indicator == 1] = np.iinfo(np.int64).max
                best = int(cost.argmin()) if cost.min() < cost[leaving] else int(leaving)
                indicator[best] = 1
                together = together + joining[best]
        if np.array_equal(before, sets):
            break
    return sets, int((together[1:] ** 2).sum())
