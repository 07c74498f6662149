"""What the counts of a plan's reports reveal about one person, for somebody who sees only them (theory.md, 4.8).

A report is a menu and an answer, and so is what everybody's reports have in common. All that is needed of it are two
numbers, the second moment and the largest value of `(A - f B) / w`; each is bounded menu by menu, over all pairs of
distributions A, B of this person's report that the plan's q and odds allow. The others' records are whatever they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from bcdp.correlation import Correlation
from bcdp.exact import MOST_CELLS, TOTAL, Floats, log_up
from bcdp.notions.binary_counts import binary_excess
from bcdp.notions.composed_counts import ExcessGrid
from bcdp.notions.privacy_blanket import (
    CountsLevel,
    Excess,
    Surplus,
    Surpluses,
    are_odds,
    check_counts,
    excess,
    is_factor,
    least_factor,
    least_odds,
)
from bcdp.plan.certificate import Certified, certify, guessed_parts, menu_bounds
from bcdp.plan.document import Plan
from bcdp.plan.mechanism import check_menus
from bcdp.plan.menu import Menu
from bcdp.plan.message_counts import MessageCounts
from bcdp.plan.messages import message_plans, sends_all
from bcdp.plan.worst_prior import Within
from bcdp.policy.counts import LEAST_COUNTED
from bcdp.randomizers import Table
from bcdp.randomizers.dense import MOST_OVERLAPS, overlap_matrix

LEAST_PEOPLE = LEAST_COUNTED  # of smaller tallies nothing is said: it would be little, and streams of them add up
CHANCE = 1e-6

_READERS = 1 + 1e-6  # times the excess: so that readers with other arithmetic accept what is claimed
_COMPOSING_READERS = 1 + 1e-4  # of several messages, where each of up to 32 may be rounded, and all together
_ROUNDING = 1e-9  # of the largest terms: more than sums of 2^22 products of doubles can be wrong by
_SURE = Within(0.0)  # one place, the same under both distributions


@dataclass(frozen=True)
class CountsLevels:
    """What the counts of `people` reports reveal about one of them, except with a small chance."""

    people: int
    chance: float
    record: CountsLevel
    features: Mapping[str, CountsLevel]

    def to_dict(self) -> dict[str, Any]:
        """The levels as a plan's certificate states them."""
        features = {name: level._asdict() for name, level in self.features.items()}
        return {**self.record._asdict(), "features": features}


class _View(NamedTuple):
    """How a menu sees one feature: its own question's table, if any, and its place there; with other questions.

    `levels` of a table that is looked at row by row; else only its overlaps count. `rest`: the most and the least that
    the other questions' rows overlap. `laws`: known ones of what a question asks, which then stand for values.
    """

    table: Table | None
    levels: tuple[int, ...]
    position: int
    rest: tuple[float, float]
    within: Within
    laws: tuple[tuple[float, ...], ...] = ()


def counts_levels(
    plan: Plan, people: int, chance: float = CHANCE, correlation: Correlation | None = None
) -> CountsLevels:
    """What somebody who sees only the counts of a survey's reports learns about the record of one of so many people.

    Under the plan's own assumption about correlation or another one, whatever the plan claims. It holds if the others'
    records are fixed, or independent of this person's, if `people` of them followed the plan, and if nothing but one
    set of counts is seen: no single reports, no times, no counts of fewer people.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> told = counts_levels(plan, 100_000)
    >>> told.features["smoker"].epsilon < told.features["smoker"].odds < 0.02
    True
    """
    check_menus(plan, "; what counts of a cascade tell is not known")
    check_counts(people, chance)
    model = plan.correlation_model if correlation is None else correlation
    claims = certify(plan, correlation)
    if sends_all(plan):
        return _levels_of_messages(plan, people, chance, model, claims)
    record = _level(_times(_record_excess(plan, people), _READERS), chance, claims.epsilon)
    features: dict[str, CountsLevel] = {}
    known: dict[object, CountsLevel] = {}  # features that all menus treat equally are computed once
    for name, delta in claims.delta.items():
        menus = _seen(plan, name, model)
        kind = frozenset(menus.items()), delta
        if kind not in known:
            surpluses = _surplus(menus, claims.epsilon, delta)
            known[kind] = _level(_times(_by_surplus(surpluses, people), _READERS), chance, delta)
        features[name] = CountsLevel(*map(min, known[kind], record))
    return CountsLevels(people, chance, record, features)


