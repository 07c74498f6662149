"""Intervals of combinations of estimates that vary together: ratios, differences, odds ratios."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bcdp.statistics.shared.special import ndtri

Array = npt.NDArray[np.float64]


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


def product_moments(cells: Array, covariance: Array, factors: tuple[int, int]) -> tuple[float, Array]:
    """The product of two of some estimates, without the bias of their covariance, and its slope in all of them."""
    first, second = factors
    slope = np.zeros(len(cells))
    slope[first], slope[second] = cells[second], cells[first]
    return float(cells[first] * cells[second] - covariance[first, second]), slope
