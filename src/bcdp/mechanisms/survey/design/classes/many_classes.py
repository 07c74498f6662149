"""Designs over hundreds of classes, such as all tables of thirty features, where Newton steps would take minutes.

The same column generation as in `column_generation`, with three differences. Every pair that is wanted is looked at,
and all menus that are worth it are added at once. Probabilities are balanced by a multiplicative rule, which starts
from those of the round before. Menus are dropped many at a time. The gap is computed as for any other design.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.design.classes.feature_classes import FeatureClass, Profile
from bcdp.mechanisms.survey.design.menu_pricing import MenuPricing

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_STEPS = 4000  # of the multiplicative rule
_CHECKED = 25  # steps between two looks at the gap
_RARE = 1e-9  # menus that are asked less often are dropped between rounds
_WORK = 20_000_000  # of a search by boxes
_MERGED_WITHIN = (1.01, 1.03, 1.1, 1.3, np.inf)  # ratios of prices of classes that are searched as one
_NEW = 0.2  # of the probability goes to the menus of a round, in equal parts


def balanced(informations: Array, sizes: Integers, weights: Array, start: Array, tolerance: float) -> Array:
    """Probabilities whose objective is within `tolerance` of the best for these menus, from those of the start.

    Each is multiplied by the root of what its menu is worth: the objective falls with every step (Yu 2010).
    """
    probabilities = start / start.sum()
    for step in range(_STEPS):
        each = probabilities @ informations / sizes
        prices = weights / each**2
        worth = informations @ prices
        objective = float((sizes * weights / each).sum())
        if step % _CHECKED == 0 and worth.max() <= objective * (1 + tolerance):
            break
        probabilities = probabilities * np.sqrt(worth / objective)
        probabilities /= probabilities.sum()
    return np.asarray(probabilities)


def joined(probabilities: Array, new: int) -> Array:
    """The probabilities with those of menus that were not asked before."""
    return np.append(probabilities * (1 - _NEW), np.full(new, _NEW / new)) if new else probabilities


def often(probabilities: Array, first: int) -> Integers:
    """The menus that are asked at all, and the first ones, without which something may remain unasked."""
    return np.flatnonzero((probabilities > _RARE) | (np.arange(len(probabilities)) < first))


def fewest(probabilities: Array, within: Callable[[Integers], bool]) -> Integers:
    """The fewest of the most frequent menus with which the objective is within a hair, by bisection."""
    order = np.argsort(-probabilities, kind="stable")
    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if within(np.sort(order[:middle])) else (middle, high)
    return np.asarray(np.sort(order[:high]))


class MergedPricing:
    """Menus of classes that are merged where their features are asked alike, each at the price of the dearest of them.

    There are fewer such menus, so that an exact search may be possible where it is not for all classes. The bound
    merges only what is nearly equally dear, if it can.
    """

    def __init__(self, pricing: MenuPricing) -> None:
        self._pricing = pricing
        self._alike: dict[tuple[object, ...], list[int]] = {}
        for j, c in enumerate(pricing.classes):
            self._alike.setdefault((c.kind, c.delta, c.q, c.odds, c.second, c.is_feature), []).append(j)

    def best(self, prices: Array, tolerance: float) -> Profile:
        """The most valuable menu of the search, of the dearest features of each merged class."""
        merged = self._merged(prices, (np.inf,))
        if merged is None:
            return self._pricing.best(prices, tolerance).profile
        parts, market = merged
        profile = market.best(_dearest(parts, prices), tolerance).profile
        waiting = [[j for j in part for _ in self._pricing.classes[j].members] for part in parts]
        return tuple(
            replace(question, classes=tuple(sorted(waiting[c].pop(0) for c in question.classes)))
            for question in sorted(profile, key=lambda question: -question.budget)
        )

    def bound(self, prices: Array, tolerance: float) -> float:
        """What no menu is worth more than."""
        separately = self._pricing.bound(prices, tolerance)
        merged = None if self._pricing.few else self._merged(prices, _MERGED_WITHIN)
        if merged is None:
            return separately
        parts, market = merged
        return min(separately, market.bound(_dearest(parts, prices), tolerance))

    def _merged(self, prices: Array, ratios: tuple[float, ...]) -> tuple[list[list[int]], MenuPricing] | None:
        """Which classes are merged, dearest first, and the menus of them; None where these are still too many.

        The prices of merged classes differ by the first of the ratios at which an exact search is possible.
        """
        for within in ratios:
            parts = [part for alike in self._alike.values() for part in _split(alike, prices, within)]
            market = MenuPricing(tuple(map(self._together, parts)), self._pricing.total, self._pricing.groups, _WORK)
            if market.few:
                return parts, market
        return None

    def _together(self, part: list[int]) -> FeatureClass:
        classes = [self._pricing.classes[j] for j in part]
        members = tuple(member for c in classes for member in c.members)
        return replace(classes[0], members=members, alone=max(c.alone for c in classes))


def _split(alike: list[int], prices: Array, within: float) -> list[list[int]]:
    """Classes by falling price, in parts in which the dearest is at most so many times as dear as any other."""
    parts: list[list[int]] = []
    for j in sorted(alike, key=lambda j: -prices[j]):
        if parts and prices[parts[-1][0]] <= within * prices[j]:
            parts[-1].append(j)
        else:
            parts.append([j])
    return parts


def _dearest(parts: list[list[int]], prices: Array) -> Array:
    return np.array([prices[part[0]] for part in parts])
