"""The levels of a survey by enumeration, from its JSON alone: no code of any reader of plans.

For each menu, output and feature, over all extreme priors of theory.md, Theorems 3 and 4: the others at one common
place with mass 1 - q, and elsewhere, at the worst place for each of two values, with mass q. Whole numbers throughout.
Where odds are stated too: three places of the others, with the masses of Theorem 9. Of a number whose bounds are about
ranges: two ranges, in each of which it may go with the others (Theorem 6). In a panel a value is a history: two may
agree in the wave that is asked, and of a change the state is the earlier value and the one now.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

WORDS = 2**32
Pair = tuple[int, int]  # a ratio of two whole numbers; the second may be 0
Record = tuple[int, ...]

_CONTEXT = Context(prec=500)


def below_truth(claimed: float, ratio: Pair) -> bool:
    """Whether a level in nats is below the logarithm of a ratio."""
    top, bottom = ratio
    if bottom == 0:
        return claimed != math.inf
    if claimed > math.log(top) - math.log(bottom) + 1e-9 * (1 + math.log(top)):  # far above what doubles get wrong
        return False
    return Decimal(claimed) < _CONTEXT.ln(_CONTEXT.divide(Decimal(top), Decimal(bottom)))


def size_of(document: Any) -> int:
    """How many chances the enumeration goes through."""
    return sum(
        math.prod(len(states) for _, states in _asked(document, menu))
        * math.prod(_symbols(document["tables"][document["questions"][k]["table"]]) for k in menu["questions"])
        for menu in document["menus"]
    )


def enumerated(document: Any) -> tuple[Pair, dict[str, Pair], dict[str, Pair]]:
    """`exp` of epsilon, and of c and delta of each feature; of numbers multiplied or in ranges at least so much."""
    declared = document["collection"]["features"]
    features = {name: feature for name, feature in declared.items() if feature["type"] != "open"}
    epsilon: Pair = (1, 1)
    c: dict[str, Pair] = dict.fromkeys(features, (1, 1))
    delta: dict[str, Pair] = dict.fromkeys(features, (1, 1))
    for menu in document["menus"]:
        asked = _asked(document, menu)
        names = [name for name, _ in asked]
        records = list(itertools.product(*(range(len(states)) for _, states in asked)))
        levels: dict[str, Pair] = dict.fromkeys(features, (1, 1))
        for chances in _outputs(document, menu, asked, records):
            epsilon = larger(epsilon, (max(chances), min(chances)))
            for name, feature in features.items():
                place = names.index(name) if name in names else None
                by_value: dict[int, list[int]] = {}
                for record, chance in zip(records, chances, strict=True):
                    by_value.setdefault(0 if place is None else record[place], []).append(chance)
                imputed = feature.get("missing") is not None and not is_own(feature)
                panel = "panel" in document["collection"]
                shared = place is None or feature["type"] == "numeric" or imputed or panel
                q, odds = (found(document, menu, name, frozenset(names) - {name}) for found in (_q, _odds))
                f = list(by_value.values())
                c[name] = larger(c[name], _worst(f, Fraction(0), shared))
                if place is not None and name in document["correlation"].get("ranges", {}):
                    told = _worst_of_ranges(feature, f, q, odds, _cuts(document, menu, name))
                else:
                    told = _worst(f, q, shared) if odds is None else _worst_within(f, f, q, odds, shared)
                levels[name] = larger(levels[name], told)
        for name in features:
            delta[name] = larger(delta[name], min(levels[name], _by_laws(document, menu, name), key=_size))
    return epsilon, c, delta


def where_wrong(document: Any) -> Any:
    """The plan with q and odds - 1 of every feature multiplied as its second demand says, and no laws."""
    features, stated = document["collection"]["features"], document["correlation"]
    second = {name: feature["if_wrong"]["times"] for name, feature in features.items() if feature.get("if_wrong")}

    def larger_q(name: str, q: float) -> float:
        return min(1.0, second[name] * q) if name in second else q

    def larger_odds(name: str, odds: float) -> float:
        return 1 + second[name] * (odds - 1) if name in second else odds

    changed = {key: part for key, part in stated.items() if key != "laws"}
    if stated["kind"] == "per feature":
        own = {name: larger_q(name, stated["named"].get(name, stated["default"])) for name in second}
        changed["named"] = stated["named"] | own
        odds = stated.get("odds", {})
        known = {name: odds.get("named", {}).get(name, odds.get("default")) for name in second}
        moved = {name: larger_odds(name, most) for name, most in known.items() if most is not None}
        changed |= {"odds": odds | {"named": odds.get("named", {}) | moved}} if odds else {}
    else:
        for key, larger in (("bounds", larger_q), ("products", larger_q), ("odds", larger_odds)):
            if key in stated:
                changed[key] = [[name, others, larger(name, most)] for name, others, most in stated[key]]
    return {**document, "correlation": changed}


def is_own(feature: Any) -> bool:
    """Whether no answer is a value of its own: the last level."""
    return feature.get("missing") == "own" and "own" not in (feature.get("values") or ())


def larger(one: Pair, other: Pair) -> Pair:
    """The larger of two ratios; 0 / 0 says nothing."""
    return other if one[0] * other[1] < other[0] * one[1] else one


def _size(ratio: Pair) -> Fraction | float:
    return Fraction(*ratio) if ratio[1] else math.inf


def _worst(f: Sequence[Sequence[int]], q: Fraction, shared: bool) -> Pair:
    """(**) of the theory over all pairs of values and all places of the common mass, for one output."""
    stay, move = q.denominator - q.numerator, q.numerator
    top, bottom = [max(row) for row in f], [min(row) for row in f]
    worst: Pair = (1, 1)
    for z in range(len(f[0])):
        above = [stay * row[z] + move * most for row, most in zip(f, top, strict=True)]
        below = [stay * row[z] + move * least for row, least in zip(f, bottom, strict=True)]
        if shared:  # any two values, a value and itself among them
            worst = larger(worst, (max(above), min(below)))
        else:
            for a, b in itertools.permutations(range(len(f)), 2):
                worst = larger(worst, (above[a], below[b]))
    return worst


def _worst_within(above: Sequence[Any], below: Sequence[Any], q: Fraction, odds: Fraction, shared: bool) -> Pair:
    """The same within odds: of one law odds times as much as of the other at one place, the other way round at another.

    Places with more above and less below make others needless; of many of the rest only some at both ends are tried.
    """
    less = min(q / (odds - 1), 1 / (odds + 1)) if odds > 1 else Fraction(1, 2)
    more, same = odds * less, 1 - (odds + 1) * less
    worst = Fraction(1)
    for (a, up), (b, down) in itertools.product(enumerate(above), enumerate(below)):
        if a == b and not shared:
            continue
        best: list[tuple[Any, Any]] = []
        for low, high in sorted({(y, -x) for x, y in zip(up, down, strict=True)}):
            if not best or -high > best[-1][0]:
                best.append((-high, low))
        tried = [*best[:3], *best[max(3, len(best) - 3) :]]
        for one, two, three in itertools.product(tried, repeat=3):
            top = more * one[0] + less * two[0] + same * three[0]
            bottom = less * one[1] + more * two[1] + same * three[1]
            if bottom == 0 and top > 0:
                return (1, 0)
            worst = max(worst, top / bottom) if bottom else worst
    return worst.as_integer_ratio()


def _worst_of_ranges(feature: Any, f: Sequence[Sequence[int]], q: Fraction, odds: Fraction | None, cuts: Any) -> Pair:
    """The same over all pairs of ranges, "missing" among them, at every level and every end: lines between levels.

    Of numbers that are multiplied these are no lines, but each of the places is one that a number may have. Of numbers
    that enter by steps it is the levels that some number of a range has: those of its first number and of the first
    numbers of steps that begin inside it.
    """
    own = is_own(feature)
    lines = f[: len(f) - own]  # no line leads to no answer
    rows = [_reached(part, lines) for part in _parts(feature)] if cuts is None else _met(feature, f, cuts)
    rows += [[f[-1]]] * own
    most, least = ([[pick(column) for column in zip(*row, strict=True)] for row in rows] for pick in (max, min))
    if odds is not None:
        return _worst_within(most, least, q, odds, shared=False)
    top, bottom = [max(row) for row in most], [min(row) for row in least]
    worst: Pair = (1, 1)
    for z, (a, b) in itertools.product(range(len(f[0])), itertools.permutations(range(len(rows)), 2)):
        above, below = ((1 - q) * most[a][z] + q * top[a], (1 - q) * least[b][z] + q * bottom[b])
        common = math.lcm(above.denominator, below.denominator)
        worst = larger(worst, (int(above * common), int(below * common)))
    return worst


def _parts(feature: Any) -> Iterator[tuple[Fraction, Fraction]]:
    low, high = map(Fraction, feature["bounds"])
    cuts = feature.get("ranges") or [float(low) + float(high - low) * share for share in (0.25, 0.5, 0.75)]
    shares = [(Fraction(cut) - low) / (high - low) for cut in cuts]
    yield from itertools.pairwise([Fraction(0), *shares, Fraction(1)])
    if feature.get("missing") is not None and not is_own(feature):
        yield ((Fraction(feature["missing"]) - low) / (high - low),) * 2


def _reached(part: tuple[Fraction, Fraction], f: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    """The chances at the ends of a part and at the levels inside it."""
    start, end = (share * (len(f) - 1) for share in part)
    found = []
    for place in {start, end, *(Fraction(level) for level in range(len(f)) if start <= level <= end)}:
        below = min(math.floor(place), len(f) - 2)
        up = place - below
        found.append([(1 - up) * one + up * two for one, two in zip(f[below], f[below + 1], strict=True)])
    return found


def _cuts(document: Any, menu: Any, name: str) -> Any:
    """The cuts by which a menu's question about a feature reads it, if it does."""
    for question in (document["questions"][k] for k in menu["questions"]):
        for feature, cuts in zip(question["features"], question.get("cuts", ()), strict=False):
            if feature == name:
                return cuts
    return None


