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

from bcdp.statistics.shared.special import stdtrit
from bcdp.statistics.shared.target import Target

if TYPE_CHECKING:
    from bcdp.statistics.shared.protocol import Decoder


@dataclass(frozen=True, eq=False)
class LinearForm:
    """A sum of coefficients times numbers of targets, plus a constant; `span` is what it can be."""

    decoder: Decoder
    confidence: float
    coefficients: Mapping[tuple[Target, int], float]  # of the numbers of each target
    span: tuple[float, float]

    def combined(self, other: LinearForm, sign: float) -> LinearForm:
        """The sum with another one times a sign."""
        coefficients = dict(self.coefficients)
        for number, coefficient in other.coefficients.items():
            coefficients[number] = coefficients.get(number, 0.0) + sign * coefficient
        low, high = sorted((sign * other.span[0], sign * other.span[1]))
        return LinearForm(self.decoder, self.confidence, coefficients, (self.span[0] + low, self.span[1] + high))

    def standard_error(self) -> float:
        """Its standard error; NaN if the covariance of its targets is not known."""
        targets = list(dict.fromkeys(target for target, _ in self.coefficients))
        joint = self.decoder.together(targets)
        if joint is None:
            return math.nan
        sizes = [target.size(self.decoder.policy) for target in targets]
        starts = dict(zip(targets, np.cumsum([0, *sizes]).tolist(), strict=False))
        weights = np.zeros(sum(sizes))
        for (target, number), coefficient in self.coefficients.items():
            weights[starts[target] + number] = coefficient
        return math.sqrt(max(float(weights @ joint.covariance @ weights), 0.0))

    def interval(self, value: float, error: float) -> tuple[float, float]:
        """The ends of its interval around a value that it can have."""
        half = -float(stdtrit(math.inf, (1 - self.confidence) / 2)) * error
        return max(value - half, self.span[0]), min(value + half, self.span[1])
