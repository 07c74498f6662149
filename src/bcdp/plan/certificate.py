"""What a plan's integer tables protect: `epsilon`, `c` and `delta`, recomputed from the plan alone.

What a device draws does not depend on the record, so every level is the largest over what it may draw (theory.md,
Theorem 2). Given the menu, the level of a feature is the exact worst case over all priors within q (Theorems 3 and 4),
between ranges of a number (Theorem 6), within odds (Theorems 8 and 9), and in a block (section 4.17). Levels are
logarithms of exact rationals, rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from bcdp.correlation import Correlation, product_q, unrounded_odds, unrounded_q
from bcdp.errors import refuse
from bcdp.exact import MOST_CELLS, Integers, log_up
from bcdp.plan.mechanism import mechanism_of
from bcdp.plan.messages import linked_menus
from bcdp.plan.views import views_of
from bcdp.plan.worst_prior import Ratio, Within, independent_ratio, joint_ratio
from bcdp.policy import Feature, MultipleFeature, NumericFeature, Policy
from bcdp.questions import Question
from bcdp.randomizers import Table, mixture_delta
from bcdp.records.encoding import coded_numbers

if TYPE_CHECKING:
    from bcdp.plan.document import Plan
    from bcdp.plan.menu import Menu

Parts = tuple[tuple[float, float], ...]  # what guesses distinguish: ends of each part, as shares of a number's bounds

_STEPS = 16  # between the 17 levels to which bounds about rounded numbers round them once
_ONE = Fraction(1)
_ALONE = Within(0.0)  # with the others held fixed, BCDP is CDP
_UNITS = 2**29  # in a step between inputs: ends of parts are moved to whole ones, past whatever devices round


@dataclass(frozen=True)
class Certified:
    """Levels in nats, rounded up: LDP of the whole report, CDP and BCDP of each feature."""

    epsilon: float
    c: Mapping[str, float]
    delta: Mapping[str, float]
    items: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)  # of lists to tick: c and delta


def certify(plan: Plan, correlation: Correlation | None = None) -> Certified:
    """The true levels of a plan, whatever it claims, under its own assumption about correlation or another one.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> certify(plan).epsilon == plan.certificate.epsilon <= 1
    True
    """
    return plan.levels if correlation is None else mechanism_of(plan).largest_levels(plan, correlation)


def certify_menus(plan: Plan, correlation: Correlation) -> Certified:
    """The largest levels of the answers to the menus of a survey."""
    menus = [_AskedMenu.of(plan, menu, correlation) for menu in linked_menus(plan)]
    c = dict.fromkeys(plan.policy.features, 0.0)
    delta = dict.fromkeys(plan.policy.features, 0.0)
    for menu in menus:
        for name in menu.numbers:
            c[name] = max(c[name], menu.level(plan, name, _ALONE))
            delta[name] = max(delta[name], menu.delta(plan, name, correlation))
    menus.sort(key=lambda menu: menu.ratio, reverse=True)
    for name in delta:
        for menu in menus:
            if name not in menu.numbers:
                delta[name] = max(delta[name], menu.delta(plan, name, correlation))
                if correlation.alike:  # of all menus that do not ask it the one with the largest ratio reveals most
                    break
    return Certified(log_up(menus[0].ratio), c, delta, _item_levels(plan, menus, correlation))


def _item_levels(
    plan: Plan, menus: Sequence[_AskedMenu], correlation: Correlation
) -> dict[tuple[str, str], tuple[float, float]]:
    """For each item with a delta of its own the largest levels `c` and `delta` of any menu."""
    levels = {}
    for name, feature in plan.policy.features.items():
        for item in feature.strict_items if isinstance(feature, MultipleFeature) else ():
            asking = [menu for menu in menus if name in menu.numbers]
            c = max((menu.view_level(plan, name, item, _ALONE) for menu in asking), default=0.0)
            deltas = [menu.view_level(plan, name, item, menu.bounds(name)) for menu in asking]
            deltas += [menu.delta(plan, name, correlation) for menu in menus if name not in menu.numbers]
            levels[name, item] = (c, max(deltas))
    return levels


def certify_menu(plan: Plan, menu: Menu, correlation: Correlation) -> Certified:
    """The levels of the answers to one menu of a survey."""
    asked, names = _AskedMenu.of(plan, menu, correlation), plan.policy.features
    c = dict.fromkeys(names, 0.0) | {name: asked.level(plan, name, _ALONE) for name in asked.numbers}
    return Certified(log_up(asked.ratio), c, {name: asked.delta(plan, name, correlation) for name in names})


def largest_budgets(plan: Plan) -> dict[str, list[tuple[float, float]]]:
    """For each feature, the levels `c` and `epsilon` of the menus that ask it, and of the largest that does not.

    Of a plan without menus, none. No assumption enters them.
    """
    menus = [_AskedMenu.of(plan, menu, plan.correlation_model) for menu in linked_menus(plan)]
    menus.sort(key=lambda menu: menu.ratio, reverse=True)
    epsilons = [log_up(menu.ratio) for menu in menus]
    budgets: dict[str, list[tuple[float, float]]] = {name: [] for name in plan.policy.features if menus}
    for menu, epsilon in zip(menus, epsilons, strict=True):
        for name in menu.numbers:
            budgets[name].append((menu.level(plan, name, _ALONE), epsilon))
    for name, pairs in budgets.items():
        outside = (epsilon for menu, epsilon in zip(menus, epsilons, strict=True) if name not in menu.numbers)
        pairs += [(0.0, epsilon) for epsilon in islice(outside, 1)]
    return budgets


@dataclass(frozen=True)
class _AskedMenu:
    """A menu: its questions with their tables, which of them asks each feature, the ratio of all together."""

    questions: Sequence[Question]
    tables: Sequence[Table]
    numbers: Mapping[str, int]
    ratio: Ratio
    bounds: Callable[[str], Within]

    @classmethod
    def of(cls, plan: Plan, menu: Menu, correlation: Correlation) -> _AskedMenu:
        questions = [plan.questions[number] for number in menu.questions]
        tables = [plan.tables[question.table] for question in questions]
        numbers = {name: number for number, question in enumerate(questions) for name in question.features}
        ratio = ratio_product(tuple(table.ratio for table in tables))
        return cls(questions, tables, numbers, ratio, _bounds(plan.policy, questions, frozenset(numbers), correlation))

    def level(self, plan: Plan, name: str, within: Within, parts: Parts = ()) -> float:
        number, feature = self.numbers.get(name), plan.policy.features[name]
        if number is None:
            return independent_delta(_ONE, self.ratio, within)
        if self.questions[number].rules.asks_blocks:
            return self.view_level(plan, name, None, within, ranged=bool(parts))
        shared = plan.policy.shares_inputs(name)
        return menu_delta(
            self.questions, self.tables, name, number=number, shared=shared, within=within, parts=parts, own=feature.own
        )

    def view_level(self, plan: Plan, name: str, item: str | None, within: Within, *, ranged: bool = False) -> float:
        """The level of a feature or an item that a question about blocks asks; of a number between ranges, if so."""
        number = self.numbers[name]
        views = views_of(plan.policy, self.questions[number])
        view = next(view for view in views if (view.feature, view.item) == (name, item))
        rest = ratio_product(tuple(table.ratio for other, table in enumerate(self.tables) if other != number))
        if not view.is_crossed:
            return independent_delta(view.ratio(self.tables[number]), rest, within)
        return log_up((view.of_any_number if ranged else view).crossed_ratio(self.tables[number], rest, within))

    def delta(self, plan: Plan, name: str, correlation: Correlation) -> float:
        feature, number = plan.policy.features[name], self.numbers.get(name)
        parts, cuts = (
            guessed_parts(feature, correlation, name),
            number is not None and self.questions[number].cuts_of(name),
        )
        if parts and cuts:
            parts = inputs_of_parts(feature, correlation.ranges[name], cuts)
        level = self.level(plan, name, self.bounds(name), parts)
        if len(self.questions) == 1 and name not in self.numbers:
            return min(level, _known_delta(plan, correlation, name, self.questions[0]))
        return level


def menu_bounds(plan: Plan, menu: Menu, correlation: Correlation) -> dict[str, Within]:
    """For each feature, how far what a menu asks about the others may move with it."""
    bounds = _AskedMenu.of(plan, menu, correlation).bounds
    return {name: bounds(name) for name in plan.policy.features}


def _bounds(
    policy: Policy, questions: Sequence[Question], asked: frozenset[str], correlation: Correlation
) -> Callable[[str], Within]:
    """For a feature, how far what the questions ask about the others, outside its block, may move with it.

    A bound about numbers that are rounded once at random holds for a question that rounds them so, their product with
    a sign included. The product of two of them, or the square of one, has a bound of its own, and of those that enter
    by steps q has to know the cuts; odds never do (theory.md, 4.5).
    """
    rounded = correlation.rounded
    fit = all(_fits(policy, question, correlation) for question in questions)
    multiplied = any(question.rules.multiplies(question, rounded) for question in questions)
    stepped = any(name in rounded and question.cuts_of(name) for question in questions for name in question.features)

    def bounds(name: str) -> Within:
        others = policy.outside(name, asked) if name in asked else asked
        if fit and not multiplied:
            odds = unrounded_odds(correlation, name, others) if stepped else correlation.odds(name, others)
            return Within(correlation.q(name, others), odds)
        if fit and len(questions) == 1:
            return Within(product_q(correlation, name, others))
        return unrounded(correlation, name, others)

    return bounds


def unrounded(correlation: Correlation, name: str, others: frozenset[str]) -> Within:
    """How far others may move with a feature where numbers are read as they are."""
    return Within(unrounded_q(correlation, name, others), unrounded_odds(correlation, name, others))


def _fits(policy: Policy, question: Question, correlation: Correlation) -> bool:
    """Whether all levels to which numbers are rounded are among the 17, and all steps begin at cuts that q knows."""
    sizes = question.rules.rounding_levels(question)
    marked = [(name, size) for name, size in zip(question.features, sizes, strict=True) if name in correlation.rounded]
    return all(
        _known(cuts, correlation, name)
        if (cuts := question.cuts_of(name))
        else not _STEPS % max(size - 1 - policy.features[name].extras, 1)
        for name, size in marked
    )


def _known(cuts: Iterable[float], correlation: Correlation, name: str) -> bool:
    return set(correlation.cuts.get(name, ())).issuperset(cuts)


def shares_inputs(feature: Feature) -> bool:
    """Whether two values of a feature may be coded the same way: numbers are rounded, and `missing` stands for no
    value.

    Such values may still differ in what they say of the other features. A feature without a `missing` rule is
    complete: records that lack it are refused. So is one with `missing: own`, whose last input is no answer.
    """
    return isinstance(feature, NumericFeature) or feature.imputes


def guessed_parts(feature: Feature, correlation: Correlation, name: str) -> Parts:
    """The ranges between which alone the bounds distinguish a number's values, and "missing" where it has a rule.

    Empty if the bounds speak of single values (theory.md, section 4.5).

    >>> from bcdp.correlation import Listed
    >>> age = NumericFeature(type="numeric", bounds=(0, 100), ranges=(18, 65), missing=40)
    >>> guessed_parts(age, Listed({}, "a sample", ranges={"age": (18, 65)}), "age")
    ((0.0, 0.18), (0.18, 0.65), (0.65, 1.0), (0.4, 0.4))

    No answer that is a value of its own is not among them, but one more part in `joint_delta`.
    """
    cuts = correlation.ranges.get(name)
    if cuts is None or not isinstance(feature, NumericFeature):
        return ()
    low, high = feature.bounds
    ranges = tuple(pairwise([0.0, *((cut - low) / (high - low) for cut in cuts), 1.0]))
    if not isinstance(feature.missing, float):
        return ranges
    imputed = (feature.missing - low) / (high - low)
    return (*ranges, (imputed, imputed))


def inputs_of_parts(feature: Feature, ranges: Iterable[float], cuts: Iterable[float]) -> Parts:
    """For each of a number's ranges, and "missing", the first and the last input that a number there may have.

    The number enters by steps that begin at `cuts`; devices compare codes, and ranges are those of coded numbers.

    >>> age = NumericFeature(type="numeric", bounds=(0, 100), missing=40)
    >>> inputs_of_parts(age, (18, 65), (20, 65))
    ((0, 0), (0, 1), (2, 2), (1, 1))
    """
    own, ends = coded_numbers(feature, cuts), coded_numbers(feature, ranges)
    first = [0, *np.searchsorted(own, ends, side="right").tolist()]
    last = [*np.searchsorted(own, ends, side="left").tolist(), len(own)]
    spans = tuple((low, max(low, high)) for low, high in zip(first, last, strict=True))
    if not isinstance(feature.missing, float):
        return spans
    imputed = int(np.searchsorted(own, coded_numbers(feature, [feature.missing]), side="right")[0])
    return (*spans, (imputed, imputed))


def menu_delta(
    questions: Sequence[Question],
    tables: Sequence[Table],
    name: str,
    number: int | None,
    shared: bool,
    within: Within,
    parts: Parts = (),
    own: bool = False,
) -> float:
    """The BCDP level of one feature, asked in question `number` of a menu or in none, over all priors `within` bounds.

    `shared`: several values of the feature may be coded as one input (`shares_inputs`). `parts`: the level is about
    guesses between these (`guessed_parts`), or the inputs of each for a number that enters by steps. `own`: the last
    input is no answer.
    """
    rest = ratio_product(tuple(table.ratio for other, table in enumerate(tables) if other != number))
    if number is None:
        return independent_delta(_ONE, rest, within)
    question, table = questions[number], tables[number]
    if len(question.features) == 1 or not question.reads_values:  # whatever the others are, the answer reveals no more
        return independent_delta(table.ratio, rest, within)
    position = question.features.index(name)
    stepped = question.cuts_of(name) is not None
    return joint_delta(
        table,
        question.levels,
        position,
        rest=rest,
        q=within.q,
        shared=shared,
        parts=parts,
        odds=within.odds,
        stepped=stepped,
        own=own,
    )


def _known_delta(plan: Plan, correlation: Correlation, name: str, question: Question) -> float:
    """The level of a feature under one question about another whose distributions are known; infinite if they are
    not.
    """
    table, asked = plan.tables[question.table], question.features[0]
    laws = correlation.laws(name, asked) if question.reads_one_value else None
    if laws is None or table.levels * table.symbols > MOST_CELLS:
        return math.inf
    if plan.policy.features[asked].is_number or laws.shape[1] != table.levels:
        raise refuse(f"correlation.laws of {asked}", f"{laws.shape[1]} values", "one for each value, and no numbers")
    return mixture_delta(table, laws)


@lru_cache(maxsize=65536)
def ratio_product(ratios: tuple[Ratio, ...]) -> Ratio:
    return math.prod(ratios, start=Fraction(1)) if math.inf not in ratios else math.inf


@lru_cache(maxsize=65536)
def independent_delta(own: Ratio, rest: Ratio, within: Within) -> float:
    return log_up(independent_ratio(own, rest, within))


@lru_cache(maxsize=4096)
def joint_delta(
    table: Table,
    levels: tuple[int, ...],
    position: int,
    rest: Ratio,
    q: float,
    shared: bool = True,
    parts: Parts = (),
    odds: float = math.inf,
    stepped: bool = False,
    own: bool = False,
) -> float:
    """The certificate of a feature inside a joint table, for priors within q and odds.

    `rest`: the ratio of the menu's other questions together. Two values of a feature are two inputs, unless inputs are
    `shared` (`shares_inputs`): the others may be distributed differently for two values that are coded the same way.
    Between `parts` of a number (theory.md, Theorem 6) it counts the most and the least that any number of a part may
    give,
    because within a part it may go with the others. Where the number is `stepped`, parts are given by their inputs.
    Where no answer is a value of its `own`, it is the last input and one more part.
    """
    weights = table.dense().weights.reshape(*levels, -1)
    f = np.moveaxis(weights, position, 0).reshape(levels[position], -1, table.symbols)  # own value x others x symbol
    above, below = (f, f) if not parts else _extremes_of_steps(f, parts, own) if stepped else _extremes(f, parts, own)
    equal_pairs = range(len(f)) if shared and not parts else ()  # a guess between a part and itself is none
    return log_up(joint_ratio(above, below, rest, Within(q, odds), equal_pairs))


def _extremes(f: Integers, parts: Parts, own: bool) -> tuple[Integers, Integers]:
    """The largest and smallest weights over each part, exactly, in units of weight.

    They are straight lines between inputs, so the ends of a part and the inputs inside it do. If the last input is no
    answer, it is the last part, and no line leads there.
    """
    steps = len(f) - 1 - own
    reached = []
    for low, high in parts:
        start = max(math.floor(low * steps * _UNITS) - 1, 0)
        end = min(math.ceil(high * steps * _UNITS) + 1, steps * _UNITS)
        inside = range(start // _UNITS + 1, -(-end // _UNITS))
        positions = (start, *(step * _UNITS for step in inside), end)
        reached.append([_between(f[: steps + 1], position) for position in positions])
    reached += [[_UNITS * f[-1]]] * own
    return np.array([np.max(rows, axis=0) for rows in reached]), np.array([np.min(rows, axis=0) for rows in reached])


def _extremes_of_steps(f: Integers, parts: Parts, own: bool) -> tuple[Integers, Integers]:
    """The same where a number enters by steps: over the inputs that each part meets."""
    met = [f[int(first) : int(last) + 1] for first, last in parts] + [f[-1:]] * own
    return np.array([rows.max(axis=0) for rows in met]), np.array([rows.min(axis=0) for rows in met])


def _between(f: Integers, position: int) -> Integers:
    below = min(position // _UNITS, len(f) - 2)
    share = position - below * _UNITS
    return np.asarray((_UNITS - share) * f[below] + share * f[below + 1])
