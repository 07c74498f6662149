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
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.places import SIGN, Place
from bcdp.plan import Parts, joint_delta
from bcdp.tables import Dense

if TYPE_CHECKING:
    from scipy.optimize import Bounds, LinearConstraint

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

Pairs = tuple[tuple[int, int], ...]  # places of a group, two and two, of which it matters how they go together

_PROGRAMS = 30  # at most, from each start
_SETTLED = 1e-5
_RAYS = 3  # a pair of laws within odds K is a mixture, point by point, of (K, 1), (1, K) and (1, 1)


@dataclass(frozen=True)
class Demand:
    """A demand of a feature in the group: `delta` over all priors within `q` and `odds`, even if values share an input.

    `parts`: those of a number between which guesses are to be covered, if not between all its values.
    """

    delta: float
    q: float
    shared: bool
    place: Place = SIGN
    parts: Parts = ()
    odds: float = math.inf

    @property
    def sides(self) -> tuple[Parts, ...]:
        """The parts as seen from either answer, which names the lower or the upper of a number's two inputs."""
        turned = tuple(sorted((1 - high, 1 - low) for low, high in self.parts))
        return tuple(dict.fromkeys((tuple(sorted(self.parts)), turned))) if self.parts else ()

    @property
    def extremes(self) -> int:
        """How many variables stand for the largest and smallest weights, or for what two values differ by at most."""
        if self.odds < math.inf:
            return _RAYS * (sum(len(_loud_pairs(parts)) for parts in self.sides) or len(self.compared))
        return sum(2 * len(parts) for parts in self.sides) or 4

    @property
    def compared(self) -> list[tuple[int, int]]:
        """Which sides of the subset named two values may be on: those in it are side 0, and those not in it side 1."""
        same = [(side, side) for side, count in enumerate(self.place.counts) if self.shared or count > 1]
        return [(0, 1), (1, 0), *same]


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
    pairs: Pairs = (),
) -> Climbed:
    """The most valuable law that at most so many programs reach from each of the starting means.

    Prices and means are those of each feature and then of each of the pairs.
    """
    program = _program(demands, total)
    places = tuple(demand.place for demand in demands)
    scores = _scores(places, pairs)
    best = Climbed(program.nothing, (0.0,) * (len(places) + len(pairs)), 0.0)
    for start in starts:
        means, value = np.array(start), 0.0
        for _ in range(programs):
            law = _solved(demands, total, (scores @ (prices * told(places, means, pairs)[1])).tobytes())
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
) -> Shape:
    """The most valuable shape reached from the given starting means, keeping every demand and the LDP level `total`."""
    best = climb(prices, demands, total, starts, _PROGRAMS, pairs)
    return _kept_exactly(best.law.tobytes(), demands, total)


@lru_cache(maxsize=4096)
def _kept_exactly(best: bytes, demands: tuple[Demand, ...], total: float) -> Shape:
    """The best law with just so much of one that says nothing mixed in that its integer table keeps every demand.

    The solver meets its constraints to about 1e-7 only.
    """
    law, nothing = np.frombuffer(best), _program(demands, total).nothing
    share, levels = 0.0, tuple(demand.place.kind.values for demand in demands)
    while True:
        mixed = (1 - share) * law + share * nothing
        shape = Shape(tuple(mixed.tolist()), tuple(demand.place for demand in demands))
        table = shaped_table(shape)
        kept = (
            joint_delta(table, levels, i, Fraction(1), d.q, d.shared, d.parts, d.odds) <= d.delta
            for i, d in enumerate(demands)
        )
        if share == 1 or (table.level <= total and all(kept)):
            return shape
        share = min(1.0, max(1e-8, 2 * share))


