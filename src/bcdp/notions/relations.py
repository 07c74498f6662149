"""What one notion of privacy promises for another: every arrow, and the way back from demands to budgets.

All levels are in nats, at least 0, and may be infinite. `q` is a bound in [0, 1] on the total-variation distance of the
other features between two values of a feature. `odds`, at least 1 and infinite for no limit, bounds how many times
knowing all of them could move the odds of a guess about it. Proofs: theory.md, section 2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse

Array = npt.NDArray[np.float64]


def _levels(name: str, value: npt.ArrayLike) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if np.any(np.isnan(array)) or np.any(array < 0):
        raise refuse(name, value, "numbers of at least 0")
    return array


def _correlation(q: npt.ArrayLike) -> Array:
    array = np.asarray(q, dtype=np.float64)
    if not np.all((array >= 0) & (array <= 1)):
        raise refuse("q", q, "numbers from 0 to 1")
    return array


def _odds(odds: npt.ArrayLike) -> Array:
    array = np.asarray(odds, dtype=np.float64)
    if not np.all(array >= 1):
        raise refuse("odds", odds, "numbers of at least 1")
    return array


def _within_odds(q: Array, odds: Array) -> Array:
    """The largest distance that both numbers allow: `min(q, (odds - 1) / (odds + 1))`."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(odds), q, np.minimum(q, (odds - 1) / (odds + 1)))


def _together(**arrays: Array) -> None:
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise refuse(next(iter(arrays)), f"shapes {shapes}", "one number, or one for each feature") from None


def bdp_from_ldp(epsilon: float) -> float:
    """The BDP level of an `epsilon`-LDP mechanism under any prior: the same.

    >>> bdp_from_ldp(0.5)
    0.5
    """
    return float(_levels("epsilon", epsilon))


def ldp_from_bdp(epsilon: float) -> float:
    """The LDP level, up to records of probability 0, of an `epsilon`-BDP mechanism: the same.

    >>> ldp_from_bdp(0.5)
    0.5
    """
    return float(_levels("epsilon", epsilon))


def bcdp_from_ldp(epsilon: float, features: int) -> Array:
    """The BCDP levels that `epsilon`-LDP implies: `epsilon` for every feature.

    >>> bcdp_from_ldp(0.5, features=2).tolist()
    [0.5, 0.5]
    """
    return np.full(features, float(_levels("epsilon", epsilon)))


def cdp_from_ldp(epsilon: float, features: int) -> Array:
    """The CDP levels that `epsilon`-LDP implies: `epsilon` for every feature.

    >>> cdp_from_ldp(0.5, features=2).tolist()
    [0.5, 0.5]
    """
    return np.full(features, float(_levels("epsilon", epsilon)))


def ldp_from_cdp(c: npt.ArrayLike) -> float:
    """The LDP level of a `c`-CDP mechanism: the sum, reached by changing one feature after the other.

    >>> ldp_from_cdp([0.25, 1.0])
    1.25
    """
    return float(_levels("c", c).sum())


def _mixture(c: Array, gain: Array, q: Array, odds: Array | None = None) -> Array:
    """`c + log(1 + X)`, `1/X = 1/(q (exp(gain) - 1)) + 1/(odds - 1)`, without overflow; `c` for q = 0 or odds = 1."""
    c, gain, q, odds = np.broadcast_arrays(c, gain, q, np.asarray(np.inf) if odds is None else odds)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        free = q * np.expm1(np.minimum(gain, 700.0))
        moderate = np.log1p(np.where(np.isinf(odds), free, 1 / (1 / free + 1 / (odds - 1))))
        large = np.logaddexp(0.0, -np.logaddexp(-(np.log(q) + gain), -np.log(odds - 1)))
    return np.where((q == 0) | (odds == 1), c, c + np.where(gain > 700.0, large, moderate))


