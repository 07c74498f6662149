"""How far fake reports can shift an estimate: whoever sends one chooses its menu and its answer (theory.md, 4.18).

The honest reports of a collection are those observed without some, at most so many as are assumed to be fake. The
estimate from any such tally is a ratio of two sums over reports, so its largest and smallest value are found exactly:
for a given value t, the reports whose removal raises the ratio above t most are known.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.estimation.readings import CountsOf, Reading, Ways
from bcdp.plan import Plan
from bcdp.statistics import Target
from bcdp.statistics.shared.linear_form import HonestRange

Array = npt.NDArray[np.float64]

_ITERATIONS, _CLOSE = 100, 1e-12


def honest_range(ways: Ways, counts: CountsOf, target: Target, factors: Array, fakes: int) -> HonestRange:
    """What a linear function of a target may be in the tallies without so many reports.

    A way of asking with fewer than two answers is left out of an estimate, so one more of its reports may be missing.
    Infinite where all answers about the target could be fake.
    """
    if ways.is_certain(target):
        return HonestRange(float(factors.sum()), float(factors.sum()), 1.0)
    values, weights, numbers = list[Array](), list[Array](), list[Array]()
    for way in ways.of(target):
        answered = way.answered(counts).astype(float)
        if answered.sum() >= 2:
            values.append(_decoded(way.reading, factors))
            weights.append(np.full(len(answered), 1 / way.reading.second_moment))
            numbers.append(answered)
    if not values:
        return HonestRange(-math.inf, math.inf, math.inf)
    value, weight, number = np.concatenate(values), np.concatenate(weights), np.concatenate(numbers)
    budget = fakes + sum(answered.sum() < fakes + 2 for answered in numbers)
    mass = float(weight @ number)
    left = mass - budget * float(weight.max())
    if left <= 0:
        return HonestRange(-math.inf, math.inf, math.inf)
    spread = sum(
        float(share[0] ** 2 * (answered @ (decoded - answered @ decoded / answered.sum()) ** 2))
        for decoded, share, answered in zip(values, weights, numbers, strict=True)
    )
    return HonestRange(
        -_largest(-value, weight, number, budget),
        _largest(value, weight, number, budget),
        mass / left,
        math.sqrt(spread) / left,
    )


def _decoded(reading: Reading, factors: Array) -> Array:
    """What each symbol decodes to."""
    wanted = factors if reading.wanted is None else reading.wanted @ factors
    return np.asarray(reading.table.decode(wanted[:, None])).reshape(-1)


def _largest(values: Array, weights: Array, numbers: Array, budget: float) -> float:
    """The largest weighted mean of so many answers of each value, without at most `budget` of them.

    Dinkelbach's method: the answers to remove at the mean so far give a larger mean, until none does.

    >>> _largest(np.array([0.0, 1.0]), np.ones(2), np.array([5.0, 5.0]), 2)
    0.625
    """
    total, mass = float((weights * numbers) @ values), float(weights @ numbers)
    mean = total / mass
    for _ in range(_ITERATIONS):
        gains = weights * (mean - values)
        order = np.argsort(-gains)
        before = np.concatenate([[0.0], np.cumsum(numbers[order])[:-1]])
        removed = np.zeros_like(numbers)
        removed[order] = np.where(gains[order] > 0, np.clip(budget - before, 0.0, numbers[order]), 0.0)
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
    most; a mixture of several shifts no more.
    """
    ways = plan.derived(Ways)
    informed = [(way.reading, way.asked([menu.weight for menu in plan.menus])) for way in ways.of(target)]
    total = sum(share / reading.second_moment for reading, share in informed) / TOTAL
    shifts = [0.0]
    for reading, _ in informed:
        information, decoded = 1 / reading.second_moment, _decoded(reading, factors)
        reach = max(float(decoded.max()) - span[0], span[1] - float(decoded.min()))
        shifts.append(fakes * information * reach / ((1 - fakes) * total + fakes * information))
    return max(shifts)
