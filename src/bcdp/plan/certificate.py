"""What a plan's integer tables protect: `epsilon`, `c` and `delta`, recomputed from nothing but the plan.

The draw of the menu does not depend on the record, so every level is the largest over the menus; given the menu it is
the exact worst case over all priors within q (docs/theory.md, section 4, the exact certificate). Levels are exact
rationals or doubles with a margin far above their rounding error, and are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bcdp.correlation import Correlation, product_q, unrounded_q
from bcdp.errors import refuse
from bcdp.policy import Feature, NumericFeature
from bcdp.tables import TOTAL, Table, log_up
from bcdp.tables.exact import MOST_CELLS

if TYPE_CHECKING:
    from bcdp.plan.document import Menu, Plan, Question

Array = npt.NDArray[np.float64]
Ratio = Fraction | float  # a float only where it is infinite

_STEPS = 16  # between the 17 levels to which bounds about rounded numbers round them once
_MARGIN = 1 + 1e-13  # a few roundings of relative size 2^-53 separate the doubles below from the truth


@dataclass(frozen=True)
class Certified:
    """Levels in nats, rounded up: LDP of the whole report, CDP and BCDP of each feature."""

    epsilon: float
    c: Mapping[str, float]
    delta: Mapping[str, float]


def certify(plan: Plan, correlation: Correlation | None = None) -> Certified:
    """The true levels of a plan, whatever it claims, under its own assumption about correlation or another one.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> certify(plan).epsilon == plan.certificate.epsilon <= 1
    True
    """
    model = plan.correlation_model if correlation is None else correlation
    return _certify_cascade(plan, model) if plan.channels else _certify_survey(plan, model)


def _certify_survey(plan: Plan, correlation: Correlation) -> Certified:
    menus = [certify_menu(plan, menu, correlation) for menu in plan.menus]
    return Certified(
        max(found.epsilon for found in menus),
        {name: max(found.c[name] for found in menus) for name in plan.policy.features},
        {name: max(found.delta[name] for found in menus) for name in plan.policy.features},
    )


def certify_menu(plan: Plan, menu: Menu, correlation: Correlation) -> Certified:
    """The levels of the answers to one menu of a survey."""
    questions = [plan.questions[number] for number in menu.questions]
    tables = [plan.tables[question.table] for question in questions]
    asked = {name: number for number, question in enumerate(questions) for name in question.features}
    bound = _bound(correlation, questions)
    c, delta = {}, {}
    for name, feature in plan.policy.features.items():
        q = bound(name, frozenset(asked) - {name})
        number, shared = asked.get(name), shares_levels(feature)
        c[name] = menu_delta(questions, tables, name, number, shared, 0.0)  # the others held fixed, BCDP is CDP
        delta[name] = menu_delta(questions, tables, name, number, shared, q)
        if len(questions) == 1 and number is None:
            delta[name] = min(delta[name], _known_delta(plan, correlation, name, questions[0]))
    return Certified(log_up(_product(tuple(table.ratio for table in tables))), c, delta)


def _bound(correlation: Correlation, questions: Sequence[Question]) -> Callable[[str, frozenset[str]], float]:
    """For a feature and the others that a menu asks, how far what the questions see of them may move with it.

    A bound about numbers that are rounded once at random holds for a question that rounds them so, their product with
    a sign included. The product of two of them, or the square of one, has a bound of its own (docs/theory.md, 4.5).
    """
    rounded = correlation.rounded
    if all(_fits(question, rounded) and not _multiplies(question, rounded) for question in questions):
        return correlation.q
    if len(questions) == 1 and _fits(questions[0], rounded):
        return partial(product_q, correlation)
    return partial(unrounded_q, correlation)


def _fits(question: Question, rounded: frozenset[str]) -> bool:
    """Whether all levels to which numbers are rounded are among the 17."""
    sizes = question.levels if question.kind == "values" else question.levels * len(question.features)
    return not any(_STEPS % (size - 1) for name, size in zip(question.features, sizes, strict=True) if name in rounded)


def _multiplies(question: Question, rounded: frozenset[str]) -> bool:
    return question.kind == "product" and rounded.issuperset(question.features)


def shares_levels(feature: Feature) -> bool:
    """Whether two values of a feature may be coded alike: numbers are rounded, and `missing` stands for no value.

    Such values may still differ in what they say of the other features. A feature without a `missing` rule is taken as
    complete: its promise speaks of the value that is coded.
    """
    return isinstance(feature, NumericFeature) or feature.missing is not None


def menu_delta(
    questions: Sequence[Question], tables: Sequence[Table], name: str, number: int | None, shared: bool, q: float
) -> float:
    """The BCDP level of one feature, asked in question `number` of a menu or in none, over all priors within `q`.

    `shared`: several values of the feature may be coded as one level (`shares_levels`).
    """
    rest = _product(tuple(table.ratio for other, table in enumerate(tables) if other != number))
    if number is None:
        return _independent(Fraction(1), rest, q)
    question, table = questions[number], tables[number]
    if len(question.features) == 1 or question.kind == "product":  # whatever the others are, the answer tells no more
        return _independent(table.ratio, rest, q)
    return joint_delta(table, question.levels, question.features.index(name), rest, q, shared)


def _known_delta(plan: Plan, correlation: Correlation, name: str, question: Question) -> float:
    """The level of a feature under one question about another whose laws are known; infinite if they are not."""
    table, told = plan.tables[question.table], question.features[0]
    laws = correlation.laws(name, told) if len(question.features) == 1 and question.kind == "values" else None
    if laws is None or table.levels * table.symbols > MOST_CELLS:
        return math.inf
    if plan.policy.features[told].type == "numeric" or laws.shape[1] != table.levels:
        raise refuse(f"correlation.laws of {told}", f"{laws.shape[1]} values", "one for each value, and no numbers")
    return mixture_delta(table, laws)


def mixture_delta(table: Table, laws: Array) -> float:
    """The level of a feature given whose values the table's input is distributed by mixtures of the rows of `laws`.

    By Lemma 1 the worst mixtures are single rows (docs/theory.md, section 4.5).
    """
    # sums of non-negative terms keep their relative precision: at most 2^-53 is lost with each term
    margin = 1 + 1e-15 * (table.levels + 8)
    chances = laws / laws.sum(axis=1, keepdims=True) @ table.dense().weights.astype(np.float64)
    most, least = chances.max(axis=0), chances.min(axis=0)
    seen = most > 0
    with np.errstate(divide="ignore"):
        worst = float((most[seen] / least[seen]).max())
    return log_up(worst * margin)


@lru_cache(maxsize=65536)
def _product(ratios: tuple[Ratio, ...]) -> Ratio:
    return math.prod(ratios, start=Fraction(1)) if math.inf not in ratios else math.inf


@lru_cache(maxsize=65536)
def _independent(own: Ratio, rest: Ratio, q: float) -> float:
    """`log((1 - q) own + q own rest)`: the feature's own question, and independent questions about others."""
    if own == math.inf or (rest == math.inf and q > 0):
        return math.inf
    exact = Fraction(q)
    return log_up(own * (1 - exact + exact * rest)) if q > 0 else log_up(own)


