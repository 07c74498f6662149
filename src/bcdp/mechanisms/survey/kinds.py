"""How much a randomized answer tells about a target, for each kind of feature (docs/theory.md, section 4.1).

Information is one over the second moment of the decoded answer: of a mean on the [-1, 1] scale for binary and numeric
features, of all frequencies together for categorical ones, of all shares below the edges of bins for a distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.tables import binary_information, categorical_information, numeric_information, steps_information

Array = npt.NDArray[np.float64]

_MEANS = {"binary": binary_information, "numeric": numeric_information}  # what is asked is a mean
_BITS = {"binary": 1.0, "numeric": 4.5}
JOINT_VALUES = 256  # a joint question ranges over at most so many combinations of values


@dataclass(frozen=True, order=True)
class Kind:
    """What is asked of a feature: a mean of two values or of a number, frequencies of `values`, shares below `values`.

    A question about the steps of a number is never joint.
    """

    name: str  # binary, numeric, categorical or steps
    values: int = 2  # how many values a joint question tells apart; a number is rounded at random to one of two

    def information(self, budget: Array) -> Array:
        """What a question about this feature alone tells at each budget."""
        if self.name == "steps":
            return steps_information(self.values, budget)
        mean = _MEANS.get(self.name)
        return categorical_information(self.values, budget) if mean is None else mean(budget)

    def joint_information(self, combinations: int, budget: Array) -> Array:
        """What one response over so many combinations of values tells about a feature of this kind among them."""
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
