"""What the answers reveal about a target: an unbiased value, and its variance as far as the tables know it.

Of those who were asked a question, the decoded answers are averaged (theory.md, section 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.policy import Feature

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Decoded:
    """Unbiased values on the planning scale, one for each number of the target.

    The variance of each depends on its own truth x: `constant + slope x - square x^2`. What of it was estimated leaves
    a `doubt`, half of the variance of that estimate; the tables reveal the rest.
    """

    value: Array
    constant: Array
    slope: Array
    square: float
    doubt: Array
    answers: int
    unbiased: Array | None = None  # where `value` is combined with what else is known

    @property
    def raw(self) -> Array:
        """The unbiased value."""
        return self.value if self.unbiased is None else self.unbiased

    def variance(self, truth: Array) -> Array:
        """The variance of each value, if the truth were this."""
        return np.maximum(self.constant + self.slope * truth - self.square * truth**2, 0.0)

    def near(self, value: Array, width: Array | float) -> tuple[Array, Array]:
        """Middle and half length of the interval of truths within `width` of their own standard errors of a value.

        Its ends solve `(value - truth)^2 = width^2 variance(truth)`: Wilson's limits where answers are binomial.
        """
        scale = 1 + width**2 * self.square
        spread = width**2 * (self.slope**2 / 4 + self.constant * self.square)
        return (value + width**2 * self.slope / 2) / scale, width * np.sqrt(self.variance(value) + spread) / scale

    def shares(self) -> Decoded:
        """A mean on the [-1, 1] scale as the frequencies of the two values."""
        side = np.array([-1.0, 1.0])
        constant = (self.constant - side * self.slope - self.square) / 4
        slope = side * self.slope / 2 + self.square
        return Decoded((1 + side * self.value) / 2, constant, slope, self.square, self.doubt / 16, self.answers)


@dataclass(frozen=True)
class JointEstimate:
    """Unbiased values of several targets, one after the other, and how they vary together.

    `answers`: of each target how many there were; a target that fewer than two answers reveal is NaN throughout.
    `messages`: in which of a person's messages each value is asked. Answers in different messages are not linked, so
    how values of different messages vary together is not known, and their entries of `covariance` mean nothing.
    """

    value: Array
    covariance: Array
    answers: tuple[int, ...]
    messages: tuple[int, ...] = ()
    unbiased: Array | None = None  # where `value` is combined with what else is known

    @property
    def raw(self) -> Array:
        """The unbiased values."""
        return self.value if self.unbiased is None else self.unbiased

    def standard_error(self, factors: Array) -> float:
        """That of a linear function of the values; of different messages at most the sum of what each adds.

        >>> apart = JointEstimate(np.zeros(2), np.diag([9.0, 16.0]), (5, 5), (0, 1))
        >>> together = JointEstimate(np.zeros(2), np.diag([9.0, 16.0]), (5, 5))
        >>> apart.standard_error(np.ones(2)), together.standard_error(np.ones(2))
        (7.0, 5.0)
        """
        sources = np.array(self.messages or (0,) * len(self.value))
        parts = (np.where(sources == source, factors, 0.0) for source in np.unique(sources))
        return sum(math.sqrt(max(float(part @ self.covariance @ part), 0.0)) for part in parts)

    def drawn(self, draws: int) -> Array:
        """The values in so many collections drawn again, shape (draws, numbers).

        Each value is a sum over many answers, so that all are normal together (theory.md, section 4.3). The same
        answers are drawn again alike, which protects nobody and gives everybody the same intervals.
        """
        spread, basis = np.linalg.eigh(self.covariance)
        root = (basis * np.sqrt(np.maximum(spread, 0.0))) @ basis.T  # the symmetric one: no sign is left open
        rng = np.random.default_rng(self.answers)
        return np.asarray(self.value + rng.standard_normal((draws, len(root))) @ root)


def known(answers: int) -> Decoded:
    """The share of the only value there is: known without asking."""
    return Decoded(np.ones(1), np.zeros(1), np.zeros(1), 0.0, np.zeros(1), answers)


def unknown(size: int, answers: int) -> Decoded:
    """What fewer than two answers reveal."""
    nothing = np.full(size, math.nan)
    return Decoded(nothing, nothing, nothing, math.nan, nothing, answers)


def two_valued(mean: Array, low: float, at_one: Array, at_low: Array, people: int) -> Decoded:
    """The mean of answers about two values, `low` and 1: their second moments at each reveal the variance."""
    slope = (at_one - at_low) / (1 - low)
    return Decoded(mean, (at_low - low * slope) / people, slope / people, 1 / people, np.zeros_like(mean), people)


def with_spread(mean: Array, spread: Array, people: int) -> Decoded:
    """The mean of answers whose own spread reveals the variance."""
    variance = np.maximum(spread, 0.0) / (people - 1)
    return Decoded(mean, variance, np.zeros_like(mean), 0.0, variance**2 / (people - 1), people)


def combined(parts: Sequence[Decoded], weights: Array, answers: int) -> Decoded:
    """The average of what several ways of asking reveal, with weights that sum to 1."""

    def total(name: str, power: int) -> Array:
        return np.asarray(np.tensordot(weights**power, np.array([getattr(part, name) for part in parts]), axes=1))

    constant, slope, square = (total(name, 2) for name in ("constant", "slope", "square"))
    return Decoded(total("value", 1), constant, slope, float(square), total("doubt", 4), answers)


def error_without_privacy(feature: Feature) -> float:
    """n times the largest squared error of a mean, or of all frequencies together, without any protection."""
    return 1 - 1 / feature.joint_inputs if feature.counts_values else 1.0
