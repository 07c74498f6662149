"""The linear programs behind joint tables: the polytope of distributions that keep every demand, and the best
distribution of it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.design.budget_limits import SecondDemand
from bcdp.mechanisms.survey.design.joint.subset_families import SIGN, SubsetFamily
from bcdp.mechanisms.survey.design.lp_solvers import installed_solver
from bcdp.plan import Parts

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_MOST_BEGUN = 128  # programs whose last vertex is kept
_RAYS = 3  # a pair of distributions within odds K is a mixture, point by point, of (K, 1), (1, K) and (1, 1)


@dataclass(frozen=True)
class Demand:
    """A demand of a feature in the group: `delta` over all priors within `q` and `odds`, even if values share an input.

    `parts`: those of a number between which guesses are to be covered, if not between all its values.
    """

    delta: float
    q: float
    shared: bool
    place: SubsetFamily = SIGN
    parts: Parts = ()
    odds: float = math.inf
    second: SecondDemand | None = None  # a level at larger bounds that is demanded besides

    @property
    def each(self) -> tuple[Demand, ...]:
        """This demand, and then the second, as demands of their own."""
        if self.second is None:
            return (self,)
        first, (delta, q, odds) = replace(self, second=None), self.second
        return first, replace(first, delta=delta, q=q, odds=odds)

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


@dataclass(frozen=True, eq=False)
class Polytope:
    """The shapes that keep every demand: first of the variables, the weight of one combination in each pattern."""

    rows: csc_array  # each times the variables is between its least and its most
    least: Array
    most: Array
    combinations: Array  # of values, in each pattern
    lowest: Array  # of each variable: weights are at least 0, differences of weights may be less

    @property
    def nothing(self) -> Array:
        """The distribution of the answer that does not depend on the record."""
        return np.asarray(self.combinations / self.combinations.sum())


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """A polytope, and the best distributions of it that are known, by their gains."""

    within: Polytope
    laws: dict[bytes, Array] = field(default_factory=dict)


class Solver:
    """Solves the programs of one design, each once: most are met again, at another start or price.

    A solver may start a program where the one before it in the same polytope ended. No two designs share such a start,
    so that a plan does not depend on those made before it.
    """

    def __init__(self) -> None:
        prepare = installed_solver()
        self._programs: dict[tuple[tuple[Demand, ...], float], LinearProgram] = {}
        self._begun = lru_cache(maxsize=_MOST_BEGUN)(lambda program: prepare(program.within))

    def program(self, demands: tuple[Demand, ...], total: float) -> LinearProgram:
        """The program of these demands, as far as it is solved."""
        key = (demands, total)
        if key not in self._programs:
            self._programs[key] = LinearProgram(polytope(demands, total))
        return self._programs[key]

    def law(self, program: LinearProgram, gains: Array) -> Array:
        """The distribution of largest expected gain."""
        key = gains.tobytes()
        if key not in program.laws:
            program.laws[key] = self._solved(program, gains)
        return program.laws[key]

    def _solved(self, program: LinearProgram, gains: Array) -> Array:
        within = program.within
        worth = gains * within.combinations / max(float(np.abs(gains).max()), 1e-300)
        vertex = self._begun(program)(np.append(-worth, np.zeros(len(within.lowest) - len(gains))))
        if vertex is None:  # saying nothing is always feasible, so this is a numerical failure: offer nothing
            return within.nothing
        law: Array = np.maximum(vertex[: len(gains)], 0.0) * within.combinations
        return np.asarray(law / law.sum())


@lru_cache(maxsize=2048)
def polytope(demands: tuple[Demand, ...], total: float) -> Polytope:
    """LDP and the exact certificate of every feature, each with variables for the largest and the smallest weight."""
    from scipy.sparse import csc_array  # slow to import, and needed here only

    combinations = np.ones(1)
    for demand in demands:
        combinations = (combinations[:, None] * np.array(demand.place.counts)).ravel()
    each = [(i, part) for i, demand in enumerate(demands) for part in demand.each]
    starts = np.cumsum([len(combinations) + 2, *(demand.extremes for _, demand in each)])
    every, variables = np.arange(len(combinations)), int(starts[-1])
    top, bottom = len(combinations), len(combinations) + 1
    blocks = [
        _block(variables, (every, 1.0), (top, -1.0)),
        _block(variables, (every, -1.0), (bottom, 1.0)),
        _block(variables, (np.array([top]), 1.0), (bottom, -math.exp(total))),
    ]
    for (i, demand), start in zip(each, starts.tolist(), strict=False):
        if demand.delta >= total:
            continue  # LDP keeps it
        ratio, q, step = math.exp(demand.delta), demand.q, 2 ** (len(demands) - 1 - i)
        side = every // step % 2
        if demand.odds < math.inf:
            blocks += _within_odds(variables, start, demand, every[side == 0], step)
            continue
        if demand.parts:
            blocks += _ranged(variables, start, demand, every[side == 0], step)
            continue
        changed = every + step * (1 - 2 * side)  # the same record but for feature i
        high = start + side  # the largest weight on the same side
        low = high + 2
        # two values on the same side: they share an input, or have one each
        same = every[np.array([demand.shared or count > 1 for count in demand.place.counts])[side]]
        blocks += [
            _block(variables, (every, 1.0), (high, -1.0)),
            _block(variables, (every, -1.0), (low, 1.0)),
            _block(variables, (every, 1 - q), (high, q), (changed, -ratio * (1 - q)), (low[changed], -ratio * q)),
            _block(variables, (same, (1 - q) * (1 - ratio)), (high[same], q), (low[same], -ratio * q)),
        ]
    blocks.append(np.append(combinations, np.zeros(variables - len(combinations)))[None])  # the distribution is whole
    matrix = csc_array(np.vstack(blocks))
    most = np.append(np.zeros(matrix.shape[0] - 1), 1.0)
    lowest = np.zeros(variables)
    for (_, demand), start in zip(each, starts, strict=False):
        lowest[start : start + demand.extremes] = -np.inf if demand.odds < math.inf else 0.0
    return Polytope(matrix, np.where(most == 1, 1.0, -np.inf), most, combinations, lowest)


def _ranged(variables: int, start: int, demand: Demand, named: Integers, step: int) -> list[Array]:
    """The certificate of a number whose parts are distinguished: at their ends, because two inputs make straight lines.

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
                hit = (1 - q) * (1 - at - ratio * (1 - other))
                miss = (1 - q) * (at - ratio * other)
                blocks.append(
                    _block(variables, (named, hit), (named + step, miss), (start + a, q), (low + b, -ratio * q))
                )
        start += 2 * len(parts)
    return blocks


