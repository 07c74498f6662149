"""Prints plans as Coq terms for proof/Checker.v, and reads back the levels that Coq computed.

    python proof/plans.py vectors/*.json > Plans.v

Nothing of the package is used: a plan is its JSON. Whatever this file does not know by name is refused, so that a new
key of a plan cannot be overlooked; Coq checks the rest.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

KNOWN = {
    "plan": "bcdp certificate channels collection correlation mechanism menus questions tables",
    "collection": "epsilon features order tasks survey relay menu_from",
    "feature": "type bounds ranges dates values missing delta if_wrong label help labels helps value_labels",
    "open feature": "type values label help labels helps value_labels",
    "question": "features levels table kind categories cuts",
    "menu": "weight questions",
    "channel": "features keep",
    "per feature": "kind source default named odds",
    "listed": "kind source bounds laws rounded products ranges odds cuts",
    "dense": "family weights",
    "response": "family levels keep other",
    "hadamard": "family levels order keep",
    "waves": "family levels waves",
    "projective": "family levels field dimension high low",
}
STEPS = 16  # between the 17 levels of theory.md, Lemma 4
NEAR = Fraction(1, 2**30)  # of the step between two levels: how far from its place a device may round a number


class UncoveredError(Exception):
    """What the checker does not cover."""


def check(kind: str, document: Mapping[str, Any]) -> None:
    if kind not in KNOWN:
        raise UncoveredError(kind)
    if unknown := set(document) - set(KNOWN[kind].split()):
        raise UncoveredError(f"{kind}: {', '.join(sorted(unknown))}")


def coq(value: Any) -> str:
    """Integers, fractions and lists of them."""
    if isinstance(value, Fraction):
        return f"({value.numerator}, {value.denominator})"
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{'; '.join(map(coq, value))}]" if isinstance(value, list) else str(value)


def naturals(values: Iterable[int]) -> str:
    return f"[{'; '.join(f'{value}%nat' for value in values)}]"


def coordinate(names: list[str], features: Iterable[str], size: int) -> str:
    return f"Coordinate {naturals(names.index(name) for name in features)} {size}"


def table_term(table: Mapping[str, Any]) -> str:
    check(table["family"], table)
    if table["family"] == "dense":
        return f"Dense {coq(table['weights'])}"
    if table["family"] == "response":
        return f"Response {table['levels']} {table['keep']} {table['other']}"
    if table["family"] == "waves":
        return f"Dense {coq(wave_rows(table))}"
    if table["family"] == "projective":
        return f"Dense {coq(hyperplane_rows(table))}"
    return f"Hadamard {table['levels']} {table['order']} {table['keep']}"


def wave_rows(table: Mapping[str, Any]) -> list[list[int]]:
    """The weights of waves written out, silence last."""
    rows = [
        [
            high if (step * level + answer) % answers < width else low
            for answers, step, width, high, low in table["waves"]
            for answer in range(answers)
        ]
        for level in range(table["levels"])
    ]
    return [[*row, 2**32 - sum(row)] for row in rows]


def hyperplane_rows(table: Mapping[str, Any]) -> list[list[int]]:
    """The weights of a geometry written out, silence last: vectors with a first 1, of a point in reverse order."""
    field, dimension = table["field"], table["dimension"]
    rest = [itertools.product(range(field), repeat=length) for length in range(dimension)]
    vectors = [(*[0] * (dimension - 1 - length), 1, *more) for length in range(dimension) for more in rest[length]]
    rows = []
    for point in vectors[: table["levels"]]:
        products = [sum(a * b for a, b in zip(reversed(point), vector, strict=True)) for vector in vectors]
        rows.append([table["low"] if product % field else table["high"] for product in products])
    return [[*row, 2**32 - sum(row)] for row in rows]


def question_term(names: list[str], question: Mapping[str, Any], tables: list[str]) -> str:
    """A question about values has one coordinate for each feature, one about a product has one for all of them."""
    features, sizes = question["features"], question["levels"]
    if question.get("kind", "values") == "product":
        read = [coordinate(names, features, sizes[0])]
    elif question.get("kind", "values") == "values":
        read = [coordinate(names, [name], size) for name, size in zip(features, sizes, strict=True)]
    else:
        raise UncoveredError(f"question: {question['kind']}")
    return f"Question [{'; '.join(read)}] (columns_of ({tables[question['table']]}))"


def cuts_of(question: Mapping[str, Any]) -> list[list[float] | None]:
    """For each feature the cuts at which its levels begin, if it is a number that enters by steps."""
    stated: list[list[float] | None] = question.get("cuts", [None] * len(question["features"]))
    return stated


def is_own(feature: Mapping[str, Any]) -> bool:
    """Whether no answer is a value of its own: the last level, to which no number is rounded."""
    return feature.get("missing") == "own" and "own" not in (feature.get("values") or [])


def sees(question: Mapping[str, Any], correlation: Mapping[str, Any], own: Collection[str]) -> str:
    """How the numbers that were seen only after one rounding enter an answer (theory.md, 4.5).

    For `q`, steps that begin at cuts between which it tells numbers apart are as good as rounding.
    """
    marked, known = correlation.get("rounded", []), correlation.get("cuts", {})
    product = question.get("kind", "values") == "product"
    sizes = question["levels"] * len(question["features"]) if product else question["levels"]
    for name, size, cuts in zip(question["features"], sizes, cuts_of(question), strict=True):
        levels = size - (name in own)  # to which numbers are rounded: the last may be no answer
        if name in marked and (STEPS % (levels - 1) if cuts is None else not set(cuts) <= set(known.get(name, []))):
            return "as they are"
    if any(name in marked and cuts for name, cuts in zip(question["features"], cuts_of(question), strict=True)):
        return "in steps"
    return "multiplied" if product and set(question["features"]) <= set(marked) else "rounded"


def bound(correlation: Mapping[str, Any], name: str, others: Collection[str], seen: Collection[str]) -> Fraction:
    """The stated q of a feature for a menu that asks the others in these ways."""
    if not others:
        return Fraction(0)
    if correlation["kind"] == "per feature":
        return Fraction(correlation["named"].get(name, correlation["default"]))

    def stated(rows: list[Any]) -> Fraction:
        found = [Fraction(q) for feature, told, q in rows if feature == name and set(told) == set(others)]
        return max(found, default=Fraction(1))

    if list(seen) == ["multiplied"]:
        return stated(correlation.get("products", []))
    if not set(seen) <= {"rounded", "in steps"} and not set(others).isdisjoint(correlation.get("rounded", [])):
        return Fraction(1)
    return stated(correlation["bounds"])


def odds_bound(
    correlation: Mapping[str, Any], name: str, others: Collection[str], seen: Collection[str]
) -> Fraction | None:
    """The stated odds of a feature for a menu that asks the others in these ways; None if they have no limit.

    Whoever knows less moves the odds by no more, so a bound about more features is one about some of them.
    """
    if "odds" not in correlation or not others:
        return None
    if correlation["kind"] == "per feature":
        stated = correlation["odds"].get("named", {}).get(name, correlation["odds"].get("default"))
        return None if stated is None else Fraction(stated)
    if set(seen) != {"rounded"} and not set(others).isdisjoint(correlation.get("rounded", [])):
        return None
    found = [
        Fraction(most) for feature, told, most in correlation["odds"] if feature == name and set(told) >= set(others)
    ]
    return min(found, default=None)


def row(place: Fraction, size: int, common: int) -> list[int]:
    """The law of the level of a number between levels, rounded at random to its neighbours, out of `common`."""
    level = min(math.floor(place), size - 2)
    up = int((place - level) * common)
    return [common - up if k == level else up if k == level + 1 else 0 for k in range(size)]


def span(feature: Mapping[str, Any], cuts: list[float], size: int) -> list[list[list[int]]]:
    """The ranges of a number, each as the laws of the level at its ends, moved outward, and at the levels inside it.

    In between the laws are straight lines, so these are the extreme ones. "Missing" is a range with one number, or with
    a level of its own.
    """
    if is_own(feature):
        rounded = span({**feature, "missing": None}, cuts, size - 1)
        return [*([[*law, 0] for law in laws] for laws in rounded), [[0] * (size - 1) + [sum(rounded[0][0])]]]
    low, high = map(Fraction, feature["bounds"])
    apart = [] if feature.get("missing") is None else [feature["missing"]]
    parts = zip([low, *cuts, *apart], [*cuts, high, *apart], strict=True)
    steps = [[(Fraction(end) - low) / (high - low) * (size - 1) for end in part] for part in parts]
    ends = [(max(start - NEAR, Fraction(0)), min(end + NEAR, Fraction(size - 1))) for start, end in steps]
    common = math.lcm(*(place.denominator for part in ends for place in part))
    return [
        [row(Fraction(place), size, common) for place in (start, *range(math.floor(start) + 1, math.ceil(end)), end)]
        for start, end in ends
    ]


def met(feature: Mapping[str, Any], ranges: list[float], steps: tuple[float, ...]) -> list[list[list[int]]]:
    """The same for a number that enters by steps: the levels that some number of each range has, each for certain.

    Devices compare codes, which are doubles, so ranges are compared by codes too.
    """
    if is_own(feature):
        steps_only = met({**feature, "missing": None}, ranges, steps)
        return [*([[*law, 0] for law in laws] for laws in steps_only), [[0] * (len(steps) + 1) + [1]]]
    low, high = feature["bounds"]

    def code(number: float) -> float:
        return min(max((number - low) / (high - low) * 2 - 1, -1.0), 1.0)

    begins = [code(cut) for cut in steps]
    ends = [(sum(b <= code(cut) for b in begins), sum(b < code(cut) for b in begins)) for cut in ranges]
    first, last = [0, *(at for at, _ in ends)], [*(before for _, before in ends), len(steps)]
    parts = [range(one, max(one, two) + 1) for one, two in zip(first, last, strict=True)]
    if feature.get("missing") is not None:
        imputed = sum(b <= code(feature["missing"]) for b in begins)
        parts.append(range(imputed, imputed + 1))
    return [[[int(k == level) for k in range(len(steps) + 1)] for level in part] for part in parts]


def spans_term(plan: Mapping[str, Any], name: str) -> str:
    """For every number of levels to which a feature is rounded: its ranges, if guesses are about these.

    Two levels stand for a feature that no table asks: an empty list would say that guesses are about values.
    """
    cuts = plan["correlation"].get("ranges", {}).get(name)
    if cuts is None:
        return "[]"
    feature = plan["collection"]["features"][name]
    places = [
        zip(question["features"], question["levels"], cuts_of(question), strict=False) for question in plan["questions"]
    ]
    found = {
        (size, None if steps is None else tuple(steps)) for rows in places for own, size, steps in rows if own == name
    }
    if len({size for size, _ in found}) < len(found):
        raise UncoveredError(f"question: {name} enters in two ways with one number of levels")
    sizes = {size: span(feature, cuts, size) if steps is None else met(feature, cuts, steps) for size, steps in found}
    least = 2 + is_own(feature)
    sizes.setdefault(least, span(feature, cuts, least))
    return f"[{'; '.join(f'({size}%nat, {coq(sizes[size])})' for size in sorted(sizes))}]"


def integers(law: list[float]) -> list[int]:
    shares = [Fraction(share) for share in law]
    common = math.lcm(*(share.denominator for share in shares))
    return [int(share * common) for share in shares]


def known_laws(correlation: Mapping[str, Any], name: str, questions: list[Any], plan: Mapping[str, Any]) -> list[Any]:
    """The stated laws, where a menu asks one other feature that is no number, and nothing else."""
    told = questions[0]["features"]
    if len(questions) > 1 or len(told) > 1 or name in told or questions[0].get("kind", "values") == "product":
        return []
    if plan["collection"]["features"][told[0]]["type"] == "numeric":
        return []
    found = [rows for feature, other, rows in correlation.get("laws", []) if (feature, other) == (name, told[0])]
    return [integers(law) for rows in found for law in rows]


def menu_term(plan: Mapping[str, Any], names: list[str], weight: int, asked: list[Any], terms: list[str]) -> str:
    correlation = plan["correlation"]
    own = [name for name, feature in plan["collection"]["features"].items() if is_own(feature)]
    seen = [sees(question, correlation, own) for question in asked]
    others = {name for question in asked for name in question["features"]}
    bounds = [coq(bound(correlation, name, others - {name}, seen)) for name in names]
    odds = [odds_bound(correlation, name, others - {name}, seen) for name in names]
    limits = ["None" if most is None else f"(Some {coq(most)})" for most in odds]
    laws = [coq(known_laws(correlation, name, asked, plan)) for name in names]
    knows = [f"Known {q} {most} {rows}" for q, most, rows in zip(bounds, limits, laws, strict=True)]
    return f"Menu {weight} [{'; '.join(terms)}] [{'; '.join(knows)}]"


def survey_menus(plan: Mapping[str, Any], names: list[str]) -> list[str]:
    tables = [table_term(table) for table in plan["tables"]]
    for question in plan["questions"]:
        check("question", question)
    terms = [question_term(names, question, tables) for question in plan["questions"]]
    menus = []
    for menu in plan["menus"]:
        check("menu", menu)
        asked = [plan["questions"][number] for number in menu["questions"]]
        menus.append(menu_term(plan, names, menu["weight"], asked, [terms[number] for number in menu["questions"]]))
    return menus


def cascade_menus(plan: Mapping[str, Any], names: list[str]) -> list[str]:
    """Channels are bits about a sign that is made of their features, all asked of everybody."""
    terms, asked = [], []
    for channel in plan["channels"]:
        check("channel", channel)
        table = f"Response 2 {channel['keep']} {2**32 - channel['keep']}"
        terms.append(f"Question [{coordinate(names, channel['features'], 2)}] (columns_of ({table}))")
        asked.append({"features": channel["features"], "levels": [2 + STEPS], "kind": "product"})  # numbers as they are
    return [menu_term(plan, names, 2**32, asked, terms)]


def plan_term(plan: Mapping[str, Any]) -> str:
    """The plan as a term of Checker.v; raises `UncoveredError` where it has something that is not known here."""
    check("plan", plan)
    check("collection", plan["collection"])
    check(plan["correlation"]["kind"], plan["correlation"])
    declared = plan["collection"]["features"]
    for feature in declared.values():
        check("open feature" if feature.get("type") == "open" else "feature", feature)
    # what is open is no part of what is protected: the levels are those of every group of open values
    features = {name: feature for name, feature in declared.items() if feature["type"] != "open"}
    if plan["mechanism"] not in ("survey", "cascade"):
        raise UncoveredError(f"mechanism: {plan['mechanism']}")
    names = list(features)
    menus = (survey_menus if plan["mechanism"] == "survey" else cascade_menus)(plan, names)
    shares = [
        feature["type"] == "numeric" or (feature.get("missing") is not None and not is_own(feature))
        for feature in features.values()
    ]
    spans = [spans_term(plan, name) for name in names]
    return f"Plan {coq(shares)} [{'; '.join(spans)}] [{'; '.join(menus)}]"


def document(plans: Iterable[Mapping[str, Any]]) -> str:
    """A file that makes Coq print the levels of the plans, in their order."""
    head = "Require Import ZArith List Checker.\nImport ListNotations.\nOpen Scope Z_scope.\n"
    return head + "".join(f"Eval vm_compute in levels_of ({plan_term(plan)}).\n" for plan in plans)


Ratio = Fraction | None  # None where Coq found no finite bound
Levels = tuple[Ratio, list[tuple[Ratio, Ratio]]]


def levels(printed: str) -> list[Levels | None]:
    """What Coq printed: for each plan `exp(epsilon)`, and `exp(c)` and `exp(delta)` of each feature.

    None for a plan whose tables or menus do not sum up.
    """
    results: list[Levels | None] = []
    for part in re.split(r"^\s*= ", printed, flags=re.MULTILINE)[1:]:
        value = re.split(r"^\s*: ", part, flags=re.MULTILINE)[0]
        found = [
            Fraction(int(match[1]), int(match[2])) if match[1] else None
            for match in re.finditer(r"Some\s*\((\d+),\s*(\d+)\)|None", value)
        ]
        proper = value.split()[0] != "None"
        results.append((found[0], list(zip(found[1::2], found[2::2], strict=True))) if proper else None)
    return results


if __name__ == "__main__":
    sys.stdout.write(document(json.loads(json.loads(Path(name).read_text("utf-8"))["plan"]) for name in sys.argv[1:]))
