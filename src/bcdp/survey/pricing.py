"""The best menu at given prices, with a bound that no menu of the class exceeds (docs/theory.md, section 4.1).

The class: a menu of total budget `T` asks some features at their cap, at most one below its cap, and spends what is
left in equal parts on further questions, each about one feature or jointly about several. Cells of (counts at the cap,
total, part of the cap) are halved until none can hold anything better than what was found.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from bcdp.survey.kinds import Kind
from bcdp.survey.moments import Target
from bcdp.survey.shapes import Shape

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

ANSWER_BITS = 16.0  # a menu's answers stay few enough to be counted one by one
_COUNT_VECTORS = 3000  # beyond this, menus are searched by density and bounded by the Lagrangian dual
_CELLS = 400_000
NEGLIGIBLE = 1e-4  # budgets below this are not asked: an answer would tell less than 1e-8 of a plain one


@dataclass(frozen=True)
class FeatureClass:
    """Interchangeable features, or products of features: the same kind, demand, correlation and weight.

    Products are asked alone, never beside other questions.
    """

    members: tuple[Target, ...]
    kind: Kind
    delta: float
    q: float  # of the feature against all others together
    alone: float  # the largest budget of a menu that asks nothing else, by the correlation of pairs
    weight: float
    shared: bool = False  # whether two values may be coded alike

    @property
    def joinable(self) -> bool:
        """Whether a menu may ask it beside others."""
        return isinstance(self.members[0], str)


@dataclass(frozen=True)
class Question:
    """A question of a menu in terms of classes: one feature, or several jointly, each drawn from the class named.

    A joint question is one randomized response over all combinations of values, unless it has a shape of its own.
    """

    classes: tuple[int, ...]
    budget: float
    shape: Shape | None = None


Profile = tuple[Question, ...]  # a menu up to exchange of interchangeable features


@dataclass(frozen=True)
class Priced:
    """The best menu found, what it is worth, and what no menu of the class exceeds."""

    profile: Profile
    value: float
    bound: float


def caps(total: Array, delta: float, q: float) -> Array:
    """The largest budget of a feature in menus of the given totals; negative infinity where the menu breaks `delta`."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        odds = (math.exp(delta) - q * np.exp(total)) / (1 - q) if q < 1 else np.zeros_like(total)
        shrunk = np.log(np.maximum(odds, 0.0))
    return np.where(delta >= total, total, shrunk)


def information(classes: tuple[FeatureClass, ...], profile: Profile) -> Array:
    """What one menu tells about each class, summed over its features."""
    told = np.zeros(len(classes))
    for question in profile:
        budget = np.array([question.budget])
        for place, c in enumerate(question.classes):
            if question.shape is not None:
                told[c] += question.shape.means[place] ** 2
            else:
                told[c] += float(classes[c].kind.joint_information(len(question.classes), budget)[0])
    return told


def _most_large(total: float) -> int:
    """How many questions may share what is left: below a budget of about 1.2 each, fewer questions tell more."""
    return max(1, int(total / 1.2))


@dataclass(frozen=True)
class _Rest:
    """A way to spend what is left: `questions` of equal budget, each about `group` features of one pool of classes."""

    pool: tuple[int, ...]  # by falling price
    group: int
    questions: int


