"""What an estimate is a linear function of, so that estimates of one collection can be added and subtracted.

Two estimates of the same people's answers vary together. The decoder knows the covariance of all targets, and so the
variance of every linear function of them (theory.md, section 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from bcdp.statistics.shared.ratios import width
from bcdp.statistics.shared.target import Target

if TYPE_CHECKING:
    from bcdp.statistics.shared.protocol import Decoder


Array = npt.NDArray[np.float64]
LARGEST_SHARE_OF_FAKES = 0.5


class HonestRange(NamedTuple):
    """The least and the largest value that honest reports may have, and by how much their errors may be larger.

    `error` is the largest that their standard error may be by the spread of the observed answers; 0 where an interval
    is computed from that spread already.
    """

    least: float
    largest: float
    growth: float
    error: float = 0.0


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
        return joint.standard_error(factors)

    def honest_range(self, fakes: int) -> HonestRange | None:
        """How far honest reports may be below and above the value, if so many reports are fake; None if not known.

        Of several targets the sum of what each may be: fake reports need not reach all of it at once.
        """
        observed = self.decoder.means(list(self.coefficients))
        least, largest, growth = 0.0, 0.0, 1.0
        for target, factors in self.coefficients.items():
            honest = self.decoder.honest_range(target, factors, fakes)
            if honest is None or target not in observed:
                return None
            value = float(factors @ observed[target])
            least, largest = least + honest.least - value, largest + honest.largest - value
            growth = max(growth, honest.growth)
        error = honest.error if len(self.coefficients) == 1 and honest is not None else 0.0
        return HonestRange(least, largest, growth, error)

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
