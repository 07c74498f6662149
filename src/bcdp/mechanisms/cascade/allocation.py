"""From demands to budgets: the paper's theorem, and the best LDP level for the tight inequality (*).

All levels are in nats. `q` bounds the total-variation distance between the distributions of the other features given
two values of a feature; q_i = 1 means that no bound is known. `odds` bounds how many times knowing all of them could
move the odds
of a guess about it, infinite for no limit (theory.md, sections 2 and 3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError, refuse
from bcdp.mechanisms.cascade.channels import DUCHI, ChannelFamily
from bcdp.mechanisms.cascade.checks import LARGEST_BUDGET, Array, check_budgets, check_number, numbers
from bcdp.mechanisms.cascade.mechanism import predicted_error
from bcdp.notions import bcdp_from, budgets_from, ldp_limit

GRID = 256

# Certificates are rounded up by more than their formula's error, and budgets are solved for demands smaller by more
# than that, so that what is certified never exceeds what was asked.
_ROUND_UP = 1 + 1e-12
_INSIDE = 1 - 4e-12
_SMALLEST = 4e-15


@dataclass(frozen=True, eq=False)
class Budgets:
    """CDP budgets `c` of each feature and what they certify: the LDP level `epsilon` and BCDP levels `delta`."""

    c: Array
    epsilon: float
    delta: Array


def certify(c: npt.ArrayLike, q: npt.ArrayLike, odds: npt.ArrayLike = np.inf) -> Budgets:
    """The levels that a cascade with budgets `c` certifies: max c, and (*) or Theorem 8 rounded up for each feature.

    >>> certify([0.1, 1.0], q=0.0).delta
    array([0.1, 1. ])
    """
    budgets = check_budgets(c)
    epsilon = float(budgets.max())
    correlation, most = _correlation(q, odds, budgets.size)
    delta = np.where(_alone(correlation, most), budgets, bcdp_from(budgets, epsilon, correlation, most) * _ROUND_UP)
    return Budgets(budgets, epsilon, np.minimum(delta, epsilon))


def _correlation(q: npt.ArrayLike, odds: npt.ArrayLike, features: int) -> tuple[Array, Array]:
    """The q and the odds of each feature."""
    return (
        _for_each("q", q, "from 0 to 1", 0, 1, features),
        _for_each("odds", odds, "of at least 1, infinite for no limit", 1, np.inf, features),
    )


def _for_each(name: str, stated: npt.ArrayLike, range_: str, low: float, high: float, features: int) -> Array:
    accepted = f"one number {range_}, or one for each of the {features} features"
    bounds = numbers(name, stated, accepted)
    if bounds.shape not in ((), (features,)) or not np.all((bounds >= low) & (bounds <= high)):
        raise refuse(name, stated, accepted)
    return np.broadcast_to(bounds, (features,))


def _alone(correlation: Array, odds: Array) -> npt.NDArray[np.bool_]:
    """Whether the others say nothing about a feature."""
    return np.asarray((correlation == 0) | (odds == 1))


def _demands(delta: npt.ArrayLike, epsilon: float, q: npt.ArrayLike, odds: npt.ArrayLike) -> tuple[Array, Array, Array]:
    """The demands, each at most epsilon, q and odds, of one length; refused if nothing can be released."""
    accepted = "one number of at least 0 for each feature, in a list"
    demands = numbers("delta", delta, accepted)
    if demands.ndim != 1 or demands.size == 0:
        raise refuse("delta", f"shape {demands.shape}", accepted)
    if not np.all(demands >= 0):
        raise refuse("delta", delta, accepted)
    correlation, most = _correlation(q, odds, demands.size)
    demands = np.minimum(demands, check_number("epsilon", epsilon, 0, LARGEST_BUDGET, open_low=True))
    if not demands.any():
        raise refuse("delta", delta, "at least one demand above 0: with none, nothing can be released")
    hidden = np.flatnonzero((demands == 0) & ~_alone(correlation, most))
    if hidden.size:
        raise InputError(
            f"delta: got 0 for feature {hidden[0]}, whose q is {correlation[hidden[0]]:g}, so that every release about "
            "the others would tell something about it; accepted: a demand above 0, or q = 0 or odds = 1 for it"
        )
    return demands, correlation, most


def _inside(demands: Array) -> Array:
    return np.maximum(demands * _INSIDE - _SMALLEST, 0.0)


def theorem_budgets(delta: npt.ArrayLike, epsilon: float, q: npt.ArrayLike, zeta: float) -> Budgets:
    """The budgets of the paper's mean theorem for demands in any order; `zeta` in (0, 1] is its free parameter.

    The feature with the smallest demand limits the LDP level as printed. With one q for each feature another feature
    limits it too, but only to a level above its own demand, below which LDP alone protects it.

    >>> theorem_budgets([0.2, 2.0], epsilon=2.0, q=0.12, zeta=0.56).c.round(3)
    array([0.088, 0.687])
    """
    demands, correlation, _ = _demands(delta, epsilon, q, np.inf)
    zeta = check_number("zeta", zeta, 0, 1, open_low=True)
    limits = ldp_limit(zeta * _inside(demands), correlation)
    limits = np.where(demands == demands.min(), limits, np.maximum(limits, demands))
    level = min(float(limits.min()), float(demands.max()))
    left = _inside(demands) - np.log1p(correlation * np.expm1(level))
    left = np.where(correlation == 0, demands, left)
    return certify(np.where(level <= demands, level, np.maximum(left, 0.0)), correlation)


def _largest_level(demands: Array, correlation: Array, odds: Array) -> float:
    """The largest LDP level that every demand can live with."""
    limits = np.maximum(ldp_limit(_inside(demands), correlation, odds), demands)
    return float(min(limits.min(), demands.max()))


def _at_level(demands: Array, level: float, correlation: Array, odds: Array) -> Array:
    """`level` where the demand is at least that, else (*) or Theorem 8 solved for the budget."""
    return budgets_from(np.where(demands >= level, demands, _inside(demands)), level, correlation, odds)


def level_budgets(delta: npt.ArrayLike, level: float, q: npt.ArrayLike, odds: npt.ArrayLike = np.inf) -> Budgets:
    """The largest budgets with which a `level`-LDP cascade keeps every demand (theory.md, section 2).

    Refused when the level alone breaks a demand: it may be at most log(1 + (e^delta_i - 1) / q_i), or more with odds.

    >>> level_budgets([0.2, 2.0], level=0.5, q=0.12).c.round(3)
    array([0.151, 0.5  ])
    """
    level = check_number("level", level, 0, LARGEST_BUDGET, open_low=True)
    demands, *stated = _demands(delta, level, q, odds)
    largest = _largest_level(demands, *stated)
    if level > largest:
        raise refuse("level", level, f"a number above 0 and at most {largest:.6g} for these delta, q and odds")
    return certify(_at_level(demands, level, *stated), *stated)


def budgets(
    delta: npt.ArrayLike,
    epsilon: float,
    q: npt.ArrayLike,
    zeta: float | None = None,
    channel: ChannelFamily = DUCHI,
    odds: npt.ArrayLike = np.inf,
) -> Budgets:
    """Budgets that keep `epsilon`-LDP and every `delta`-BCDP demand: the theorem's if `zeta` is given, else the best.

    The best LDP level minimises the total predicted error; it is never worse than giving every feature the smallest
    demand, which is one of the candidates (theory.md, section 3, erratum 2). The paper's theorem knows no odds.

    >>> chosen = budgets([0.2, 0.2, 2.0, 2.0], epsilon=2.0, q=0.01)
    >>> bool(chosen.epsilon <= 2.0), bool((chosen.delta <= [0.2, 0.2, 2.0, 2.0]).all())
    (True, True)
    """
    if zeta is not None:
        return theorem_budgets(delta, epsilon, q, zeta)
    demands, *stated = _demands(delta, epsilon, q, odds)
    asked = demands > 0  # a demand of 0 is never released, at any level

    def error(level: float) -> float:
        return float(predicted_error(_at_level(demands, level, *stated), 1, channel)[asked].sum())

    baseline, largest = float(demands[asked].min()), _largest_level(demands, *stated)
    best = _minimum(error, np.unique(np.linspace(baseline, largest, GRID)))
    return certify(_at_level(demands, best, *stated), *stated)


def _minimum(function: Callable[[float], float], grid: Array) -> float:
    """The best point of the grid and of a local search around each of its local minima."""
    from scipy.optimize import minimize_scalar  # slow to import, and needed here only

    heights = np.array([function(float(point)) for point in grid])
    padded = np.concatenate([[np.inf], heights, [np.inf]])
    candidates = [(float(height), float(point)) for height, point in zip(heights, grid, strict=True)]
    for k in np.flatnonzero((heights <= padded[:-2]) & (heights <= padded[2:])):
        around = grid[max(int(k) - 1, 0) : int(k) + 2]
        minimum = minimize_scalar(function, bounds=(around[0], around[-1]), method="bounded", options={"xatol": 1e-9})
        candidates.append((float(minimum.fun), float(minimum.x)))
    return min(candidates)[1]
