"""The levels that a plan's integers keep: exact ratios (theory.md, section 4), their logarithms rounded up."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from bcdp_device.verify.blocks import view_extremes, view_ratio
from bcdp_device.verify.collection import Feature
from bcdp_device.verify.correlation import Correlation, Law
from bcdp_device.verify.lists import is_ticked
from bcdp_device.verify.questions import MOST_CELLS, Channel, Menu, Question, Ratio

DIGITS = 60
STEP = 2**29  # units of the step between two levels: ends of parts are moved outward, past whatever devices round

Part = tuple[float, float]  # the ends of a range of a number, as shares of its bounds
Masses = tuple[Fraction, Fraction]  # of what one law has more of than the other: its mass in the one and in the other
View = tuple[frozenset[str], str]  # the features that a menu asks, and how it sees their numbers

HELD: Masses = (Fraction(0), Fraction(0))  # the others held fixed: BCDP is CDP


@dataclass(frozen=True)
class Levels:
    """Levels in nats, rounded up."""

    epsilon: float
    c: Mapping[str, float]
    delta: Mapping[str, float]
    items: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)  # of lists to tick: c and delta


def cascade_levels(channels: Sequence[Channel], features: Mapping[str, Feature], correlation: Correlation) -> Levels:
    """One channel after the other: each keeps a bit with its own weight (theory.md, section 3)."""
    ratio = _times(channel.ratio for channel in channels)
    c, delta = {}, {}
    for name in features:
        own = _times(channel.ratio for channel in channels if name in channel.features)
        moved = masses_moved(correlation, name, frozenset(features) - {name}, "as they are")
        c[name], delta[name] = _log_up(own), _log_up(own * _gain(Fraction(ratio) / Fraction(own), moved))
    return Levels(_log_up(ratio), c, delta)


def survey_levels(menus: Sequence[Menu], features: Mapping[str, Feature], correlation: Correlation) -> Levels:
    """The draw of the menu does not look at the record: every level is the largest over the menus."""
    ratios = [_times(question.ratio for question in menu) for menu in menus]
    views = [view_of(menu, correlation) for menu in menus]
    falling = sorted(zip(menus, ratios, views), key=lambda menu: menu[1], reverse=True)
    epsilon = falling[0][1]
    c: dict[str, Ratio] = dict.fromkeys(features, Fraction(1))
    delta = {name: _told_outside(name, falling, correlation) for name in features}
    known: dict[tuple[Any, ...], Ratio] = {}  # menus repeat: the same question with others of the same ratio
    for menu, (asked, seen) in zip(menus, views):
        for own, name in ((question, name) for question in menu for name in question.features):
            feature = features[name]
            rest = _times(question.ratio for question in menu if question is not own)
            moved = masses_moved(correlation, name, asked.difference(own.block(name)), seen)
            parts = feature.number.parts if feature.number and name in correlation.ranges else None
            for level, masses, guessed in ((c, HELD, None), (delta, moved, parts)):
                position = own.features.index(name)
                read = (id(own.table), own.levels, own.product, position, own.cuts.get(name))
                key = (
                    *read,
                    own.features if own.possible else (),
                    feature.equal_pairs,
                    feature.imputed,
                    rest,
                    masses,
                    guessed and (*guessed, feature.own),
                )
                if key not in known:
                    known[key] = _worst(own, name, rest, masses, feature, guessed)
                level[name] = max(level[name], known[key])
    logs = {ratio: _log_up(ratio) for ratio in {epsilon, *c.values(), *delta.values()}}
    items = _items(menus, views, features, falling, correlation)
    return Levels(logs[epsilon], {n: logs[r] for n, r in c.items()}, {n: logs[r] for n, r in delta.items()}, items)


def _items(
    menus: Sequence[Menu],
    views: Sequence[View],
    features: Mapping[str, Feature],
    falling: Sequence[tuple[Menu, Ratio, View]],
    correlation: Correlation,
) -> dict[tuple[str, str], tuple[float, float]]:
    """The levels of single items of lists, with the other items whatever they are (section 4.17)."""
    levels = {}
    for name, feature in features.items():
        for item, (place, _) in feature.items.items():
            c: Ratio = Fraction(1)
            delta = _told_outside(name, falling, correlation)
            for menu, (asked, seen) in zip(menus, views):
                for own in (question for question in menu if name in question.features):
                    position = own.features.index(name)
                    codes = [digits[position] for digits in own.possible] or list(range(own.levels[position]))
                    parts = [is_ticked(feature.sets, place, code) for code in codes]
                    rest = _times(question.ratio for question in menu if question is not own)
                    moved = masses_moved(correlation, name, asked.difference(own.block(name)), seen)
                    c = max(c, _of_view(own, name, parts, (), Fraction(1), HELD))
                    delta = max(delta, _of_view(own, name, parts, (), rest, moved))
            levels[name, item] = (_log_up(c), _log_up(delta))
    return levels


def view_of(menu: Menu, correlation: Correlation) -> View:
    """The features that a menu asks, and how it sees their numbers."""
    asked = frozenset(name for question in menu for name in question.features)
    return asked, _together([question.sees(correlation.rounded, correlation.cuts) for question in menu])


def _told_outside(name: str, menus: Sequence[tuple[Menu, Ratio, View]], correlation: Correlation) -> Ratio:
    """What the menus that do not ask a feature tell of it; they come by falling ratio.

    Where nothing is stated of single sets of others, the first of them tells most, because a gain grows with the ratio.
    """
    worst: Ratio = Fraction(1)
    for menu, ratio, (asked, seen) in menus:
        if name not in asked:
            laws = correlation.laws.get((name, min(asked))) if len(asked) == 1 else None
            by_laws = math.inf if laws is None or menu[0].product else _told(menu[0], laws)
            worst = max(worst, min(_gain(ratio, masses_moved(correlation, name, asked, seen)), by_laws))
            if not correlation.sets_differ:
                break
    return worst


def _together(seen: Sequence[str]) -> str:
    """How a menu sees numbers: what is stated of a product is about a menu that asks nothing else."""
    if len(seen) == 1 or set(seen) == {"rounded"}:
        return seen[0]
    return "in steps" if set(seen) <= {"rounded", "in steps"} else "as they are"


def masses_moved(correlation: Correlation, name: str, others: frozenset[str], seen: str) -> Masses:
    """Of the laws of the others given two values of a feature, the part of which one has the most it may have.

    Where odds are stated, one law has at most so many times what the other has, anywhere: to be `q` apart it needs
    `q odds/(odds - 1)` against `q/(odds - 1)`, and as much the other way round, if all that is at most 1.
    """
    q, odds = correlation.q(name, others, seen), correlation.odds(name, others, seen)
    if odds is None:
        return q, Fraction(0)
    if odds == 1:
        return HELD
    less = q / (odds - 1) if q * (odds + 1) <= odds - 1 else 1 / (odds + 1)
    return odds * less, less


def _gain(rest: Ratio, moved: Masses) -> Ratio:
    """What independent questions of ratio `rest` about others tell of a feature (theory.md, Theorem 8)."""
    more, less = moved
    if rest == math.inf:
        return Fraction(1) if more == 0 else more / less if less else math.inf
    return (1 + more * (Fraction(rest) - 1)) / (1 + less * (Fraction(rest) - 1))


def _worst(
    question: Question | None, name: str, rest: Ratio, moved: Masses, feature: Feature, parts: Sequence[Part] | None
) -> Ratio:
    """`exp(delta)` of one feature in one menu: section 4 of theory.md, other questions of ratio `rest`.

    Of a number whose bounds are about `parts`, for guesses between these (Theorem 6).
    """
    gain = _gain(rest, moved)
    if question is None:
        return gain
    if question.possible:
        return _of_block(question, name, feature, rest, moved, ranged=parts is not None)
    steps = feature.number.steps(question.cuts[name]) if parts and feature.number and name in question.cuts else None
    symmetric = (
        question.product or len(question.features) == 1 or (question.table.family == "response" and steps is None)
    )
    if symmetric:
        return _times((question.ratio, gain))
    position = question.features.index(name)
    size, below = question.levels[position], math.prod(question.levels[position + 1 :])
    shared = parts is None and feature.equal_pairs
    worst: Ratio = Fraction(1)
    for column in set(question.table.columns()):
        runs = [column[start : start + below] for start in range(0, len(column), below)]  # with one own value each
        f = [[weight for run in runs[own::size] for weight in run] for own in range(size)]
        most, least = (
            (f, f)
            if parts is None
            else _extremes(f, parts, feature.own)
            if steps is None
            else _of_levels(f, steps, feature.own)
        )
        for a, b in product(range(len(most)), repeat=2):
            if worst != math.inf and (shared or a != b):
                worst = _raised(Fraction(worst), set(zip(most[a], least[b])), rest, moved)
    return worst


def _of_block(question: Question, name: str, feature: Feature, rest: Ratio, moved: Masses, *, ranged: bool) -> Ratio:
    """What an answer about blocks tells of a feature, whatever goes with it inside its own (section 4.17).

    Between ranges of a number no two numbers are told apart: in a range each may go with something else outside.
    """
    position = question.features.index(name)
    numbers = range(question.levels[position] - feature.extras) if feature.number else ()
    shared = {*numbers, *(() if feature.imputed is None else (feature.imputed,))}
    parts = [digits[position] for digits in question.possible]
    if ranged and len(question.block(name)) < len(question.features):
        parts, shared = [0 if part in numbers else part for part in parts], {0}
    return _of_view(question, name, parts, shared, rest, moved)


def _of_view(
    question: Question, name: str, parts: Sequence[int], shared: Collection[int], rest: Ratio, moved: Masses
) -> Ratio:
    """The largest ratio between two parts of the inputs, what is asked outside the feature's block moving with them."""
    columns = list(question.table.columns())
    outside = question.outside(name)
    if len(set(outside)) < 2:
        return _times((view_ratio(columns, parts, shared), _gain(rest, moved)))
    worst: Ratio = Fraction(1)
    for column in set(map(tuple, columns)):
        extremes = view_extremes(column, parts, outside)
        for a, b in product(extremes, repeat=2):
            if worst != math.inf and (a != b or a in shared):
                points = set(zip(extremes[a][0], extremes[b][1]))
                worst = _raised(Fraction(worst), points, rest, moved)
    return worst