def _met(feature: Any, f: Sequence[Sequence[int]], cuts: Any) -> list[list[Sequence[int]]]:
    """The chances at the levels that each range meets, by the codes of the numbers where ranges and steps begin."""
    low, high = feature["bounds"]
    ends = feature.get("ranges") or [low + (high - low) * share for share in (0.25, 0.5, 0.75)]
    code = {
        number: (number - low) / (high - low) * 2 - 1 for number in (low, *ends, *cuts, feature.get("missing", low))
    }
    level = {number: sum(code[cut] <= place for cut in cuts) for number, place in code.items()}
    met = []
    for start, end in itertools.pairwise([*(code[end] for end in (low, *ends)), math.inf]):
        inside = {level[number] for number in (low, *ends, *cuts) if start <= code[number] < end}
        met.append([f[k] for k in sorted(inside)])
    if feature.get("missing") is not None:
        met.append([f[level[feature["missing"]]]])
    return [rows for rows in met if rows]


def _asked(document: Any, menu: Any) -> list[tuple[str, list[Fraction]]]:
    """The features of a menu with their states; numbers that are multiplied are as many as the product has levels."""
    found = []
    for question in (document["questions"][k] for k in menu["questions"]):
        for place, name in enumerate(question["features"]):
            size = question["levels"][0 if "kind" in question else place]
            if question.get("kind") == "change":
                size **= 2
            elif "kind" in question and document["collection"]["features"][name]["type"] != "numeric":
                size = 2
            found.append((name, [Fraction(2 * state, size - 1) - 1 for state in range(size)]))
    return found


