"""What an estimate is a linear function of, so that estimates of one collection can be added and subtracted.

Two estimates of the same people's answers vary together. The decoder knows the covariance of all targets, and so the
variance of every linear function of them (theory.md, section 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from bcdp.statistics.shared.ratios import quotients, width
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


@dataclass(frozen=True)
class SomeNumbers(Mapping[Target, Array]):
    """The coefficients of a sum of some numbers of a target, which are written out when they are asked for."""

    target: Target
    numbers: tuple[int, ...]
    size: int

    def __getitem__(self, target: Target) -> Array:
        if target != self.target:
            raise KeyError(target)
        coefficients = np.zeros(self.size)
        coefficients[list(self.numbers)] = 1.0
        return coefficients

    def __iter__(self) -> Iterator[Target]:
        return iter((self.target,))

    def __len__(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class LinearForm:
    """A sum of coefficients times the numbers of targets, plus a constant; `span` is what it can be.

    `slack` is how far it may be from what is wanted: a mean of numbers known by their bins, by half a bin.
    """

    decoder: Decoder
    confidence: float
    coefficients: Mapping[Target, Array]  # for each number of a target
    span: tuple[float, float]
    slack: float = 0.0

    def combined(self, other: LinearForm, sign: float) -> LinearForm:
        """The sum with another one times a sign."""
        coefficients = dict(self.coefficients)
        for target, factors in other.coefficients.items():
            coefficients[target] = coefficients.get(target, np.zeros_like(factors)) + sign * factors
        low, high = sorted((sign * other.span[0], sign * other.span[1]))
        span, slack = (self.span[0] + low, self.span[1] + high), self.slack + other.slack
        return LinearForm(self.decoder, self.confidence, coefficients, span, slack)

    def standard_error(self) -> float:
        """Its standard error; NaN if the covariance of its targets is not known."""
        return self.moments()[1]

    def moments(self) -> tuple[float, float]:
        """Its value, without any constant, and its standard error; NaN if they are not known."""
        joint = self.decoder.together(list(self.coefficients))
        if joint is None:
            return math.nan, math.nan
        factors = np.concatenate(list(self.coefficients.values()))
        return float(factors @ joint.value), joint.standard_error(factors)

    def correction(self) -> float:
        """How far its value is from the unbiased one, where values are combined with what else is known."""
        joint = self.decoder.together(list(self.coefficients))
        if joint is None:
            return 0.0
        return float(np.concatenate(list(self.coefficients.values())) @ (joint.value - joint.raw))

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
        half = width(self.confidence) * error + self.slack
        return max(value - half, self.span[0]), min(value + half, self.span[1])

    def open_people(self, value: float, error: float) -> int | None:
        """At most how many openly asked people would have this standard error: their answers lie within the span.

        Answers between two ends with this mean vary most if everybody is at an end, as in a share.
        """
        variance = (value - self.span[0]) * (self.span[1] - value)
        return math.floor(variance / error**2) if math.isfinite(variance) and 0 < error < math.inf else None


class FakeShift(NamedTuple):
    """What a quantity may be in honest reports, and the interval that holds it whichever reports are fake."""

    least: float
    largest: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class RatioForm:
    """A ratio of two linear functions of targets, the lower one with a constant, moved to own units.

    `span` is what it can be, in own units; the ratio is multiplied by `scale`, and `offset` is added.
    """

    top: LinearForm
    bottom: LinearForm
    constant: float
    scale: float
    offset: float
    span: tuple[float, float]

    def if_fakes(self, fakes: int, confidence: float) -> FakeShift | None:
        """Its honest range and interval with so many fake reports; the whole span where the lower part may be 0.

        Both parts have intervals that hold together: each of half the missing confidence (theory.md, 4.18).
        """
        parts = []
        for form, constant in ((self.top, 0.0), (self.bottom, self.constant)):
            honest, (value, error) = form.honest_range(fakes), form.moments()
            if honest is None or math.isnan(error):
                return None
            reach = width((1 + confidence) / 2) * max(honest.growth * error, honest.error)
            ends = constant + value + honest.least, constant + value + honest.largest
            parts.append((ends, (ends[0] - reach, ends[1] + reach)))
        (top, wide_top), (bottom, wide_bottom) = parts
        ranges = quotients(top, bottom), quotients(wide_top, wide_bottom)
        (least, largest), (low, high) = (
            tuple(min(max(self.offset + self.scale * end, self.span[0]), self.span[1]) for end in each)
            for each in ranges
        )
        return FakeShift(least, largest, low, high)