@lru_cache(maxsize=4096)
def joint_delta(
    table: Table, levels: tuple[int, ...], position: int, rest: Ratio, q: float, shared: bool = True
) -> float:
    """The certificate of a feature inside a joint table beside questions of ratio `rest`, over all priors within `q`.

    Two values of a feature are two levels, unless levels are `shared` (`shares_levels`): the others may be distributed
    differently for two values that are coded alike.
    """
    if rest == math.inf and q > 0:
        return math.inf
    factor = float(rest) if q > 0 else 1.0
    weights = table.dense().weights.astype(np.float64).reshape(*levels, -1)
    f = np.moveaxis(weights, position, 0).reshape(levels[position], -1, table.symbols)  # own value x others x symbol
    top, bottom = f.max(axis=1, keepdims=True), f.min(axis=1, keepdims=True)
    worst = 1.0
    for high, low in ((factor, 1.0), (1.0, 1.0 / factor)):  # what the other questions say at the common point
        numerator = (1 - q) * f + q * high * top
        denominator = (1 - q) * f + q * low * bottom
        least = denominator.min(axis=0, keepdims=True) if shared else _least_of_others(denominator)
        seen = numerator > 0
        with np.errstate(divide="ignore"):
            worst = max(worst, float((numerator[seen] / np.broadcast_to(least, f.shape)[seen]).max()))
    return log_up(worst * _MARGIN) if worst > 1 else 0.0


def _least_of_others(array: Array) -> Array:
    """For each place along the first axis, the least entry at the other places."""
    least, second = np.partition(array, 1, axis=0)[:2]
    own = np.arange(len(array))[:, None, None] == array.argmin(axis=0)
    return np.asarray(np.where(own, second, least))


def _certify_cascade(plan: Plan, correlation: Correlation) -> Certified:
    names = tuple(plan.policy.features)
    ratios = [Fraction(channel.keep, TOTAL - channel.keep) for channel in plan.channels]
    own = {
        name: _product(tuple(r for r, channel in zip(ratios, plan.channels, strict=True) if name in channel.features))
        for name in names
    }
    whole = _product(tuple(ratios))
    delta = {}
    for name in names:
        q = unrounded_q(correlation, name, frozenset(names) - {name})  # channels read numbers as they are
        delta[name] = _independent(own[name], whole / own[name], q)
    return Certified(log_up(whole), {name: log_up(own[name]) for name in names}, delta)