def _outputs(document: Any, menu: Any, asked: list[Any], records: list[Record]) -> Iterator[list[int]]:
    """For each output of a menu its chance at every record, up to a factor."""
    tables, start = [], 0
    for question in (document["questions"][k] for k in menu["questions"]):
        end = start + len(question["features"])
        rows, states = _rows(document["tables"][question["table"]]), [states for _, states in asked[start:end]]
        tables.append([_told(question, rows, states, record[start:end]) for record in records])
        start = end
    for output in itertools.product(*(range(len(rows[0])) for rows in tables)):
        weights = ([rows[k][y] for rows, y in zip(tables, output, strict=True)] for k in range(len(records)))
        yield [math.prod(chance) for chance in weights]


def _told(question: Any, rows: list[list[int]], states: list[list[Fraction]], own: Record) -> list[int]:
    """The weights of the symbols of one question at the states of its features."""
    if "kind" not in question:
        level = 0
        for size, state in zip(question["levels"], own, strict=True):
            level = level * size + state
        return rows[level]
    if question["kind"] == "change":
        return rows[own[0]]
    numbers = [values[state] for values, state in zip(states, own, strict=True)]
    product = numbers[0] * numbers[1] if len(numbers) == 2 else 2 * numbers[0] ** 2 - 1
    unit = max(1, len(rows) - 1) ** 2 * 2  # every product of two levels is a whole number of these between two levels
    place = (product + 1) / 2 * (len(rows) - 1)
    below = min(math.floor(place), len(rows) - 2)
    up = int((place - below) * unit)
    assert up == (place - below) * unit
    return [(unit - up) * low + up * high for low, high in zip(rows[below], rows[below + 1], strict=True)]


def _rows(table: Any) -> list[list[int]]:
    """A table written out."""
    if table["family"] == "dense":
        return list(table["weights"])
    levels = range(table["levels"])
    if table["family"] == "response":
        return [[table["keep"] if x == y else table["other"] for y in levels] for x in levels]
    if table["family"] == "waves":
        given = [(wave, answer) for wave in table["waves"] for answer in range(wave[0])]
        rows = [[w[3] if (w[1] * x + answer) % w[0] < w[2] else w[4] for w, answer in given] for x in levels]
        return [[*row, WORDS - sum(row)] for row in rows]
    if table["family"] == "projective":
        return hyperplane_rows(table)
    cell = WORDS // table["order"]
    sent = [[f"{row & x:b}".count("1") % 2 == bit for row in range(table["order"]) for bit in (0, 1)] for x in levels]
    return [[table["keep"] if true else cell - table["keep"] for true in row] for row in sent]


