"""Information per answer, for planning: 1 / (second moment of the decoded answer), as curves in the budget.

Budgets are real numbers here, before any rounding to integers, and every curve is vectorised over them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bcdp.exact import Floats, check_whole
from bcdp.randomizers.categorical import all_subsets_fit, hadamard_moment, subset_moment, subset_sizes
from bcdp.randomizers.numeric import INPUTS, numeric, numeric_values
from bcdp.randomizers.projective import MOST_POINTS, projective_moment
from bcdp.randomizers.response import MOST_INPUTS
from bcdp.randomizers.wave_design import least_moment

# closest together where the bound on the worst input begins to bind and the curve bends
_KNOTS = np.concatenate(
    [
        [0.3, 0.45, 0.6, 0.7, 0.78, 0.84, 0.9, 1.0, 1.15, 1.3, 1.5, 1.7, 1.9, 2.15],
        [2.4, 2.7, 3.0, 3.3, 3.6, 4.0, 4.4, 5.0, 5.6, 6.4, 7.5, 9.0, 12.0],
    ]
)
_WAVE_KNOTS = (0.1, 0.4, 0.7, 1.0, 1.3, 1.6, 2.0, 2.4, 2.8, 3.2, 3.6, 4.0, 4.5, 5.0, 6.0, 7.0, 9.0, 12.0)
_SAFETY = 0.998  # tables between two knots stay above the straight line times this


def binary_information(budget: npt.ArrayLike) -> Floats:
    """The information of one randomized bit about a sign, `tanh^2(b/2)`, from 0 to 1.

    >>> binary_information([0.0, 50.0]).tolist()
    [0.0, 1.0]
    """
    return np.asarray(np.tanh(np.asarray(budget, dtype=np.float64) / 2) ** 2)


def numeric_information(budget: npt.ArrayLike) -> Floats:
    """The information of `numeric(budget)` averaged over its inputs: a slight underestimate, never below one bit's.

    >>> bool(numeric_information(1.0) < numeric_information(2.0))
    True
    """
    budgets = np.asarray(budget, dtype=np.float64)
    gain = np.interp(budgets, _KNOTS, _gains(), left=1.0)
    return binary_information(budgets) * np.maximum(1.0, _SAFETY * gain)


def categorical_information(levels: int, budget: npt.ArrayLike) -> Floats:
    """One over the least total second moment of the decoded indicators over the families for so many inputs.

    >>> bool(categorical_information(4, 1.0) < categorical_information(4, 2.0))
    True
    """
    check_whole("levels", levels, 2, MOST_POINTS)
    budgets = np.asarray(budget, dtype=np.float64)
    moments = [] if all_subsets_fit(levels) else [projective_moment(levels, budgets)]
    if levels <= MOST_INPUTS:
        moments += [subset_moment(levels, size, budgets) for size in subset_sizes(levels)]
        moments.append(hadamard_moment(levels, budgets))
    return np.asarray(1 / np.minimum.reduce(moments))


def steps_information(bins: int, budget: npt.ArrayLike) -> Floats:
    """One over the least total second moment of the decoded shares below the edges of bins, slightly underestimated.

    >>> bool(steps_information(16, 1.0) < steps_information(16, 2.0))
    True
    """
    budgets = np.asarray(budget, dtype=np.float64)
    largest = float(budgets.max(initial=0.0))
    known = [knot for knot in _WAVE_KNOTS if knot < largest] + [knot for knot in _WAVE_KNOTS if knot >= largest][:1]
    gains = [1 / least_moment(bins, knot) / binary_information(knot) for knot in known]
    return binary_information(budgets) * np.interp(budgets, known, gains)


def joint_information(features: int, budget: npt.ArrayLike) -> Floats:
    """The information about each of several binary features in one joint randomized response (theory.md, 4.1).

    >>> float(joint_information(1, 1.0)) == float(binary_information(1.0))
    True
    """
    check_whole("features", features, 1, 12)
    shrink = np.exp(-np.asarray(budget, dtype=np.float64))
    return np.asarray(((1 - shrink) / (1 + (2.0**features - 1) * shrink)) ** 2)


@lru_cache(maxsize=1)
def _gains() -> Floats:
    """How much more information the numeric table gives than one bit, at each knot."""
    return np.array([_information(float(knot)) for knot in _KNOTS]) / binary_information(_KNOTS)


def _information(budget: float) -> float:
    table = numeric(budget)
    values = numeric_values(table.levels)
    moments = np.interp(numeric_values(INPUTS), values, table.second_moments(values))
    return float(1 / moments.mean())