@lru_cache(maxsize=256)
def shaped_table(shape: Shape) -> Dense:
    """The integer table of a shape: inputs are numbered with the first feature most significant, and so are answers."""
    patterns, answers = np.zeros((1, 1), dtype=np.int64), np.ones(1, dtype=np.int64)
    for place in shape.places:
        values, blocks = place.kind.values, place.blocks
        missed = np.array([[int(value not in block) for block in blocks] for value in range(values)])
        shape_of = (len(patterns) * values, patterns.shape[1] * len(blocks))
        patterns = (2 * patterns[:, None, :, None] + missed[None, :, None, :]).reshape(shape_of)
        each = [len(blocks) - int(missed[0].sum()), int(missed[0].sum())]
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
    bounds: Bounds  # weights are at least 0, differences of weights may be less

    @property
    def nothing(self) -> Array:
        """The law of the answer that does not depend on the record."""
        return np.asarray(self.combinations / self.combinations.sum())

    def solve(self, gains: Array) -> Array:
        """The law of largest expected gain."""
        from scipy.optimize import milp

        worth = gains * self.combinations / max(float(np.abs(gains).max()), 1e-300)
        objective = np.append(-worth, np.zeros(self.variables - len(gains)))
        # no integers; `linprog` checks longer than it solves
        found = milp(objective, constraints=self.constraints, bounds=self.bounds)
        if found.x is None:  # saying nothing is always feasible, so this is a numerical failure: offer nothing
            return self.nothing
        law: Array = np.maximum(found.x[: len(gains)], 0.0) * self.combinations
        return np.asarray(law / law.sum())


@lru_cache(maxsize=16384)
def _solved(demands: tuple[Demand, ...], total: float, gains: bytes) -> Array:
    """The law of largest expected gain, solved once: most programs are met again, at another start or price."""
    return _program(demands, total).solve(np.frombuffer(gains))


@lru_cache(maxsize=2048)
def _program(demands: tuple[Demand, ...], total: float) -> _Program:
    """LDP and the exact certificate of every feature, each with variables for the largest and the smallest weight."""
    from scipy.optimize import Bounds, LinearConstraint  # slow to import, and needed here only
    from scipy.sparse import csc_array

    combinations = np.ones(1)
    for demand in demands:
        combinations = (combinations[:, None] * np.array(demand.place.counts)).ravel()
    starts = np.cumsum([len(combinations) + 2, *(demand.extremes for demand in demands)])
    every, variables = np.arange(len(combinations)), int(starts[-1])
    top, bottom = len(combinations), len(combinations) + 1
    blocks = [
        _block(variables, (every, 1.0), (top, -1.0)),
        _block(variables, (every, -1.0), (bottom, 1.0)),
        _block(variables, (np.array([top]), 1.0), (bottom, -math.exp(total))),
    ]
    for i, demand in enumerate(demands):
        if demand.delta >= total:
            continue  # LDP keeps it
        ratio, q, step = math.exp(demand.delta), demand.q, 2 ** (len(demands) - 1 - i)
        side = every // step % 2
        if demand.odds < math.inf:
            blocks += _within_odds(variables, int(starts[i]), demand, every[side == 0], step)
            continue
        if demand.parts:
            blocks += _ranged(variables, int(starts[i]), demand, every[side == 0], step)
            continue
        changed = every + step * (1 - 2 * side)  # the same record but for feature i
        high = int(starts[i]) + side  # the largest weight on the same side
        low = high + 2
        # two values on the same side: they share an input, or have one each
        same = every[np.array([demand.shared or count > 1 for count in demand.place.counts])[side]]
        blocks += [
            _block(variables, (every, 1.0), (high, -1.0)),
            _block(variables, (every, -1.0), (low, 1.0)),
            _block(variables, (every, 1 - q), (high, q), (changed, -ratio * (1 - q)), (low[changed], -ratio * q)),
            _block(variables, (same, (1 - q) * (1 - ratio)), (high[same], q), (low[same], -ratio * q)),
        ]
    blocks.append(np.append(combinations, np.zeros(variables - len(combinations)))[None])  # the law is whole
    matrix = csc_array(np.vstack(blocks))
    most = np.append(np.zeros(matrix.shape[0] - 1), 1.0)
    lowest = np.zeros(variables)
    for demand, start in zip(demands, starts, strict=False):
        lowest[start : start + demand.extremes] = -np.inf if demand.odds < math.inf else 0.0
    constraints = LinearConstraint(matrix, np.where(most == 1, 1.0, -np.inf), most)
    return _Program(constraints, combinations, variables, Bounds(lowest, np.inf))