def broken_counts_claims(plan: Plan) -> Iterator[tuple[str, float]]:
    """The claims of a plan about the counts of its honest people that are not proved: each is checked by itself.

    What holds for one report or for the whole record holds for the counts and for a feature.
    """
    claims, demand = plan.certificate.counts, plan.policy.batch
    if claims is None or demand is None:
        return
    people, chance, true = demand.honest_people, demand.chance, certify(plan)
    separate = message_counts(plan, people, plan.correlation_model) if sends_all(plan) else None
    record = _record_excess(plan, people) if separate is None else separate.record
    for form, is_kept in (("epsilon", is_factor), ("odds", are_odds)):
        whole = getattr(claims, form)
        if whole < true.epsilon and not is_kept(lowered_factor(whole), record, chance):
            yield form, whole
        for name, claim in claims.features.items():
            level = getattr(claim, form)
            least = min(whole, true.delta[name])
            if level >= least:
                continue
            if separate is None:
                excess_at = _by_surplus(feature_surplus(plan, name), people)
            else:
                excess_at = separate.feature(name, lowered_factor(whole))
            if not is_kept(lowered_factor(level), excess_at, chance):
                yield f"features.{name}.{form}", level


def message_counts(
    plan: Plan, people: int, correlation: Correlation, known: dict[object, ExcessGrid] | None = None
) -> MessageCounts:
    """What the counts of each message of so many people have in excess, messages through equal tables counted once.

    `known` keeps what was computed for the same tables, also of other plans with as many people.
    """
    known = {} if known is None else known
    for menu, alone in zip(plan.menus, plan.derived(message_plans), strict=True):
        tables = _tables(plan, menu)
        if tables not in known:
            known[tables] = ExcessGrid(_record_excess(alone, people))
    return MessageCounts.of(plan, [known[_tables(plan, menu)] for menu in plan.menus], correlation)


def _tables(plan: Plan, menu: Menu) -> tuple[Table, ...]:
    return tuple(plan.tables[plan.questions[number].table] for number in menu.questions)


def _levels_of_messages(
    plan: Plan, people: int, chance: float, correlation: Correlation, claims: Certified
) -> CountsLevels:
    separate = message_counts(plan, people, correlation)
    record = _level(claimable(separate.record), chance, claims.epsilon)
    features = {}
    for name, delta in claims.delta.items():
        least = [min(delta, level) for level in record]
        most = [math.nextafter(math.exp(level) * (1 + 1e-15), math.inf) for level in least]
        factors = (
            find(claimable(separate.feature(name, lowered_factor(whole))), chance, end)
            for find, whole, end in zip((least_factor, least_odds), record, most, strict=True)
        )
        levels = (min(level, log_up(Fraction(factor))) for level, factor in zip(least, factors, strict=True))
        features[name] = CountsLevel(*levels)
    return CountsLevels(people, chance, record, features)


def claimable(excess_at: Excess) -> Excess:
    """The excess of several messages with a margin: what it proves, every reader accepts.

    The margin is on the excess, not on the chance: of odds, readers take the excess at a factor that depends on the
    chance, and for a feature that nearly goes with the rest a small change of that factor changes the excess by much.
    """
    return _times(excess_at, _COMPOSING_READERS)


def _times(excess_at: Excess, margin: float) -> Excess:
    return lambda factor: margin * excess_at(factor)


def lowered_factor(level: float) -> float:
    """The factor of a level, rounded down: whatever is claimed has to hold for it."""
    return max(1.0, math.exp(level) * (1 - 1e-15))


def _by_surplus(surpluses: Surpluses, people: int) -> Excess:
    return lambda factor: excess(factor, surpluses(factor), people)


