"""What a suspicious person's device runs before it answers: a plan's levels, recomputed from its JSON alone.

A second implementation on purpose. It shares no code with the planner, the tables or the plan's own certificate, and
needs only Python's integers and fractions: `f` is read from the tables, `q` from the stated correlation, and every
level is the maximum over the menus of the exact certificate (docs/theory.md, section 4), rounded up.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from bcdp.errors import InputError, refuse

TOTAL = 2**32
MOST_CELLS = 2**20  # of a joint table, which is enumerated cell by cell

Ratio = Fraction | float  # a float only where it is infinite
Column = tuple[int, ...]
Law = tuple[int, ...]  # probabilities up to a common factor


@dataclass(frozen=True)
class Verdict:
    """The levels of a plan in nats, rounded up, and in one sentence each what exceeds the person's limits."""

    epsilon: float
    c: Mapping[str, float]
    delta: Mapping[str, float]
    objections: tuple[str, ...]

    @property
    def acceptable(self) -> bool:
        """Whether the plan keeps every limit."""
        return not self.objections


def verify_limits(
    plan: str | Mapping[str, Any], max_epsilon: float = math.inf, max_delta: Mapping[str, float] | None = None
) -> Verdict:
    """The levels of a plan, given as JSON text or as a mapping, and whether they keep a person's own limits.

    What the plan says about itself is not believed: its certificate is not even read. A document that a device could
    not execute is refused. Features that the limits do not name may have any level.

    >>> plan = {
    ...     "mechanism": "cascade",
    ...     "collection": {"features": {"smoker": {"type": "binary"}}},
    ...     "correlation": {"kind": "per feature", "default": 0.1, "named": {}},
    ...     "channels": [{"features": ["smoker"], "keep": 3 * 2**30}],
    ... }
    >>> verify_limits(plan, max_epsilon=2.0, max_delta={"smoker": 1.0}).objections
    ('delta of smoker is 1.099, above the limit 1',)
    """
    document = _document(plan)
    with_limits = dict(max_delta or {})
    features = _mapping("collection.features", _mapping("collection", document.get("collection")).get("features"))
    for name, feature in features.items():
        values = _mapping(f"features.{name}", feature).get("values")
        if values is not None:
            _sequence(f"features.{name}.values", values)
    if unknown := sorted(set(with_limits) - set(features)):
        raise refuse("max_delta", unknown, f"features of the plan: {', '.join(features)}")
    for name, limit in (("epsilon", max_epsilon), *with_limits.items()):
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0:
            raise refuse(f"limit of {name}", limit, "a number of at least 0")
    _check_rounded(document, features)
    if document.get("mechanism") == "cascade":
        epsilon, c, delta = _cascade(document, features)
    else:
        epsilon, c, delta = _survey(document, features)
    stated = [("epsilon", epsilon, max_epsilon)]
    stated += [(f"delta of {name}", delta[name], limit) for name, limit in with_limits.items()]
    return Verdict(
        epsilon,
        c,
        delta,
        tuple(f"{name} is {level:.4g}, above the limit {limit:g}" for name, level, limit in stated if level > limit),
    )


def _check_rounded(document: Mapping[str, Any], features: Mapping[str, Any]) -> None:
    """All numbers are seen through one rounding or none is: among factors, whatever is not marked counts as a sign."""
    marked = _Correlation(document.get("correlation")).rounded
    if marked and marked != {name for name, feature in features.items() if feature.get("type") == "numeric"}:
        raise refuse("correlation.rounded", sorted(marked), "all numeric features, or no such key")


def _document(plan: str | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(plan, Mapping):
        return plan
    try:
        return _mapping("plan", json.loads(plan, object_pairs_hook=_unique))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"plan: not JSON ({error}); accepted: a plan document") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key appears twice")
    return dict(pairs)


