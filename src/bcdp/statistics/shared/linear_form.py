"""What an estimate is a linear function of, so that estimates of one collection can be added and subtracted.

Two estimates of the same people's answers vary together. The decoder knows the covariance of all targets, and so the
variance of every linear function of them (theory.md, section 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bcdp.statistics.shared.ratios import width
from bcdp.statistics.shared.target import Target

if TYPE_CHECKING:
    from bcdp.statistics.shared.protocol import Decoder


Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearForm:
    """A sum of coefficients times the numbers of targets, plus a constant; `span` is what it can be."""

    decoder: Decoder
    confidence: float
    coefficients: Mapping[Target, Array]  # for each number of a target
    span: tuple[float, float]

    def combined(self, other: LinearForm, sign: float) -> LinearForm:
        """The sum with another one times a sign."""
        coefficients = dict(self.coefficients)
        for target, factors in other.coefficients.items():
            coefficients[target] = coefficients.get(target, np.zeros_like(factors)) + sign * factors
        low, high = sorted((sign * other.span[0], sign * other.span[1]))
        return LinearForm(self.decoder, self.confidence, coefficients, (self.span[0] + low, self.span[1] + high))

    def standard_error(self) -> float:
        """Its standard error; NaN if the covariance of its targets is not known."""
        joint = self.decoder.together(list(self.coefficients))
        if joint is None:
            return math.nan
        factors = np.concatenate(list(self.coefficients.values()))
        return math.sqrt(max(float(factors @ joint.covariance @ factors), 0.0))

    def interval(self, value: float, error: float) -> tuple[float, float]:
        """The ends of its interval around a value that it can have."""
        half = width(self.confidence) * error
        return max(value - half, self.span[0]), min(value + half, self.span[1])

    def open_people(self, value: float, error: float) -> int | None:
        """At most how many openly asked people would have this standard error: their answers lie within the span.

        Answers between two ends with this mean vary most if everybody is at an end, as in a share.
        """
        variance = (value - self.span[0]) * (self.span[1] - value)
        return math.floor(variance / error**2) if math.isfinite(variance) and 0 < error < math.inf else None
