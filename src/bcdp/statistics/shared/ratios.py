"""Intervals of combinations of estimates that vary together: ratios, differences, odds ratios."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bcdp.statistics.shared.special import ndtri

Array = npt.NDArray[np.float64]

_GRID = 121  # ratios from -1 to 1


def width(confidence: float) -> float:
    """How many standard errors an interval of this confidence reaches to either side."""
    return float(ndtri((1 + confidence) / 2))


def ratio_interval(top: float, bottom: float, covariance: Array, z: float) -> tuple[float, float]:
    """The ratios that chance leaves possible (Fieller): all, where the denominator may be 0.

    `covariance` is that of numerator and denominator. A ratio r is possible if `top - r bottom` is no farther from 0
    than z times its own standard error.

    >>> low, high = ratio_interval(2.0, 4.0, np.diag([0.01, 0.0]), 2.0)
    >>> round(low, 6), round(high, 6)
    (0.45, 0.55)
    """
    square = z * z
    a = bottom**2 - square * float(covariance[1, 1])
    b = top * bottom - square * float(covariance[0, 1])
    c = top**2 - square * float(covariance[0, 0])
    inside = b * b - a * c
    if not (a > 0 and inside >= 0):
        return -math.inf, math.inf
    root = math.sqrt(inside)
    return (b - root) / a, (b + root) / a


def quotients(top: tuple[float, float], bottom: tuple[float, float]) -> tuple[float, float]:
    """The least and the largest ratio of numbers within these ends; infinite where the lower one may be 0.

    >>> quotients((1.0, 2.0), (2.0, 4.0)), quotients((1.0, 2.0), (0.0, 4.0))
    ((0.25, 1.0), (-inf, inf))
    """
    ends = [*top, *bottom]
    if not (bottom[0] > 0 and all(map(math.isfinite, ends))):
        return -math.inf, math.inf
    ratios = [over / under for over in top for under in bottom]
    return min(ratios), max(ratios)


def difference_interval(
    minuend: tuple[float, float, float], subtrahend: tuple[float, float, float], correlation: float = 0.0
) -> tuple[float, float]:
    """The interval of a difference from the estimates and intervals `(value, low, high)` of its two terms.

    Each side of either interval stands for its own standard error, so that lopsided intervals stay so (the method of
    variance estimates recovery).

    >>> difference_interval((3.0, 0.0, 6.0), (1.0, -3.0, 5.0))
    (-3.0, 7.0)
    """
    middle = minuend[0] - subtrahend[0]
    down, up = (
        math.sqrt(max(first**2 + second**2 - 2 * correlation * first * second, 0.0))
        if math.isfinite(first) and math.isfinite(second)
        else math.inf
        for first, second in (
            (minuend[0] - minuend[1], subtrahend[2] - subtrahend[0]),
            (minuend[2] - minuend[0], subtrahend[0] - subtrahend[1]),
        )
    )
    return middle - down, middle + up


def profile_interval(tops: Array, bottoms: Array, covariance: Array, z: float) -> tuple[float, float]:
    """The differences of two ratios, each from -1 to 1, that chance leaves possible, whatever the denominators are.

    `covariance` is that of both numerators, then of both denominators. Two ratios are as far off as `top - ratio
    bottom` are together from 0 by their own covariance. Of a difference the nearest two ratios count, less what the
    nearest of all are off. Ends are rounded outwards to a grid.

    >>> low, high = profile_interval(np.array([0.1, 0.3]), np.array([0.5, 0.5]), np.eye(4) * 1e-3, 1.96)
    >>> round(low, 2), round(high, 2)
    (-0.59, -0.21)
    >>> profile_interval(np.zeros(2), np.zeros(2), np.eye(4), 1.96)
    (-2.0, 2.0)
    """
    grid = np.linspace(-1.0, 1.0, _GRID)
    first, second = grid[:, None], grid[None, :]
    off = tops[0] - first * bottoms[0], tops[1] - second * bottoms[1]

    def spread(a: int, b: int, by_a: Array, by_b: Array) -> Array:
        """The covariance of `top - ratio bottom` of both."""
        (own, crossed), (mixed, under) = covariance[a, [b, b + 2]], covariance[a + 2, [b, b + 2]]
        return np.asarray(own - by_b * crossed - by_a * mixed + by_a * by_b * under)

    first_spread, second_spread, both = (
        spread(0, 0, first, first),
        spread(1, 1, second, second),
        spread(0, 1, first, second),
    )
    determinant = np.maximum(first_spread * second_spread - both**2, 1e-300)
    distance = (off[0] ** 2 * second_spread - 2 * off[0] * off[1] * both + off[1] ** 2 * first_spread) / determinant
    steps = np.subtract.outer(np.arange(_GRID), np.arange(_GRID))
    possible = steps[distance <= distance.min() + z * z]
    width = 2 / (_GRID - 1)
    low, high = (float(possible.min()) - 0.5) * width, (float(possible.max()) + 0.5) * width
    return max(low, -2.0), min(high, 2.0)


def product_moments(cells: Array, covariance: Array, factors: tuple[int, int]) -> tuple[float, Array]:
    """The product of two of some estimates, without the bias of their covariance, and its slope in all of them."""
    first, second = factors
    slope = np.zeros(len(cells))
    slope[first], slope[second] = cells[second], cells[first]
    return float(cells[first] * cells[second] - covariance[first, second]), slope