def _symbols(table: Any) -> int:
    """How many answers a table has."""
    if table["family"] == "projective":
        return int((table["field"] ** table["dimension"] - 1) // (table["field"] - 1)) + 1
    return len(_rows({**table, "levels": 1} if table["family"] == "hadamard" else table)[0])


def hyperplane_rows(table: Any) -> list[list[int]]:
    """The weights of a geometry, from vectors that are listed one by one."""
    field, size = table["field"], table["dimension"]
    vectors = [vector for vector in itertools.product(range(field), repeat=size) if any(vector)]
    normal = [vector for vector in vectors if next(filter(None, vector)) == 1]  # in the order of their numbers
    rows = []
    for point in normal[: table["levels"]]:
        products = [sum(map(math.prod, zip(point[::-1], plane, strict=True))) % field for plane in normal]
        rows.append([table["low"] if product else table["high"] for product in products])
    return [[*row, WORDS - sum(row)] for row in rows]


def _q(document: Any, menu: Any, name: str, others: frozenset[str]) -> Fraction:
    """The stated bound for what a menu sees of the others (theory.md, 4.5)."""
    stated = document["correlation"]
    if not others:
        return Fraction(0)
    if stated["kind"] == "per feature":
        return Fraction(stated["named"].get(name, stated["default"]))
    marked, questions = set(stated.get("rounded", ())), [document["questions"][k] for k in menu["questions"]]
    rows, multiplied = stated["bounds"], False
    for question in questions:
        otherwise = _otherwise(document, question)
        multiplied |= (squared := "kind" in question and marked.issuperset(question["features"]))
        if otherwise or (squared and len(questions) > 1):
            return Fraction(1) if marked & others else _stated(rows, name, others)
    return _stated(stated.get("products", []) if multiplied else rows, name, others)


def _odds(document: Any, menu: Any, name: str, others: frozenset[str]) -> Fraction | None:
    """The stated odds for what a menu sees of the others; None if there are none."""
    stated = document["correlation"]
    if "odds" not in stated or not others:
        return None
    if stated["kind"] == "per feature":
        most = stated["odds"].get("named", {}).get(name, stated["odds"].get("default"))
        return None if most is None else Fraction(most)
    marked = set(stated.get("rounded", ()))
    for question in (document["questions"][k] for k in menu["questions"]):
        stepped = [n for n, cuts in zip(question["features"], question.get("cuts", ()), strict=False) if cuts]
        otherwise = _otherwise(document, question) or marked.intersection(stepped)
        if (otherwise or ("kind" in question and marked.issuperset(question["features"]))) and marked & others:
            return None
    known = [Fraction(most) for feature, more, most in stated["odds"] if feature == name and others <= set(more)]
    return min(known, default=None)


def _otherwise(document: Any, question: Any) -> list[str]:
    """The marked numbers that a question sees neither through one rounding nor between cuts that are known."""
    stated, features = document["correlation"], document["collection"]["features"]
    sizes = question["levels"] * (len(question["features"]) if "kind" in question else 1)
    steps = question.get("cuts", [None] * len(sizes))
    return [
        name
        for name, size, cuts in zip(question["features"], sizes, steps, strict=True)
        if name in stated.get("rounded", ())
        and (
            16 % (size - 1 - is_own(features[name]))
            if cuts is None
            else not set(cuts) <= set(stated.get("cuts", {}).get(name, ()))
        )
    ]


def _stated(rows: Any, name: str, others: frozenset[str]) -> Fraction:
    return next((Fraction(q) for feature, known, q in rows if feature == name and others == set(known)), Fraction(1))


def _by_laws(document: Any, menu: Any, name: str) -> Pair:
    """What a menu of one question about one other feature tells by the stated laws; infinite if there are none."""
    question = document["questions"][menu["questions"][0]]
    if len(menu["questions"]) > 1 or len(question["features"]) > 1 or "kind" in question:
        return (1, 0)
    pair = [name, *question["features"]]
    laws = next((laws for *known, laws in document["correlation"].get("laws", []) if known == pair), None)
    if laws is None:
        return (1, 0)
    worst: Pair = (1, 1)
    for column in zip(*_rows(document["tables"][question["table"]]), strict=True):
        exact = [[Fraction(p) for p in law] for law in laws]
        chances = [sum(p * w for p, w in zip(law, column, strict=True)) / sum(law) for law in exact]
        for one, other in itertools.product(chances, repeat=2):
            ratio = Fraction(one) / other if other else Fraction(0)
            worst = larger(worst, ratio.as_integer_ratio() if other else (int(one > 0), 0))
    return worst