def _record_excess(plan: Plan, people: int) -> Excess:
    """The excess between any two records; where all that is asked is one binary question, nearly exactly."""
    blanket, keep = _by_surplus(record_surplus(plan), people), _kept_bit(plan)
    if keep is None:
        return blanket
    return lambda factor: min(blanket(factor), binary_excess(factor, keep, people))


def _kept_bit(plan: Plan) -> float | None:
    """With which probability an answer is kept, if the whole plan is randomized response to one binary question."""
    if len(plan.menus) > 1 or len(plan.menus[0].questions) > 1:
        return None
    table = plan.tables[plan.questions[plan.menus[0].questions[0]].table]
    if (table.levels, table.symbols) != (2, 2) or table.row(0)[0] != table.row(1)[1]:
        return None
    return float(table.row(0).max()) / TOTAL


def _level(excess_at: Excess, chance: float, alone: float) -> CountsLevel:
    """The level in counts, where it is below that of a report alone."""
    most = math.nextafter(math.exp(alone) * (1 + 1e-15), math.inf)
    factors = (find(excess_at, chance, most) for find in (least_factor, least_odds))
    return CountsLevel(*(min(alone, log_up(Fraction(factor))) for factor in factors))


def _largest(factor: float, epsilon: float, delta: float) -> float:
    """Of `(A - f B) / w`: A is at most `e^delta B` and at most `e^epsilon w`, and B between w and `e^epsilon w`."""
    record, own = math.exp(epsilon), math.exp(delta)
    return max(0.0, min(record - factor, (own - factor) * record) + 1e-12 * record)


def record_surplus(plan: Plan) -> Surpluses:
    """The surplus between any two records."""
    epsilon = certify(plan).epsilon
    menus = [(menu.weight, _overlaps(plan, menu)) for menu in plan.menus]
    most, least = (sum(weight * overlap[end] for weight, overlap in menus) / TOTAL for end in (0, 1))

    def surplus(factor: float) -> Surplus:
        second = (1 + factor**2) * most - 2 * factor * least + _ROUNDING * (1 + factor) ** 2 * most
        return Surplus(second, _largest(factor, epsilon, epsilon))

    return surplus


def _overlaps(plan: Plan, menu: Menu, without: int | None = None) -> tuple[float, float]:
    """The most and the least that two rows of a menu's questions overlap, all but one of them: the products."""
    tables = [plan.tables[plan.questions[number].table] for number in menu.questions if number != without]
    return (math.prod(table.overlaps[0] for table in tables), math.prod(table.overlaps[1] for table in tables))


def feature_surplus(plan: Plan, name: str, correlation: Correlation | None = None) -> Surpluses:
    """The surplus between any two values of a feature, the rest of the record drawn within q and odds."""
    model = plan.correlation_model if correlation is None else correlation
    claims = certify(plan, correlation)
    return _surplus(_seen(plan, name, model), claims.epsilon, claims.delta[name])


def _seen(plan: Plan, name: str, correlation: Correlation) -> Counter[tuple[_View, ...]]:
    """How often a feature is seen in which way: the weights of the menus."""
    menus: Counter[tuple[_View, ...]] = Counter()
    for menu in plan.menus:
        menus[_views(plan, menu, name, correlation)] += menu.weight
    return menus


def _surplus(menus: Counter[tuple[_View, ...]], epsilon: float, delta: float) -> Surpluses:
    rows = {view: _rows(view) for views in menus for view in views}

    def surplus(factor: float) -> Surplus:
        second = 0.0
        for views, weight in menus.items():
            second += weight * min(_second_moment(view, rows[view], factor) for view in views)
        return Surplus(second / TOTAL * (1 + _ROUNDING), _largest(factor, epsilon, delta))

    return surplus


