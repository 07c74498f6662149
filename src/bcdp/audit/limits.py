"""Limits that hold at a stated confidence, exact for every number of runs: nothing here is an approximation."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bcdp.statistics.shared.special import betaincinv

Array = npt.NDArray[np.float64]


def rate_below(hits: npt.ArrayLike, runs: npt.ArrayLike, risk: float) -> Array:
    """Clopper and Pearson's lower limit of a rate in [0, 1]: above the truth with probability at most `risk`."""
    k, n = np.asarray(hits, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    return np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, risk), 0.0)


def rate_above(hits: npt.ArrayLike, runs: npt.ArrayLike, risk: float) -> Array:
    """Clopper and Pearson's upper limit of a rate in [0, 1]: below the truth with probability at most `risk`."""
    k, n = np.asarray(hits, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    return np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - risk), 1.0)


def log_ratio_below(
    hits: npt.ArrayLike, runs: npt.ArrayLike, other_hits: npt.ArrayLike, other_runs: npt.ArrayLike, risk: float
) -> Array:
    """A lower limit of the log-ratio of two rates, -inf for no hits: above the truth with chance at most `risk`."""
    with np.errstate(divide="ignore"):
        high = np.log(rate_below(hits, runs, risk / 2))
        return np.asarray(high - np.log(rate_above(other_hits, other_runs, risk / 2)))


def mean_limits(values: Array, bound: float, risk: float) -> tuple[float, float]:
    """Limits of the mean of independent numbers in [-bound, bound], both right with probability at least 1 - `risk`.

    The empirical Bernstein inequality of Maurer and Pontil (2009), whose width follows the variance that was seen.
    """
    runs = len(values)
    depth = math.log(4 / risk)
    width = math.sqrt(2 * float(values.var(ddof=1)) * depth / runs) + 14 * bound * depth / (3 * (runs - 1))
    return float(values.mean()) - width, float(values.mean()) + width