class Market:
    """The menus that may be asked, for a fixed set of classes; `best(prices)` finds the most valuable one."""

    def __init__(self, classes: tuple[FeatureClass, ...], total: float, groups: bool = True) -> None:
        """`total` is the largest budget of a menu that asks several features."""
        self.classes, self.total, self.groups = classes, total, groups
        self.sizes = np.array([len(c.members) for c in classes])
        self.bits = np.array([c.kind.bits for c in classes])
        limits = [min(len(c.members), int(ANSWER_BITS / c.kind.bits)) * (c.delta < self.total) for c in classes]
        self.few = math.prod(limit + 1 for limit in limits) <= _COUNT_VECTORS
        self._counts = self._all_counts(limits) if self.few else np.zeros((1, len(classes)), dtype=np.int64)

    def _all_counts(self, limits: list[int]) -> Integers:
        vectors: Integers = np.array(list(itertools.product(*(range(limit + 1) for limit in limits))), dtype=np.int64)
        return np.asarray(vectors[vectors @ self.bits <= ANSWER_BITS])

    def best(self, prices: Array, tolerance: float) -> Priced:
        """The most valuable menu; its bound is within `tolerance` of it where the class allows an exact search."""
        found = self._several(prices, tolerance) if self.total >= NEGLIGIBLE else Priced((), 0.0, 0.0)
        alone = [
            price * float(c.kind.information(np.array([c.alone]))[0])
            for c, price in zip(self.classes, prices, strict=True)
        ]
        top = int(np.argmax(alone))
        if alone[top] > found.value:
            found = Priced((Question((top,), self.classes[top].alone),), alone[top], max(found.bound, alone[top]))
        return found

    def _several(self, prices: Array, tolerance: float) -> Priced:
        """The most valuable menu that may ask several features."""
        found = self._search(prices, self._counts if self.few else self._dense_counts(prices), tolerance)
        return found if self.few else Priced(found.profile, found.value, max(found.value, self._dual_bound(prices)))

    # -- the search -------------------------------------------------------------------------------------------------

    def _search(self, prices: Array, counts: Integers, tolerance: float) -> Priced:
        rests = self._rests(prices)
        partial = [j for j, c in enumerate(self.classes) if c.delta < self.total]
        if not self.few:
            partial = sorted(partial, key=lambda j: -prices[j])[:4]
        cells = self._first_cells(counts, partial)
        best, best_point = 0.0, (cells.corner().take(np.array([0])), 0)
        while True:
            for points in (cells.middle(), cells.corner()):
                value, rest = self._value(points, prices, rests)
                top = int(value.argmax())
                if value[top] > best:
                    best, best_point = float(value[top]), (points.take(np.array([top])), int(rest[top]))
            bounds, _ = self._value(cells, prices, rests)
            hopeful = np.flatnonzero(bounds > best * (1 + tolerance))
            if len(hopeful) == 0:
                return Priced(self._profile(*best_point, rests), best, best * (1 + tolerance))
            if (
                2 * len(hopeful) > (_CELLS if self.few else _CELLS // 10)
                or float((cells.high - cells.low).max()) < 1e-9
            ):
                return Priced(self._profile(*best_point, rests), best, float(bounds.max()))
            cells = cells.take(hopeful).halves()

    def _first_cells(self, counts: Integers, partials: list[int]) -> _Cells:
        """Every count vector, with nobody or somebody asked below the cap, over eight ranges of the total."""
        edges = np.linspace(0, self.total, 9)
        pieces = []
        for partial in [-1, *partials]:
            able = counts if partial < 0 else counts[counts[:, partial] < self.sizes[partial]]
            rows, ranges = np.indices((len(able), 8)).reshape(2, -1)
            part = np.zeros(len(rows))
            who = np.full(len(rows), partial)
            pieces.append(_Cells(able[rows], who, edges[ranges], edges[ranges + 1], part, part + (partial >= 0)))
        return _Cells.joined(pieces)

    def _rests(self, prices: Array) -> list[_Rest]:
        rests = [_Rest((c,), 1, 1) for c in range(len(self.classes))]
        by_kind: dict[Kind, list[int]] = {}  # questions about single features share one curve of information
        by_values: dict[Kind, list[int]] = {}  # and so do joint ones, in which a number is rounded to two values
        for c in np.argsort(-prices, kind="stable"):
            kind = self.classes[c].kind
            by_kind.setdefault(kind, []).append(int(c))
            by_values.setdefault(Kind("binary") if kind.name == "numeric" else kind, []).append(int(c))
        most = _most_large(self.total)
        offers = [(pool, 1, range(2, most + 1), kind) for kind, pool in by_kind.items()]
        for kind, pool in by_values.items() if self.groups else ():
            offers += [(pool, group, range(1, most + 1), kind) for group in range(2, kind.largest_group + 1)]
        for pool, group, numbers, kind in offers:
            for questions in numbers:
                bits = group * questions * (math.log2(kind.values) if group > 1 else kind.bits)
                if group * questions <= self.sizes[pool].sum() and bits <= ANSWER_BITS:
                    rests.append(_Rest(tuple(pool), group, questions))
        return rests

    def _value(self, cells: _Cells, prices: Array, rests: list[_Rest]) -> tuple[Array, Integers]:
        """What no point of each cell exceeds, and by which rest; exactly what it is worth where the cell is a point."""
        cap_low, cap_high = self._cap_range(cells)
        value = np.zeros(len(cells))
        for j, (c, price) in enumerate(zip(self.classes, prices, strict=True)):
            counted = np.flatnonzero(cells.counts[:, j])
            value[counted] += cells.counts[counted, j] * price * c.kind.information(cap_high[counted, j])
            part = np.flatnonzero(cells.partial == j)
            value[part] += price * c.kind.information(cells.part_high[part] * cap_high[part, j])
        rows = np.arange(len(cells))
        below = np.where(cells.partial >= 0, 1.0, 0.0)
        cost_low = (cells.counts * cap_low).sum(axis=1) + below * cells.part_low * cap_low[rows, cells.partial]
        cost_high = (cells.counts * cap_high).sum(axis=1) + below * cells.part_high * cap_high[rows, cells.partial]
        left_low, left_high = cells.low - cost_high, cells.high - cost_low
        taken = cells.counts.copy()
        taken[rows, cells.partial] += cells.partial >= 0
        extra = np.stack([self._rest_value(r, left_low, left_high, taken, cap_high, prices) for r in rests], axis=1)
        chosen = extra.argmax(axis=1)
        total = value + np.maximum(extra[rows, chosen], 0.0)
        total[left_high < -1e-12] = -np.inf
        return total, chosen

    def _cap_range(self, cells: _Cells) -> tuple[Array, Array]:
        """The smallest and the largest cap of each class over each cell's range of totals."""
        lows, highs = [], []
        for c in self.classes:
            at_low = np.maximum(caps(cells.low, c.delta, c.q), 0.0)
            at_high = np.maximum(caps(cells.high, c.delta, c.q), 0.0)
            turns = (cells.low <= c.delta) & (c.delta <= cells.high)  # the cap rises with T up to delta, then falls
            lows.append(np.minimum(at_low, at_high))
            highs.append(np.where(turns, c.delta, np.maximum(at_low, at_high)))
        return np.stack(lows, axis=1), np.stack(highs, axis=1)

    def _rest_value(
        self, rest: _Rest, left_low: Array, left_high: Array, taken: Integers, cap: Array, prices: Array
    ) -> Array:
        budget = np.maximum(left_high, 0.0) / rest.questions
        if rest.group * rest.questions == 1:  # a single question may leave some of the total unspent
            c = rest.pool[0]
            gain = prices[c] * self.classes[c].kind.information(np.minimum(budget, cap[:, c]))
            return np.where(taken[:, c] < self.sizes[c], gain, -np.inf)
        # whoever may fit anywhere in the cell is valued at the largest budget: the dearest first is then a bound
        gain = self.classes[rest.pool[0]].kind.joint_information(rest.group, budget)
        wanted, value = np.full(len(taken), rest.group * rest.questions), np.zeros(len(taken))
        for c in rest.pool:
            fits = cap[:, c] >= left_low / rest.questions - 1e-12
            use = np.minimum(wanted, np.where(fits, self.sizes[c] - taken[:, c], 0))
            value, wanted = value + use * prices[c] * gain, wanted - use
        return np.where(wanted == 0, value, -np.inf)

    def _profile(self, point: _Cells, chosen: int, rests: list[_Rest]) -> Profile:
        cap, counts, partial = self._cap_range(point)[0][0], point.counts[0], int(point.partial[0])
        questions = [Question((c,), float(cap[c])) for c in range(len(cap)) for _ in range(counts[c])]
        if partial >= 0:
            questions.append(Question((partial,), float(point.part_high[0] * cap[partial])))
        rest = rests[chosen]
        budget = (float(point.high[0]) - sum(question.budget for question in questions)) / rest.questions
        single = rest.group * rest.questions == 1
        members = [
            c
            for c in rest.pool
            if single or cap[c] >= budget - 1e-12
            for _ in range(self.sizes[c] - counts[c] - (c == partial))
        ]
        for first in range(0, min(len(members), rest.group * rest.questions), rest.group):
            group = tuple(members[first : first + rest.group])
            questions.append(Question(group, min(budget, *(float(cap[c]) for c in group))))
        return tuple(question for question in questions if question.budget > NEGLIGIBLE)

    # -- many classes -----------------------------------------------------------------------------------------------

    def _dense_counts(self, prices: Array) -> Integers:
        """Count vectors worth a look when there are too many to list: the densest features first, at several totals."""
        vectors = {(0,) * len(self.classes)}
        for total in np.linspace(0, self.total, 13)[1:]:
            cap = np.array([max(float(caps(np.array([total]), c.delta, c.q)[0]), 0.0) for c in self.classes])
            told = [float(c.kind.information(np.array([b]))[0]) for c, b in zip(self.classes, cap, strict=True)]
            gain = prices * np.array(told)
            able = [j for j, c in enumerate(self.classes) if c.delta < total and cap[j] > NEGLIGIBLE]
            counts, spent, bits = [0] * len(self.classes), 0.0, 0.0
            for j in sorted(able, key=lambda j: -gain[j] / cap[j]):
                for _ in range(self.sizes[j]):
                    if spent + cap[j] > total or bits + self.bits[j] > ANSWER_BITS:
                        break
                    counts[j], spent, bits = counts[j] + 1, spent + cap[j], bits + self.bits[j]
                    vectors.add(tuple(counts))
            for j in able:
                vectors.add(tuple(int(i == j) for i in range(len(self.classes))))
        return np.array(sorted(vectors), dtype=np.int64)

    def _dual_bound(self, prices: Array) -> float:
        """The Lagrangian dual over ranges of the total: whatever the split of the budget, no menu is worth more."""
        edges = np.linspace(0, self.total, 65)
        cells = _Cells.totals(edges[:-1], edges[1:], len(self.classes))
        cap = self._cap_range(cells)[1]
        parts = np.linspace(0, 1, 65)
        multipliers = np.geomspace(1e-4, 1e2, 121) * float(prices.max())
        bound = multipliers[None] * edges[1:, None]
        # on a piece of its curve a question is worth at most the right end's value at the left end's cost
        for j, (c, price) in enumerate(zip(self.classes, prices, strict=True)):
            gain = price * c.kind.information(cap[:, j, None] * parts[None, 1:])
            cost = multipliers[None, :, None] * (cap[:, j, None] * parts[None, :-1])[:, None]
            bound += self.sizes[j] * np.maximum(gain[:, None] - cost, 0.0).max(axis=2)
        budgets = edges[1:, None] * parts[None]
        for rest in (rest for rest in self._rests(prices) if rest.group > 1 and rest.questions == 1):
            wanted, dearest = np.full(budgets[:, 1:].shape, rest.group), np.zeros(budgets[:, 1:].shape)
            for j in rest.pool:
                use = np.minimum(wanted, np.where(cap[:, j, None] >= budgets[:, :-1], self.sizes[j], 0))
                dearest, wanted = dearest + use * prices[j], wanted - use
            gain = dearest * self.classes[rest.pool[0]].kind.joint_information(rest.group, budgets[:, 1:])
            surplus = gain[:, None] - multipliers[None, :, None] * budgets[:, None, :-1]
            bound += _most_large(self.total) * np.maximum(surplus, 0.0).max(axis=2)
        return float(bound.min(axis=1).max())


@dataclass
class _Cells:
    """Boxes of the search, one per row: counts at the cap, who is asked below it, ranges of the total and the part."""

    counts: Integers
    partial: Integers
    low: Array
    high: Array
    part_low: Array
    part_high: Array

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: Integers) -> _Cells:
        return _Cells(*(getattr(self, f.name)[rows] for f in fields(_Cells)))

    def middle(self) -> _Cells:
        total, part = (self.low + self.high) / 2, (self.part_low + self.part_high) / 2
        return _Cells(self.counts, self.partial, total, total, part, part)

    def corner(self) -> _Cells:
        return _Cells(self.counts, self.partial, self.high, self.high, self.part_high, self.part_high)

    def halves(self) -> _Cells:
        """Each box cut in two along its total, or along its part where that is relatively longer."""
        along = (self.part_high - self.part_low) > (self.high - self.low) / self.high
        total, part = (self.low + self.high) / 2, (self.part_low + self.part_high) / 2
        high, part_high = np.where(along, self.high, total), np.where(along, part, self.part_high)
        low, part_low = np.where(along, self.low, total), np.where(along, part, self.part_low)
        first = _Cells(self.counts, self.partial, self.low, high, self.part_low, part_high)
        second = _Cells(self.counts, self.partial, low, self.high, part_low, self.part_high)
        return _Cells.joined([first, second])

    @staticmethod
    def joined(pieces: list[_Cells]) -> _Cells:
        return _Cells(*(np.concatenate([getattr(piece, f.name) for piece in pieces]) for f in fields(_Cells)))

    @staticmethod
    def totals(low: Array, high: Array, classes: int) -> _Cells:
        """Boxes of the total alone, nothing asked."""
        nobody = np.full(len(low), -1)
        return _Cells(np.zeros((len(low), classes), dtype=np.int64), nobody, low, high, 0 * low, 0 * low)
