"""What the reports of a cascade reveal: the means of its coordinates, and products of two independent copies."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.cascade.mechanism import OpenChannel, least_variances
from bcdp.mechanisms.cascade.plans import coordinates, plan_channels
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.statistics import Decoded, Interaction, Means, Product, Single, Target
from bcdp.statistics.shared.decoded_values import error_without_privacy, two_valued, unknown, with_spread

Array = npt.NDArray[np.float64]


class CascadeDecoder:
    """The sums of a cascade's estimates as statistics see them."""

    def __init__(self, plan: Plan, people: int, total: Array, products: Array) -> None:
        self._plan, self.people, self._sum, self._products = plan, people, total, products

    @property
    def policy(self) -> Policy:
        """The policy of the plan that was answered."""
        return self._plan.policy

    def decode(self, target: Target) -> Decoded:
        """The unbiased values of a feature's mean or frequencies, and their variances."""
        owners, people = coordinates(self.policy), self.people
        feature = self.policy.features[target.features[0]]
        mine = [column for column, owner in enumerate(owners) if (owner,) == target.features]
        if people < 2 or np.any(np.isnan(self._sum[mine])):
            return unknown(len(mine), people)
        mean = self._sum[mine] / people
        least = least_variances(plan_channels(self._plan), len(owners))[mine]
        if feature.counts_values:
            return two_valued((mean + 1) / 2, 0.0, least / 4 + 1, least / 4, people)
        if not feature.is_number:
            return two_valued(mean, -1.0, least + 1, least + 1, people)
        return with_spread(mean, np.maximum(np.diag(self._products)[mine] / people - mean**2, least), people)

    def means(self, targets: Collection[Target]) -> Means:
        """The unbiased values of several features, shape (size,)."""
        return {target: self.decode(target).value for target in targets}

    def honest_range(self, target: Target, factors: npt.NDArray[np.float64], fakes: int) -> None:
        """Not known."""

    def together(self, targets: Collection[Target]) -> None:
        """None: sums do not show how the reports vary together, so nothing that needs products is estimated."""


def channel_errors(policy: Policy, channels: Sequence[OpenChannel]) -> dict[str, float]:
    """What the channels add to what chance leaves when everybody is asked openly: the two are independent."""
    owners = coordinates(policy)
    noise = np.nan_to_num(least_variances(channels, len(owners)), nan=math.inf)
    errors = {name: error_without_privacy(feature) for name, feature in policy.features.items()}
    for name, error in zip(owners, noise, strict=True):
        scale = 0.25 if policy.features[name].counts_values else 1.0  # indicators count on the [0, 1] scale
        errors[name] += float(error) * scale
    return errors


def means_from_moments(policy: Policy, targets: Collection[Target], mean: Array, second: Array) -> Means:
    """The targets' values from the means and second moments of all coordinates, NaN where they are not released."""
    owners = coordinates(policy)

    def column(name: str, category: int | None) -> int:
        return owners.index(name) + (category or 0)

    means: dict[Target, Array] = {}
    for target in targets:
        if isinstance(target, Single):
            mine = mean[[owner == target.feature for owner in owners]]
            means[target] = (mine + 1) / 2 if policy.features[target.feature].counts_values else mine
        elif isinstance(target, Product) and len(target.features) <= 2:  # more would need third moments
            columns = [column(*factor) for factor in zip(target.features, target.categories, strict=True)]
            value = second[columns[0], columns[-1]]
            means[target] = np.array([value if len(columns) == 2 else 2 * value - 1])
        elif isinstance(target, Interaction) and target.cuts == (None, None):
            first, second_columns = ([k for k, owner in enumerate(owners) if owner == name] for name in target.features)
            # with s = 2 1[x = a] - 1 the indicator less 1/k is s/2 + 1/2 - 1/k; of one number it is that number
            half = [(0.5, 0.5 - 1 / len(own)) if len(own) > 1 else (1.0, 0.0) for own in (first, second_columns)]
            (a, b), (c, d) = half
            both = (
                a * c * second[np.ix_(first, second_columns)]
                + a * d * mean[first][:, None]
                + b * c * mean[second_columns][None]
                + b * d
            )
            means[target] = both.ravel()
    return means
