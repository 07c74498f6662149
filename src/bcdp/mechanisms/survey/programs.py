"""The linear programs behind joint tables: the polytope of laws that keep every demand, and the best law of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.places import SIGN, Place
from bcdp.plan import Parts

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Minimise = Callable[[Array], Array | None]  # the vertex of least costs; None if it is not found

_MOST_BEGUN = 128  # programs whose last vertex is kept
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
        """The law of the answer that does not depend on the record."""
        return np.asarray(self.combinations / self.combinations.sum())


class Solver:
    """Solves the programs of one design, each once: most are met again, at another start or price.

    Where highspy is installed a program starts where the one before it in the same polytope ended, which takes a
    fifth of the time and leads to the same law but for rounding. No two designs share such a place, so that a plan does
    not depend on those made before it.
    """

    def __init__(self) -> None:
        installed = highs()
        begin = partial(_warm, installed) if installed else _cold
        self._begun = lru_cache(maxsize=_MOST_BEGUN)(lambda demands, total: begin(polytope(demands, total)))
        self._laws: dict[tuple[tuple[Demand, ...], float, bytes], Array] = {}

    def law(self, demands: tuple[Demand, ...], total: float, gains: Array) -> Array:
        """The law of largest expected gain."""
        key = (demands, total, gains.tobytes())
        if key not in self._laws:
            self._laws[key] = self._solved(demands, total, gains)
        return self._laws[key]

    def _solved(self, demands: tuple[Demand, ...], total: float, gains: Array) -> Array:
        within = polytope(demands, total)
        worth = gains * within.combinations / max(float(np.abs(gains).max()), 1e-300)
        found = self._begun(demands, total)(np.append(-worth, np.zeros(len(within.lowest) - len(gains))))
        if found is None:  # saying nothing is always feasible, so this is a numerical failure: offer nothing
            return within.nothing
        law: Array = np.maximum(found[: len(gains)], 0.0) * within.combinations
        return np.asarray(law / law.sum())


@lru_cache(maxsize=1)
def highs() -> Any:
    """The linear solver that starts where it ended, or None without the extra `serve` or `fast`."""
    try:
        import highspy
    except ImportError:
        return None
    return highspy


def _cold(within: Polytope) -> Minimise:
    """Solves each program from the beginning."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    constraints = LinearConstraint(within.rows, within.least, within.most)
    # no integers; `linprog` checks longer than it solves
    return lambda costs: milp(costs, constraints=constraints, bounds=Bounds(within.lowest, np.inf)).x


def _warm(highspy: Any, within: Polytope) -> Minimise:
    """Solves each program from the vertex where the last one ended, which any costs leave feasible."""
    rows, columns = within.rows.shape
    solver, program = highspy.Highs(), highspy.HighsLp()
    solver.silent()
    solver.setOptionValue("presolve", "off")  # it would begin anew
    solver.setOptionValue("simplex_strategy", highspy.simplex_constants.SimplexStrategy.kSimplexStrategyPrimal)
    program.num_row_, program.num_col_ = rows, columns
    program.row_lower_, program.row_upper_ = within.least, within.most
    program.col_lower_, program.col_upper_ = within.lowest, np.full(columns, np.inf)
    program.col_cost_ = np.zeros(columns)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.num_row_, program.a_matrix_.num_col_ = rows, columns
    program.a_matrix_.start_, program.a_matrix_.index_ = within.rows.indptr, within.rows.indices
    program.a_matrix_.value_ = within.rows.data
    solver.passModel(program)
    numbers = np.arange(columns, dtype=np.int32)

    def solve(costs: Array) -> Array | None:
        solver.changeColsCost(columns, numbers, costs)
        solver.run()
        optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return np.array(solver.getSolution().col_value) if optimal else None

    return solve


@lru_cache(maxsize=2048)
def polytope(demands: tuple[Demand, ...], total: float) -> Polytope:
    """LDP and the exact certificate of every feature, each with variables for the largest and the smallest weight."""
    from scipy.sparse import csc_array  # slow to import, and needed here only

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
    return Polytope(matrix, np.where(most == 1, 1.0, -np.inf), most, combinations, lowest)


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
