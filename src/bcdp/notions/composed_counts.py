"""What several independent counts reveal together, each known by its excess at some factors (theory.md, 4.19).

The excess of a pair of distributions is convex and falls with the factor. So it is nowhere above the lower convex hull
of bounds at the points of a grid, and that hull is the excess of a pair whose ratios lie on the grid. Of such pairs the
ratios multiply exactly: those of independent counts are convolved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from bcdp.exact import Floats
from bcdp.notions.privacy_blanket import Excess

_FINENESS = 64  # steps, at least, from no level to the one that is asked for
_MOST_STEPS = 768
_NEGLIGIBLE = 1e-13  # an excess that is counted as never hidden
_ROUNDING = 1e-11  # more than what doubles lose in all sums: see theory.md


class ExcessGrid:
    """The excess of one count at the factors `e^(k step)`, each computed once."""

    def __init__(self, excess_at: Excess) -> None:
        self.excess_at = excess_at
        self._known: dict[float, tuple[Floats, float]] = {}

    def masses(self, step: float) -> tuple[Floats, float]:
        """The chances of the ratios `e^(k step)`, k from -n to n, and of a ratio beyond all bounds."""
        if step not in self._known:
            self._known[step] = _masses(self.excess_at, step)
        return self._known[step]


def composed_excess(grids: Sequence[ExcessGrid]) -> Excess:
    """The excess of independent counts together: an upper bound at each factor above 1.

    >>> one = ExcessGrid(lambda factor: max(0.0, 0.1 - 0.4 * (factor - 1)))
    >>> alone, twice = composed_excess([one]), composed_excess([one, one])
    >>> 0.06 <= alone(1.1) < 0.0601 < twice(1.1) < 2 * alone(1.05)
    True
    """
    known: dict[float, tuple[Floats, float]] = {}

    def together(step: float) -> tuple[Floats, float]:
        if step not in known:
            parts = [grid.masses(step) for grid in grids]
            chances = parts[0][0]
            for masses, _ in parts[1:]:
                chances = np.convolve(chances, masses)
            known[step] = chances, sum(beyond for _, beyond in parts)
        return known[step]

    def excess_at(factor: float) -> float:
        if factor <= 1:
            return 1.0
        step = grid_step(factor)
        chances, beyond = together(step)
        ratios = np.exp(step * (np.arange(len(chances)) - len(chances) // 2))
        above = ratios > factor
        return min(1.0, float((chances[above] * (1 - factor / ratios[above])).sum()) + beyond + _ROUNDING)

    return excess_at


def grid_step(factor: float) -> float:
    """The step of the grid for a factor: a power of two, so that factors near each other share it."""
    return 2.0 ** math.floor(math.log2(math.log(factor) / _FINENESS))


def _masses(excess_at: Callable[[float], float], step: float) -> tuple[Floats, float]:
    """As `ExcessGrid.masses`: the changes of the slope of the hull, weighed by the ratio."""
    upper = [min(1.0, excess_at(1.0))]
    while upper[-1] > _NEGLIGIBLE and len(upper) <= _MOST_STEPS:
        factor = math.exp(step * len(upper)) * (1 - 1e-12)  # from below: there is no less in excess
        upper.append(min(upper[-1], excess_at(factor)))
    bounds = np.array(upper)
    ratios = np.exp(step * np.arange(1 - len(bounds), len(bounds)))
    # of a pair in the other order: H(f) = 1 - f + f H(1/f)
    lower = 1 - ratios[: len(bounds) - 1] * (1 - bounds[:0:-1])
    hull = _lower_hull(ratios, np.concatenate([lower, bounds]))
    falls = -np.diff(hull) / np.diff(ratios)
    slopes = np.concatenate([[1 - bounds[-1]], falls, [0.0]])
    return np.maximum(0.0, -np.diff(slopes)) * ratios, float(bounds[-1])


def _lower_hull(points: Floats, values: Floats) -> Floats:
    """At each place the largest convex function that is nowhere above the values.

    >>> _lower_hull(np.array([0.0, 1.0, 3.0]), np.array([2.0, 2.0, -1.0])).tolist()
    [2.0, 1.0, -1.0]
    """
    corners: list[int] = []
    for place in range(len(points)):
        while len(corners) > 1 and _is_above(points, values, (corners[-2], corners[-1], place)):
            corners.pop()
        corners.append(place)
    return np.interp(points, points[corners], values[corners])


def _is_above(points: Floats, values: Floats, three: tuple[int, int, int]) -> bool:
    """Whether the second of three points is not below the line through the others."""
    first, middle, last = three
    rise = (values[last] - values[first]) * (points[middle] - points[first])
    return bool((values[middle] - values[first]) * (points[last] - points[first]) >= rise)