def _ranged(variables: int, start: int, demand: Demand, named: Integers, step: int) -> list[Array]:
    """The certificate of a number whose parts are told apart: at their ends, because two inputs make straight lines.

    `named`: the weights if the number is at the input that the answer names, those at the other one a step further.
    """
    ratio, q, blocks = math.exp(demand.delta), demand.q, []
    for parts in demand.sides:
        low = start + len(parts)
        for a, ends in enumerate(parts):
            for at in dict.fromkeys(ends):
                value = ((named, 1 - at), (named + step, at))
                blocks.append(_block(variables, *value, (start + a, -1.0)))
                blocks.append(_block(variables, *((column, -share) for column, share in value), (low + a, 1.0)))
        for a, b in _loud_pairs(parts):
            for at, other in itertools.product(dict.fromkeys(parts[a]), dict.fromkeys(parts[b])):
                one = (1 - q) * (1 - at - ratio * (1 - other))
                two = (1 - q) * (at - ratio * other)
                blocks.append(
                    _block(variables, (named, one), (named + step, two), (start + a, q), (low + b, -ratio * q))
                )
        start += 2 * len(parts)
    return blocks


def _loud_pairs(parts: Parts) -> list[tuple[int, int]]:
    """The pairs of parts that may be the worst: neighbours, or one at an end. (The table's certificate sees all.)"""
    numbers, ends = range(len(parts)), {0, len(parts) - 1}
    return [(a, b) for a in numbers for b in numbers if a != b and (abs(a - b) == 1 or not {a, b}.isdisjoint(ends))]


def _within_odds(variables: int, start: int, demand: Demand, named: Integers, step: int) -> list[Array]:
    """The certificate under `q` and `odds`, for each two values (docs/theory.md, Theorem 9).

    Three variables bound the difference of the two values' weights, as each of three sorts of prior weighs them, over
    all values of the other features; their sum, each as often as its sort occurs, is at most 0.
    """
    ratio, odds = math.exp(demand.delta), demand.odds
    often = _worst_mixture(demand.q, odds)
    ends: list[list[tuple[float, float]]]  # where each two values lie between the side named, 0, and the other, 1
    if demand.parts:
        pairs = [(parts[a], parts[b]) for parts in demand.sides for a, b in _loud_pairs(parts)]
        ends = [list(itertools.product(dict.fromkeys(one), dict.fromkeys(two))) for one, two in pairs]
    else:
        ends = [[(float(one), float(two))] for one, two in demand.compared]
    blocks = []
    for places in ends:
        for ray, (above, below) in enumerate(((1.0, 1 / odds), (1 / odds, 1.0), (1.0, 1.0))):
            for at, other in places:
                hit, miss = above * (1 - at) - ratio * below * (1 - other), above * at - ratio * below * other
                blocks.append(_block(variables, (named, hit), (named + step, miss), (start + ray, -1.0)))
        whole = [(start + ray, share) for ray, share in enumerate(often)]
        blocks.append(_block(variables, (np.array([start]), 0.0), *whole))
        start += _RAYS
    return blocks


def _worst_mixture(q: float, odds: float) -> tuple[float, float, float]:
    """How often the worst prior has points of each sort: `odds` times likelier, as much less likely, as likely.

    The first two are counted by the larger of the two chances.
    """
    extreme = min(q / (odds - 1) if odds > 1 else math.inf, 1 / (odds + 1))
    return odds * extreme, odds * extreme, max(0.0, 1 - (odds + 1) * extreme)


def _block(variables: int, first: tuple[Integers, float], *more: tuple[Integers | int, float]) -> Array:
    """One row for each column that the first term names; the other terms have as many columns, or one."""
    rows = np.arange(len(first[0]))
    block = np.zeros((len(rows), variables))
    for columns, coefficient in (first, *more):
        block[rows, columns] += coefficient
    return block