def _views(plan: Plan, menu: Menu, name: str, correlation: Correlation) -> tuple[_View, ...]:
    """The ways to bound what a menu reveals about a feature; the smallest counts."""
    within = menu_bounds(plan, menu, correlation)[name]
    number = next((number for number in menu.questions if name in plan.questions[number].features), None)
    if number is None:
        views = [_View(None, (), 0, _overlaps(plan, menu), within)]
        question = plan.questions[menu.questions[0]]
        table = plan.tables[question.table]
        known = None
        if len(menu.questions) == 1 and question.reads_one_value:
            known = correlation.laws(name, question.features[0])
        if known is not None and table.levels <= MOST_OVERLAPS and table.levels * table.symbols <= MOST_CELLS:
            laws = tuple(tuple(float(share) for share in law / law.sum()) for law in known)
            views.append(_View(table, (len(laws),), 0, (1.0, 1.0), _SURE, laws))
        return tuple(views)
    question = plan.questions[number]
    table = plan.tables[question.table]
    small = table.levels <= MOST_OVERLAPS and table.levels * table.symbols <= MOST_CELLS
    ranged = len(question.features) > 1 and guessed_parts(plan.policy.features[name], correlation, name)
    by_rows = small and question.reads_values and not ranged and not question.rules.asks_blocks
    levels = question.levels if by_rows else ()
    return (_View(table, levels, question.features.index(name), _overlaps(plan, menu, number), within),)


def _rows(view: _View) -> Floats:
    """How much every two rows overlap: own value x own value of the other x place of the others x place.

    Of a table that is not looked at row by row, none.
    """
    if view.table is None:
        return np.ones((1, 1, 1, 1))
    if not view.levels:
        return np.ones((0, 0, 0, 0))
    products = overlap_matrix(view.table.dense().weights)
    if view.laws:
        laws = np.array(view.laws)
        products = laws @ products @ laws.T
    size = view.levels[view.position]
    both = np.moveaxis(products.reshape(*view.levels, *view.levels), view.position, 0)
    cells = np.moveaxis(both, len(view.levels) + view.position, 1)
    points = math.prod(view.levels) // size
    return cells.reshape(size, size, points, points)


def _second_moment(view: _View, rows: Floats, factor: float) -> float:
    """The largest second moment of one menu: a square of length, written out in products of the parts of the
    distributions.

    Each part of the distributions may be at any place of the others. The products of two parts are maximised by
    themselves.
    """
    masses = [(float(first), float(second)) for first, second in view.within.masses if first or second]
    if view.table is not None and not view.levels:
        return _by_overlaps(view.table.overlaps, masses, view.rest, factor)
    own = np.moveaxis(np.diagonal(rows, axis1=0, axis2=1), -1, 0)  # of one value: value x place x place
    back = rows.transpose(1, 0, 2, 3)
    most, least = view.rest

    def products(j: int, k: int) -> Floats:
        (a, b), (c, d) = masses[j], masses[k]
        both = a * c * own[:, None] + factor**2 * b * d * own[None, :]
        return np.asarray(both - factor * (a * d * rows + b * c * back))

    lengths = [np.diagonal(products(j, j), axis1=2, axis2=3) * most for j in range(len(masses))]
    total = lengths[0].max(axis=2) if len(masses) == 1 else np.zeros(rows.shape[:2])
    for j, k in combinations(range(len(masses)), 2):
        cross = products(j, k)
        shares = (lengths[j][:, :, :, None] + lengths[k][:, :, None, :]) / (len(masses) - 1)
        total = total + (shares + 2 * np.maximum(cross * most, cross * least)).max(axis=(2, 3))
    return float(total.max() + _ROUNDING * (1 + factor) ** 2 * own.max() * most)


def _by_overlaps(
    overlaps: tuple[float, float], masses: list[tuple[float, float]], rest: tuple[float, float], factor: float
) -> float:
    """The same where nothing is known of the rows but how much they overlap at most and at least."""
    total = 0.0
    for a, b in masses:
        for c, d in masses:
            product = (a * c + factor**2 * b * d) * overlaps[0] - factor * (a * d + b * c) * overlaps[1]
            total += max(product * rest[0], product * rest[1])
    return total + _ROUNDING * (1 + factor) ** 2 * overlaps[0] * rest[0]
