"""How far fake reports can shift an estimate: whoever sends one chooses its menu and its answer (theory.md, 4.18).

The honest reports of a collection are those observed without some, at most so many as are assumed to be fake. The
estimate from any such tally is a ratio of two sums over reports, so its largest and smallest value are found exactly:
for a given value t, the reports whose removal raises the ratio above t most are known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.readings import CountsOf, Reading, Way, Ways
from bcdp.plan import Plan
from bcdp.statistics import Target
from bcdp.statistics.shared.linear_form import HonestRange

Array = npt.NDArray[np.float64]

_ITERATIONS, _CLOSE = 100, 1e-12
_RARELY = 1e-9  # that an attacker's tickets fall on a menu more often


@dataclass(frozen=True, eq=False)
class Weighted:
    """The counts of people who have one weight: of each menu how often each answer was given, and how a person counts.

    `cell` is what a margin of the population calls these people. A margin fixes how many people a cell stands for, so
    fewer honest reports count by more each: by at most the factor `raised`, the same in all of a cell.
    """

    counts: CountsOf
    weight: float = 1.0
    cell: int = 0
    raised: float = 1.0


@dataclass(frozen=True, eq=False)
class Answers:
    """All kinds of answers about a target: what each decodes to, by how much one counts, and how many there are."""

    value: Array
    weight: Array
    number: Array
    cell: npt.NDArray[np.intp]
    raised: Array  # by which factor one may count more
    way: npt.NDArray[np.intp]

    @classmethod
    def of(cls, ways: Sequence[Way], groups: Sequence[Weighted], factors: Array) -> Answers:
        """Those in some ways of asking for a linear function of a target."""
        parts = []
        for index, way in enumerate(ways):
            decoded = _decoded(way.reading, factors)
            for group in groups:
                same = np.ones_like(decoded)
                weight = group.weight / way.reading.second_moment
                number = way.answered(group.counts).astype(float)
                parts.append((decoded, weight * same, number, group.cell * same, group.raised * same, index * same))
        value, weights, numbers, cells, raised, asked = map(np.concatenate, zip(*parts, strict=True))
        return cls(value, weights, numbers, cells.astype(np.intp), raised, asked.astype(np.intp))

    def negated(self) -> Answers:
        """The same of minus the function."""
        return replace(self, value=-self.value)

    def asked(self) -> Array:
        """How many were asked in each way."""
        return np.asarray(np.bincount(self.way, self.number), dtype=np.float64)

    def removed_at_most(self, removable: Removable) -> float:
        """The largest weight that those who are removed may have."""
        return float((self.raised * self.weight) @ removable.best(self.raised * self.weight, self.number))

    def largest(self, removable: Removable) -> float:
        """The largest weighted mean without those answers that may be removed, and with cells raised or not.

        Dinkelbach's method: the answers to remove at the mean so far give a larger mean, until none does.

        >>> even = np.ones(2), np.array([5.0, 5.0]), np.zeros(2, dtype=int), np.ones(2), np.zeros(2, dtype=int)
        >>> Answers(np.array([0.0, 1.0]), *even).largest(Removable(np.zeros(2, dtype=int), [2], 2))
        0.625
        """
        held = self.weight * self.number
        mean = float(held @ self.value) / float(held.sum())
        for _ in range(_ITERATIONS):
            excess = np.bincount(self.cell, held * (self.value - mean))
            kept = held * np.where(excess[self.cell] > 0, self.raised, 1.0)
            own = self.raised * self.weight
            kept = kept - own * removable.best(own * (mean - self.value), self.number)
            left = float(kept.sum())
            if left <= 1e-9 * float(held.sum()):
                return math.inf
            following = float(kept @ self.value) / left
            if following <= mean + _CLOSE * abs(mean):  # the last steps converge faster than any geometric series
                return max(mean, following)
            mean = following
        return math.inf

    def deviation(self, ends: tuple[float, float], *, weighted: bool) -> float:
        """The root of the sum of squares that an estimate's standard error comes from, over any part of the answers.

        In each way from the mean of its answers; of weighted ones from the farther of the ends that the mean may have.
        """
        if weighted:
            reach = np.maximum(np.abs(self.value - ends[0]), np.abs(self.value - ends[1]))
        else:
            middle = np.bincount(self.way, self.number * self.value) / np.maximum(self.asked(), 1.0)
            reach = self.value - middle[self.way]
        return math.sqrt(float(self.number @ (self.raised * self.weight * reach) ** 2))


def honest_range(ways: Ways, groups: Sequence[Weighted], target: Target, factors: Array, fakes: int) -> HonestRange:
    """What a linear function of a target may be in the tallies without so many reports.

    A way of asking with fewer than two answers is left out of an estimate, so one more of its reports may be missing.
    Infinite where all answers about the target, or in a cell of a margin, could be fake.
    """
    if ways.is_certain(target):
        return HonestRange(float(factors.sum()), float(factors.sum()), 1.0)
    asking = [way for way in ways.of(target) if sum(way.answered(group.counts).sum() for group in groups) >= 2]
    if not asking:
        return HonestRange(-math.inf, math.inf, math.inf)
    by_menu, answers = most_fakes(ways.plan, fakes), Answers.of(asking, groups, factors)
    caps = [min(fakes, sum(by_menu[menu] for menu, _ in way.places)) for way in asking]
    scarce = [int(asked < cap + 2) for asked, cap in zip(answers.asked(), caps, strict=True)]
    removable = Removable(
        answers.way, [cap + more for cap, more in zip(caps, scarce, strict=True)], fakes + sum(scarce)
    )
    mass = float(answers.weight @ answers.number)
    left = mass - answers.removed_at_most(removable)
    if not (left > 0 and math.isfinite(left)):
        return HonestRange(-math.inf, math.inf, math.inf)
    ends = -answers.negated().largest(removable), answers.largest(removable)
    deviation = answers.deviation(ends, weighted=len(groups) > 1)
    return HonestRange(*ends, mass / left, deviation / left)


def most_fakes(plan: Plan, fakes: int) -> list[int]:
    """At most how many fake reports each menu has: all, or where tickets assign menus, what chance gives them.

    An attacker's tickets fall on menus as everybody's: more than this have a probability of 1e-9 in all.
    """
    if plan.policy.menu_from == "device" or not fakes:
        return [fakes] * len(plan.menus)
    from scipy.special import bdtrik

    shares = np.array([menu.weight for menu in plan.menus]) / TOTAL
    return [int(most) for most in np.ceil(bdtrik(1 - _RARELY / len(shares), fakes, shares))]


@dataclass(frozen=True)
class Removable:
    """Which answers may be removed: at most so many of each way of asking, and of all together."""

    ways: npt.NDArray[np.intp]  # the way of each kind of answer
    caps: Sequence[float]
    budget: float

    def best(self, gains: Array, numbers: Array) -> Array:
        """How many of each kind to remove for the largest total gain: the best first, as far as allowed."""
        order = np.argsort(-gains)
        wanted = np.where(gains > 0, numbers, 0.0)[order]
        for way, cap in enumerate(self.caps):
            own = self.ways[order] == way
            wanted[own] = _up_to(cap, wanted[own])
        removed = np.zeros_like(numbers)
        removed[order] = _up_to(self.budget, wanted)
        return removed


def _up_to(budget: float, wanted: Array) -> Array:
    """The first of some numbers whose sum is within a budget, the last one in part."""
    before = np.concatenate([[0.0], np.cumsum(wanted)[:-1]])
    return np.clip(budget - before, 0.0, wanted)


def _decoded(reading: Reading, factors: Array) -> Array:
    """What each symbol decodes to."""
    wanted = factors if reading.wanted is None else reading.wanted @ factors
    return np.asarray(reading.table.decode(wanted[:, None])).reshape(-1)


def largest_shift(plan: Plan, target: Target, factors: Array, fakes: float, span: tuple[float, float]) -> float:
    """How far a share of fake reports shifts a linear function of a target at most, for n large, in any population.

    `span` is what the function can be. An attacker who names the menu picks the way of asking and the answer that shift
    most; a mixture of several shifts no more. Where tickets assign menus, fakes are spread over the ways as everybody
    is, and an attacker may only leave tickets unused.
    """
    ways = plan.derived(Ways)
    informed = [(way.reading, way.asked([menu.weight for menu in plan.menus])) for way in ways.of(target)]
    total = sum(share / reading.second_moment for reading, share in informed) / TOTAL
    if plan.policy.menu_from == "ticket":
        spread = [(share / TOTAL / reading.second_moment, _decoded(reading, factors)) for reading, share in informed]
        return max(
            _assigned_shift([(mass, float(decoded.max()) - span[0]) for mass, decoded in spread], fakes),
            _assigned_shift([(mass, span[1] - float(decoded.min())) for mass, decoded in spread], fakes),
        )
    shifts = [0.0]
    for reading, _ in informed:
        information, decoded = 1 / reading.second_moment, _decoded(reading, factors)
        reach = max(float(decoded.max()) - span[0], span[1] - float(decoded.min()))
        shifts.append(fakes * information * reach / ((1 - fakes) * total + fakes * information))
    return max(shifts)


def _assigned_shift(ways: Sequence[tuple[float, float]], fakes: float) -> float:
    """The largest shift by fakes in each way in proportion to its information: those that reach farthest, or all."""
    shift, honest = 0.0, (1 - fakes) * sum(mass for mass, _ in ways)
    moved, weight = 0.0, honest
    for mass, reach in sorted(ways, key=lambda way: -way[1]):
        moved, weight = moved + fakes * mass * reach, weight + fakes * mass
        shift = max(shift, moved / weight)
    return shift
