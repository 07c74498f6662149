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

from bcdp.mechanisms.survey.design.classes.feature_classes import Profile
from bcdp.mechanisms.survey.design.menu_pricing import MenuPricing

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_STEPS = 4000  # of the multiplicative rule
_CHECKED = 25  # steps between two looks at the gap
_RARE = 1e-9  # menus that are asked less often are dropped between rounds
_WORK = 20_000_000  # of a search by boxes
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

    There are fewer such menus, so that an exact search may be possible where it is not for all classes.
    """

    def __init__(self, pricing: MenuPricing) -> None:
        merged: dict[tuple[object, ...], list[int]] = {}
        for j, c in enumerate(pricing.classes):
            merged.setdefault((c.kind, c.delta, c.q, c.odds, c.is_feature), []).append(j)
        self._pricing, self._parts = pricing, list(merged.values())
        classes = [[pricing.classes[j] for j in part] for part in self._parts]
        together = tuple(
            replace(
                part[0],
                members=tuple(member for c in part for member in c.members),
                alone=max(c.alone for c in part),
            )
            for part in classes
        )
        self._merged = MenuPricing(together, pricing.total, pricing.groups, _WORK)

    def best(self, prices: Array, tolerance: float) -> Profile:
        """The most valuable menu of the search, of the dearest features of each merged class."""
        if not self._merged.few:
            return self._pricing.best(prices, tolerance).profile
        profile = self._merged.best(self._dearest(prices), tolerance).profile
        waiting = [
            [j for j in sorted(part, key=lambda j: -prices[j]) for _ in self._pricing.classes[j].members]
            for part in self._parts
        ]
        return tuple(
            replace(question, classes=tuple(sorted(waiting[c].pop(0) for c in question.classes)))
            for question in sorted(profile, key=lambda question: -question.budget)
        )

    def bound(self, prices: Array, tolerance: float) -> float:
        """What no menu is worth more than."""
        separately = self._pricing.bound(prices, tolerance)
        if self._pricing.few or not self._merged.few:
            return separately
        return min(separately, self._merged.bound(self._dearest(prices), tolerance))

    def _dearest(self, prices: Array) -> Array:
        return np.array([prices[part].max() for part in self._parts])