def bcdp_from_cdp(c: npt.ArrayLike, q: npt.ArrayLike) -> Array:
    """The paper's sum form: `c_i + log(1 + q_i exp(sum of the other c) - q_i)`.

    >>> bcdp_from_cdp([0.25, 1.0], q=0).tolist(), bcdp_from_cdp([0.25, 1.0], q=1).round(9).tolist()
    ([0.25, 1.0], [1.25, 1.25])
    """
    budgets, correlation = np.atleast_1d(_levels("c", c)), _correlation(q)
    _together(c=budgets, q=correlation)
    rest = np.array([np.delete(budgets, i).sum() for i in range(len(budgets))])
    return _mixture(budgets, rest, correlation)


def bcdp_from_cdp_and_ldp(c: npt.ArrayLike, epsilon: float, q: npt.ArrayLike) -> Array:
    """The paper's LDP form: `min(c_i + log(1 + q_i exp(epsilon) - q_i), epsilon)`.

    >>> float(bcdp_from_cdp_and_ldp(0.25, 2.0, q=0)), float(bcdp_from_cdp_and_ldp(0.25, 2.0, q=1))
    (0.25, 2.0)
    """
    budgets, level, correlation = _levels("c", c), _levels("epsilon", epsilon), _correlation(q)
    _together(c=budgets, q=correlation)
    return np.minimum(_mixture(budgets, level, correlation), level)


def bcdp_from(c: npt.ArrayLike, epsilon: npt.ArrayLike, q: npt.ArrayLike, odds: npt.ArrayLike = np.inf) -> Array:
    """The tight form (*): `log((1 - q_i) exp(c_i) + q_i exp(epsilon))`, never above either form of the paper.

    With odds too it is `c_i + log(1 + X)`, `1/X = 1/(q_i (exp(epsilon - c_i) - 1)) + 1/(odds_i - 1)`.

    >>> float(bcdp_from(0.1, 2.0, 0.0)), float(bcdp_from(0.1, 2.0, 1.0))
    (0.1, 2.0)
    >>> round(float(np.exp(bcdp_from(0.0, np.log(3), 1.0, odds=3))), 9)  # tanh(log(3)/2) = 1/2, twice
    1.666666667
    """
    budgets, level, correlation, most = _levels("c", c), _levels("epsilon", epsilon), _correlation(q), _odds(odds)
    _together(c=budgets, epsilon=level, q=correlation, odds=most)
    budgets = np.minimum(budgets, level)  # an epsilon-LDP mechanism is epsilon-CDP in every feature
    gain = np.where(np.isinf(level), np.inf, level - np.where(np.isinf(budgets), 0.0, budgets))
    return np.minimum(_mixture(budgets, gain, _within_odds(correlation, most), most), level)


def ldp_limit(delta: npt.ArrayLike, q: npt.ArrayLike, odds: npt.ArrayLike = np.inf) -> Array:
    """The largest LDP level that each demand `delta_i` can live with: `log(1 + (exp(delta_i) - 1) / q_i)`.

    With odds too: `1/(q_i (exp(limit) - 1)) = 1/(exp(delta_i) - 1) - 1/(odds_i - 1)`, none if odds are at most
    `exp(delta_i)`.

    >>> ldp_limit(0.2, [0.0, 1.0]).tolist(), ldp_limit(0.2, 1.0, odds=[1.2, 2]).round(3).tolist()
    ([inf, 0.2], [inf, 0.617])
    """
    demand, correlation, most = _levels("delta", delta), _correlation(q), _odds(odds)
    _together(delta=demand, q=correlation, odds=most)
    reach = _within_odds(correlation, most)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        limit = np.log1p(np.expm1(demand) / (reach * (1 - np.expm1(demand) / (most - 1))))
        free = (reach == 0) | (np.isfinite(most) & (most - 1 <= np.expm1(demand)))
    return np.where(free, np.inf, np.where(reach == 1, demand, limit))


