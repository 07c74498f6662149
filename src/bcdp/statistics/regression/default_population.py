"""The people that a regression is planned for, where nothing is known of them yet.

Features are independent of each other. Categories are equally frequent; the mean of a sign or a number takes a third of
the second moment, 1 and 1/3: of two values the second is had by 21%, and low numbers are more frequent than high ones.
Where a line has no intercept, all means are 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bcdp.policy import Feature, Policy
from bcdp.statistics.shared.target import Codes

Factor = tuple[str, int | None]  # a feature, and the category that its sign stands for
Monomial = tuple[Factor, ...]  # by name; the square of a number, as `2 x^2 - 1`, has it twice

_PEOPLE = 2**13
_SHARE = 1 / 3  # that the mean takes of the second moment


def typical(policy: Policy, factors: Monomial, intercept: bool) -> tuple[float, float]:
    """The square of the mean and the variance of a column that multiplies these factors."""
    second, share = 1.0, 1.0
    for name, category in factors:
        feature = policy.features[name]
        second *= 1 / 3 if feature.is_number else 1.0
        share *= _SHARE if category is None else (1 - 2 / len(feature.categories)) ** 2
    return (share * second, (1 - share) * second) if intercept else (0.0, second)


def typical_records(policy: Policy, intercept: bool) -> Codes:
    """The codes of such people: every feature is spread evenly over them, in an order of its own."""
    rng = np.random.default_rng(0)  # the same people in every run
    ranks = {name: (rng.permutation(_PEOPLE) + 0.5) / _PEOPLE for name in policy.features}
    return {name: _code(feature, ranks[name], intercept) for name, feature in policy.features.items()}


def _code(feature: Feature, rank: npt.NDArray[np.float64], intercept: bool) -> npt.NDArray[np.generic]:
    """What those have of a feature who stand at these places, between 0 and 1, in the order of its codes."""
    if feature.is_number:  # mean -1/3 and second moment 1/3, or evenly between the bounds
        return 1 - 2 * np.sqrt(1 - rank) if intercept else 2 * rank - 1
    if feature.counts_values:
        return (rank * len(feature.categories)).astype(np.int64)
    second = (1 - np.sqrt(_SHARE)) / 2 if intercept else 0.5
    return (rank >= 1 - second).astype(np.int64)
