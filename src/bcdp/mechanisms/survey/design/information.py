"""How much a randomized answer reveals about a target, for each kind of feature (theory.md, section 4.1).

Information is one over the second moment of the decoded answer: of a mean on the [-1, 1] scale for binary and numeric
features, of all frequencies together for categorical ones, of all shares below the edges of bins for a distribution,
of the weighted numbers that are asked for where values stand for numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from bcdp.randomizers import binary_information, categorical_information, numeric_information, steps_information
from bcdp.statistics.shared.block_targets import BlockAim, block_moment, ticked_information
from bcdp.statistics.shared.value_targets import Rows, aimed_moment

Array = npt.NDArray[np.float64]

_MEANS = {"binary": binary_information, "numeric": numeric_information}  # what is asked is a mean
_BITS = {"binary": 1.0, "numeric": 4.5}
_KNOTS = (0.05, 0.4, 0.8, 1.2, 1.6, 2.0, 2.5, 3.0, 3.6, 4.4, 5.5, 7.0, 10.0)  # budgets between which to interpolate
_SAFETY = 0.998  # tables between two knots stay above the straight line times this
JOINT_VALUES = 256  # a joint question ranges over at most so many combinations of values


@dataclass(frozen=True, order=True)
class Kind:
    """What is asked of a feature: a mean of two values or of a number, frequencies of `values`, shares below `values`.

    Questions about the steps of a number, or aimed at certain numbers of a feature's values, are never joint.
    """

    name: str  # binary, numeric, categorical, values, steps, block, crossed or ticks
    values: int = 2  # how many values a joint question distinguishes; a number is rounded at random to one of two
    criterion: Rows = ()  # of "values": which numbers are asked for, and how much each counts
    most: int = 0  # of "ticks": how many of the values may be ticked
    aim: BlockAim | None = None  # of "block": likewise, and what its features' demands allow

    def information(self, budget: Array) -> Array:
        """What a question about this feature alone reveals at each budget."""
        if self.name == "steps":
            return steps_information(self.values, budget)
        if self.name == "values":
            return _aimed_information(partial(aimed_moment, self.criterion), budget)
        if self.name == "ticks":
            return np.asarray(_SAFETY * ticked_information(self.values, self.most, np.maximum(budget, 1e-6)))
        if self.name == "crossed" and self.aim is not None:  # asked with one budget only
            return np.full(np.shape(budget), _SAFETY / block_moment(self.aim, self.aim.largest))
        if self.aim is not None:
            return _aimed_information(partial(block_moment, self.aim), np.minimum(budget, self.aim.largest))
        mean = _MEANS.get(self.name)
        return categorical_information(self.values, budget) if mean is None else mean(budget)

    def joint_information(self, combinations: int, budget: Array) -> Array:
        """What one response over so many combinations of values reveals about a feature of this kind among them."""
        total = np.exp(budget) + combinations - 1
        contrast = np.expm1(budget) / total
        if self.name in _MEANS:
            return np.asarray(contrast**2)
        chance = combinations / self.values / total
        return np.asarray(contrast**2 / (1 - 2 * chance + self.values * chance**2))

    @property
    def bits(self) -> float:
        """How many bits of the answer a question about this feature alone may take."""
        if self.name == "steps":
            return 1 + 1.7 * math.log2(self.values)
        return _BITS.get(self.name, 1 + math.log2(self.values) + min(self.values, 8))


def _aimed_information(moment: Callable[[float], float], budget: Array) -> Array:
    """One over the least criterion, slightly underestimated between knots."""
    largest = float(np.max(budget, initial=0.0))
    known = [knot for knot in _KNOTS if knot < largest] + [knot for knot in _KNOTS if knot >= largest][:1]
    gains = [1 / moment(knot) / float(binary_information(knot)) for knot in known]
    return np.asarray(_SAFETY * binary_information(budget) * np.interp(budget, known, gains))
