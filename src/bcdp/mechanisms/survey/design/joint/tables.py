"""Joint tables, by alternating linear programs (theory.md, section 5).

The answer to a shaped question names a subset of the values of each feature, of a given size: one value for a feature
that has two. A shape is a distribution on patterns, which of the true values are in the subsets named; given the
pattern, all answers are equally likely. The mean `e_i` of feature i's standardised hit measures what answers reveal
about it. The
best shape for given prices maximises a function that grows with every `e_i^2` under the exact certificate, which is
linear
in the distribution; taking the slope at the last distribution gives a linear program, and the programs climb.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL, log_up
from bcdp.mechanisms.survey.design.joint.subset_families import SubsetFamily
from bcdp.mechanisms.survey.design.linear_programs import Demand, Solver, polytope
from bcdp.plan import joint_delta
from bcdp.randomizers import Dense

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

Interactions = tuple[tuple[int, ...], ...]  # places of a group, two or three, of which it is wanted what they share

PROGRAMS = 30  # at most, from each start
_SETTLED = 1e-5


@dataclass(frozen=True)
class Shape:
    """A distribution on the patterns of hits and misses of each place, all hits first, the last feature changing
    fastest.
    """

    law: tuple[float, ...]
    places: tuple[SubsetFamily, ...]

    @property
    def means(self) -> Array:
        """What answers reveal about each feature, as the mean of its standardised hit."""
        return np.array(self.law) @ _scores(self.places)

    @property
    def information(self) -> Array:
        """What answers reveal about each feature, as one over the second moment of its decoded answer."""
        return information_curves(self.places).at(self.means)

    @property
    def table(self) -> Dense:
        """The integer table."""
        return shaped_table(self)

    def information_of(self, interactions: Interactions) -> Array:
        """What answers reveal about each feature, and about what these have together beyond fewer of them."""
        means = np.array(self.law) @ _scores(self.places, interactions)
        return information_curves(self.places, interactions).at(means)


@lru_cache(maxsize=4096)
def _scores(families: tuple[SubsetFamily, ...], interactions: Interactions = ()) -> Array:
    """The standardised hit of each place (column) in each pattern (row), and then the products of some of them."""
    hits = np.array(list(itertools.product(*(family.scores for family in families))))
    return np.hstack([hits, *(hits[:, list(some)].prod(axis=1, keepdims=True) for some in interactions)])


@dataclass(frozen=True, eq=False)
class InformationCurves:
    """What answers reveal about each feature, and each interaction of them, as functions of the mean hits."""

    values: Array  # of each feature, infinite where one number is asked for instead of the share of each value
    efficiency: Array
    interaction_scale: Array

    def at(self, means: Array) -> Array:
        """The information about each feature, and then about each interaction."""
        # second moments: 1/e^2 for a sign, (1 - 1/s)/e^2 + 1/s for the indicators of s values together, and the product
        # of both features' for what they have together, without the constant
        own = means[: len(self.values)]
        known = self.efficiency * own**2
        shared = self.interaction_scale * means[len(own) :] ** 2
        return np.concatenate([known / self._spread(own), shared])

    def slope(self, means: Array) -> Array:
        """How each of these changes with its mean."""
        own = means[: len(self.values)]
        single = 2 * self.efficiency * own * (1 - 1 / self.values) / self._spread(own) ** 2
        return np.concatenate([single, 2 * self.interaction_scale * means[len(own) :]])

    def _spread(self, own: Array) -> Array:
        return np.asarray(1 - 1 / self.values + self.efficiency * own**2 / self.values)


@lru_cache(maxsize=4096)
def information_curves(families: tuple[SubsetFamily, ...], interactions: Interactions = ()) -> InformationCurves:
    scaled = [family.scale * family.efficiency for family in families]
    return InformationCurves(
        np.array([family.kind.values if family.kind.name == "categorical" else np.inf for family in families]),
        np.array([family.efficiency for family in families]),
        np.array([math.prod(scaled[place] for place in some) for some in interactions]),
    )


@dataclass(frozen=True)
class Climbed:
    """Where the programs led: a distribution on the patterns, its means, and what it is worth."""

    law: Array
    means: tuple[float, ...]
    value: float


def climb(
    prices: Array,
    demands: tuple[Demand, ...],
    total: float,
    starts: tuple[tuple[float, ...], ...],
    programs: int,
    interactions: Interactions,
    solver: Solver,
) -> Climbed:
    """The most valuable distribution that at most so many programs reach from each of the starting means.

    Prices and means are those of each feature and then of each of the interactions.
    """
    families = tuple(demand.place for demand in demands)
    scores, curves, program = (
        _scores(families, interactions),
        information_curves(families, interactions),
        solver.program(demands, total),
    )
    best = Climbed(program.within.nothing, (0.0,) * (len(families) + len(interactions)), 0.0)
    for start in starts:
        means, value = np.array(start), 0.0
        for _ in range(programs):
            law = solver.law(program, scores @ (prices * curves.slope(means)))
            means = law @ scores
            improved = float(prices @ curves.at(means))
            if improved > best.value:
                best = Climbed(law, tuple(means.tolist()), improved)
            if improved <= value * (1 + _SETTLED):
                break
            value = improved
    return best


def best_shape(
    prices: Array,
    demands: tuple[Demand, ...],
    total: float,
    starts: tuple[tuple[float, ...], ...],
    interactions: Interactions = (),
    solver: Solver | None = None,
) -> Shape:
    """The most valuable shape reached from the given starting means, keeping every demand and the LDP level `total`."""
    best = climb(
        prices, demands, total, starts=starts, programs=PROGRAMS, interactions=interactions, solver=solver or Solver()
    )
    return kept_exactly(best.law.tobytes(), demands, total)


@lru_cache(maxsize=4096)
def kept_exactly(best: bytes, demands: tuple[Demand, ...], total: float) -> Shape:
    """The best distribution with just so much of one that says nothing mixed in that its integer table keeps every
    demand.

    The solver meets its constraints to about 1e-7 only.
    """
    law, nothing = np.frombuffer(best), polytope(demands, total).nothing
    share, levels = 0.0, tuple(demand.place.kind.values for demand in demands)
    while True:
        mixed = (1 - share) * law + share * nothing
        shape = Shape(tuple(mixed.tolist()), tuple(demand.place for demand in demands))
        if share == 1 or (_level(shape) <= total and _keeps(shaped_table(shape), demands, levels)):
            return shape
        share = min(1.0, max(1e-8, 2 * share))


def _keeps(table: Dense, demands: tuple[Demand, ...], levels: tuple[int, ...]) -> bool:
    return all(
        joint_delta(table, levels, i, rest=Fraction(1), q=d.q, shared=d.shared, parts=d.parts, odds=d.odds) <= d.delta
        for i, both in enumerate(demands)
        for d in both.each
    )


def _level(shape: Shape) -> float:
    """The LDP level of the integer table: each of its answers has every pattern's weight for some record."""
    weights, _ = _weights(shape)
    least = int(weights.min())
    return log_up(Fraction(int(weights.max()), least)) if least else math.inf