def budgets_from(delta: npt.ArrayLike, epsilon: npt.ArrayLike, q: npt.ArrayLike, odds: npt.ArrayLike = np.inf) -> Array:
    """The largest CDP budgets `c_i` with which an `epsilon`-LDP mechanism keeps every `delta_i`: `bcdp_from` solved.

    Refused when `epsilon` alone breaks a demand (see `ldp_limit`).

    >>> c = budgets_from(0.2, epsilon=1.0, q=0.05, odds=2)
    >>> round(float(bcdp_from(c, 1.0, 0.05, odds=2)), 9)
    0.2
    """
    demand, level, correlation, most = (
        _levels("delta", delta),
        _levels("epsilon", epsilon),
        _correlation(q),
        _odds(odds),
    )
    limit = ldp_limit(demand, correlation, most)
    if np.any(level > np.maximum(limit, demand)):
        raise refuse(
            "epsilon",
            float(np.max(level)),
            f"at most {float(np.min(np.maximum(limit, demand))):.6g} for these delta, q and odds",
        )
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shrunk = demand + np.log(_share(np.exp(demand - level), _within_odds(correlation, most), most))
    return np.where(demand >= level, level, np.maximum(np.where(correlation == 0, demand, shrunk), 0.0))


def _share(t: Array, q: Array, odds: Array) -> Array:
    """The root v of `(1-B) t v^2 + (B - (1-A) t) v = A`, where `A = q/(odds-1)` and `B = A odds` (theory.md)."""
    a = np.where(odds == 1, 0.5, q / (odds - 1))
    b = a + q
    middle = b - (1 - a) * t
    root = np.hypot(middle, 2 * np.sqrt((1 - b) * t * a))
    return np.asarray(np.where(middle > 0, 2 * a / (middle + root), (root - middle) / (2 * (1 - b) * t)))


def linear_constraint(delta: npt.ArrayLike, q: npt.ArrayLike) -> Array:
    """The paper's matrix `A_delta`: budgets with `A_delta c <= 1` keep every `delta_i` (sum form).

    >>> linear_constraint([0.5, 1.0], q=1).tolist()
    [[2.0, 2.0], [1.0, 1.0]]
    """
    demand = np.atleast_1d(_levels("delta", delta))
    if np.any(demand == 0):
        raise refuse("delta", delta, "numbers above 0: a feature with delta 0 has budget 0 and leaves this constraint")
    limit = np.broadcast_to(ldp_limit(demand, q), demand.shape)
    matrix = np.repeat(1.0 / limit[:, None], len(demand), axis=1)
    np.fill_diagonal(matrix, 1.0 / demand)
    return matrix


def scale_budgets_linearly(delta: npt.ArrayLike, q: npt.ArrayLike, direction: npt.ArrayLike) -> Array:
    """The largest multiple of `direction` with `A_delta c <= 1`: always feasible, not the largest feasible.

    >>> scale_budgets_linearly([0.5, 0.5], q=1, direction=[1, 1]).tolist()
    [0.25, 0.25]
    """
    shares = _direction(direction)
    return np.asarray(shares / (linear_constraint(delta, q) @ shares).max())


def scale_budgets(delta: npt.ArrayLike, q: npt.ArrayLike, direction: npt.ArrayLike) -> Array:
    """The largest multiple of `direction` that keeps every `delta_i` when nothing but the sum bounds the LDP level.

    >>> scale_budgets([0.5, 0.5], q=1, direction=[1, 1]).round(9).tolist()
    [0.25, 0.25]
    """
    shares, demand = _direction(direction), _levels("delta", delta)

    def keeps(scale: float) -> bool:
        return bool(np.all(bcdp_from_cdp(scale * shares, q) <= demand))

    return _largest(keeps) * shares


def _direction(direction: npt.ArrayLike) -> Array:
    shares = np.atleast_1d(_levels("direction", direction))
    if not np.all(np.isfinite(shares)) or shares.sum() == 0:
        raise refuse("direction", direction, "finite numbers of at least 0, not all 0")
    return shares


def _largest(keeps: Callable[[float], bool]) -> float:
    """The largest number, to the last bit, for which a monotone condition still holds."""
    low, high = 0.0, 1.0
    while keeps(high) and high < 1e6:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low
