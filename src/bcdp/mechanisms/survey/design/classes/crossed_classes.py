"""Tables of follow-ups, lists to tick and numbers without an answer: each is a class, asked by one question of its own.

The question is about the blocks of both features. Its table is found by the program of section 4.16, within limits that
keep every demand (theory.md, section 4.17): `own` between inputs that differ in one block only, `moving` between all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.mechanisms.survey.design.budget_limits import BudgetLimits
from bcdp.mechanisms.survey.design.classes.feature_classes import NEGLIGIBLE, FeatureClass
from bcdp.mechanisms.survey.design.information import Kind
from bcdp.notions import ldp_limit
from bcdp.plan.views import View, views_of
from bcdp.plan.worst_prior import Within
from bcdp.policy import MultipleFeature, Policy
from bcdp.questions import Question
from bcdp.statistics import BlockAim, Target
from bcdp.statistics.shared.block_targets import suggested_sets
from bcdp.statistics.shared.cell_targets import CrossedValues, TableCells, crossed_question

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Wanted = dict[TableCells, float]

MOST_MERGED = 160  # inputs that a question tells apart
_TOGETHER = 64  # inputs up to which several tables share a question
_STEPS = 4  # ways to keep a demand, from one that holds all else fixed to one that lets it move
_MOST_SETS = 150  # suggested for columns
_A_LITTLE = 1e-4  # of all inputs' frequencies, so that integer weights decode what is wanted without bias
_SLACK = 1e-10
_MOST_PARTS = 8  # of a feature outside, at each of which a column may be high


def crossed_classes(limits: BudgetLimits, weights: Mapping[Target, float]) -> Iterator[FeatureClass]:
    """The class of each question about features of different blocks whose cells are wanted."""
    policy = limits.policy
    groups: dict[tuple[tuple[str, ...], tuple[object, ...]], Wanted] = {}
    for target, weight in weights.items():
        if isinstance(target, TableCells) and not _in_one_block(policy, target):
            names = asked_with(policy, target)
            cuts = tuple(target.cuts_by_feature.get(name) for name in names)
            groups.setdefault((names, cuts), {})[target] = weight
    for (names, _), wanted in groups.items():
        yield from _of_group(limits, names, wanted)


def _in_one_block(policy: Policy, target: TableCells) -> bool:
    blocks = {policy.blocks.get(name) for name in target.features}
    return len(blocks) == 1 and None not in blocks


def asked_with(policy: Policy, target: TableCells) -> tuple[str, ...]:
    """The features that a question about some cells asks: the blocks of all, one after the other."""
    blocks = dict.fromkeys(policy.blocks.get(name, (name,)) for name in target.features)
    return tuple(name for block in blocks for name in block)


def _of_group(limits: BudgetLimits, names: tuple[str, ...], wanted: Wanted) -> Iterator[FeatureClass]:
    """One class for all tables of the same blocks, if few inputs tell them apart; else one for each."""
    question = crossed_question(limits.policy, names, list(wanted))
    merged = _merged_inputs(limits.policy, question, wanted)
    if merged.max() + 1 > _TOGETHER and len(wanted) > 1:
        for target, weight in wanted.items():
            yield from _of_group(limits, names, {target: weight})
        return
    if merged.max() + 1 > MOST_MERGED:
        subject = f"table of {' and '.join(next(iter(wanted)).features)}"
        accepted = f"at most {MOST_MERGED} combinations of their answers and those that depend on each other"
        raise refuse(subject, f"{merged.max() + 1} combinations", accepted)
    aim = _aim(limits, question, wanted, merged)
    if aim.largest < NEGLIGIBLE:
        return
    weight = float(f"{sum(wanted.values()):.12g}")
    member = CrossedValues(names, question.levels, aim, tuple(merged.tolist()), question.cuts, question.kind)
    yield FeatureClass(
        (member,), Kind("crossed", len(aim.criterion), aim=aim), aim.largest, q=0.0, alone=aim.largest, weight=weight,
        apart=True,
    )  # fmt: skip


def _merged_inputs(policy: Policy, question: Question, wanted: Wanted) -> Integers:
    """A number for each input, the same for those that nothing wanted and no demand but a list's distinguishes."""
    views = [view for view in views_of(policy, question)
             if view.item or not isinstance(policy.features[view.feature], MultipleFeature)]  # fmt: skip
    marks = [target.at(policy, question) for target in wanted]
    marks += [np.array(view.parts)[:, None] for view in views]
    _, first, merged = np.unique(np.hstack(marks), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # numbered as they first occur
    return np.asarray(order[merged.ravel()])


def _aim(limits: BudgetLimits, question: Question, wanted: Wanted, merged: Integers) -> BlockAim:
    """What the question is designed for: every symbol keeps all demands in one of several ways."""
    policy = limits.policy
    _, first = np.unique(merged, return_index=True)
    views = [view._replace(parts=_of(view.parts, first), outside=_of(view.outside, first))
             for view in views_of(policy, question)]  # fmt: skip
    criterion = np.zeros((len(first), len(first)))
    for target, weight in wanted.items():
        numbers = target.at(policy, question)[first]
        criterion += weight / sum(wanted.values()) * numbers @ numbers.T
    criterion += _A_LITTLE * np.trace(criterion) / len(first) * np.eye(len(first))
    sets = _sets(policy, question, first)
    asked = frozenset(question.features)
    others = [limits.level(name, asked) for name in policy.features if name not in asked]
    total = min([limits.epsilon, *others])
    ways = [_ways(limits, view, asked, total) for view in views]
    allowed = {_rounded(_limits(views, [way[step] for way in ways], total)) for step in range(_STEPS)}
    raised = tuple(_raised(limits, views, asked, total))
    return BlockAim(_rounded(criterion), tuple(sorted(allowed)), sets, raised)


def _raised(
    limits: BudgetLimits, views: Sequence[View], asked: frozenset[str], total: float
) -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Columns that are high at some places of one block, and raised there more than elsewhere by the other's values."""
    for block in dict.fromkeys(limits.policy.blocks.get(view.feature, (view.feature,)) for view in views):
        own = [view for view in views if view.feature in block]
        demand = min(limits.within(view.delta) for view in own)
        most = min([total, *(limits.within(view.delta) for view in views if view.feature not in block)])
        bounds = [(demand, _within(limits, view, asked)) for view in own]
        bounds += [second for view in own for second in _second(limits, view, asked)]
        for high, part in product(_halves(views, block), range(1, _STEPS)):
            fall = (most - demand) * part / (_STEPS - 1)
            steps = [rises(level, fall, within) for level, within in bounds]
            if fall > 0 and min(low for _, low in steps) > 0:
                upper, lower = (min(rise) for rise in zip(*steps, strict=True))
                base, rise = np.where(high, 0.0, -fall), np.where(high, upper, lower)
                yield tuple(base.tolist()), tuple(rise.tolist())


def _halves(views: Sequence[View], block: tuple[str, ...]) -> list[npt.NDArray[np.bool_]]:
    """Where something outside a block has a value, and where it has not."""
    outside = [np.array(view.parts) for view in views if view.feature not in block]
    sets = {tuple((parts == part).tolist()) for parts in outside for part in np.unique(parts)[:_MOST_PARTS]}
    return [side for inside in sorted(sets) for side in (np.array(inside), ~np.array(inside))]


def rises(demand: float, fall: float, within: Within) -> tuple[float, float]:
    """How far two values may differ at high places outside, and at low ones, where weights are lower by `fall`.

    So that the demand is kept whatever moves outside: with weights from 1 to `e^upper` at high places, and from
    `e^-fall` to `e^(lower - fall)` at low ones, the worst distributions have `most` against `least` of their mass at a
    high place and `least` against `most` at a low one; the rest is the same, at either. 0 where nothing is left.

    >>> tuple(round(rise, 4) for rise in rises(0.5, 1.5, Within(0.05)))
    (0.4604, 0.3087)
    """
    most, least = (float(mass) for mass in within.masses[0])
    common, low = 1 - most - least, math.exp(-fall)
    upper = math.exp(demand) * (least + common + most * low) / (most + common + least * low)
    kept = math.exp(demand) * (least + (most + common) * low) - most * upper
    lower = kept / ((least + common) * low) if least + common > 0 else 0.0
    if min(upper, lower) <= 1:
        return 0.0, 0.0
    return math.log(upper) - _SLACK, math.log(min(lower, upper)) - _SLACK


def _within(limits: BudgetLimits, view: View, asked: frozenset[str]) -> Within:
    """How far what else is asked may move with a feature."""
    others = limits.policy.outside(view.feature, asked)
    return Within(limits.correlation.q(view.feature, others), limits.correlation.odds(view.feature, others))


def _second(limits: BudgetLimits, view: View, asked: frozenset[str]) -> list[tuple[float, Within]]:
    """What a feature still demands where its bounds are wrong; nothing where it states no such demand."""
    second = limits.second_demand(view.feature, *_within(limits, view, asked))
    return [] if second is None else [(second.delta, Within(second.q, second.odds))]


def _ways(limits: BudgetLimits, view: View, asked: frozenset[str], total: float) -> list[tuple[float, float]]:
    """How far two values may differ with all else held fixed, and whatever else moves with them, from near to far."""
    demand = min(limits.within(view.delta), total)
    demands = [(demand, _within(limits, view, asked)), *_second(limits, view, asked)]
    farthest = max(demand, min([total, *(float(ldp_limit(level, *within)) for level, within in demands)]))
    steps = np.linspace(demand, farthest, _STEPS).tolist()
    return [(min(own_level(level, moving, within) for level, within in demands), moving) for moving in steps]


def _of(numbers: Sequence[int], chosen: Integers) -> tuple[int, ...]:
    return tuple(np.array(numbers)[chosen].tolist())


def _limits(views: Sequence[View], ways: Sequence[tuple[float, float]], total: float) -> Array:
    """The largest logarithm of the ratio of every two inputs' weights: the strictest view that separates them."""
    size = len(views[0].parts)
    result = np.full((size, size), total)
    for view, (own, moving) in zip(views, ways, strict=True):
        parts, outside = np.array(view.parts), np.array(view.outside)
        shared = np.isin(parts, list(view.shared))
        separates = (parts[:, None] != parts) | (shared[:, None] & shared)
        level = np.where(outside[:, None] == outside, own, moving)
        result = np.where(separates, np.minimum(result, level), result)
    np.fill_diagonal(result, 0.0)
    return result


def own_level(demand: float, moving: float, within: Within) -> float:
    """How far two values may differ with all else held fixed, if whatever else moves with them they differ by `moving`.

    So that the demand is kept: `e^own (1 + most (e^R - 1))/(1 + least (e^R - 1)) <= e^demand` with `R = moving - own`.
    0 where it is not, whatever they differ by.

    >>> round(own_level(0.5, 2.0, Within(0.05)), 4), own_level(0.5, 0.5, Within(0.5))
    (0.2976, 0.5)
    """
    if moving <= demand:
        return moving
    most, least = (float(mass) for mass in within.masses[0])

    def reached(own: float) -> float:
        more = math.expm1(moving - own)
        return own + math.log1p(most * more) - math.log1p(least * more)

    low, high = 0.0, demand
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) <= demand else (low, middle)
    return max(low - _SLACK, 0.0)


def _sets(policy: Policy, question: Question, first: Integers) -> tuple[tuple[bool, ...], ...]:
    """Where a column of a good table may be high: with certain codes of a feature, of two, or of just one of two."""
    single = np.array(suggested_sets(policy, question))[:, first]
    useful = np.unique(single[single.any(axis=1) & ~single.all(axis=1)], axis=0)
    pairs = [sets for a, b in product(useful, repeat=2) for sets in (a & b, a ^ b)]
    sets = np.unique(np.array([*useful, *pairs]), axis=0) if len(useful) ** 2 < _MOST_SETS else useful
    sets = sets[sets.any(axis=1) & ~sets.all(axis=1)]
    return tuple(map(tuple, sets[:_MOST_SETS].tolist()))


def _rounded(matrix: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(f"{number:.12g}") for number in row) for row in matrix.tolist())