def _weights(shape: Shape) -> tuple[Integers, int]:
    """The integer weight of one answer of each pattern, and what is left for an answer that says nothing."""
    answers = np.ones(1, dtype=np.int64)
    for family in shape.places:
        hits = sum(0 in block for block in family.blocks)
        answers = (answers[:, None] * np.array([hits, len(family.blocks) - hits])).ravel()
    weights = np.floor(np.array(shape.law) / answers * TOTAL).astype(np.int64)
    left, largest = TOTAL - int(answers @ weights), int(weights.argmax())
    weights[largest] += left // answers[largest]
    return weights, left % int(answers[largest])


@lru_cache(maxsize=256)
def shaped_table(shape: Shape) -> Dense:
    """The integer table of a shape: inputs are numbered with the first feature most significant, and so are answers."""
    patterns = np.zeros((1, 1), dtype=np.int64)
    for family in shape.places:
        values, blocks = family.kind.values, family.blocks
        missed = np.array([[int(value not in block) for block in blocks] for value in range(values)])
        shape_of = (len(patterns) * values, patterns.shape[1] * len(blocks))
        patterns = (2 * patterns[:, None, :, None] + missed[None, :, None, :]).reshape(shape_of)
    weights, silent = _weights(shape)
    table = weights[patterns]
    return Dense(np.hstack([table, np.full((len(table), 1), silent)]) if silent else table)
