"""How far fake reports can shift an estimate: whoever sends one chooses its menu and its answer (theory.md, 4.18).

The honest reports of a collection are those observed without some, at most so many as are assumed to be fake. The
estimate from any such tally is a ratio of two sums over reports, so its largest and smallest value are found exactly:
for a given value t, the reports whose removal raises the ratio above t most are known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.readings import CountsOf, Reading, Ways
from bcdp.plan import Plan
from bcdp.statistics import Target
from bcdp.statistics.shared.linear_form import HonestRange

Array = npt.NDArray[np.float64]

_ITERATIONS, _CLOSE = 100, 1e-12
_RARELY = 1e-9  # that an attacker's tickets fall on a menu more often


def honest_range(ways: Ways, counts: CountsOf, target: Target, factors: Array, fakes: int) -> HonestRange:
    """What a linear function of a target may be in the tallies without so many reports.

    A way of asking with fewer than two answers is left out of an estimate, so one more of its reports may be missing.
    Infinite where all answers about the target could be fake.
    """
    if ways.is_certain(target):
        return HonestRange(float(factors.sum()), float(factors.sum()), 1.0)
    values, weights, numbers, caps = list[Array](), list[Array](), list[Array](), list[int]()
    by_menu = most_fakes(ways.plan, fakes)
    for way in ways.of(target):
        answered = way.answered(counts).astype(float)
        if answered.sum() >= 2:
            values.append(_decoded(way.reading, factors))
            weights.append(np.full(len(answered), 1 / way.reading.second_moment))
            numbers.append(answered)
            caps.append(min(fakes, sum(by_menu[menu] for menu, _ in way.places)))
    if not values:
        return HonestRange(-math.inf, math.inf, math.inf)
    value, weight, number = np.concatenate(values), np.concatenate(weights), np.concatenate(numbers)
    scarce = [int(answered.sum() < cap + 2) for answered, cap in zip(numbers, caps, strict=True)]
    removable = Removable(
        np.repeat(np.arange(len(caps)), [len(part) for part in numbers]),
        [cap + more for cap, more in zip(caps, scarce, strict=True)],
        fakes + sum(scarce),
    )
    mass = float(weight @ number)
    left = mass - float(weight @ removable.best(weight, number))
    if left <= 0:
        return HonestRange(-math.inf, math.inf, math.inf)
    spread = sum(
        float(share[0] ** 2 * (answered @ (decoded - answered @ decoded / answered.sum()) ** 2))
        for decoded, share, answered in zip(values, weights, numbers, strict=True)
    )
    return HonestRange(
        -_largest(-value, weight, number, removable),
        _largest(value, weight, number, removable),
        mass / left,
        math.sqrt(spread) / left,
    )


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


def _largest(values: Array, weights: Array, numbers: Array, removable: Removable) -> float:
    """The largest weighted mean of so many answers of each value, without those that may be removed.

    Dinkelbach's method: the answers to remove at the mean so far give a larger mean, until none does.

    >>> _largest(np.array([0.0, 1.0]), np.ones(2), np.array([5.0, 5.0]), Removable(np.zeros(2, dtype=int), [2], 2))
    0.625
    """
    total, mass = float((weights * numbers) @ values), float(weights @ numbers)
    mean = total / mass
    for _ in range(_ITERATIONS):
        removed = removable.best(weights * (mean - values), numbers)
        left = mass - float(weights @ removed)
        if left <= 1e-9 * mass:
            return math.inf
        following = (total - float((weights * removed) @ values)) / left
        if following <= mean + _CLOSE * abs(mean):  # the last steps converge faster than any geometric series
            return max(mean, following)
        mean = following
    return math.inf


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
