"""Randomizers for a number in [-1, 1]: one bit, or the best small table, by a linear program.

The device first rounds x at random to one of the two nearest inputs, so that the rounding adds no bias; second moments
between two inputs are therefore the straight line between theirs.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from bcdp.exact import Floats, check_budget, round_rows
from bcdp.randomizers.categorical import binary
from bcdp.randomizers.dense import Dense
from bcdp.randomizers.protocol import Table

INPUTS = 17
WORST_CASE = 1.1  # second moment at any input, relative to one bit's coth^2(b/2) (theory.md, 4.2)

_SMALLEST_BUDGET = 0.3  # below it the best table is within 0.6% of one bit
_LARGEST_BUDGET = 16.0  # by then the second moment is within 1e-5 of an answer without noise
_PROGRAM_WORST_CASES = (1.0999, 1.095, 1.09)  # decoding anew lowers the average and may raise the worst by 0.2%
_STEPS = 12  # decode values are multiples of coth(b/2) / 8, up to 12/8: one bit's are among them, as 8/8
_UNUSED = 1e-9


def numeric_values(levels: int) -> Floats:
    """The numbers that a numeric table's inputs stand for: equally spaced from -1 to 1.

    >>> numeric_values(3).tolist()
    [-1.0, 0.0, 1.0]
    """
    return np.linspace(-1.0, 1.0, levels)


@lru_cache(maxsize=1024, typed=True)
def numeric(budget: float) -> Table:
    """The table for a number in [-1, 1] with the least average second moment, within the budget: 2 or 17 inputs.

    The average is over 17 equally spaced inputs. At none of them is the second moment above 1.1 times one bit's.

    >>> numeric(0.1).levels, numeric(2.0).levels
    (2, 17)
    """
    one_bit = binary(check_budget(budget))
    if budget < _SMALLEST_BUDGET:
        return one_bit
    bit_moment = float(one_bit.second_moments([-1.0, 1.0])[0])
    for worst_case in _PROGRAM_WORST_CASES:
        table = Dense(round_rows(_best_probabilities(min(budget, _LARGEST_BUDGET), worst_case), budget))
        moments = table.second_moments(numeric_values(INPUTS))
        if moments.max() <= WORST_CASE * bit_moment:
            return table if moments.mean() < bit_moment else one_bit
    return one_bit


def _best_probabilities(budget: float, worst_case: float) -> Floats:
    """Probabilities of shape (17, symbols) with the least average second moment, by linear programming.

    Given the decode values, everything is linear in the probabilities `W` and the column ceilings `M`:
    `e^-b M <= W <= M`, rows sum to 1, means are unbiased, second moments are at most `worst_case`
    times one bit's. By the symmetry of x and -x only the inputs x >= 0 are variables, and `M` is the same for a decode
    value and its negative.
    """
    from scipy.optimize import linprog  # slow to import, and needed here only

    one_bit = 1 / math.tanh(budget / 2)
    steps = np.arange(-_STEPS, _STEPS + 1)
    values = steps.astype(np.float64) * (one_bit / 8)
    squares: Floats = values**2
    inputs = numeric_values(INPUTS)[INPUTS // 2 :]
    share = np.where(inputs > 0, 2.0, 1.0) / INPUTS
    cells = np.eye(len(inputs) * len(values))
    ceilings = np.tile(np.eye(_STEPS + 1)[np.abs(steps)], (len(inputs), 1))

    def row_sums(weights: Floats) -> Floats:
        return np.hstack([np.kron(np.eye(len(inputs)), weights), np.zeros((len(inputs), _STEPS + 1))])

    below = np.hstack([cells, -ceilings])
    above = np.hstack([-cells, math.exp(-budget) * ceilings])
    bounds = np.concatenate([np.zeros(2 * len(cells)), np.full(len(inputs), worst_case * one_bit**2)])
    solution = linprog(
        np.concatenate([np.outer(share, squares).ravel(), np.zeros(_STEPS + 1)]),
        A_ub=np.vstack([below, above, row_sums(squares)]),
        b_ub=bounds,
        A_eq=np.vstack([row_sums(np.ones(len(values))), row_sums(values)]),
        b_eq=np.concatenate([np.ones(len(inputs)), inputs]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if (
        solution.status != 0 or solution.x is None
    ):  # one bit is always feasible, so only a failure of the solver leads here
        raise RuntimeError(f"the linear program for budget {budget} failed: {solution.message}")
    half = solution.x[: len(cells)].reshape(len(inputs), len(values))
    probabilities = np.vstack([half[:0:-1, ::-1], half])
    return np.asarray(probabilities[:, probabilities.max(axis=0) > _UNUSED], dtype=np.float64)