def _extremes(f: Sequence[Sequence[int]], parts: Sequence[Part], own: bool) -> tuple[list[list[int]], list[list[int]]]:
    """For each part and others, the most and the least weight of any number in the part, times `STEP`.

    A number's weight is a straight line between two levels: the ends of a part and the levels inside it suffice. No
    answer that is a value of its `own` is the last level, and one more part.
    """
    last = len(f) - 1 - own
    above, below = [], []
    for low, high in parts:
        first = max(0, math.floor(low * last * STEP) - 1)
        final = min(last * STEP, math.ceil(high * last * STEP) + 1)
        rows = []
        for unit in {first, final, *range(first // STEP * STEP + STEP, final, STEP)}:
            row, share = divmod(unit, STEP)
            following = f[min(row + 1, last)]
            rows.append([(STEP - share) * lower + share * upper for lower, upper in zip(f[row], following)])
        above.append([max(column) for column in zip(*rows)])
        below.append([min(column) for column in zip(*rows)])
    silent = [[STEP * weight for weight in f[-1]]] if own else []
    return above + silent, below + silent


def _of_levels(
    f: Sequence[Sequence[int]], steps: Sequence[tuple[int, int]], own: bool
) -> tuple[list[list[int]], list[list[int]]]:
    """The same for a number that enters by steps: over the levels from first to last of each part."""
    met = [f[first : last + 1] for first, last in steps] + [f[-1:]] * own
    most, least = ([[pick(column) for column in zip(*rows)] for rows in met] for pick in (max, min))
    return most, least


def _raised(worst: Fraction, weights: Collection[tuple[int, int]], rest: Ratio, moved: Masses) -> Ratio:
    """The largest ratio of one symbol, whose weights `(above, below)` these are, if it is larger than `worst`.

    It is reached with each of three parts of both laws at one place. A place with the largest surplus of what is above
    over `worst` times what is below raises `worst`, as long as all three surpluses together are positive.
    """
    more, less = moved
    quiet, loud = (Fraction(0), Fraction(1)) if rest == math.inf else (1 / Fraction(rest), Fraction(1))
    unit = math.lcm(more.denominator, less.denominator)
    parts = [(int(u * unit), int(v * unit)) for u, v in (moved, (less, more), 2 * (1 - more - less,))]
    while True:
        (high, low), above, below = worst.as_integer_ratio(), Fraction(0), Fraction(0)
        for u, v in parts:
            gains, x, y = max((u * x * low - v * y * high, x, y) for x, y in weights)
            heard = loud if gains > 0 else quiet
            above, below = above + u * x * heard, below + v * y * heard
        if above <= worst * below:
            return worst
        if below == 0:
            return math.inf
        worst = above / below


def _told(question: Question, laws: Sequence[Law]) -> Ratio:
    """What one question tells of another feature, by the stated laws of what it asks about given that feature's values.

    Each value's law is a mixture of the stated ones, so two of these are worst (theory.md, section 4.5). Infinite
    where there are too many to enumerate: then the bound by `q`, which is larger, is used.
    """
    if question.table.levels * question.table.symbols > MOST_CELLS:
        return math.inf
    totals = [sum(law) for law in laws]
    worst: Ratio = Fraction(1)
    for column in set(question.table.columns()):
        chances = [
            Fraction(sum(p * weight for p, weight in zip(law, column)), total) for law, total in zip(laws, totals)
        ]
        most, least = max(chances), min(chances)
        worst = max(worst, most / least if least else (math.inf if most else Fraction(1)))
    return worst


def _times(ratios: Iterable[Ratio]) -> Ratio:
    known = list(ratios)
    return math.inf if math.inf in known else math.prod(known, start=Fraction(1))


def _log_up(ratio: Ratio) -> float:
    """The natural logarithm of a ratio of at least 1, rounded up: the least float that is not below it."""
    if ratio in (1, math.inf):
        return 0.0 if ratio == 1 else math.inf
    top, bottom = Fraction(ratio).as_integer_ratio()
    zeros = max(0, bottom.bit_length() - (top - bottom).bit_length()) // 3  # after the point of a ratio near 1
    context = Context(prec=DIGITS + zeros, rounding=ROUND_CEILING)
    # `ln` rounds to nearest whatever the context says: one step up is above the truth
    bound = context.next_plus(context.ln(context.divide(Decimal(top), Decimal(bottom))))
    nearest = float(bound)
    return nearest if Decimal(nearest) >= bound else math.nextafter(nearest, math.inf)
