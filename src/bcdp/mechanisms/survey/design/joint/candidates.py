"""Menus of one jointly shaped question, offered to the design (theory.md, section 5).

Groups of features are grown: from the most promising ones, whichever adds most is added next. Where there are few
groups of the largest size, all are tried. What stays best between two sets of prices is tried first.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.design.classes.feature_classes import ClassQuestion, FeatureClass, Profile
from bcdp.mechanisms.survey.design.information import Kind
from bcdp.mechanisms.survey.design.joint.subset_families import SubsetFamily, places
from bcdp.mechanisms.survey.design.joint.tables import PROGRAMS, Interactions, Shape, best_shape, climb, kept_exactly
from bcdp.mechanisms.survey.design.linear_programs import Demand, Solver
from bcdp.randomizers.categorical import subset_moment

Array = npt.NDArray[np.float64]
Group = tuple[int, ...]  # classes in rising order, each as often as the question asks features of it

LARGEST_GROUP = 6
_MOST_WEIGHTS = 4096  # of a table: six two-valued features
_ROOM = _MOST_WEIGHTS // 16  # for one of them, so that two two-valued ones may join
_FEW_CLASSES = 12
_MOST_GROUPS = 12  # of the largest size, to try them all
_FAVOURITES = 5
_OFFERED = 3
_TRIED_INTERACTIONS = 8  # that are wanted: so many of the dearest, and of those that reveal most
_MOST_CELL_WEIGHTS = 2**16  # of a table whose cells are wanted, whose subsets may have any size
_MOST_FAMILIES = 12  # of three features, smallest tables first
_SUBSETS = 3  # sizes of subsets that are tried again at other prices
_UNEVEN = 2  # starts by chance
_ANYWHERE = 12  # likewise, where the table of three features is wanted
_FAR = 0.3  # how far from nothing these are
MANY_INTERACTIONS = 60  # that are wanted, beyond which all are looked at together
_RESHAPED = 20
_WORTHWHILE = 1e-4  # of a group's value: what one more feature has to add


class Growth(NamedTuple):
    """How widely groups of features are sought."""

    seeds: int  # of the dearest features, and of those that reveal most
    candidates: int  # likewise, classes that a group may grow by
    still_tried: int  # of many candidates, when a group has grown


_USUAL = (Growth(seeds=2, candidates=15, still_tried=12),)
_OF_MANY_CLASSES = (Growth(seeds=15, candidates=15, still_tried=6), Growth(seeds=2, candidates=15, still_tried=30))


class ShapeOffers:
    """The best jointly shaped question for any prices; remembers good starts between calls."""

    def __init__(
        self,
        classes: tuple[FeatureClass, ...],
        epsilon: float,
        outside: float = np.inf,
        growths: tuple[Growth, ...] = (),
    ) -> None:
        """`outside` is the largest LDP level that the features of no class can live with.

        Classes of features come first, then those of their interactions; all others are not looked at. Of the
        `growths`, the next is tried where one finds nothing; if none are named, those that are worth the time.
        """
        self._prices: dict[Group, list[int]] = {}  # of two or three features together: the classes that want it
        for number, c in enumerate(classes):
            if c.interaction:
                self._prices.setdefault(c.interaction, []).append(number)
        classes = tuple(c for c in classes if c.is_feature)
        self._classes = classes
        self._epsilon = min(epsilon, outside)
        self._limits = [c.limit for c in classes]
        self._places = [_place(c.kind, min(c.delta, epsilon)) for c in classes]
        self._hints = [math.tanh(min(c.delta, 2.0) / 2) for c in classes]  # what a feature asked alone would reveal
        self._tried: dict[Group, list[tuple[SubsetFamily, ...]]] = {}  # subsets worth trying again
        few, features = len(classes) <= _FEW_CLASSES, sum(len(c.members) for c in classes)
        limited = not few and bool(self._prices)  # joint questions about interactions take longer to shape
        self._growths = growths or (_USUAL if few or limited else _OF_MANY_CLASSES)
        self._largest = min(features, LARGEST_GROUP - 1 if limited else LARGEST_GROUP)
        everything = list(islice(self.groups(self._largest), _MOST_GROUPS + 1)) if few and features > 1 else []
        self._all = everything if len(everything) <= _MOST_GROUPS else []
        self._known: dict[Group, Shape] = {}
        self._solver = Solver()

    def __call__(self, prices: Array, enough: float) -> list[Profile]:
        """The most valuable menus, best first, of those worth more than `enough`."""
        if len(self._prices) > MANY_INTERACTIONS:
            return self._many(prices, enough)
        best = sorted(self._known, key=lambda group: -self._worth(group, prices))[:_FAVOURITES]
        self._seek(best, prices)
        for growth in self._growths:
            if any(self._worth(group, prices) > enough for group in best):
                break
            best = sorted({*best, *self._grown(prices, growth), *self._all, *self._dearest(prices)})
            self._seek(best, prices)
        best = sorted(best, key=lambda group: -self._worth(group, prices))[:_OFFERED]
        return [(ClassQuestion(g, self.total(g), self._known[g]),) for g in best if self._worth(g, prices) > enough]

    def _many(self, prices: Array, enough: float) -> list[Profile]:
        """Likewise where hundreds of tables are wanted: all that are worth it, and every one is looked at."""
        if not self._known:
            self._seek(self._prices, prices)
        worth = {group: self._worth(group, prices) for group in self._known}
        best = sorted((group for group in worth if worth[group] > enough), key=lambda group: -worth[group])
        if best:  # known from other prices: those worth most are shaped for these
            self._seek(best[:_RESHAPED], prices)
        else:
            best = list(dict.fromkeys((*self._prices, *self._grown(prices, self._growths[0]), *self._known)))
            self._seek(best, prices)
        good = sorted((g for g in best if self._worth(g, prices) > enough), key=lambda g: -self._worth(g, prices))
        return [(ClassQuestion(g, self.total(g), self._known[g]),) for g in good]

    def _worth(self, group: Group, prices: Array) -> float:
        return float(self._priced(group, prices) @ self._known[group].information_of(self._interactions(group)))

    def _interactions(self, group: Group) -> Interactions:
        """The places of a group of which it is wanted what their features have together."""
        return tuple(
            positions
            for size in sorted(set(map(len, self._prices)))
            for positions in itertools.combinations(range(len(group)), size)
            if tuple(group[i] for i in positions) in self._prices
        )

    def _priced(self, group: Group, prices: Array) -> Array:
        """The prices of a group's features, and of its interactions."""
        shared = [
            prices[self._prices[tuple(group[i] for i in positions)]].sum() for positions in self._interactions(group)
        ]
        return np.append(prices[list(group)], shared)

    def _dearest(self, prices: Array) -> list[Group]:
        """Some of the groups whose interaction is wanted: the dearest, and those that would reveal most."""
        price = {group: float(prices[wanted].sum()) for group, wanted in self._prices.items()}
        telling = sorted(price, key=lambda g: -price[g] * math.prod(self._hints[j] for j in g))
        dearest = sorted(price, key=lambda g: -price[g])
        return list(dict.fromkeys((*telling[:_TRIED_INTERACTIONS], *dearest[:_TRIED_INTERACTIONS])))

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
        """Whether there are so many features, and few enough weights in their table.

        Of a number known by its ranges shapes have straight lines between two inputs, and no room for no answer.
        """
        weights = math.prod(self._places[j].weights for j in group)
        names = [self._classes[j].members[0].features for j in set(group)]  # a number may have two classes
        once = len(set(names)) == len(names)
        enough = all(group.count(j) <= len(self._classes[j].members) for j in set(group))
        lines = all(self._classes[j].kind.values == 2 for j in group if self._classes[j].parts)
        return once and enough and lines and weights <= _MOST_WEIGHTS

    def _grown(self, prices: Array, growth: Growth) -> set[Group]:
        """Groups that no feature would improve, grown from the most promising features."""
        dearest = sorted(range(len(self._classes)), key=lambda j: -prices[j])
        telling = sorted(range(len(self._classes)), key=lambda j: -prices[j] * self._hints[j] ** 2)
        able = sorted({*dearest[: growth.candidates], *telling[: growth.candidates]})
        seeds = dict.fromkeys((*dearest[: growth.seeds], *telling[: growth.seeds]))
        grown = (self._grow(seed, able, prices, growth.still_tried) for seed in seeds)
        return {group for group in grown if len(group) > 1}

    def _grow(self, seed: int, able: list[int], prices: Array, still_tried: int) -> Group:
        """The group from one feature on, always with the next that adds most."""
        group: Group = (seed,)
        hits: tuple[float, ...] = (self._hints[seed],)
        value = 0.0
        while len(group) < self._largest:
            larger = []
            for j in able:
                position = bisect(group, j)
                grown = (*group[:position], j, *group[position:])
                if self._fits(grown):
                    start = (*hits[:position], self._hints[j] / 2, *hits[position:])
                    interactions = self._interactions(grown)
                    demands, total, begun = self._demands(grown), self.total(grown), (_extended(start, interactions),)
                    climbed = climb(
                        self._priced(grown, prices),
                        demands,
                        total,
                        starts=begun,
                        programs=1,
                        interactions=interactions,
                        solver=self._solver,
                    )
                    larger.append((climbed.value, grown, climbed.means[: len(grown)]))
            best = max(larger, default=(0.0, group, hits))
            if best[0] <= value * (1 + _WORTHWHILE):
                break
            if len(able) > _FEW_CLASSES:  # what adds little to a small group adds little to a larger one
                adding = sorted(larger, reverse=True)[:still_tried]
                able = sorted({j for _, grown, _ in adding for j in able if grown.count(j) > group.count(j)})
            value, group, hits = best
        return group

    def _demands(self, group: Group, families: tuple[SubsetFamily, ...] = ()) -> tuple[Demand, ...]:
        members = [self._classes[j] for j in group]
        return tuple(
            Demand(c.delta, c.q, c.shared, place=family, parts=c.parts, odds=c.odds, second=c.second)
            for c, family in zip(members, families or [self._places[j] for j in group], strict=True)
        )

    def shape(self, group: Group, prices: Array) -> Shape:
        """The best shape for a group of classes, from several starts; over all subsets if its own table is wanted."""
        own, interactions = self._priced(group, prices), self._interactions(group)
        own, total, starts = own / own.max(), self.total(group), self._starts(group)
        if group not in self._prices:
            return best_shape(own, self._demands(group), total, starts, interactions, self._solver)
        tried = self._tried.get(group) or self._families(group)
        climbs = [
            climb(
                own,
                self._demands(group, families),
                total,
                starts=starts,
                programs=PROGRAMS,
                interactions=interactions,
                solver=self._solver,
            )
            for families in tried
        ]
        order = sorted(range(len(tried)), key=lambda number: -climbs[number].value)
        self._tried[group] = [tried[number] for number in (order[:_SUBSETS] if len(group) == 2 else order)]
        return kept_exactly(climbs[order[0]].law.tobytes(), self._demands(group, tried[order[0]]), total)

    def _families(self, group: Group) -> list[tuple[SubsetFamily, ...]]:
        """The subsets that a table of these features may name."""
        every = [
            families
            for families in itertools.product(*(places(self._classes[j].kind) for j in group))
            if math.prod(family.weights for family in families) <= _MOST_CELL_WEIGHTS
        ]
        if len(group) == 2:
            return every
        return sorted(every, key=lambda families: math.prod(family.weights for family in families))[:_MOST_FAMILIES]

    def total(self, group: Group) -> float:
        """The largest LDP level of a question about this group: what the demands of the features left out allow."""
        left = [limit for j, limit in enumerate(self._limits) if group.count(j) < len(self._classes[j].members)]
        return min(self._epsilon, *left) if left else self._epsilon

    def _starts(self, group: Group) -> tuple[tuple[float, ...], ...]:
        even = tuple(self._hints[j] for j in group)
        free = [position for position, j in enumerate(group) if self._classes[j].delta >= self.total(group)]
        first = tuple(mean if position not in free[1:] else mean / 10 for position, mean in enumerate(even))
        shy = tuple(mean if position not in free else mean / 50 for position, mean in enumerate(even))
        known = (tuple(self._known[group].means.tolist()),) if group in self._known else ()
        interactions = self._interactions(group)
        if not interactions:
            return tuple(dict.fromkeys((*known, even, first, shy)))
        silent = tuple(mean / 50 for mean in even)
        hinted = [
            (*silent, *(self._hints[group[positions[0]]] for positions in interactions)),
            (*even, *(-0.1 for _ in interactions)),
        ]
        uneven = self._uneven(group) if len(group) > 2 else ()
        starts = (*(_extended(means, interactions) for means in (*known, even, first, shy)), *hinted, *uneven)
        return tuple(dict.fromkeys(starts))

    def _uneven(self, group: Group) -> Iterator[tuple[float, ...]]:
        """Starts that treat features of a class differently, which no program would begin to do by itself."""
        rng = np.random.default_rng(group)
        even = np.array(_extended(tuple(self._hints[j] for j in group), self._interactions(group)))
        for _ in range(_UNEVEN):
            yield tuple((even * rng.normal(0.5, 1, len(even))).tolist())
        for _ in range(_ANYWHERE if group in self._prices else 0):
            yield tuple(rng.normal(0, _FAR, len(even)).tolist())


def _extended(means: tuple[float, ...], interactions: Interactions) -> tuple[float, ...]:
    """Starting means with those of interactions, as if answers about different features were independent."""
    return (*means, *(math.prod(means[i] for i in positions) for positions in interactions))


def _place(kind: Kind, budget: float) -> SubsetFamily:
    """The subset that an answer about the feature alone would best name, of those that leave room for others."""
    able = [
        family
        for size in range(1, min(kind.values, 64) // 2 + 1)
        if (family := SubsetFamily(kind, size)).weights <= _ROOM
    ]
    return min(
        able or [SubsetFamily(kind, 1)], key=lambda p: float(subset_moment(kind.values, p.subset, np.array(budget)))
    )