def _loud_pairs(parts: Parts) -> list[tuple[int, int]]:
    """The pairs of parts that may be the worst: neighbours, or one at an end. (The table's certificate sees all.)"""
    numbers, ends = range(len(parts)), {0, len(parts) - 1}
    return [(a, b) for a in numbers for b in numbers if a != b and (abs(a - b) == 1 or not {a, b}.isdisjoint(ends))]


def _within_odds(variables: int, start: int, demand: Demand, named: Integers, step: int) -> list[Array]:
    """The certificate under `q` and `odds`, for each two values (theory.md, Theorem 9).

    Three variables bound the difference of the two values' weights, as each of three sorts of prior weighs them, over
    all values of the other features; their sum, each as often as its sort occurs, is at most 0.
    """
    ratio, odds = math.exp(demand.delta), demand.odds
    often = _worst_mixture(demand.q, odds)
    ends: list[list[tuple[float, float]]]  # where each two values lie between the side named, 0, and the other, 1
    if demand.parts:
        pairs = [(parts[a], parts[b]) for parts in demand.sides for a, b in _loud_pairs(parts)]
        ends = [list(itertools.product(dict.fromkeys(first), dict.fromkeys(second))) for first, second in pairs]
    else:
        ends = [[(float(first), float(second))] for first, second in demand.compared]
    blocks = []
    for compared in ends:
        for ray, (above, below) in enumerate(((1.0, 1 / odds), (1 / odds, 1.0), (1.0, 1.0))):
            for at, other in compared:
                hit, miss = above * (1 - at) - ratio * below * (1 - other), above * at - ratio * below * other
                blocks.append(_block(variables, (named, hit), (named + step, miss), (start + ray, -1.0)))
        mixture = [(start + ray, share) for ray, share in enumerate(often)]
        blocks.append(_block(variables, (np.array([start]), 0.0), *mixture))
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
