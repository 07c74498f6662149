"""Joint tables, by alternating linear programs (docs/theory.md, section 5).

The answer to a shaped question names a subset of the values of each feature, of a given size: one value for a feature
that has two. A shape is a law on patterns, which of the true values are in the subsets named; given the pattern, all
answers are equally likely. The mean `e_i` of feature i's standardised hit measures what answers tell about it. The best
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

from bcdp.exact import TOTAL, log_up
from bcdp.mechanisms.survey.places import Place
from bcdp.mechanisms.survey.programs import Demand, Solver, polytope
from bcdp.plan import joint_delta
from bcdp.tables import Dense

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

Pairs = tuple[tuple[int, int], ...]  # places of a group, two and two, of which it matters how they go together

_PROGRAMS = 30  # at most, from each start
_SETTLED = 1e-5


@dataclass(frozen=True)
class Shape:
    """A law on the patterns of hits and misses of each place, all hits first, the last feature changing fastest."""

    law: tuple[float, ...]
    places: tuple[Place, ...]

    @property
    def means(self) -> Array:
        """What answers tell about each feature, as the mean of its standardised hit."""
        return np.array(self.law) @ _scores(self.places)

    @property
    def information(self) -> Array:
        """What answers tell about each feature, as one over the second moment of its decoded answer."""
        return told(self.places, self.means)[0]

    @property
    def table(self) -> Dense:
        """The integer table."""
        return shaped_table(self)

    def information_of(self, pairs: Pairs) -> Array:
        """What answers tell about each feature, and about what each two of these have together beyond their margins."""
        return told(self.places, np.array(self.law) @ _scores(self.places, pairs), pairs)[0]


@lru_cache(maxsize=4096)
def _scores(places: tuple[Place, ...], pairs: Pairs = ()) -> Array:
    """The standardised hit of each place (column) in each pattern (row), and then the products of two of them."""
    hits = np.array(list(itertools.product(*(place.scores for place in places))))
    return np.hstack([hits, *(hits[:, [one]] * hits[:, [two]] for one, two in pairs)])


def told(places: tuple[Place, ...], means: Array, pairs: Pairs = ()) -> tuple[Array, Array]:
    """The information about each feature, and each pair of them, at the given means, and its slope in them."""
    # second moments: 1/e^2 for a sign, (1 - 1/s)/e^2 + 1/s for the indicators of s values together, and the product of
    # both features' for what they have together, without the constant
    values = np.array([place.kind.values if place.kind.name == "categorical" else np.inf for place in places])
    efficiency = np.array([place.efficiency for place in places])
    own, both = means[: len(places)], means[len(places) :]
    spread = 1 - 1 / values + efficiency * own**2 / values
    single, slope = efficiency * own**2 / spread, 2 * efficiency * own * (1 - 1 / values) / spread**2
    if not pairs:
        return single, slope
    worth = np.array([math.prod(places[place].scale * places[place].efficiency for place in pair) for pair in pairs])
    return np.append(single, worth * both**2), np.append(slope, 2 * worth * both)


@dataclass(frozen=True)
class Climbed:
    """Where the programs led: a law on the patterns, its means, and what it is worth."""

    law: Array
    means: tuple[float, ...]
    value: float


def climb(
    prices: Array,
    demands: tuple[Demand, ...],
    total: float,
    starts: tuple[tuple[float, ...], ...],
    programs: int,
    pairs: Pairs,
    solver: Solver,
) -> Climbed:
    """The most valuable law that at most so many programs reach from each of the starting means.

    Prices and means are those of each feature and then of each of the pairs.
    """
    places = tuple(demand.place for demand in demands)
    scores = _scores(places, pairs)
    best = Climbed(polytope(demands, total).nothing, (0.0,) * (len(places) + len(pairs)), 0.0)
    for start in starts:
        means, value = np.array(start), 0.0
        for _ in range(programs):
            law = solver.law(demands, total, scores @ (prices * told(places, means, pairs)[1]))
            means = law @ scores
            improved = float(prices @ told(places, means, pairs)[0])
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
    pairs: Pairs = (),
    solver: Solver | None = None,
) -> Shape:
    """The most valuable shape reached from the given starting means, keeping every demand and the LDP level `total`."""
    best = climb(prices, demands, total, starts, _PROGRAMS, pairs, solver or Solver())
    return _kept_exactly(best.law.tobytes(), demands, total)


@lru_cache(maxsize=4096)
def _kept_exactly(best: bytes, demands: tuple[Demand, ...], total: float) -> Shape:
    """The best law with just so much of one that says nothing mixed in that its integer table keeps every demand.

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
        joint_delta(table, levels, i, Fraction(1), d.q, d.shared, d.parts, d.odds) <= d.delta
        for i, d in enumerate(demands)
    )


def _level(shape: Shape) -> float:
    """The LDP level of the integer table: each of its answers has every pattern's weight for some record."""
    weights, _ = _weights(shape)
    least = int(weights.min())
    return log_up(Fraction(int(weights.max()), least)) if least else math.inf


def _weights(shape: Shape) -> tuple[Integers, int]:
    """The integer weight of one answer of each pattern, and what is left for an answer that says nothing."""
    answers = np.ones(1, dtype=np.int64)
    for place in shape.places:
        hits = sum(0 in block for block in place.blocks)
        answers = (answers[:, None] * np.array([hits, len(place.blocks) - hits])).ravel()
    weights = np.floor(np.array(shape.law) / answers * TOTAL).astype(np.int64)
    left, largest = TOTAL - int(answers @ weights), int(weights.argmax())
    weights[largest] += left // answers[largest]
    return weights, left % int(answers[largest])


@lru_cache(maxsize=256)
def shaped_table(shape: Shape) -> Dense:
    """The integer table of a shape: inputs are numbered with the first feature most significant, and so are answers."""
    patterns = np.zeros((1, 1), dtype=np.int64)
    for place in shape.places:
        values, blocks = place.kind.values, place.blocks
        missed = np.array([[int(value not in block) for block in blocks] for value in range(values)])
        shape_of = (len(patterns) * values, patterns.shape[1] * len(blocks))
        patterns = (2 * patterns[:, None, :, None] + missed[None, :, None, :]).reshape(shape_of)
    weights, silent = _weights(shape)
    table = weights[patterns]
    return Dense(np.hstack([table, np.full((len(table), 1), silent)]) if silent else table)
