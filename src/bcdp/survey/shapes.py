"""Joint tables found by alternating linear programs (docs/theory.md, section 5).

The answer to a shaped question names a subset of the values of each feature, of a given size: one value for a feature
that has two. A shape is a law on patterns, which of the true values are in the subsets named; given the pattern, all
answers are equally likely. The mean `e_i` of feature i's standardised hit measures what is told about it. The best
shape for given prices maximises a function that grows with every `e_i^2` under the exact certificate, which is linear
in the law; taking the slope at the last law gives a linear program, and the programs climb.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csc_array

from bcdp.plan import joint_delta
from bcdp.survey.kinds import Kind
from bcdp.tables import TOTAL, Dense

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_PROGRAMS = 30  # at most, from each start
_SETTLED = 1e-5


@dataclass(frozen=True)
class Place:
    """How a feature stands in a shaped question: what is asked of it, and how many values an answer names."""

    kind: Kind
    subset: int = 1  # of a feature with two values, one: the answer is a value

    @property
    def counts(self) -> tuple[int, int]:
        """How many values are in the subset named, and how many are not."""
        return self.subset, self.kind.values - self.subset

    @property
    def weights(self) -> int:
        """The size of the table that asks this feature alone."""
        return self.kind.values * math.comb(self.kind.values, self.subset)

    @property
    def scores(self) -> tuple[float, float]:
        """The standardised hit: mean 0 if the answer says nothing, and 1 if it always names the true value alone."""
        share = self.subset / self.kind.values
        scale = math.sqrt((self.kind.values - 1) * share * (1 - share))
        return (1 - share) / scale, -share / scale


SIGN = Place(Kind("binary"))


@dataclass(frozen=True)
class Demand:
    """What a feature of the group is owed: `delta` over all priors within `q`, even if two values share a level."""

    delta: float
    q: float
    shared: bool
    place: Place = SIGN


@dataclass(frozen=True)
class Shape:
    """A law on the patterns of hits and misses of each place, all hits first, the last feature changing fastest."""

    law: tuple[float, ...]
    places: tuple[Place, ...]

    @property
    def means(self) -> Array:
        """What is told about each feature, as the mean of its standardised hit."""
        return np.array(self.law) @ _scores(self.places)

    @property
    def information(self) -> Array:
        """What is told about each feature, as one over the second moment of its decoded answer."""
        return _told(self.places, self.means)[0]


@lru_cache(maxsize=4096)
def _scores(places: tuple[Place, ...]) -> Array:
    """The standardised hit of each place (column) in each pattern (row)."""
    return np.array(list(itertools.product(*(place.scores for place in places))))


def _told(places: tuple[Place, ...], means: Array) -> tuple[Array, Array]:
    """The information about each feature at the given means, and its slope in them."""
    # second moments: 1/e^2 for a sign, (1 - 1/s)/e^2 + 1/s for the indicators of s values together
    values = np.array([place.kind.values if place.kind.name == "categorical" else np.inf for place in places])
    spread = 1 - 1 / values + means**2 / values
    return means**2 / spread, 2 * means * (1 - 1 / values) / spread**2


@dataclass(frozen=True)
class Climbed:
    """Where the programs led: a law on the patterns, its means, and what it is worth."""

    law: Array
    means: tuple[float, ...]
    value: float


def climb(
    prices: Array, demands: tuple[Demand, ...], total: float, starts: tuple[tuple[float, ...], ...], programs: int
) -> Climbed:
    """The most valuable law found by at most so many programs from each of the starting means."""
    program = _program(demands, total)
    places = tuple(demand.place for demand in demands)
    scores = _scores(places)
    best = Climbed(program.nothing, (0.0,) * len(places), 0.0)
    for start in starts:
        means, value = np.array(start), 0.0
        for _ in range(programs):
            law = program.solve(scores @ (prices * _told(places, means)[1]))
            means = law @ scores
            improved = float(prices @ _told(places, means)[0])
            if improved > best.value:
                best = Climbed(law, tuple(means.tolist()), improved)
            if improved <= value * (1 + _SETTLED):
                break
            value = improved
    return best


def best_shape(
    prices: Array, demands: tuple[Demand, ...], total: float, starts: tuple[tuple[float, ...], ...]
) -> Shape:
    """The most valuable shape found from the given starting means, keeping every demand and the LDP level `total`."""
    best = climb(prices, demands, total, starts, _PROGRAMS)
    return _kept_exactly(best.law, _program(demands, total).nothing, demands, total)


def _kept_exactly(law: Array, nothing: Array, demands: tuple[Demand, ...], total: float) -> Shape:
    """The law with just so much of one that says nothing mixed in that its integer table keeps every demand.

    The solver meets its constraints to about 1e-7 only.
    """
    share, levels = 0.0, tuple(demand.place.kind.values for demand in demands)
    while True:
        mixed = (1 - share) * law + share * nothing
        shape = Shape(tuple(mixed.tolist()), tuple(demand.place for demand in demands))
        table = shaped_table(shape)
        kept = (joint_delta(table, levels, i, Fraction(1), d.q, d.shared) <= d.delta for i, d in enumerate(demands))
        if share == 1 or (table.level <= total and all(kept)):
            return shape
        share = min(1.0, max(1e-8, 2 * share))


def shaped_table(shape: Shape) -> Dense:
    """The integer table of a shape: inputs are numbered with the first feature most significant, answers likewise."""
    patterns, answers = np.zeros((1, 1), dtype=np.int64), np.ones(1, dtype=np.int64)
    for place in shape.places:
        values, named = place.kind.values, place.subset
        subsets = list(itertools.combinations(range(values), named))
        missed = np.array([[int(value not in subset) for subset in subsets] for value in range(values)])
        shape_of = (len(patterns) * values, patterns.shape[1] * len(subsets))
        patterns = (2 * patterns[:, None, :, None] + missed[None, :, None, :]).reshape(shape_of)
        each = [math.comb(values - 1, named - 1), math.comb(values - 1, named)]
        answers = (answers[:, None] * np.array(each)).ravel()
    weights = np.floor(np.array(shape.law) / answers * TOTAL).astype(np.int64)
    left, largest = TOTAL - int(answers @ weights), int(weights.argmax())
    weights[largest] += left // answers[largest]
    silent = np.full((len(patterns), 1), left % answers[largest])  # the same for all: an answer that says nothing
    table = weights[patterns]
    return Dense(np.hstack([table, silent]) if silent.any() else table)


@dataclass(frozen=True)
class _Program:
    """The polytope of shapes: first of the variables, the weight of one combination of values in each pattern."""

    constraints: LinearConstraint
    combinations: Array  # of values, in each pattern
    variables: int

    @property
    def nothing(self) -> Array:
        """The law of the answer that does not depend on the record."""
        return np.asarray(self.combinations / self.combinations.sum())

    def solve(self, gains: Array) -> Array:
        """The law of largest expected gain."""
        worth = gains * self.combinations / max(float(np.abs(gains).max()), 1e-300)
        objective = np.append(-worth, np.zeros(self.variables - len(gains)))
        found = milp(objective, constraints=self.constraints)  # no integers; `linprog` checks longer than it solves
        if found.x is None:  # saying nothing is always feasible, so this is a numerical failure: offer nothing
            return self.nothing
        law: Array = np.maximum(found.x[: len(gains)], 0.0) * self.combinations
        return np.asarray(law / law.sum())


@lru_cache(maxsize=2048)
def _program(demands: tuple[Demand, ...], total: float) -> _Program:
    """LDP and the exact certificate of every feature, each with variables for the largest and the smallest weight."""
    combinations = np.ones(1)
    for demand in demands:
        combinations = (combinations[:, None] * np.array(demand.place.counts)).ravel()
    every, variables = np.arange(len(combinations)), len(combinations) + 2 + 4 * len(demands)
    top, bottom = len(combinations), len(combinations) + 1
    blocks = [
        _block(variables, (every, 1.0), (top, -1.0)),
        _block(variables, (every, -1.0), (bottom, 1.0)),
        _block(variables, (np.array([top]), 1.0), (bottom, -math.exp(total))),
    ]
    for i, demand in enumerate(demands):
        if demand.delta >= total:
            continue  # LDP keeps it
        odds, q, step = math.exp(demand.delta), demand.q, 2 ** (len(demands) - 1 - i)
        side = every // step % 2
        changed = every + step * (1 - 2 * side)  # the same record but for feature i
        high = bottom + 1 + 4 * i + side  # the largest weight on the same side
        low = high + 2
        # two values on the same side: they share a level, or have one each
        same = every[np.array([demand.shared or count > 1 for count in demand.place.counts])[side]]
        blocks += [
            _block(variables, (every, 1.0), (high, -1.0)),
            _block(variables, (every, -1.0), (low, 1.0)),
            _block(variables, (every, 1 - q), (high, q), (changed, -odds * (1 - q)), (low[changed], -odds * q)),
            _block(variables, (same, (1 - q) * (1 - odds)), (high[same], q), (low[same], -odds * q)),
        ]
    blocks.append(np.append(combinations, np.zeros(variables - len(combinations)))[None])  # the law is whole
    matrix = csc_array(np.vstack(blocks))
    most = np.append(np.zeros(matrix.shape[0] - 1), 1.0)
    return _Program(LinearConstraint(matrix, np.where(most == 1, 1.0, -np.inf), most), combinations, variables)


def _block(variables: int, first: tuple[Integers, float], *more: tuple[Integers | int, float]) -> Array:
    """One row for each column that the first term names; the other terms have as many columns, or one."""
    rows = np.arange(len(first[0]))
    block = np.zeros((len(rows), variables))
    for columns, coefficient in (first, *more):
        block[rows, columns] += coefficient
    return block
