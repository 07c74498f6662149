"""How far fake reports can shift the coefficients of least squares: a bound for every attack (theory.md, 4.18).

Coefficients solve linear equations whose entries are linear in the means of targets, and of each mean the range that
honest reports may have is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bcdp.statistics.regression.design_matrix import Design, by_target, moment_targets, moments
from bcdp.statistics.regression.least_squares import own_units
from bcdp.statistics.shared.protocol import Decoder
from bcdp.statistics.shared.ratios import width
from bcdp.statistics.shared.target import Target

Array = npt.NDArray[np.float64]
Ends = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """The equations `A b = c` of least squares on the [-1, 1] scale, the constant last where there is one.

    `matrix` and `right` have one entry for each number of the targets after the other, the first being the constant.
    """

    decoder: Decoder
    design: Design
    intercept: bool
    ridge: float
    confidence: float

    @cached_property
    def targets(self) -> list[Target]:
        """What the entries are linear in."""
        return sorted(moment_targets(self.decoder.policy, self.design, self.intercept), key=repr)

    @cached_property
    def _linear(self) -> tuple[Array, Array]:
        """How matrix and right side change with each number of the targets; first what they are if all are 0."""
        policy = self.decoder.policy
        size = sum(target.size(policy) for target in self.targets)
        numbers = np.concatenate([np.zeros((1, size)), np.eye(size)])
        each = moments(policy, self.design, by_target(policy, self.targets, numbers))
        matrix, right = each.second[:, :-1, :-1], each.second[:, :-1, -1]
        if self.intercept:
            mean, outcome = each.mean[:, :-1], each.mean[:, -1:]
            ones = np.ones((len(numbers), 1, 1))
            matrix = np.block([[matrix, mean[:, :, None]], [mean[:, None, :], ones]])
            right = np.concatenate([right, outcome], axis=1)
        matrix[1:], right[1:] = matrix[1:] - matrix[0], right[1:] - right[0]
        penalty = np.diag([self.ridge] * (len(self.design) - 1) + [0.0] * self.intercept)
        matrix[0] += penalty
        return matrix, right

    @cached_property
    def _solved(self) -> tuple[Array, Array] | None:
        """The inverse matrix and the solution at the observed means; None if there is none."""
        joint = self.decoder.together(self.targets)
        if joint is None or not np.isfinite(joint.value).all():
            return None
        matrix, right = self._linear
        numbers = np.concatenate([[1.0], joint.value])
        observed = np.tensordot(numbers, matrix, axes=1)
        if np.linalg.eigvalsh(observed)[0] <= 0:
            return None
        inverse = np.linalg.inv(observed)
        return inverse, inverse @ (numbers @ right)

    @cached_property
    def _own(self) -> tuple[Array, Array]:
        """The rows that take a solution to coefficients in own units, the intercept last, and what they add."""
        units = own_units(self.decoder.policy, self.design)
        return units[:, :-1] if self.intercept else units[:, :-2], units[:, -1]

    @property
    def coefficients(self) -> Array:
        """The unshrunk coefficients in own units, the intercept last; NaN where they are not known."""
        rows, constant = self._own
        return rows @ self._solved[1] + constant if self._solved is not None else np.full(len(rows), math.nan)

    def shifts(self, fakes: int) -> tuple[Ends, Ends] | None:
        """How far honest reports may be below and above each coefficient, and the population too, with confidence.

        None where some range of honest reports is not known.
        """
        ranges = self._ranges(fakes)
        if ranges is None:
            return None
        (low, high), noise = ranges
        nothing = np.zeros_like(noise)
        return self._moved(fakes, (low, high), nothing), self._moved(fakes, (low - noise, high + noise), noise)

    def _ranges(self, fakes: int) -> tuple[Ends, Array] | None:
        """Of each number how far honest ones may be below and above it, and how far chance takes all of them."""
        policy, joint = self.decoder.policy, self.decoder.together(self.targets)
        if joint is None or self._solved is None:
            return None
        count = len(joint.value)
        reach = width(1 - (1 - self.confidence) / count)  # so that all hold together
        errors, values = np.sqrt(np.maximum(np.diag(joint.covariance), 0.0)), joint.value
        low, high, noise = np.zeros(count), np.zeros(count), np.zeros(count)
        index = 0
        for target in self.targets:
            for row in np.eye(target.size(policy)):
                honest = self.decoder.honest_range(target, row, fakes)
                if honest is None:
                    return None
                low[index], high[index] = honest.least - values[index], honest.largest - values[index]
                noise[index] = reach * max(honest.growth * errors[index], honest.error)
                index += 1
        return (low, high), noise

    def _moved(self, fakes: int, ranges: Ends, noise: Array) -> Ends:
        """The ends of the coefficients' changes if all numbers change within their ranges."""
        assert self._solved is not None
        (matrix, right), (inverse, solution), (rows, _) = self._linear, self._solved, self._own
        largest = np.maximum(-ranges[0], ranges[1])
        unbounded = np.full(len(rows), math.inf)
        if not np.isfinite(largest).all():
            return -unbounded, unbounded
        slopes = inverse @ (right[1:] - matrix[1:] @ solution).T  # of the solution in each number, to first order
        feedback = np.abs(inverse @ matrix[1:])  # what a changed matrix does to a changed solution
        change = np.maximum(*np.abs(self._linear_ends(slopes, fakes, ranges, noise)))
        grown = np.tensordot(largest, feedback, axes=1)
        if np.abs(np.linalg.eigvals(grown)).max() >= 1:
            return -unbounded, unbounded
        deviation = np.linalg.solve(np.eye(len(grown)) - grown, change)
        more = np.tensordot(largest, np.abs(rows @ inverse @ matrix[1:]), axes=1) @ deviation
        low, high = self._linear_ends(rows @ slopes, fakes, ranges, noise)
        return low - more, high + more

    def _linear_ends(self, slopes: Array, fakes: int, ranges: Ends, noise: Array) -> Ends:
        """The least and the largest value of linear functions of the numbers; several of one target move together."""
        low, high = np.zeros(len(slopes)), np.zeros(len(slopes))
        start, values = 0, self.decoder.means(self.targets)
        for target in self.targets:
            own = slice(start, start + target.size(self.decoder.policy))
            start = own.stop
            for index, factors in enumerate(slopes[:, own]):
                ends = np.sort([factors * ranges[0][own], factors * ranges[1][own]], axis=0).sum(axis=1)
                if len(factors) > 1:
                    honest = self.decoder.honest_range(target, factors, fakes)
                    assert honest is not None
                    chance, value = float(np.abs(factors) @ noise[own]), float(factors @ values[target])
                    ends = np.array([honest.least - value - chance, honest.largest - value + chance])
                low[index] += ends[0]
                high[index] += ends[1]
        return low, high
