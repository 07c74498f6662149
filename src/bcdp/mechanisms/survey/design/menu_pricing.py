"""The best menu at given prices, with a bound that no menu of the class exceeds (theory.md, section 4.1).

The class: a menu of total budget `T` asks some features at their cap, at most one below its cap, and spends what is
left in equal parts on further questions, each about one feature or jointly about several. Cells of (counts at the cap,
total, part of the cap) are halved until none can hold anything better than the best so far.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.mechanisms.survey.design.classes.feature_classes import NEGLIGIBLE, ClassQuestion, FeatureClass, Profile
from bcdp.mechanisms.survey.design.information import JOINT_VALUES, Kind
from bcdp.mechanisms.survey.design.search_boxes import Boxes
from bcdp.notions import budgets_from

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

ANSWER_BITS = 16.0  # a menu's answers stay few enough to be counted one by one
_COUNT_VECTORS = 3000  # beyond this, menus are searched by density and bounded by the Lagrangian dual
_WORK = 4_000_000  # boxes times ways to spend the rest: beyond this a search by boxes stops
_KNAPSACK = 128  # parts of the total in which the costs of features are counted, where there are many classes


@dataclass(frozen=True)
class Priced:
    """The best menu of the search, what it is worth, and what no menu of the class exceeds."""

    profile: Profile
    value: float
    bound: float


def caps(total: Array, c: FeatureClass) -> Array:
    """The largest budget of a feature in menus of the given totals; negative infinity where the menu breaks `delta`.

    Of two demands the stricter one counts: as each of them, the cap rises up to `delta` and then falls.
    """
    first = _cap(total, c.delta, c.q, c.odds, c.limit)
    return first if c.second is None else np.minimum(first, _cap(total, *c.second, c.limit))


def _cap(total: Array, delta: float, q: float, odds: float, limit: float) -> Array:
    if odds < math.inf:
        return np.where(total > limit, -np.inf, budgets_from(delta, np.minimum(total, limit), q, odds))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = (math.exp(delta) - q * np.exp(total)) / (1 - q) if q < 1 else np.zeros_like(total)
        shrunk = np.log(np.maximum(ratio, 0.0))
    return np.where(delta >= total, total, shrunk)


def _most_large(total: float) -> int:
    """How many questions may share what is left: below a budget of about 1.2 each, fewer questions reveal more."""
    return max(1, int(total / 1.2))


@dataclass(frozen=True)
class _Rest:
    """A way to spend what is left: `questions` of equal budget, each about some features of each of the pools."""

    pools: tuple[tuple[int, ...], ...]  # classes that are equally informative in such a question, by falling price
    counts: tuple[int, ...]  # of features of each pool in one question
    questions: int
    combinations: int = 0  # of the values in one question, if it is joint

    @property
    def single(self) -> bool:
        """Whether it is one question about one feature."""
        return not self.combinations and self.questions == 1

    def information(self, kind: Kind, budget: Array) -> Array:
        """What one of the questions reveals about a feature of this kind."""
        return kind.joint_information(self.combinations, budget) if self.combinations else kind.information(budget)


class MenuPricing:
    """The menus that may be asked, for a fixed set of classes; `best(prices)` finds the most valuable one."""

    def __init__(self, classes: tuple[FeatureClass, ...], total: float, groups: bool = True, work: int = _WORK) -> None:
        """`total` is the largest budget of a menu that asks several features; `work` ends a search by boxes."""
        self.classes, self.total, self.groups, self._most_work = classes, total, groups, work
        self.sizes = np.array([len(c.members) for c in classes])
        self.bits = np.array([c.kind.bits for c in classes])
        limits = [min(len(c.members), int(ANSWER_BITS / c.kind.bits)) * (c.delta < self.total) for c in classes]
        vectors, partial = math.prod(limit + 1 for limit in limits), sum(limit > 0 for limit in limits)
        self._work = len(self._rests(np.ones(len(classes))))
        self.few = vectors <= _COUNT_VECTORS and 8 * vectors * (1 + partial) * self._work <= work
        self._counts = self._all_counts(limits) if self.few else np.zeros((1, len(classes)), dtype=np.int64)

    def _all_counts(self, limits: list[int]) -> Integers:
        vectors: Integers = np.array(list(itertools.product(*(range(limit + 1) for limit in limits))), dtype=np.int64)
        return np.asarray(vectors[vectors @ self.bits <= ANSWER_BITS])

    def best(self, prices: Array, tolerance: float) -> Priced:
        """The most valuable menu; within `tolerance` of its bound where the class allows an exact search."""
        return self._or_alone(self._several(prices, tolerance), prices)

    def bound(self, prices: Array, tolerance: float) -> float:
        """What no menu of the class exceeds."""
        priced = self._several(prices, tolerance)
        if not self.few:
            priced = Priced(priced.profile, priced.value, self._dual_bound(prices, priced.value))
        return self._or_alone(priced, prices).bound

    def _or_alone(self, priced: Priced, prices: Array) -> Priced:
        """The menu of the search or, if that is worth more, a single question at the budget that pairs allow."""
        alone = [
            price * float(c.kind.information(np.array([c.alone]))[0])
            for c, price in zip(self.classes, prices, strict=True)
        ]
        top = int(np.argmax(alone))
        if alone[top] > priced.value:
            priced = Priced(
                (ClassQuestion((top,), self.classes[top].alone),), alone[top], max(priced.bound, alone[top])
            )
        return priced

    def _several(self, prices: Array, tolerance: float) -> Priced:
        """The most valuable menu that may ask several features."""
        if self.total < NEGLIGIBLE:
            return Priced((), 0.0, 0.0)
        return self._search(prices, tolerance) if self.few else self._densest(prices)

    # -- the search -------------------------------------------------------------------------------------------------

    def _search(self, prices: Array, tolerance: float) -> Priced:
        rests = self._rests(prices)
        partial = [j for j, c in enumerate(self.classes) if c.delta < self.total]
        boxes = self._first_boxes(partial)
        best, best_point = 0.0, (boxes.corner().take(np.array([0])), 0)
        while True:
            for points in (boxes.middle(), boxes.corner()):
                value, rest = self._value(points, prices, rests)
                top = int(value.argmax())
                if value[top] > best:
                    best, best_point = float(value[top]), (points.take(np.array([top])), int(rest[top]))
            bounds, _ = self._value(boxes, prices, rests)
            hopeful = np.flatnonzero(bounds > best * (1 + tolerance))
            if len(hopeful) == 0:
                return Priced(self._profile(*best_point, rests), best, best * (1 + tolerance))
            if 2 * len(hopeful) * self._work > self._most_work or float((boxes.high - boxes.low).max()) < 1e-9:
                return Priced(self._profile(*best_point, rests), best, float(bounds.max()))
            boxes = boxes.take(hopeful).halves()

    def _first_boxes(self, partials: list[int]) -> Boxes:
        """Every count vector, with nobody or somebody asked below the cap, over eight ranges of the total."""
        edges = np.linspace(0, self.total, 9)
        pieces = []
        for partial in [-1, *partials]:
            able = self._counts if partial < 0 else self._counts[self._counts[:, partial] < self.sizes[partial]]
            rows, ranges = np.indices((len(able), 8)).reshape(2, -1)
            part = np.zeros(len(rows))
            who = np.full(len(rows), partial)
            pieces.append(Boxes(able[rows], who, edges[ranges], edges[ranges + 1], part, part + (partial >= 0)))
        return Boxes.joined(pieces)

    def _rests(self, prices: Array) -> list[_Rest]:
        rests = [_Rest(((c,),), (1,), 1) for c in range(len(self.classes))]
        by_kind: dict[Kind, list[int]] = {}  # questions about single features share one curve of information
        by_values: dict[Kind, list[int]] = {}  # and so do joint ones, in which a number is rounded to two values
        for c in np.argsort(-prices, kind="stable"):
            kind = self.classes[c].kind
            by_kind.setdefault(kind, []).append(int(c))
            if self.classes[c].is_feature:
                by_values.setdefault(Kind("binary") if kind.name == "numeric" else kind, []).append(int(c))
        numbers = range(1, _most_large(self.total) + 1)
        for kind, pool in by_kind.items():
            most = min(int(self.sizes[pool].sum()), int(ANSWER_BITS / kind.bits))
            rests += [_Rest((tuple(pool),), (1,), questions) for questions in numbers[1:] if questions <= most]
        for counts, combinations in self._groups(by_values) if self.groups else ():
            asked = [(tuple(by_values[kind]), count) for kind, count in zip(by_values, counts, strict=True) if count]
            most = min(int(self.sizes[list(pool)].sum()) // count for pool, count in asked)
            pools, each = zip(*asked, strict=True)
            for questions in numbers:
                if questions <= most and questions * math.log2(combinations) <= ANSWER_BITS:
                    rests.append(_Rest(pools, each, questions, combinations))
        return rests

    def _groups(self, pools: dict[Kind, list[int]]) -> Iterator[tuple[tuple[int, ...], int]]:
        """How many features of each pool a joint question may ask, and the number of their combinations of values."""
        largest = min(JOINT_VALUES, 2 * math.exp(self.total))
        groups: list[tuple[tuple[int, ...], int]] = [((), 1)]
        for kind, pool in pools.items():
            most = int(self.sizes[pool].sum())
            groups = [
                ((*counts, count), combinations * kind.values**count)
                for counts, combinations in groups
                for count in range(most + 1)
                if combinations * kind.values**count <= largest
            ]
        return ((counts, combinations) for counts, combinations in groups if sum(counts) > 1)

    def _value(self, boxes: Boxes, prices: Array, rests: list[_Rest]) -> tuple[Array, Integers]:
        """What no point of each cell exceeds, and by which rest; exactly what it is worth where the cell is a point."""
        cap_low, cap_high = self._cap_range(boxes)
        value = np.zeros(len(boxes))
        for j, (c, price) in enumerate(zip(self.classes, prices, strict=True)):
            counted = np.flatnonzero(boxes.counts[:, j])
            value[counted] += boxes.counts[counted, j] * price * c.kind.information(cap_high[counted, j])
            part = np.flatnonzero(boxes.partial == j)
            value[part] += price * c.kind.information(boxes.part_high[part] * cap_high[part, j])
        rows = np.arange(len(boxes))
        below = np.where(boxes.partial >= 0, 1.0, 0.0)
        cost_low = (boxes.counts * cap_low).sum(axis=1) + below * boxes.part_low * cap_low[rows, boxes.partial]
        cost_high = (boxes.counts * cap_high).sum(axis=1) + below * boxes.part_high * cap_high[rows, boxes.partial]
        left_low, left_high = boxes.low - cost_high, boxes.high - cost_low
        taken = boxes.counts.copy()
        taken[rows, boxes.partial] += boxes.partial >= 0
        most, chosen = np.full(len(boxes), -np.inf), np.zeros(len(boxes), dtype=np.int64)
        for number, rest in enumerate(rests):
            extra = self._rest_value(rest, left_low, left_high, taken, cap_high, prices)
            most, chosen = np.maximum(most, extra), np.where(extra > most, number, chosen)
        total = value + np.maximum(most, 0.0)
        total[left_high < -1e-12] = -np.inf
        return total, chosen

    def _cap_range(self, boxes: Boxes) -> tuple[Array, Array]:
        """The smallest and the largest cap of each class over each cell's range of totals."""
        lows, highs = [], []
        for c in self.classes:
            at_low = np.maximum(caps(boxes.low, c), 0.0)
            at_high = np.maximum(caps(boxes.high, c), 0.0)
            turns = (boxes.low <= c.delta) & (c.delta <= boxes.high)  # the cap rises with T up to delta, then falls
            lows.append(np.minimum(at_low, at_high))
            highs.append(np.where(turns, c.delta, np.maximum(at_low, at_high)))
        return np.stack(lows, axis=1), np.stack(highs, axis=1)

    def _rest_value(
        self, rest: _Rest, left_low: Array, left_high: Array, taken: Integers, cap: Array, prices: Array
    ) -> Array:
        budget = np.maximum(left_high, 0.0) / rest.questions
        if rest.single:  # may leave some of the total unspent
            c = rest.pools[0][0]
            gain = prices[c] * self.classes[c].kind.information(np.minimum(budget, cap[:, c]))
            return np.where(taken[:, c] < self.sizes[c], gain, -np.inf)
        # whoever may fit anywhere in the cell is valued at the largest budget: the dearest first is then a bound
        value = np.zeros(len(taken))
        for pool, count in zip(rest.pools, rest.counts, strict=True):
            gain = rest.information(self.classes[pool[0]].kind, budget)
            wanted = np.full(len(taken), count * rest.questions)
            for c in pool:
                fits = cap[:, c] >= left_low / rest.questions - 1e-12
                use = np.minimum(wanted, np.where(fits, self.sizes[c] - taken[:, c], 0))
                value, wanted = value + use * prices[c] * gain, wanted - use
            value = np.where(wanted == 0, value, -np.inf)
        return value

    def _profile(self, point: Boxes, chosen: int, rests: list[_Rest]) -> Profile:
        cap, counts, partial = self._cap_range(point)[0][0], point.counts[0], int(point.partial[0])
        questions = [ClassQuestion((c,), float(cap[c])) for c in range(len(cap)) for _ in range(counts[c])]
        if partial >= 0:
            questions.append(ClassQuestion((partial,), float(point.part_high[0] * cap[partial])))
        rest = rests[chosen]
        budget = (float(point.high[0]) - sum(question.budget for question in questions)) / rest.questions
        asked: list[list[int]] = [[] for _ in range(rest.questions)]
        for pool, count in zip(rest.pools, rest.counts, strict=True):
            able = [c for c in pool if rest.single or cap[c] >= budget - 1e-12]
            members = [c for c in able for _ in range(self.sizes[c] - counts[c] - (c == partial))]
            for number, group in enumerate(asked):
                group += members[number * count : (number + 1) * count]
        questions += [
            ClassQuestion(tuple(group), min(budget, *(float(cap[c]) for c in group))) for group in asked if group
        ]
        return tuple(question for question in questions if question.budget > NEGLIGIBLE)

    # -- many classes -----------------------------------------------------------------------------------------------

    def _densest(self, prices: Array) -> Priced:
        """The most valuable menu where there are too many to list: the densest features at their caps, and a rest."""
        rests = self._rests(prices)
        low, high, best = 0.0, self.total, Priced((), 0.0, math.inf)
        for _ in range(3):
            totals = np.linspace(low, high, 17)[1:]
            cap = np.stack([np.maximum(caps(totals, c), 0.0) for c in self.classes], axis=1)
            informations = np.stack([c.kind.information(cap[:, j]) for j, c in enumerate(self.classes)], axis=1)
            points = Boxes.joined(
                [self._packed(prices, *at) for at in zip(totals.tolist(), cap, informations, strict=True)]
            )
            value, chosen = self._value(points, prices, rests)
            top = int(value.argmax())
            if value[top] > best.value:
                profile = self._profile(points.take(np.array([top])), int(chosen[top]), rests)
                best = Priced(profile, float(value[top]), math.inf)
            step = (high - low) / 8
            low, high = max(0.0, float(points.low[top]) - step), min(self.total, float(points.low[top]) + step)
        return best

    def _packed(self, prices: Array, total: float, cap: Array, informations: Array) -> Boxes:
        """Points of one total: the most valuable features at their caps for every part of it, in steps of 1/128.

        A knapsack by dynamic programming, costs rounded up. `told`: what a feature of each class reveals at its cap.
        """
        items = [
            (j, max(1, math.ceil(cap[j] / total * _KNAPSACK)))
            for j, c in enumerate(self.classes)
            if c.delta < total and cap[j] > NEGLIGIBLE
            for _ in range(min(int(self.sizes[j]), int(ANSWER_BITS / self.bits[j])))
        ]
        value, used = np.zeros(_KNAPSACK + 1), np.zeros((len(items), _KNAPSACK + 1), dtype=bool)
        for number, (j, cost) in enumerate(items):
            with_it = np.append(np.full(cost, -np.inf), value[:-cost] + prices[j] * informations[j])[: len(value)]
            used[number] = with_it > value
            value = np.maximum(value, with_it)
        counts, left = np.zeros((len(value), len(self.classes)), dtype=np.int64), np.arange(len(value))
        for number in reversed(range(len(items))):
            j, cost = items[number]
            taken = used[number, left]
            counts[:, j] += taken
            left = left - cost * taken
        counts = np.unique(counts[counts @ self.bits <= ANSWER_BITS], axis=0)
        where = np.full(len(counts), total)
        return Boxes(counts, np.full(len(counts), -1), where, where, 0 * where, 0 * where)

    def _dual_bound(self, prices: Array, value: float) -> float:
        """The Lagrangian dual over ranges of the total: whatever the split of the budget, no menu is worth more."""
        edges = np.linspace(0, self.total, 65)
        low, high, bound, last = edges[:-1], edges[1:], value, math.inf
        while True:
            values = self._range_bounds(prices, low, high)
            hopeful = values > value * (1 + 1e-3)
            bound, worst = max(bound, float(values[~hopeful].max(initial=0.0))), float(values.max())
            if not hopeful.any() or worst > 0.998 * last:  # what is left is the price of the dual, not of the ranges
                return max(bound, worst)
            middle = (low + high)[hopeful] / 2
            low, high, last = np.append(low[hopeful], middle), np.append(middle, high[hopeful]), worst

    def _range_bounds(self, prices: Array, low: Array, high: Array) -> Array:
        """The least bound over a grid of multipliers, for each range of the total."""
        coarse = np.geomspace(1e-4, 1e2, 49) * float(prices.max())
        best = self._dual(prices, low, high, np.broadcast_to(coarse, (len(low), 49))).argmin(axis=1)
        fine = coarse[best][:, None] * np.geomspace(coarse[0] / coarse[1], coarse[1] / coarse[0], 33)
        return np.asarray(self._dual(prices, low, high, fine).min(axis=1))

    def _dual(self, prices: Array, low: Array, high: Array, multipliers: Array) -> Array:
        """`m T + sum of surpluses` for each range of the total (row) and each of its multipliers (column)."""
        cap = self._cap_range(Boxes.totals(low, high, len(self.classes)))[1]
        parts = np.linspace(0, 1, 129)
        bound = multipliers * high[:, None]
        # on a piece of its curve a question is worth at most the right end's value at the left end's cost
        for j, (c, price) in enumerate(zip(self.classes, prices, strict=True)):
            gain = price * c.kind.information(cap[:, j, None] * parts[None, 1:])
            bound += self.sizes[j] * _surplus(gain, cap[:, j, None] * parts[None, :-1], multipliers)
        budgets = high[:, None] * parts[None]
        joint = np.zeros_like(budgets[:, 1:])
        for rest in (rest for rest in self._rests(prices) if rest.combinations and rest.questions == 1):
            gain = np.zeros_like(budgets[:, 1:])
            for pool, count in zip(rest.pools, rest.counts, strict=True):
                wanted, dearest = np.full(gain.shape, count), np.zeros(gain.shape)
                for j in pool:
                    use = np.minimum(wanted, np.where(cap[:, j, None] >= budgets[:, :-1], self.sizes[j], 0))
                    dearest, wanted = dearest + use * prices[j], wanted - use
                gain += dearest * rest.information(self.classes[pool[0]].kind, budgets[:, 1:])
            joint = np.maximum(joint, gain)
        return np.asarray(bound + _most_large(self.total) * _surplus(joint, budgets[:, :-1], multipliers))


def _surplus(gain: Array, cost: Array, multipliers: Array) -> Array:
    """The largest gain less its cost in each row, for each of the row's multipliers."""
    most = [(gain - m[:, None] * cost).max(axis=1) for m in multipliers.T]
    return np.asarray(np.maximum(np.stack(most, axis=1), 0.0))
