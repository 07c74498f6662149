"""The main promise of a plan that trusts more than devices: what the counts of a batch reveal (theory.md, 4.8, 4.15).

A claim is not searched for but checked at its own factor, in doubles, everything rounded up. Two numbers of what one
report adds to the counts are enough (Theorem 11): its second moment under the blanket, and its largest value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from bcdp_device.verify.binary_counts import binary_excess, dot, kept_bit
from bcdp_device.verify.collection import Demand, Feature
from bcdp_device.verify.correlation import Correlation
from bcdp_device.verify.geometry import overlap_ends
from bcdp_device.verify.levels import Levels, masses_moved, view_of
from bcdp_device.verify.messages import Excess, own_factor, together
from bcdp_device.verify.questions import MOST_CELLS, TOTAL, Menu, Question, Table, linked, sends_all
from bcdp_device.verify.values import mapping, number

MOST_PEOPLE = 10**8  # more count as so many
MOST_ROWS = 512  # of a table whose rows are compared one by one
ROUNDING = 1e-9  # of the largest terms
ABOVE = 1 + 1e-7  # the rounding of a sum of positive terms, and of its first
FORMS = ("epsilon", "odds")

Matrix = Sequence[Sequence[float]]
Masses = Sequence[tuple[float, float]]
Moment = Callable[[float], float]


@dataclass(frozen=True)
class View:
    """How a menu sees a feature: pairs of rows that count, the rest of the menu, and what moves with the feature.

    `rows[a][b][z][z']`: how much row (a, z) and row (b, z') overlap, a and b values of the feature, z and z' places of
    the others; none where only the most and the least overlap, `ends`, are used.
    """

    rows: Sequence[Sequence[Matrix]]
    ends: tuple[float, float]
    rest: tuple[float, float]
    masses: Masses


def untrue_counts(
    stated: Any,
    demand: Demand,
    document: Mapping[str, Any],
    menus: Sequence[Menu],
    features: Mapping[str, Feature],
    *,
    correlation: Correlation,
    levels: Levels,
) -> Iterator[str]:
    """In one sentence each, the claims about counts that are not proved, or above what was asked."""
    claims = mapping("certificate.counts", stated, (*FORMS, "features"))
    single = mapping("certificate.counts.features", claims["features"], features)
    for name, claim in single.items():
        mapping(f"certificate.counts.features.{name}", claim, FORMS)
    if sends_all(document):
        bounds, record = _bounds_of_messages(menus, features, claims, demand, correlation)
    else:
        weights = [menu["weight"] / TOTAL for menu in document["menus"]]
        bounds = {
            name: _feature_bound(name, feature, menus, weights, correlation, levels)
            for name, feature in features.items()
        }
        record = _Bound(_record_moment(menus, weights), levels.epsilon, levels.epsilon, kept_bit(menus))
    for form in FORMS:
        whole = number(f"certificate.counts.{form}", claims[form], 0)
        if whole > demand.levels.get(form, math.inf):
            yield f"{form} of counts is claimed to be {whole:.4g}, above the {demand.levels[form]:.4g} that was asked"
        if whole < levels.epsilon and not record.proves(form, whole, demand):
            yield f"{form} of counts is above the {whole:.4g} that the plan claims"
        for name, bound in bounds.items():
            level = number(f"certificate.counts.features.{name}.{form}", single[name][form], 0)
            if form == "epsilon" and level > (asked := demand.features.get(name, math.inf)):
                yield f"{form} of {name} in counts is claimed to be {level:.4g}, above the {asked:.4g} that was asked"
            if level < min(whole, levels.delta[name]) and not bound.proves(form, level, demand):
                yield f"{form} of {name} in counts is above the {level:.4g} that the plan claims"


def _bounds_of_messages(
    menus: Sequence[Menu],
    features: Mapping[str, Feature],
    claims: Mapping[str, Any],
    demand: Demand,
    correlation: Correlation,
) -> tuple[dict[str, _Claims], _Claims]:
    """Several messages: what each reveals, what all do, and what all reveal about one feature by its association."""
    known: dict[tuple[int, ...], Excess] = {}
    for menu in menus:
        known.setdefault(_tables(menu), _message_excess(menu, demand.people))
    single = [known[_tables(menu)] for menu in menus]
    record = _Messages(together(single))
    asked, seen = view_of(linked(menus), correlation)
    bounds: dict[str, _Claims] = {}
    for name in features:
        number_of = next((k for k, menu in enumerate(menus) if any(name in asks.features for asks in menu)), None)
        block = next((asks.block(name) for asks in linked(menus) if name in asks.features), {name})
        more, less = map(float, masses_moved(correlation, name, asked.difference(block), seen))
        own = None if number_of is None else single[number_of]
        bounds[name] = _FeatureOfMessages(own, record.excess, (more, less), claims)
    return bounds, record


def _tables(menu: Menu) -> tuple[int, ...]:
    return tuple(id(question.table) for question in menu)


def _message_excess(menu: Menu, people: int) -> Excess:
    ratio = math.prod(Fraction(question.ratio) for question in menu)
    level = math.log(ratio) * (1 + 1e-12) if ratio < 1e300 else math.inf
    bound, keep = _Bound(_record_moment([menu], [1.0]), level, level), kept_bit([menu])

    def excess(factor: float) -> float:
        first = bound.excess(factor, people)
        return min(first, binary_excess(factor, keep, people)) if keep else first

    return excess


class _Claims:
    """What proves a claim: at each factor the excess, for a claim of one form or the other."""

    def excess_for(self, form: str, factor: float, people: int, enough: float) -> float:
        """How far a chance may be above `factor` times another; exact only where it is above `enough`."""
        raise NotImplementedError

    def proves(self, form: str, level: float, demand: Demand) -> bool:
        """Whether a level is proved for the counts of the honest people, except with the chance."""
        factor = _factor(level)
        if form == "epsilon":
            return self.excess_for(form, factor, demand.people, demand.chance) <= demand.chance
        twice = -2 * math.log(demand.chance)
        square = max(1.0, twice - math.log(2 * math.pi * twice))
        smaller = 1 + (factor - 1) * (1 - 1 / (square + 1))
        allowed = demand.chance * (1 - smaller / factor)
        return self.excess_for(form, smaller, demand.people, allowed) <= allowed


def _factor(level: float) -> float:
    return max(1.0, math.exp(level) * (1 - 1e-15))


@dataclass(frozen=True)
class _Messages(_Claims):
    """The excess of the counts of all messages of a person."""

    excess: Excess

    def excess_for(self, form: str, factor: float, people: int, enough: float) -> float:
        return self.excess(factor)


@dataclass(frozen=True)
class _FeatureOfMessages(_Claims):
    """Theorem 19: the excess of a feature's own message, and of all at the claim about the record, by association."""

    own: Excess | None
    record: Excess
    moved: tuple[float, float]
    claims: Mapping[str, Any]

    def excess_for(self, form: str, factor: float, people: int, enough: float) -> float:
        whole = _factor(number(f"certificate.counts.{form}", self.claims[form], 0))
        left = own_factor(factor, whole, self.moved)
        if left < 1:
            return 1.0
        outside = self.record(whole)
        return outside if self.own is None else max(outside, self.own(left))


@dataclass(frozen=True)
class _Bound(_Claims):
    """What limits the excess: the second moment at each factor, and the levels of one report."""

    second_moment: Moment
    epsilon: float
    delta: float
    keep: float = 0.0  # with which probability one binary answer, all that is asked, is kept; 0 for other plans

    def excess_for(self, form: str, factor: float, people: int, enough: float) -> float:
        """The smaller of two bounds; the second, which takes long, only if the first is not small enough."""
        first = self.excess(factor, people)
        return first if first <= enough or not self.keep else binary_excess(factor, self.keep, people)

    def excess(self, factor: float, people: int) -> float:
        """Theorem 11: how far the chance of an event may be above `factor` times that under another record."""
        record, own = math.exp(self.epsilon), math.exp(self.delta)
        largest = min(record - factor, (own - factor) * record) + 1e-12 * record
        second = self.second_moment(factor)
        if largest <= 0:
            return 0.0
        if not math.isfinite(second) or not math.isfinite(largest):
            return 1.0
        n, drift = min(people, MOST_PEOPLE), factor - 1
        reach = largest + drift
        variance = max(second - drift * drift, 1e-30 * reach * reach)
        chance, step = variance / (reach * reach + variance), (reach * reach + variance) / reach
        beyond, spread = n * drift / step, math.sqrt(n * chance * (1 - chance))
        h = spread * min(1.0, spread / beyond) if beyond else spread
        return min(1.0, _square_above(n, chance, n * chance + beyond - h) * step / (4 * n * h) * ABOVE)


def _square_above(n: int, chance: float, start: float) -> float:
    """The mean of `(B - start)^2` where `B > start`, B being binomial: term by term, each from the one before."""
    k = max(0, math.floor(start) + 1)
    if k > n:
        return 0.0
    odds, total, weight = chance / (1 - chance), 0.0, 1.0
    first = _binomial(n, k, chance)
    while k <= n:
        term = weight * (k - start) * (k - start)
        total += term
        following = (n - k) / (k + 1) * odds
        gap = (k + 1 - start) / (k - start)
        ratio = following * gap * gap  # falls
        if ratio < 0.999 and term * ratio / (1 - ratio) <= 1e-10 * total:
            return first * (total + term * ratio / (1 - ratio))
        weight *= following
        k += 1
    return first * total


def _binomial(n: int, k: int, chance: float) -> float:
    """At least the chance of k: Stirling's formula with Robbins' bounds, the distance of k/n from `chance` exact."""
    if k in (0, n):
        return math.exp(n * (math.log1p(-chance) if k == 0 else math.log(chance)))
    share = k / n
    apart = share - chance
    far = share * math.log1p(apart / chance) + (1 - share) * math.log1p(-apart / (1 - chance))
    corrections = 1 / (12 * n) - 1 / (12 * k + 1) - 1 / (12 * (n - k) + 1)
    return math.sqrt(n / (2 * math.pi * k * (n - k))) * math.exp(corrections - n * far)


def _ends(menu: Menu, without: Question | None = None) -> tuple[float, float]:
    """The most and the least that two rows of the answers to a menu overlap, all questions but one."""
    known = [_table_ends(question.table) for question in menu if question is not without]
    return math.prod(most for most, _ in known), math.prod(least for _, least in known)


def _table_ends(table: Table) -> tuple[float, float]:
    if table.family == "response":
        keep, other = table.numbers["keep"], table.numbers["other"]
        same, different = Fraction(keep**2, other) + (table.levels - 1) * other, 2 * keep + (table.levels - 2) * other
        return float(same / TOTAL), different / TOTAL
    if table.family == "hadamard":
        cell, keep = TOTAL // table.numbers["order"], table.numbers["keep"]
        flip = cell - keep
        same = Fraction(keep**2, flip) + flip
        return float(same / cell), float((same + 2 * keep) / 2 / cell)
    if table.family == "projective":
        return overlap_ends(table.numbers)
    if table.levels > MOST_ROWS:
        return float(table.ratio), 1.0
    overlaps = _overlaps(table)
    return max(row[x] for x, row in enumerate(overlaps)), min(map(min, overlaps))


def _overlaps(table: Table) -> list[list[float]]:
    """`sum_y W(x,y) W(x',y) / w(y)` of every two rows, w being the least weight of each symbol that is ever given."""
    columns = [column for column in table.columns() if max(column)]
    if not all(map(min, columns)):
        return [[math.inf] * table.levels] * table.levels
    scaled = list(zip(*([weight / math.sqrt(min(column)) for weight in column] for column in columns)))
    result = [[0.0] * len(scaled) for _ in scaled]
    for (x, one), (y, other) in product(enumerate(scaled), repeat=2):
        if x <= y:
            result[x][y] = result[y][x] = dot(one, other) / TOTAL
    return result


def _feature_bound(
    name: str,
    feature: Feature,
    menus: Sequence[Menu],
    weights: Sequence[float],
    correlation: Correlation,
    levels: Levels,
) -> _Bound:
    views = [_views(menu, name, feature, correlation) for menu in menus]
    return _Bound(_feature_moment(weights, views), levels.epsilon, levels.delta[name])


def _views(menu: Menu, name: str, feature: Feature, correlation: Correlation) -> list[View]:
    """The ways to bound what a menu reveals about a feature; the smallest counts."""
    asked, seen = view_of(menu, correlation)
    own = next((question for question in menu if name in question.features), None)
    inside = {name} if own is None else own.block(name)
    more, less = map(float, masses_moved(correlation, name, asked.difference(inside), seen))
    masses = [part for part in ((more, less), (less, more), (1 - more - less,) * 2) if any(part)]
    if own is None:
        views = [View([[[[1.0]]]], (1.0, 1.0), _ends(menu), masses)]
        laws = None if len(asked) > 1 or menu[0].product else correlation.laws.get((name, min(asked)))
        if laws is not None and _is_small(menu[0].table):
            shares = [[share / sum(law) for share in law] for law in laws]
            overlaps = _overlaps(menu[0].table)
            parts = [[dot(law, row) for row in overlaps] for law in shares]
            rows = [[[[dot(part, law)]] for law in shares] for part in parts]
            views.append(View(rows, (1.0, 1.0), (1.0, 1.0), [(1.0, 1.0)]))
        return views
    ranged = len(own.features) > 1 and feature.number is not None and name in correlation.ranges
    if own.product or own.possible or ranged or not _is_small(own.table):
        return [View([], _table_ends(own.table), _ends(menu, own), masses)]
    position = own.features.index(name)
    size, below = own.levels[position], math.prod(own.levels[position + 1 :])
    starts = [x for x in range(own.table.levels) if x // below % size == 0]
    overlaps = _overlaps(own.table)
    rows = [
        [[[overlaps[z + a * below][t + b * below] for t in starts] for z in starts] for b in range(size)]
        for a in range(size)
    ]
    return [View(rows, (1.0, 1.0), _ends(menu, own), masses)]


def _is_small(table: Table) -> bool:
    return table.levels <= MOST_ROWS and table.levels * table.symbols <= MOST_CELLS


def _record_moment(menus: Sequence[Menu], weights: Sequence[float]) -> Moment:
    """The second moment between any two records, at each factor."""
    most, least = (dot(weights, side) for side in zip(*map(_ends, menus)))

    def moment(factor: float) -> float:
        return (1 + factor * factor) * most - 2 * factor * least + ROUNDING * (1 + factor) * (1 + factor) * most

    return moment


def _feature_moment(weights: Sequence[float], views: Sequence[Sequence[View]]) -> Moment:
    """The second moment between any two values of a feature, at each factor."""

    def moment(factor: float) -> float:
        single = [min(_largest_moment(view, factor) for view in menu) for menu in views]
        return dot(weights, single) * (1 + ROUNDING)

    return moment


def _largest_moment(view: View, factor: float) -> float:
    """The largest second moment of one menu over the places of the others, products of two parts each by themselves."""
    most, least = view.rest
    if not view.rows:
        rounded = ROUNDING * (1 + factor) * (1 + factor) * view.ends[0] * most
        crosses = [
            (a * c + factor * factor * b * d) * view.ends[0] - factor * (a * d + b * c) * view.ends[1]
            for (a, b), (c, d) in product(view.masses, repeat=2)
        ]
        return rounded + sum(max(cross * most, cross * least) for cross in crosses)
    values, places = range(len(view.rows)), range(len(view.rows[0][0]))
    largest = max(view.rows[a][a][z][t] for a in values for z in places for t in places)
    worst = max(_moment_of(view, a, b, factor) for a, b in product(values, repeat=2))
    return worst + ROUNDING * (1 + factor) * (1 + factor) * largest * most


def _moment_of(view: View, a: int, b: int, factor: float) -> float:
    """The same for two values of the feature."""
    places, (most, least), parts = range(len(view.rows[a][a])), view.rest, range(len(view.masses))
    first, second = view.rows[a][a], view.rows[b][b]
    across, back = view.rows[a][b], view.rows[b][a]

    def overlap(j: int, k: int, z: int, t: int) -> float:
        (u, v), (w, x) = view.masses[j], view.masses[k]
        both = u * w * first[z][t] + factor * factor * v * x * second[z][t]
        return both - factor * (u * x * across[z][t] + v * w * back[z][t])

    lengths = [[overlap(j, j, z, z) * most for z in places] for j in parts]
    if len(parts) == 1:
        return max(lengths[0])

    def pair(j: int, k: int, z: int, t: int) -> float:
        cross = overlap(j, k, z, t)
        return (lengths[j][z] + lengths[k][t]) / (len(parts) - 1) + 2 * max(cross * most, cross * least)

    return sum(max(pair(j, k, z, t) for z, t in product(places, repeat=2)) for j, k in combinations(parts, 2))
