"""Joint tables found by alternating linear programs (docs/theory.md, section 5).

A shape is a law `f` on sign vectors: the answer to a record x of two-valued features is `y = x * xi`, xi drawn from f,
so that the table is `f(x * y)` and feature i is told with information `e_i^2`, `e_i` the mean of xi_i. The best shape
for given prices maximises the convex `sum price_i e_i^2` under the exact certificate, which is linear in f; fixing one
factor e at its last value gives a linear program, and each program improves on the last.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from bcdp.plan import joint_delta
from bcdp.tables import TOTAL, Dense

Array = npt.NDArray[np.float64]

_PROGRAMS = 30  # at most, from each start
_SETTLED = 1e-7


@dataclass(frozen=True)
class Shape:
    """A law on the sign vectors of `len(means)` features, all ones first, the last feature changing fastest."""

    law: tuple[float, ...]
    means: tuple[float, ...]  # what the answer tells about each feature is the square


@lru_cache(maxsize=16)
def sign_vectors(features: int) -> Array:
    """All sign vectors, one per row: (1, .., 1, 1), (1, .., 1, -1), .."""
    return np.array(list(itertools.product((1.0, -1.0), repeat=features)))


@dataclass(frozen=True)
class Demand:
    """What a feature of the group is owed: `delta` over all priors within `q`, even if two values share a level."""

    delta: float
    q: float
    shared: bool


def best_shape(
    prices: Array, demands: tuple[Demand, ...], total: float, starts: tuple[tuple[float, ...], ...]
) -> Shape:
    """The most valuable shape found from the given starting means, keeping every demand and the LDP level `total`."""
    program = _program(demands, total)
    signs = sign_vectors(len(demands))
    best, best_value = np.full(len(signs), 1 / len(signs)), 0.0
    for start in starts:
        means, value = np.array(start), -1.0
        for _ in range(_PROGRAMS):
            law = program.solve(signs @ (prices * means))
            means = law @ signs
            improved = float(prices @ means**2)
            if improved <= value * (1 + _SETTLED):
                break
            value = improved
        if value > best_value * (1 + _SETTLED):
            best, best_value = law, value
    return _kept_exactly(best, demands, total)


def _kept_exactly(law: Array, demands: tuple[Demand, ...], total: float) -> Shape:
    """The law with just so much of the uniform one mixed in that its integer table keeps every demand.

    The solver meets its constraints to about 1e-7 only.
    """
    share = 0.0
    while True:
        mixed = (1 - share) * law + share / len(law)
        shape = Shape(tuple(mixed.tolist()), tuple((mixed @ sign_vectors(len(demands))).tolist()))
        table, levels = shaped_table(shape), (2,) * len(demands)
        kept = (joint_delta(table, levels, i, Fraction(1), d.q, d.shared) <= d.delta for i, d in enumerate(demands))
        if table.level <= total and all(kept):
            return shape
        share = min(1.0, max(1e-8, 2 * share))


def shaped_table(shape: Shape) -> Dense:
    """The integer table of a shape: weight `f(x * y)`, inputs and answers numbered with -1 as 0 and 1 as 1."""
    size = len(shape.law)
    weights = np.floor(np.array(shape.law) * TOTAL).astype(np.int64)
    weights[int(weights.argmax())] += TOTAL - int(weights.sum())
    # with -1 as digit 0, the product of two sign vectors is the complement of the exclusive or of their numbers,
    # and sign vectors are listed with 1 first, which is that complement again
    numbers = np.arange(size)
    return Dense(weights[numbers[:, None] ^ numbers[None, :]])


@dataclass(frozen=True)
class _Program:
    """The polytope of shapes: rows of `matrix @ variables <= 0`, the law's entries being the first variables."""

    matrix: Array
    features: int

    def solve(self, gains: Array) -> Array:
        """The law of largest expected gain."""
        size, variables = 2**self.features, self.matrix.shape[1]
        objective = np.concatenate([-gains / max(float(np.abs(gains).max()), 1e-300), np.zeros(variables - size)])
        whole = (np.arange(variables) < size).astype(np.float64)[None]
        found = linprog(objective, A_ub=self.matrix, b_ub=np.zeros(len(self.matrix)), A_eq=whole, b_eq=[1.0])
        if found.x is None:  # the uniform law is always feasible, so this is a numerical failure: offer nothing
            return np.full(size, 1 / size)
        law: Array = np.maximum(found.x[:size], 0.0)
        return np.asarray(law / law.sum())


@lru_cache(maxsize=256)
def _program(demands: tuple[Demand, ...], total: float) -> _Program:
    """LDP and the exact certificate of every feature, each with variables for the largest and the smallest weight."""
    features = len(demands)
    signs = sign_vectors(features)
    size = len(signs)
    top, bottom, variables = size, size + 1, size + 2
    rows = [[(x, 1.0), (top, -1.0)] for x in range(size)] + [[(bottom, 1.0), (x, -1.0)] for x in range(size)]
    rows.append([(top, 1.0), (bottom, -math.exp(total))])
    for i, demand in enumerate(demands):
        if demand.delta >= total:
            continue  # LDP keeps it
        high = {1.0: variables, -1.0: variables + 1}
        low = {1.0: variables + 2, -1.0: variables + 3}
        variables += 4
        odds, q = math.exp(demand.delta), demand.q
        for x in range(size):
            own = float(signs[x, i])
            changed = x + int(own) * 2 ** (features - 1 - i)  # the same record but for feature i
            rows += [[(x, 1.0), (high[own], -1.0)], [(low[own], 1.0), (x, -1.0)]]
            for other, value in ((changed, -own), (x, own)) if demand.shared else ((changed, -own),):
                rows.append([(x, 1 - q), (high[own], q), (other, -odds * (1 - q)), (low[value], -odds * q)])
    matrix = np.zeros((len(rows), variables))
    for number, row in enumerate(rows):
        for column, coefficient in row:
            matrix[number, column] += coefficient
    return _Program(matrix, features)
