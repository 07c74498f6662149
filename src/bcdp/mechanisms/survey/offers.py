"""Menus of one jointly shaped question, offered to the design (docs/theory.md, section 5).

Groups of features are grown: from the most promising ones, whichever adds most is added next. Where there are few
groups of the largest size, all are tried. What stays best between two sets of prices is tried first.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.kinds import Kind
from bcdp.mechanisms.survey.profiles import FeatureClass, Profile, Question
from bcdp.mechanisms.survey.shapes import Demand, Place, Shape, best_shape, climb
from bcdp.notions import ldp_limit
from bcdp.tables.categorical import subset_moment

Array = npt.NDArray[np.float64]
Group = tuple[int, ...]  # classes in rising order, each as often as the question asks features of it

LARGEST_GROUP = 6
_MOST_WEIGHTS = 4096  # of a table: six two-valued features
_ROOM = _MOST_WEIGHTS // 16  # for one of them, so that two two-valued ones may join
_FEW_CLASSES = 12
_MOST_GROUPS = 12  # of the largest size, to try them all
_FAVOURITES = 5
_OFFERED = 3
_SEEDS = 2  # of the dearest features, and of those that tell most
_CANDIDATES = 15  # likewise, classes that a group may grow by
_WORTHWHILE = 1e-4  # of a group's value: what one more feature has to add


class ShapeOffers:
    """The best jointly shaped question for any prices; remembers good starts between calls."""

    def __init__(self, classes: tuple[FeatureClass, ...], epsilon: float, outside: float = np.inf) -> None:
        """`outside` is the largest LDP level that the features of no class can live with."""
        self._classes = classes
        self._epsilon = min(epsilon, outside)
        self._limits = [max(float(ldp_limit(c.delta, c.q, c.odds)), c.delta) for c in classes]
        self._places = [_place(c.kind, min(c.delta, epsilon)) for c in classes]
        self._hints = [math.tanh(min(c.delta, 2.0) / 2) for c in classes]  # what a feature asked alone would tell
        few, features = len(classes) <= _FEW_CLASSES, sum(len(c.members) for c in classes)
        self._largest = min(features, LARGEST_GROUP if few else LARGEST_GROUP - 1)
        everything = list(islice(self.groups(self._largest), _MOST_GROUPS + 1)) if few and features > 1 else []
        self._all = everything if len(everything) <= _MOST_GROUPS else []
        self._known: dict[Group, Shape] = {}

    def __call__(self, prices: Array, enough: float) -> list[Profile]:
        """The most valuable menus found, best first, of those worth more than `enough`."""
        best = sorted(self._known, key=lambda group: -self._worth(group, prices))[:_FAVOURITES]
        self._seek(best, prices)
        if not any(self._worth(group, prices) > enough for group in best):
            best = sorted({*best, *self._grown(prices), *self._all})
            self._seek(best, prices)
        best = sorted(best, key=lambda group: -self._worth(group, prices))[:_OFFERED]
        return [(Question(g, self.total(g), self._known[g]),) for g in best if self._worth(g, prices) > enough]

    def _worth(self, group: Group, prices: Array) -> float:
        return float(prices[list(group)] @ self._known[group].information)

    def _seek(self, groups: Iterable[Group], prices: Array) -> None:
        for group in groups:
            self._known[group] = self.shape(group, prices)

    def groups(self, size: int, begun: Group = ()) -> Iterator[Group]:
        """All groups of so many features, up to exchange within a class; those that begin in the given way."""
        if len(begun) == size:
            yield begun
            return
        for j in range(begun[-1] if begun else 0, len(self._classes)):
            if self._fits((*begun, j)):
                yield from self.groups(size, (*begun, j))

    def _fits(self, group: Group) -> bool:
        """Whether there are so many features, and few enough weights in their table."""
        weights = math.prod(self._places[j].weights for j in group)
        return weights <= _MOST_WEIGHTS and all(group.count(j) <= len(self._classes[j].members) for j in set(group))

    def _grown(self, prices: Array) -> set[Group]:
        """Groups that no feature would improve, grown from the most promising features."""
        dearest = sorted(range(len(self._classes)), key=lambda j: -prices[j])
        telling = sorted(range(len(self._classes)), key=lambda j: -prices[j] * self._hints[j] ** 2)
        able = sorted({*dearest[:_CANDIDATES], *telling[:_CANDIDATES]})
        seeds = dict.fromkeys((*dearest[:_SEEDS], *telling[:_SEEDS]))
        return {group for seed in seeds if len(group := self._grow(seed, able, prices)) > 1}

    def _grow(self, seed: int, able: list[int], prices: Array) -> Group:
        """The group from one feature on, always with the next that adds most."""
        group: Group = (seed,)
        means: tuple[float, ...] = (self._hints[seed],)
        value = 0.0
        while len(group) < self._largest:
            larger = []
            for j in able:
                place = bisect(group, j)
                grown = (*group[:place], j, *group[place:])
                if self._fits(grown):
                    start = (*means[:place], self._hints[j] / 2, *means[place:])
                    found = climb(prices[list(grown)], self._demands(grown), self.total(grown), (start,), programs=1)
                    larger.append((found.value, grown, found.means))
            best = max(larger, default=(0.0, group, means))
            if best[0] <= value * (1 + _WORTHWHILE):
                break
            value, group, means = best
        return group

    def _demands(self, group: Group) -> tuple[Demand, ...]:
        members = [self._classes[j] for j in group]
        return tuple(
            Demand(c.delta, c.q, c.shared, self._places[j], c.parts, c.odds)
            for c, j in zip(members, group, strict=True)
        )

    def shape(self, group: Group, prices: Array) -> Shape:
        """The best shape for a group of classes, from several starts."""
        own = prices[list(group)]
        return best_shape(own / own.max(), self._demands(group), self.total(group), self._starts(group))

    def total(self, group: Group) -> float:
        """The largest LDP level of a question about this group: what the demands of the features left out allow."""
        left = [limit for j, limit in enumerate(self._limits) if group.count(j) < len(self._classes[j].members)]
        return min(self._epsilon, *left) if left else self._epsilon

    def _starts(self, group: Group) -> tuple[tuple[float, ...], ...]:
        even = tuple(self._hints[j] for j in group)
        free = [place for place, j in enumerate(group) if self._classes[j].delta >= self.total(group)]
        first = tuple(mean if place not in free[1:] else mean / 10 for place, mean in enumerate(even))
        shy = tuple(mean if place not in free else mean / 50 for place, mean in enumerate(even))
        known = (tuple(self._known[group].means.tolist()),) if group in self._known else ()
        return tuple(dict.fromkeys((*known, even, first, shy)))


def _place(kind: Kind, budget: float) -> Place:
    """The subset that an answer about the feature alone would best name, of those that leave room for others."""
    able = [place for size in range(1, min(kind.values, 64) // 2 + 1) if (place := Place(kind, size)).weights <= _ROOM]
    return min(able or [Place(kind, 1)], key=lambda p: float(subset_moment(kind.values, p.subset, np.array(budget))))