def _cascade(
    document: Mapping[str, Any], features: Mapping[str, Any]
) -> tuple[float, dict[str, float], dict[str, float]]:
    """One channel after the other: each keeps a bit with its own weight (docs/theory.md, section 3)."""
    correlation = _Correlation(document.get("correlation"))
    own, whole = dict.fromkeys(features, Fraction(1)), Fraction(1)
    for number, stated in enumerate(_sequence("channels", document.get("channels"))):
        channel = _mapping(f"channels.{number}", stated)
        keep = _whole(f"channels.{number}.keep", channel.get("keep"), TOTAL // 2, TOTAL - 1)
        whole *= Fraction(keep, TOTAL - keep)
        for name in _names(f"channels.{number}.features", channel.get("features"), features):
            own[name] *= Fraction(keep, TOTAL - keep)
    delta = {}
    for name in features:
        q = correlation.q(name, frozenset(features) - {name}, "as they are")
        delta[name] = _log_up((1 - q) * own[name] + q * whole)
    return _log_up(whole), {name: _log_up(ratio) for name, ratio in own.items()}, delta


def _survey(
    document: Mapping[str, Any], features: Mapping[str, Any]
) -> tuple[float, dict[str, float], dict[str, float]]:
    correlation = _Correlation(document.get("correlation"))
    questions = [
        _Question.read(number, question, document, features)
        for number, question in enumerate(_sequence("questions", document.get("questions")))
    ]
    epsilon: Ratio = Fraction(1)
    c: dict[str, Ratio] = dict.fromkeys(features, Fraction(1))
    delta: dict[str, Ratio] = dict.fromkeys(features, Fraction(1))
    drawn = 0
    known: dict[tuple[Any, ...], Ratio] = {}  # menus repeat: the same question beside others of the same ratio
    for number, stated in enumerate(_sequence("menus", document.get("menus"))):
        menu = _mapping(f"menus.{number}", stated)
        drawn += _whole(f"menus.{number}.weight", menu.get("weight"), 1, TOTAL)
        chosen = [
            _whole(f"menus.{number}.questions", place, 0, len(questions) - 1)
            for place in _sequence(f"menus.{number}.questions", menu.get("questions"))
        ]
        asked = [name for place in chosen for name in questions[place].features]
        if len(set(asked)) < len(asked):
            raise refuse(f"menus.{number}", asked, "each feature at most once in a menu")
        seen = _together([questions[place].sees(correlation.rounded) for place in chosen])
        whole = _times(questions[place].ratio for place in chosen)
        epsilon = max(epsilon, whole)
        for name in features:
            place = next((place for place in chosen if name in questions[place].features), None)
            rest = _times(questions[other].ratio for other in chosen if other != place)
            q = correlation.q(name, frozenset(asked) - {name}, seen)
            told = (
                _told(questions[chosen[0]], correlation.laws(name, asked[0]))
                if len(asked) == 1 and name not in asked
                else math.inf
            )
            for level, share in ((c, Fraction(0)), (delta, q)):
                key = (name, place, rest, share)
                if key not in known:
                    known[key] = _worst(questions[place] if place is not None else None, name, rest, share, features)
                level[name] = max(level[name], known[key] if level is c else min(known[key], told))
    if drawn != TOTAL:
        raise refuse("menus", f"weights that sum to {drawn}", f"a sum of 2^32 = {TOTAL}")
    return _log_up(epsilon), {n: _log_up(r) for n, r in c.items()}, {n: _log_up(r) for n, r in delta.items()}


def _together(seen: Sequence[str]) -> str:
    """How a menu sees numbers: what is stated of a product is about a menu that asks nothing else."""
    return seen[0] if len(seen) == 1 or set(seen) == {"rounded"} else "as they are"


@dataclass(frozen=True)
class _Question:
    """Features, their levels, and one column of integer weights for each symbol (a few, where many are alike)."""

    features: tuple[str, ...]
    levels: tuple[int, ...]
    product: bool  # whether all that is asked is one number made of the features
    table: Mapping[str, Any]
    ratio: Ratio

    @classmethod
    def read(cls, number: int, question: Any, document: Mapping[str, Any], features: Mapping[str, Any]) -> _Question:
        path = f"questions.{number}"
        stated = _mapping(path, question)
        names = _names(f"{path}.features", stated.get("features"), features)
        sizes = [_whole(f"{path}.levels", size, 2, TOTAL) for size in _sequence(f"{path}.levels", stated.get("levels"))]
        product = stated.get("kind", "values") == "product"
        if len(sizes) != (1 if product else len(names)):
            raise refuse(f"{path}.levels", sizes, "one number for each feature, or one for a product")
        for name, size in zip(names, sizes, strict=False):
            values = len(features[name].get("values") or (0, 1))
            if not product and features[name].get("type") != "numeric" and size != values:
                raise refuse(f"{path}.levels", size, f"the {values} values of {name}")
        tables = _sequence("tables", document.get("tables"))
        place = _whole(f"{path}.table", stated.get("table"), 0, len(tables) - 1)
        table = _mapping(f"tables.{place}", tables[place])
        columns = _columns(f"tables.{place}", table, math.prod(sizes))
        ratio = max(_over(max(column), min(column)) for column in columns)
        return cls(tuple(names), tuple(sizes), product, table, ratio)

    def sees(self, rounded: frozenset[str]) -> str:
        """How these numbers enter the answer: rounded once to some of 17 levels, multiplied before, or as they are."""
        marked = [place for place, name in enumerate(self.features) if name in rounded]
        if any(16 % (self.levels[0 if self.product else place] - 1) for place in marked):
            return "as they are"
        return "multiplied" if self.product and len(marked) == len(self.features) else "rounded"


def _columns(path: str, table: Mapping[str, Any], levels: int) -> Iterator[Column]:
    """The weights of each symbol over the levels; for randomized response and Hadamard bits two that show the ratio."""
    family = table.get("family")
    if family == "response":
        keep, other = (_whole(f"{path}.{name}", table.get(name), 1, TOTAL) for name in ("keep", "other"))
        if keep + (levels - 1) * other != TOTAL or keep < other or table.get("levels") != levels:
            raise refuse(path, dict(table), f"{levels} levels whose weights sum to {TOTAL}, the truth the likeliest")
        yield (keep, other)
    elif family == "hadamard":
        order = _whole(f"{path}.order", table.get("order"), levels, 2**14)
        cell = TOTAL // order
        keep = _whole(f"{path}.keep", table.get("keep"), cell // 2, cell - 1)
        if order & (order - 1) or table.get("levels") != levels:
            raise refuse(path, dict(table), f"{levels} levels and an order that is a power of 2")
        yield (keep, cell - keep)
    elif family == "dense":
        rows = [
            [_whole(f"{path}.weights", weight, 0, TOTAL) for weight in _sequence(f"{path}.weights", row)]
            for row in _sequence(f"{path}.weights", table.get("weights"))
        ]
        if len(rows) != levels or any(sum(row) != TOTAL or len(row) != len(rows[0]) for row in rows):
            raise refuse(f"{path}.weights", f"{len(rows)} rows", f"{levels} rows of one length that sum to {TOTAL}")
        yield from zip(*rows, strict=True)
    else:
        raise refuse(f"{path}.family", family, "dense, response or hadamard")


def _all_columns(table: Mapping[str, Any], levels: int) -> Iterator[Column]:
    """The weights of every symbol over all levels, in the order of the device's symbols."""
    if table["family"] == "response":
        for symbol in range(levels):
            yield tuple(table["keep"] if level == symbol else table["other"] for level in range(levels))
    elif table["family"] == "hadamard":
        flip = TOTAL // table["order"] - table["keep"]
        for row in range(table["order"]):
            for bit in range(2):
                same = [(row & level).bit_count() % 2 == bit for level in range(levels)]
                yield tuple(table["keep"] if kept else flip for kept in same)
    else:
        yield from zip(*table["weights"], strict=True)


def _worst(question: _Question | None, name: str, rest: Ratio, q: Fraction, features: Mapping[str, Any]) -> Ratio:
    """`exp(delta)` of one feature in one menu: (**) of docs/theory.md, section 4, other questions of ratio `rest`."""
    if math.inf in (rest, question.ratio if question else 1):
        if q > 0 and rest == math.inf:
            return math.inf
        rest = Fraction(1)  # with q = 0 nothing else is heard
    gain = 1 - q + q * Fraction(rest)
    if question is None:
        return gain
    if question.product or len(question.features) == 1 or question.table["family"] == "response":
        return question.ratio * gain if question.ratio != math.inf else math.inf
    shared = features[name].get("type") == "numeric" or features[name].get("missing") is not None
    place = question.features.index(name)
    size, below = question.levels[place], math.prod(question.levels[place + 1 :])
    levels = math.prod(question.levels)
    symbols = 2 * question.table["order"] if question.table["family"] == "hadamard" else 1
    if levels * symbols > MOST_CELLS:
        raise refuse("tables", f"a joint table of {levels} x {symbols} weights", f"at most {MOST_CELLS} weights")
    worst: Ratio = Fraction(1)
    for column in _all_columns(question.table, levels):
        f = [[column[level] for level in range(levels) if level // below % size == own] for own in range(size)]
        worst = max(worst, _worst_of_symbol(f, Fraction(rest), q, shared))
    return worst


def _told(question: _Question, laws: Sequence[Law] | None) -> Ratio:
    """What one question tells of another feature, by the stated laws of what it asks about given that feature's values.

    Each value's law is a mixture of the stated ones, so two of these are worst (docs/theory.md, section 4.5). Infinite
    where no laws are stated, or too many to enumerate: then the bound by `q`, which is larger, is used.
    """
    levels = math.prod(question.levels)
    if laws is None or question.product:
        return math.inf
    if any(len(law) != levels for law in laws):
        raise refuse("correlation.laws", f"{len(laws[0])} values", f"one for each of the {levels} levels")
    symbols = 2 * question.table["order"] if question.table["family"] == "hadamard" else levels
    if levels * symbols > MOST_CELLS:
        return math.inf
    totals = [sum(law) for law in laws]
    worst: Ratio = Fraction(1)
    for column in _all_columns(question.table, levels):
        chances = [
            Fraction(sum(p * weight for p, weight in zip(law, column, strict=True)), total)
            for law, total in zip(laws, totals, strict=True)
        ]
        most, least = max(chances), min(chances)
        worst = max(worst, most / least if least else (math.inf if most else Fraction(1)))
    return worst


def _worst_of_symbol(f: Sequence[Sequence[int]], rest: Fraction, q: Fraction, shared: bool) -> Ratio:
    """The largest ratio of one symbol with weights `f[own value][others]`; whole numbers, the quotient apart."""
    common, moved, (gain, unit) = q.denominator - q.numerator, q.numerator, rest.as_integer_ratio()
    top, bottom = [max(row) for row in f], [min(row) for row in f]
    worst: Ratio = Fraction(1)
    for heard in (unit, gain):  # the least and the most that the other questions say at the common point
        for z in range(len(f[0])):
            low = [common * heard * row[z] + moved * unit * least for row, least in zip(f, bottom, strict=True)]
            for a, row in enumerate(f):
                others = low if shared else low[:a] + low[a + 1 :]
                worst = max(worst, _over(common * heard * row[z] + moved * gain * top[a], min(others)))
    return worst


class _Correlation:
    """The bound that the plan states for a feature and a set of others: 1 if it states none, 0 for no others."""

    def __init__(self, stated: Any) -> None:
        self._laws: dict[tuple[str, str], tuple[Law, ...]] = {}
        self.rounded: frozenset[str] = frozenset()
        self._products: dict[tuple[str, frozenset[str]], Fraction] = {}
        kind = _mapping("correlation", stated).get("kind")
        if kind == "per feature":
            self._listed: dict[tuple[str, frozenset[str]], Fraction] | None = None
            self._default = _share("correlation.default", stated.get("default"))
            named = _mapping("correlation.named", stated.get("named"))
            self._named = {name: _share(f"correlation.named.{name}", q) for name, q in named.items()}
        elif kind == "listed":
            self._listed = _bounds("correlation.bounds", stated.get("bounds"))
            self._products = _bounds("correlation.products", stated.get("products", []))
            for row in _sequence("correlation.laws", stated.get("laws", []), empty=True):
                feature, told, laws = row if isinstance(row, list | tuple) and len(row) == 3 else (None, None, None)
                if not isinstance(feature, str) or not isinstance(told, str) or (feature, told) in self._laws:
                    raise refuse("correlation.laws", row, "different rows of [feature, other feature, laws]")
                self._laws[feature, told] = tuple(map(_law, _sequence("correlation.laws", laws)))
            if "rounded" in stated:
                names = _sequence("correlation.rounded", stated["rounded"])
                if not all(isinstance(name, str) for name in names):
                    raise refuse("correlation.rounded", names, "names of features")
                self.rounded = frozenset(names)
        else:
            raise refuse("correlation.kind", kind, "'per feature' or 'listed'")

    def q(self, name: str, others: frozenset[str], seen: str) -> Fraction:
        """The bound for answers that see the numbers among the others in this way (`_Question.sees`)."""
        if not others:
            return Fraction(0)
        if seen == "multiplied":
            return self._products.get((name, others), Fraction(1))
        if seen == "as they are" and others & self.rounded:
            return Fraction(1)
        if self._listed is not None:
            return self._listed.get((name, others), Fraction(1))
        return self._named.get(name, self._default)

    def laws(self, name: str, told: str) -> Sequence[Law] | None:
        return self._laws.get((name, told))


def _bounds(path: str, rows: Any) -> dict[tuple[str, frozenset[str]], Fraction]:
    bounds: dict[tuple[str, frozenset[str]], Fraction] = {}
    for row in _sequence(path, rows, empty=True):
        whole = isinstance(row, list | tuple) and len(row) == 3 and isinstance(row[1], list | tuple)
        if not whole or not all(isinstance(name, str) for name in (row[0], *row[1])):
            raise refuse(path, row, "rows of [feature, [other features], number from 0 to 1]")
        key = (row[0], frozenset(row[1]))
        bounds[key] = max(bounds.get(key, Fraction(0)), _share(path, row[2]))
    return bounds


def _law(stated: Any) -> Law:
    shares = [_share("correlation.laws", p) for p in _sequence("correlation.laws", stated)]
    if abs(sum(shares, start=Fraction(0)) - 1) > Fraction(1, 10**9):
        raise refuse("correlation.laws", stated, "probabilities that sum to 1")
    common = math.lcm(*(share.denominator for share in shares))
    return tuple(int(share * common) for share in shares)


def _share(path: str, value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise refuse(path, value, "a number from 0 to 1")
    return Fraction(value)


def _over(most: int, least: int) -> Ratio:
    if most == 0:
        return Fraction(1)  # a symbol that is never given tells nothing
    return Fraction(most, least) if least else math.inf


def _times(ratios: Iterable[Ratio]) -> Ratio:
    known = list(ratios)
    return math.inf if math.inf in known else math.prod(known, start=Fraction(1))


def _log_up(ratio: Ratio) -> float:
    """The natural logarithm as a float that is never below the truth."""
    if ratio == math.inf:
        return math.inf
    exact = Fraction(ratio)
    if exact == 1:
        return 0.0
    context = Context(prec=50, rounding=ROUND_CEILING)
    # `ln` rounds to nearest whatever the context says: one step up is above the truth
    bound = context.next_plus(context.ln(context.divide(Decimal(exact.numerator), Decimal(exact.denominator))))
    nearest = float(bound)
    return nearest if Decimal(nearest) >= bound else math.nextafter(nearest, math.inf)


def _mapping(path: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise refuse(path, value, "an object")
    return value


def _sequence(path: str, value: Any, empty: bool = False) -> Sequence[Any]:
    if not isinstance(value, list | tuple) or not (value or empty):
        raise refuse(path, value, "a list that is not empty")
    return value


def _names(path: str, value: Any, features: Mapping[str, Any]) -> list[str]:
    names = list(_sequence(path, value))
    if not all(isinstance(name, str) and name in features for name in names) or len(set(names)) < len(names):
        raise refuse(path, value, "different features of the plan")
    return names


def _whole(path: str, value: Any, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise refuse(path, value, f"a whole number from {least} to {most}")
    return value
