"""The worst prior of a block whose bounds were measured: between ranges of numbers that are seen rounded as others.

A linear program over all joint distributions of what is asked. It shares no code with the certificate, and none of its
idea: a number is a place between levels, and what the bounds see of the others is a matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag
from scipy.optimize import linprog
from scipy.sparse import csr_array

from bcdp.exact import TOTAL
from bcdp.plan import Plan
from bcdp.policy import CategoricalFeature, MultipleFeature
from bcdp.policy.blocks import combinations

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
SEEN_LEVELS = 17  # to which a sample rounds a number once at random


@dataclass(frozen=True)
class States:
    """What a feature of the first question may be: `digits` has the chances of its digits in each state.

    `part`: what is guessed of the feature in each state. `mixed`: parts that are guessed against themselves, too,
    because different values are in them. `seen`: the chances of what the bounds see of it where another is given.
    """

    digits: Array
    part: Integers
    mixed: frozenset[int]
    seen: Array


def states_of(plan: Plan, name: str, *, given: bool) -> States:
    """The states of a feature of the first question: of the one that is given, or of one of the others."""
    question, feature = plan.questions[0], plan.policy.features[name]
    size = question.levels[question.features.index(name)]
    if feature.is_number:
        return _states_of_number(plan, name, size, given)
    digits, part = np.eye(size), np.arange(size)
    if feature.imputes:  # who gives no answer may differ in all else from those whose value it counts as
        values = feature.values if isinstance(feature, CategoricalFeature) else (0, 1)
        digits, part = np.vstack([digits, digits[values.index(feature.missing)]]), np.append(part, size)
    return States(digits, part, frozenset(), digits)


def _states_of_number(plan: Plan, name: str, size: int, given: bool) -> States:
    feature, model = plan.policy.features[name], plan.correlation_model
    low, high = feature.span
    steps, ranges = (
        [(cut - low) / (high - low) for cut in cuts]
        for cuts in (plan.questions[0].cuts_of(name) or (), model.ranges.get(name, ()) if given else ())
    )
    levels, rounded = size - feature.extras, name in model.rounded and not given
    grid = np.linspace(0, 1, SEEN_LEVELS)
    points = {*steps, *ranges, *(() if steps else np.linspace(0, 1, levels)), *(grid if rounded else ()), 0.0, 1.0}
    spans = list(pairwise([0.0, *ranges, 1.0]))
    values = [
        (place, side, part)
        for part, (start, end) in enumerate(spans)
        for place, side in product(sorted(points), ("right", "left"))  # what begins at a place, and what ends there
        if (start < place < end) or (place, side) in ((start, "right"), (end, "left"))
    ]
    if isinstance(feature.missing, float):
        values.append(((feature.missing - low) / (high - low), "right", len(spans)))
    if not ranges:  # each value by itself, and two of them may be as near each other as one likes
        values = [(place, side, own) for own, (place, side, _) in enumerate(values)]
    stepped = np.array([np.eye(len(steps) + 1)[_step(steps, place, side)] for place, side, _ in values])
    digits = stepped if steps else np.array([rounding(place, levels) for place, *_ in values])
    seen = np.eye(len(values))
    if rounded:
        seen = np.array([rounding(place, SEEN_LEVELS) for place, *_ in values])
        if name in model.cuts:
            seen = np.einsum("ij,ik->ijk", seen, stepped).reshape(len(values), -1)
    beyond = np.eye(feature.extras)  # no answer, if that is a value of its own, and not applicable
    parts = [own for *_, own in values]
    part = np.array([*parts, *(max(parts) + 1 + extra for extra in range(feature.extras))])
    mixed = frozenset[int]() if ranges else frozenset(parts)
    return States(block_diag(digits, beyond), part, mixed, block_diag(seen, beyond))


def _step(steps: list[float], place: float, side: str) -> int:
    """The step that begins at a place, or that ends there."""
    return sum(start < place or (start == place and side == "right") for start in steps)


def rounding(place: float, levels: int) -> Array:
    """The chances of equally spaced levels for a number at this share of its bounds, rounded at random."""
    below = min(int(place * (levels - 1)), levels - 2)
    chance = place * (levels - 1) - below
    return (1 - chance) * np.eye(levels)[below] + chance * np.eye(levels)[below + 1]


def worst_by_feature(plan: Plan) -> dict[str, float]:
    """For each feature of the first question, and each item with a delta, the largest ratio of any answer's chances.

    The second question asks about something outside, which has values.
    """
    further = np.array(plan.tables_[1]["weights"]) / TOTAL
    asked = frozenset(name for question in plan.questions for name in question.features)
    worst: dict[str, float] = {}
    for name in plan.questions[0].features:
        others = plan.policy.outside(name, asked)
        model = plan.correlation_model
        f, part, mixed, seen = _states_together(plan, name)
        both = (f[:, :, None, :, None] * further[None, None, :, None, :]).reshape(
            len(f), -1, f.shape[2], len(further.T)
        )
        sees = np.kron(seen, np.eye(len(further)))
        for key, first, second in _guesses(plan, name, part, mixed):
            for y, z in np.ndindex(both.shape[2:]):
                one, two = both[first, :, y, z], both[second, :, y, z]
                ratio = worst_ratio(one, two, sees, model.q(name, others), model.odds(name, others))
                worst[key] = max(worst.get(key, 1.0), ratio)
    return worst


def _states_together(plan: Plan, name: str) -> tuple[Array, Integers, frozenset[int], Array]:
    """The chances of each answer by what the feature's block may be and what is outside of it, in a first question.

    With it what each state of the block says of the feature, and what the bounds see of each state outside.
    """
    question, policy = plan.questions[0], plan.policy
    possible = np.zeros(question.levels)
    table = np.zeros((*question.levels, len(plan.tables_[0]["weights"][0])))
    rows = tuple(combinations(policy.features, question.features, question.levels).T)
    possible[rows], table[rows] = 1.0, np.array(plan.tables_[0]["weights"]) / TOTAL
    block = policy.blocks.get(name, (name,))
    own, states = states_of(plan, name, given=True), {}
    for other, size in zip(question.features, question.levels, strict=True):
        arbitrary = States(np.eye(size), np.arange(size), frozenset(), np.eye(size))
        states[other] = own if other == name else arbitrary if other in block else states_of(plan, other, given=False)
        possible = np.tensordot(possible, states[other].digits, (0, 1))  # this axis becomes the last one
        table = np.moveaxis(np.tensordot(table, states[other].digits, (0, 1)), -2, -1)
    inside = [other for other in question.features if other in block]
    outside = [other for other in question.features if other not in block]
    order = [question.features.index(other) for other in [*inside, *outside]]
    shape = (prod(len(states[other].digits) for other in inside), -1)
    possible = possible.transpose(order).reshape(shape)
    f = table.transpose([*order, len(order)]).reshape(*possible.shape, -1)
    occurs = possible > 1 - 1e-9  # whatever numbers are rounded to
    here, there = occurs.any(axis=1), occurs.any(axis=0)
    codes = np.indices([len(states[other].digits) for other in inside])[inside.index(name)].ravel()[here]
    seen = reduce(np.kron, (states[other].seen for other in outside), np.ones((1, 1)))[there]
    return f[here][:, there], own.part[codes], own.mixed, seen[:, seen.any(axis=0)]


def _guesses(plan: Plan, name: str, part: Integers, mixed: frozenset[int]) -> Iterator[tuple[str, Integers, Integers]]:
    """Every two parts of a feature, and of each item of a list with a delta: the states that each may go with."""
    feature = plan.policy.features[name]
    for a, b in product(np.unique(part).tolist(), repeat=2):
        if a != b or a in mixed:
            yield name, np.flatnonzero(part == a), np.flatnonzero(part == b)
    for item in (feature.items or {}) if isinstance(feature, MultipleFeature) else ():
        names = [[feature.values[number] for number in ticked] for ticked in feature.sets]
        has = np.array([*(int(item in ticked) for ticked in names), *range(2, 2 + feature.extras)])[part]
        for a, b in product(np.unique(has).tolist(), repeat=2):
            if a != b:
                yield f"{name}.{item}", np.flatnonzero(has == a), np.flatnonzero(has == b)


def worst_ratio(first: Array, second: Array, seen: Array, q: float, odds: float) -> float:
    """The largest P(y | one part) / P(y | another) over all joint distributions, by linear programming.

    `first` and `second`: the chance of an answer by what is inside and outside, in either part. The distributions of
    what is `seen` of the outside are within q of each other in total variation, and within the odds.
    """
    (ones, size), others, cells = first.shape, len(second), seen.shape[1]
    before, after = ones * size, (ones + others) * size
    count = after + cells + 1  # both distributions, the distance of what is seen, and a scale
    margins = np.zeros((cells, 2, count))
    margins[:, 0, :before] = np.tile(seen.T, ones)
    margins[:, 1, before:after] = np.tile(seen.T, others)
    distance = np.zeros((cells, count))
    distance[:, after:-1] = np.eye(cells)
    above = [margins[:, 0] - margins[:, 1] - distance, margins[:, 1] - margins[:, 0] - distance]
    if odds < np.inf:
        above += [margins[:, 0] - odds * margins[:, 1], margins[:, 1] - odds * margins[:, 0]]
    total = np.zeros((1, count))
    total[0, after:-1], total[0, -1] = 0.5, -q
    equal = np.zeros((3, count))
    equal[0, before:after] = second.ravel()  # the denominator is 1
    equal[1, :before], equal[2, before:after], equal[1:, -1] = 1, 1, -1
    objective = np.zeros(count)
    objective[:before] = -first.ravel()
    limits = np.vstack([*above, total])
    sparse: Any = csr_array  # which the types of the solver do not know
    solved = linprog(objective, sparse(limits), np.zeros(len(limits)), sparse(equal), [1, 0, 0], method="highs")
    assert solved.status == 0, solved.message
    return float(-solved.fun)
