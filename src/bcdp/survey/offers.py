"""Menus of one jointly shaped question, offered to the design (docs/theory.md, section 5).

Shapes are sought over up to four two-valued features of mixed sensitivity, up to exchange within a class. What stays
best between two sets of prices is tried first; everything is tried again before the search gives up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from bcdp.notions import ldp_limit
from bcdp.survey.pricing import FeatureClass, Profile, Question
from bcdp.survey.shapes import Demand, Shape, best_shape

Array = npt.NDArray[np.float64]

LARGEST_GROUP = 4
_FAVOURITES = 5
_MOST_CLASSES = 4


class ShapeOffers:
    """The best jointly shaped question for any prices; remembers good starts between calls."""

    def __init__(self, classes: tuple[FeatureClass, ...], epsilon: float, outside: float = np.inf) -> None:
        """`outside` is the largest LDP level that the features of no class can live with."""
        self._classes = classes
        self._two_valued = [j for j, c in enumerate(classes) if c.kind.name != "categorical"]
        self._epsilon = min(epsilon, outside)
        self._limits = [max(float(ldp_limit(c.delta, c.q)), c.delta) for c in classes]
        self._known: dict[tuple[int, ...], Shape] = {}

    def __call__(self, prices: Array) -> list[Profile]:
        """The most valuable menu found, if there is any."""
        favourites = sorted(self._known, key=lambda group: -self._worth(group, prices))[:_FAVOURITES]
        found = self._best(favourites, prices)
        told = self.value(found, prices)
        if not favourites or told <= max(self._worth(group, prices) for group in favourites) * 1.001:
            found = max(found, self._best(self.groups(prices), prices), key=lambda p: self.value(p, prices))
        return [found] if found else []

    def groups(self, prices: Array, largest: int = LARGEST_GROUP) -> Iterable[tuple[int, ...]]:
        """Groups of classes worth trying: the dearest few classes, each as often as it has members."""
        dearest = sorted(self._two_valued, key=lambda j: -prices[j])[:_MOST_CLASSES]
        for size in range(2, largest + 1):
            for group in itertools.combinations_with_replacement(sorted(dearest), size):
                if all(group.count(j) <= len(self._classes[j].members) for j in group):
                    yield group

    def _best(self, groups: Iterable[tuple[int, ...]], prices: Array) -> Profile:
        best: Profile = ()
        for group in groups:
            shape = self.shape(group, prices)
            self._known[group] = shape
            offer = (Question(group, self.total(group), shape),)
            best = max(best, offer, key=lambda profile: self.value(profile, prices))
        return best

    def shape(self, group: tuple[int, ...], prices: Array) -> Shape:
        """The best shape for a group of classes, from several starts."""
        members = [self._classes[j] for j in group]
        own = prices[list(group)]
        return best_shape(
            own / own.max(),
            tuple(Demand(c.delta, c.q, c.shared) for c in members),
            self.total(group),
            self._starts(group),
        )

    def total(self, group: tuple[int, ...]) -> float:
        """The largest LDP level of a question about this group: what the demands of the features left out allow."""
        left = [limit for j, limit in enumerate(self._limits) if group.count(j) < len(self._classes[j].members)]
        return min(self._epsilon, *left) if left else self._epsilon

    def _starts(self, group: tuple[int, ...]) -> tuple[tuple[float, ...], ...]:
        even = tuple(float(np.tanh(min(self._classes[j].delta, 2.0) / 2)) for j in group)
        free = [place for place, j in enumerate(group) if self._classes[j].delta >= self.total(group)]
        first = tuple(mean if place not in free[1:] else mean / 10 for place, mean in enumerate(even))
        shy = tuple(mean if place not in free else mean / 50 for place, mean in enumerate(even))
        known = (self._known[group].means,) if group in self._known else ()
        return tuple(dict.fromkeys((*known, even, first, shy)))

    def _worth(self, group: tuple[int, ...], prices: Array) -> float:
        return float(prices[list(group)] @ np.array(self._known[group].means) ** 2)

    def value(self, profile: Profile, prices: Array) -> float:
        """What a menu of one shaped question is worth."""
        return sum(
            float(prices[list(q.classes)] @ np.array(q.shape.means) ** 2) for q in profile if q.shape is not None
        )
