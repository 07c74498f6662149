"""Plans to start from and changes to them, for whoever reads plans: most are no plans any more, some still are."""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bcdp import Plan, Policy, make_plan
from support.helpers import (
    exact_q,
    listed,
    random_document,
    random_prior,
    random_product_document,
    sizes_of,
    with_steps,
)
from support.message_counts import message_cases
from support.readers import ROOT, canonical

NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*')
WORDS = 2**32


def vector_plans() -> list[Any]:
    """The plans of vectors/*.json."""
    found = [json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "vectors").glob("*.json"))]
    return [json.loads(vector["plan"]) for vector in found if "plan" in vector]


def fresh_plans(rng: np.random.Generator, count: int) -> list[Any]:
    """Plans as the planner makes them, and random ones of every shape, claims as low as they are true."""
    features = {
        "smoker": {"type": "binary", "delta": 0.2, "missing": 0},
        "region": {"type": "categorical", "values": ["n", "s", 3], "help": "where"},
        "income": {"type": "numeric", "bounds": [0, 9]},
    }
    tasks = [{"mean": ["smoker", "income"], "weight": 2}, {"frequency": ["region"]}, {"table": ["smoker", "income"]}]
    tasks.append({"mean": ["income"], "by": "region"})
    regression = {"regression": {"target": "income", "features": ["smoker"], "ridge": 0.5}}
    found = [
        json.loads(make_plan(Policy(epsilon=2, correlation=0.05, features=features, tasks=chosen)).text)
        for chosen in (tasks, [*tasks, regression], [*tasks, {"distribution": ["income"], "bins": 16}])
    ]
    opened = {**features, "where": {"type": "open", "values": ["n", "s"]}, "year": {"type": "open", "values": [1, 2]}}
    found.append(json.loads(make_plan(Policy(epsilon=2, correlation=0.05, features=opened, tasks=tasks[:2])).text))
    silent = {name: {**feature, "missing": "own"} for name, feature in features.items()}
    found.append(json.loads(make_plan(Policy(epsilon=2, correlation=0.05, features=silent)).text))
    scored = {**features, "liked": {"type": "ordinal", "values": ["no", "so", "yes"], "scores": [-1, 0.5, 3]}}
    found.append(json.loads(make_plan(Policy(epsilon=2, correlation=0.05, features=scored)).text))
    born = {"type": "date", "from": "1940-01-01", "to": "1999-12-31", "unit": "months", "ranges": ["1970-01"]}
    found.append(json.loads(make_plan(Policy(epsilon=2, correlation=0.05, features={**features, "born": born})).text))
    while len(found) < count:
        document = with_steps(rng, random_document(rng)) if rng.random() < 0.7 else random_product_document(rng)
        _correlate(rng, document)
        if rng.random() < 0.3:
            spread_over_waves(rng, document)
        found += recertified(document)
    return found


def several_messages(rng: np.random.Generator, count: int) -> list[Any]:
    """Random plans of two or three messages, with their counts claimed as low as is proved."""
    return [json.loads(case.plan.text) for case in message_cases(rng, count)]


def cascade_plans() -> list[Any]:
    """Plans of the paper's mechanism."""
    features = {
        "smoker": {"type": "binary", "delta": 0.2},
        "income": {"type": "numeric", "bounds": [0, 9], "delta": 0.7},
        "age": {"type": "numeric", "bounds": [0, 99]},
    }
    policies = [Policy(epsilon=2, correlation=q, features=features, mechanism="cascade") for q in (0.0, 0.01, 0.3)]
    return [json.loads(make_plan(policy).text) for policy in policies]


def _correlate(rng: np.random.Generator, document: Any) -> None:
    """A random statement about correlation, and rules for what is missing."""
    features = document["collection"]["features"]
    for feature in features.values():
        if rng.random() < 0.3 and "missing" not in feature:
            feature["missing"] = {"binary": 1, "categorical": "b", "numeric": 0.25}[feature["type"]]
    _state_q(rng, document)
    for _ in range(rng.integers(4)):
        change_the_odds(rng, document, ODDS[:8])
    if rng.random() < 0.4:
        own_the_missing(rng, document)


def _state_q(rng: np.random.Generator, document: Any) -> None:
    features = document["collection"]["features"]
    if rng.random() < 0.5:
        document["correlation"]["default"] = float(rng.choice([0.0, 5e-324, 1e-30, 0.01, 0.3, 1 - 2**-53, 1.0]))
        return
    plan = Plan.build(document)
    document["correlation"] = listed(exact_q(plan, random_prior(rng, sizes_of(plan))))
    numbers = [name for name, feature in features.items() if feature["type"] == "numeric"]
    values = [name for name in features if name not in numbers]
    if numbers and rng.random() < 0.5:
        document["correlation"] |= {
            "rounded": numbers,
            "products": [["x0", numbers[:2], 0.25], ["x1", numbers[:1], 0.5]],
        }
    if numbers and rng.random() < 0.5:
        document["correlation"]["cuts"] = {name: [k / 8 for k in range(1, 8)] for name in numbers[: rng.integers(3)]}
        if not document["correlation"]["cuts"]:
            del document["correlation"]["cuts"]
    if numbers and rng.random() < 0.5:
        _give_ranges(rng, document, numbers)
    if len(values) > 1 and rng.random() < 0.5:
        size = {"binary": 2, "categorical": 3}[features[values[1]]["type"]]
        document["correlation"]["laws"] = [[values[0], values[1], rng.dirichlet(np.ones(size), 3).tolist()]]


def _give_ranges(rng: np.random.Generator, document: Any, numbers: list[str]) -> None:
    """Some numbers are known by their ranges only, stated ones or the four equal ones."""
    ranges = {}
    for name in rng.permutation(numbers)[: rng.integers(1, len(numbers) + 1)].tolist():
        feature = document["collection"]["features"][name]
        low, high = feature["bounds"]
        if rng.random() < 0.5:
            shares = np.sort(rng.choice(np.arange(1, 1000), rng.integers(1, 5), replace=False) / 1000)
            feature["ranges"] = [low + (high - low) * share for share in shares.tolist()]
        quarters = [low + (high - low) * share for share in (0.25, 0.5, 0.75)]
        ranges[name] = feature.get("ranges", quarters)
    document["correlation"]["ranges"] = ranges


def recertified(document: Any) -> list[Any]:
    """The document with the lowest true claims, if it is a plan at all; else nothing."""
    try:
        plan = Plan.certified({key: part for key, part in document.items() if key != "certificate"})
    except (
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        ArithmeticError,
    ):  # it is certified before it is checked
        return []
    return [json.loads(plan.text)]


ODD: list[Any] = [
    *(
        None,
        True,
        False,
        -1,
        0,
        1,
        2,
        0.5,
        1.5,
        1.0,
        0.0,
        -0.0,
        "x",
        "",
        "FILL",
        "1",
        "true",
        [],
        {},
        [0],
        [[]],
        {"x": 1},
    ),
    *(1e308, 5e-324, math.nan, math.inf, WORDS, WORDS - 1, WORDS + 1, 2**31, 2**53, 2**63, 10**30, 10**400, "numeric"),
    *("product", "values", "__proto__", "constructor", "toString", "\ud800", "\U0001f600", "\u2028", "x" * 201, [None]),
    *(["x0"], ["bit"], ["x0", ["x1"], 0.1], [0.5, 0.5], {"type": "binary"}, {"mean": ["x0"]}, [{"mean": ["bit"]}]),
]
KEYS = ["other", "__proto__", "kind", "missing", "correlation", "mechanism", "rounded", "values", "label", "\udfff", ""]
KEYS += ["ranges", "odds", "cuts"]
ODDS = [1.0, 1, 1 + 2**-52, 1.25, 2, 3.5, 1e6, 1e300, 1 - 2**-53, 0, -1.5, True, "2", None]


def places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Every list or object inside a document, with each of its keys; of long lists only the first and the last."""
    keys = (
        list(part)
        if isinstance(part, dict)
        else sorted({*range(len(part))[:3], *range(len(part))[-1:]})
        if isinstance(part, list)
        else ()
    )
    for key in keys:
        yield part, key
        yield from places(part[key])


def _one(rng: np.random.Generator, things: Any) -> Any:
    things = list(things)
    return things[rng.integers(len(things))]


def replace_anything(rng: np.random.Generator, document: Any) -> None:
    part, key = _one(rng, places(document))
    part[key] = copy.deepcopy(_one(rng, ODD))


def drop_anything(rng: np.random.Generator, document: Any) -> None:
    part, key = _one(rng, places(document))
    del part[key]


def repeat_anything(rng: np.random.Generator, document: Any) -> None:
    part, key = _one(rng, ((part, key) for part, key in places(document) if isinstance(part, list)))
    part.append(copy.deepcopy(part[key]))


def add_a_key(rng: np.random.Generator, document: Any) -> None:
    part, _ = _one(rng, ((part, key) for part, key in places(document) if isinstance(part, dict)))
    part[str(_one(rng, KEYS))] = copy.deepcopy(_one(rng, ODD))


def change_a_type(rng: np.random.Generator, document: Any) -> None:
    """A number as text, as another kind of number, or true for 1."""
    found = [(part, key) for part, key in places(document) if type(part[key]) in (int, float, bool)]
    part, key = _one(rng, found)
    value = part[key]
    part[key] = _one(rng, [str(value), float(value), bool(value), [value], int(value) if math.isfinite(value) else 0])


def nudge_a_number(rng: np.random.Generator, document: Any) -> None:
    """Up or down by one unit: of a whole number 1, of a float its last place."""
    part, key = _one(rng, ((part, key) for part, key in places(document) if type(part[key]) in (int, float)))
    up = bool(rng.integers(2))
    part[key] = (
        part[key] + (1 if up else -1)
        if type(part[key]) is int
        else math.nextafter(part[key], math.inf if up else -math.inf)
    )


def nudge_a_claim(rng: np.random.Generator, document: Any) -> None:
    claims = document["certificate"]
    part = _one(rng, [claims, *claims["features"].values()])
    key = "epsilon" if part is claims else _one(rng, sorted({"certified", "c", "if_wrong"} & set(part)))
    part[key] = math.nextafter(part[key], _one(rng, [math.inf, -math.inf]))


def move_weight(rng: np.random.Generator, document: Any) -> None:
    """Between two menus, two symbols of a row, or the truth and the lies of a response: sums stay what they are."""
    menus, units = document["menus"], int(_one(rng, [1, 1, 1000, 10**6]))
    table = _one(rng, document["tables"])
    if len(menus) > 1 and rng.random() < 0.3:
        menus[0]["weight"], menus[1]["weight"] = menus[0]["weight"] - units, menus[1]["weight"] + units
    elif table["family"] == "dense":
        row, (a, b) = _one(rng, table["weights"]), rng.integers(len(table["weights"][0]), size=2)
        row[a], row[b] = row[a] - units, row[b] + units
    elif table["family"] == "waves":
        wave = _one(rng, table["waves"])
        wave[3], wave[4] = wave[3] - units, wave[4] + _one(rng, [0, units])
    elif table["family"] == "response":
        table["keep"], table["other"] = table["keep"] - units * (table["levels"] - 1), table["other"] + units
    elif table["family"] == "projective":
        table["high"], table["low"] = table["high"] - _one(rng, [0, units, -units]), table["low"] - units
    else:
        table["keep"] -= units


def change_the_correlation(rng: np.random.Generator, document: Any) -> None:
    stated = document["correlation"]
    q = float(_one(rng, [0.0, 5e-324, 1e-300, 1e-9, 0.1, 0.5, 1.0, 1 - 2**-53, rng.random()]))
    names = list(document["collection"]["features"])
    choice = rng.integers(9)
    if stated["kind"] == "per feature":
        if choice < 3:
            stated["default"] = q
        else:
            stated["named"][str(_one(rng, [*names, "else"]))] = q
    elif choice < 2 and stated["bounds"]:
        _one(rng, stated["bounds"])[2] = q
    elif choice == 2:
        stated["bounds"].append([str(_one(rng, names)), [str(n) for n in rng.permutation(names)[:2]], q])
    elif choice == 3:
        stated["rounded"] = [n for n in names if document["collection"]["features"][n]["type"] == "numeric"]
    elif choice == 4:
        stated.setdefault("products", []).append([str(_one(rng, names)), [str(_one(rng, names))], q])
    else:
        law = [[q, 1 - q], [0.5 + 2.0 ** -int(_one(rng, [29, 30, 31, 32])), 0.5]]
        stated.setdefault("laws", []).append([*map(str, rng.permutation([*names, "else"])[:2]), law])


def change_the_odds(rng: np.random.Generator, document: Any, sizes: Any = ODDS) -> None:
    stated, names = document["correlation"], list(document["collection"]["features"])
    most, name = _one(rng, sizes), str(_one(rng, [*names, "else"]))
    if stated.get("kind") == "per feature":
        odds = stated.setdefault("odds", {"default": most})
        if isinstance(odds, dict) and rng.random() < 0.7:
            odds.setdefault("named", {})[name] = most
    elif isinstance(stated.setdefault("odds", []), list):
        others = [str(other) for other in rng.permutation(names) if other != name]
        chosen = sorted(others[: rng.integers(1, len(others) + 1)]) if others else []
        stated["odds"] = [row for row in stated["odds"] if row[:2] != [name, chosen]] + [[name, chosen, most]]


def change_the_ranges(rng: np.random.Generator, document: Any) -> None:
    """Of one number, where it is coded or where the correlation speaks of it; in two cases of three in both."""
    features, stated = document["collection"]["features"], document["correlation"]
    name = _one(rng, [n for n, feature in features.items() if feature["type"] == "numeric"])
    low, high = features[name]["bounds"]
    cuts = features[name].get("ranges") or [low + (high - low) * share for share in (0.25, 0.5, 0.75)]
    nudged = [math.nextafter(cut, _one(rng, [low, high])) for cut in cuts]
    outer = [math.nextafter(low, high), math.nextafter(high, low)]
    many = np.linspace(low, high, int(rng.integers(4, 36)))[1:-1].tolist()
    shorter = [cuts[:-1], outer, outer[:1], [low], [(low + high) / 2]]
    other = _one(rng, [cuts, nudged, cuts[::-1], [*cuts, high], many, *shorter])
    changed = rng.integers(6)
    if changed != 0:
        features[name]["ranges"] = other
    if changed != 1 and stated["kind"] == "listed":
        stated.setdefault("ranges", {})[name] = other
    if changed == 2:
        features[name]["bounds"] = [low, _one(rng, [math.nextafter(high, low), math.nextafter(low, high), high + 1])]
    if changed == 3:
        features[name]["missing"] = _one(rng, [low, high, other[0] if other else low, math.nextafter(high, low)])


def change_the_cuts(rng: np.random.Generator, document: Any) -> None:
    """Where a number enters a question by steps, or where the correlation knows cuts of it; sometimes both."""
    features, stated = document["collection"]["features"], document["correlation"]
    asked = [
        (question, place)
        for question in document["questions"]
        for place, name in enumerate(question["features"])
        if features[name]["type"] == "numeric" and "kind" not in question
    ]
    question, place = _one(rng, asked)
    name, size = question["features"][place], question["levels"][place]
    low, high = features[name]["bounds"]
    many = np.linspace(low, high, size + 1)[1:-1].tolist()
    known = list((question.get("cuts") or [None] * 9)[place] or many)
    nudged = [math.nextafter(cut, _one(rng, [low, high])) for cut in known]
    twice = [known[0]] * (size - 1)
    other = _one(rng, [many, many, known, nudged, known[::-1], [*known, high], known[:-1], twice, [low], None, [], [1]])
    changed = rng.integers(6)
    if changed != 0:
        question.setdefault("cuts", [None] * len(question["features"]))[place] = other
    if changed > 2 and stated["kind"] == "listed":
        stated.setdefault("cuts", {})[name] = sorted({*(other or many), *many}) if rng.random() < 0.7 else other
    if changed == 1:
        features[name]["missing"] = _one(rng, [low, high, known[0], math.nextafter(known[0], low)])


def open_a_feature(rng: np.random.Generator, document: Any) -> None:
    """One more feature that is open, another form of one that is, or one that becomes open."""
    features = document["collection"]["features"]
    name = _one(rng, ["region", "region", "\U0001f600", *features])
    values = _one(rng, [["n", "s"], [1, 2, 3], [True], [1, True], [], ["n", "n"], list(range(10_001)), None, "ns"])
    form = _one(rng, [{}, {}, {}, {"label": "W"}, {"delta": 0.1}, {"missing": "n"}, {"help": None}, {"bounds": [0, 1]}])
    features[name] = {"type": "open", "values": values, **form}
    if "order" in document["collection"] and rng.random() < 0.7:
        document["collection"]["order"] = [str(other) for other in rng.permutation(list(features))]
    if rng.random() < 0.2:
        features["year"] = {"type": "open", "values": list(range(int(_one(rng, [2, 5_000, 5_001, 10_000]))))}


def own_the_missing(rng: np.random.Generator, document: Any) -> None:
    """No answer as a value of its own, mostly in the place of the last value, so that levels still fit."""
    feature = _one(rng, document["collection"]["features"].values())
    feature["missing"] = _one(rng, [*["own"] * 6, "Own", "no answer"])
    if feature["type"] == "numeric" or rng.random() < 0.1:
        return
    values = feature.get("values") or [0, 1]
    feature |= {"type": "categorical", "values": values[:-1]}
    if rng.random() < 0.2:
        feature["values"][0] = _one(rng, ["own", "no answer"])


def put_in_order(rng: np.random.Generator, document: Any) -> None:
    """Values in order, with scores or without, some of which are no scale."""
    feature = _one(rng, document["collection"]["features"].values())
    feature["type"] = _one(rng, ["ordinal"] * 6 + ["Ordinal"])
    size = len(feature.get("values") or [0, 1])
    scores: list[Any] = sorted(rng.normal(size=size).tolist())
    feature["scores"] = _one(
        rng, [scores, scores, scores[::-1], scores[:-1], [*scores[:-1], 10**400], None, [True] * size]
    )
    if rng.random() < 0.3:
        del feature["scores"]


def date_a_number(rng: np.random.Generator, document: Any) -> None:
    """A number that counts days, months or years; some of these count nothing."""
    feature = _one(rng, document["collection"]["features"].values())
    since = _one(rng, ["1940-01-01"] * 4 + ["1940-02-01", "1940-01-31", "1940-02-30", "9000-01-01", "1940"])
    feature["dates"] = {"since": since, "unit": _one(rng, ["days", "months", "years", "weeks"])}
    if rng.random() < 0.8:
        feature["bounds"] = [0, _one(rng, [1, 40, 719, 8059, 8060, 96719, 96720, 2943537, 2943538, 10**7, 1.5])]


# what must be refused, and what looks like it and must not: joiners between letters that join, what is seen
LETTERS = [
    *("a\u202eb", "\u2068a\u2069", "a\u200bb", "a\u200db", "a\U000e0062", "\ufe0f", "a\tb", "\x85", "ب\u200c"),
    *("می\u200cخواهم", "क्\u200dष", "ක්\u200dර", "\u00a0", "\u2003", "\ue000", "\U0001f1e9", "e\u0301", "שלום"),
]


def change_a_word(rng: np.random.Generator, document: Any) -> None:
    """What means nothing for privacy: labels, the order, what the answers are for, what they cost."""
    features = document["collection"]["features"]
    name = _one(rng, features)
    choice = rng.integers(10)
    if choice == 0:
        features[name]["label"] = str(
            _one(rng, ["Été", "\U0001f600", "\u2028", 'q"\\\n', "\ud83d", "FILL", "", *LETTERS])
        )
    elif choice == 1:
        document["collection"]["order"] = [str(n) for n in rng.permutation(list(features))]
    elif choice == 2:
        kind = "frequency" if features[name]["type"] == "categorical" else _one(rng, ["mean", "frequency"])
        weight = _one(rng, [2, 0.5, 0, True, 10**400, 1e22, *LETTERS])
        document["collection"]["tasks"] = [{_one(rng, [kind, kind, "percentage"]): [name], "weight": weight}]
    elif choice == 3:
        document["certificate"][_one(rng, ["objective", "optimality_gap"])] = _one(rng, [1.5, 1e-7, 2, -0.0, 1e22])
    elif choice == 4:
        document["correlation"]["source"] = str(_one(rng, ["", "somebody", "\ud83d", "FILL", *LETTERS]))
    elif choice == 5:
        survey = {
            "title": "a",
            "purpose": "b",
            "organiser": "c",
            "contact": "d",
            "minutes": _one(rng, [5, 0, 5.0, None]),
        }
        key = _one(rng, ["title", "decline", "titles", "purposes", "minutes", "note"])
        said = ["x", "é" * 2000, {"de": "x"}, {"de": "\x00"}, {"pt-BR": "ñ\n"}, None, str(_one(rng, LETTERS))]
        survey[key] = _one(rng, said)
        document["collection"]["survey"] = survey
    elif choice == 6:
        said = _one(
            rng, [{"de": "x"}, {"de": "é" * 2001}, {"deutsch": "x"}, {}, None, {"ar": "\u2067x"}, {"ar": "\u200fx"}]
        )
        features[name][_one(rng, ["labels", "helps"])] = said
    elif choice == 7:
        words = [str(place) for place in range(len(features[name].get("values") or (0, 1)))]
        features[name]["value_labels"] = {"fr": _one(rng, [words, words[1:], [*words, "more"], ["0"] * len(words)])}
    elif choice == 8:
        urls = [
            "https://a.b/",
            "http://127.0.0.1:80/c/",
            "http://a/",
            "https://a",
            "https://a/\n",
            "https://a/" + "b" * 190,
        ]
        keys = [f"01{group}{'0a' * 32}000400010001" for group in ("0020", "0021")]
        relay = {"url": _one(rng, urls), "key": _one(rng, [*keys[:1] * 3, *keys, keys[0].upper(), keys[0] + "\n"])}
        document["collection"]["relay"] = _one(rng, [relay, relay, None, {**relay, "more": 1}])
    else:
        regression = {"target": name, "features": [n for n in features if n != name]}
        regression |= _one(rng, [{}, {"explains": _one(rng, [0.5, 1e-3, 0, 1, True, None, "0.1"])}])
        regression |= _one(rng, [{}, {"link": _one(rng, ["logit", "probit", None, True, 0])}])
        pairs = [list(pair) for pair in itertools.permutations(regression["features"], 2)]
        some = _one(rng, [None, 1, [], [[]], [["else", name]], pairs[:1], pairs[:2], [*pairs[:1], [name, name]]])
        regression |= _one(rng, [{}, {"interactions": some}])
        document["collection"]["tasks"] = [{"regression": regression, "weight": 1.0}]


def rename_a_feature(rng: np.random.Generator, document: Any) -> None:
    """Everywhere; the new name may be one that JavaScript knows, or one that sorts otherwise there."""
    old = _one(rng, document["collection"]["features"])
    new = _one(
        rng, ["__proto__", "constructor", "10", "9", "\uffee", "\U0001f600", "hasOwnProperty", "é" * 200, "é" * 201]
    )

    def renamed(part: Any) -> Any:
        if isinstance(part, dict):
            return {new if key == old else key: renamed(value) for key, value in part.items()}
        return [renamed(value) for value in part] if isinstance(part, list) else new if part == old else part

    for key in ("collection", "correlation", "questions", "certificate"):
        document[key] = renamed(document[key])


def promise_a_batch(rng: np.random.Generator, document: Any) -> None:
    """A main promise about counts, or other demands where there is one."""
    demand = {"people": int(_one(rng, [1000, 12_345, 10**6, 10**10])), "epsilon": _one(rng, [20, 1.5, 0.1])}
    demand |= {"honest": float(_one(rng, [1.0, 0.9, 0.123456789]))} if rng.random() < 0.5 else {}
    demand |= {"chance": float(_one(rng, [1e-6, 0.3, 1e-15]))} if rng.random() < 0.3 else {}
    demand |= {"odds": _one(rng, [1e8, 3])} if rng.random() < 0.3 else {}
    document["collection"] |= {"trust": str(_one(rng, ["collector", "relay"])), "counts": demand}


def demand_a_second(rng: np.random.Generator, document: Any) -> None:
    """A second demand, perhaps one that no plan may state, with a claim that keeps it or does not."""
    name = str(_one(rng, document["collection"]["features"]))
    times, factor = _one(rng, [2, 1.5, 1 + 2**-52, 1000, 1, 1001]), _one(rng, [1.5, 1, 1.1, 1000, 0.9])
    document["collection"]["features"][name]["if_wrong"] = {"times": times, "delta": factor}
    document["certificate"]["features"][name]["if_wrong"] = float(_one(rng, [1.0, 20.0, 0.0]))


def scale_a_claim_about_counts(rng: np.random.Generator, document: Any) -> None:
    """By enough that all readers see it, of the record or of a feature."""
    claims = document["certificate"]["counts"]
    claims, form = _one(rng, [claims, *claims["features"].values()]), _one(rng, ["epsilon", "odds"])
    claims[form] *= float(_one(rng, [0.5, 0.99, 0.999, 1.001, 1.01]))


def spread_over_waves(rng: np.random.Generator, document: Any) -> None:
    """A panel of menus in waves, mostly right. Some questions become questions about change."""
    every = str(_one(rng, ["day", "week", "month", "year"]))
    panel: dict[str, Any] = {"waves": int(_one(rng, [2, 3, 400])), "every": every}
    starts = [*["2027-01-01"] * 5, "2024-02-29", "9000-12-28", "9001-01-01", "2027-1-1", ""]
    panel["start"] = str(_one(rng, starts))
    if rng.random() < 0.2:
        panel |= _one(
            rng, [{"waves": 1}, {"waves": 401}, {"waves": 2.0}, {"every": "days"}, {"more": 1}, {"start": 2027}]
        )
    document["collection"]["panel"] = panel
    stated = document["correlation"]
    if stated["kind"] != "per feature" and rng.random() < 0.9:
        document["correlation"] = {"kind": "per feature", "default": 0.25, "named": {}, "source": "assumed"}
    for menu in document["menus"]:
        menu["wave"] = int(_one(rng, [1, 2, 2]))
    if rng.random() < 0.05:
        document["menus"][0]["wave"] = _one(rng, [0, 3, 401, True, None, "1", 2.0])
    for question in document["questions"] if rng.random() < 0.7 else ():
        features = document["collection"]["features"]
        feature, size = features.get(question["features"][0], {}), question["levels"][0]
        if len(question["features"]) > 1 or feature.get("type") not in ("binary", "categorical") or "cuts" in question:
            continue
        keep = WORDS // size**2 + (size**2 - 1) * (other := WORDS // size**2 // 2)
        document["tables"].append({"family": "response", "levels": size**2, "keep": 0, "other": other})
        document["tables"][-1]["keep"] = WORDS - (size**2 - 1) * other if rng.random() < 0.95 else keep
        question |= {"kind": "change", "levels": [size, size], "since": int(_one(rng, [1, 1, 1, 2, 0]))}
        question["table"] = len(document["tables"]) - 1


CHANGES: list[Callable[[np.random.Generator, Any], None]] = [
    *(replace_anything, drop_anything, repeat_anything, add_a_key, change_a_type, nudge_a_number, nudge_a_claim),
    *(move_weight, change_the_correlation, change_the_odds, change_the_ranges, change_the_cuts, change_a_word),
    *(rename_a_feature, open_a_feature, own_the_missing, put_in_order, promise_a_batch, date_a_number),
    *(scale_a_claim_about_counts, spread_over_waves, demand_a_second),
]


def respelled(rng: np.random.Generator, text: str) -> str:
    """The same document in another spelling, or nearly."""
    found = [match for match in NUMBER.finditer(text) if match[0][0] != '"']
    start, end = _one(rng, found).span()
    token = text[start:end]
    shortest = repr(float(token))
    spellings = [
        token,
        shortest,
        shortest + "0",
        f"{token}e0",
        f"-{token}",
        f"+{token}",
        f"0{token}",
        f"{token}.",
        "1e400",
    ]
    spellings += [shortest.upper(), format(float(token), ".17e"), format(float(token), ".0f"), "-0", "NaN", "-Infinity"]
    key = _one(rng, re.findall(r'"[a-z]+":', text))
    other = [
        *([text[:start] + str(_one(rng, spellings)) + text[end:]] * 8),
        *(
            text + " ",
            text + "\n",
            "\ufeff" + text,
            text.replace(",", ", ", 1),
            text[:-1],
            text + "}",
            text.replace("a", "\\u0061", 1),
        ),
        *(text.replace(key, key + "0," + key, 1), json.dumps(json.loads(text)), json.dumps(json.loads(text), indent=1)),
        *(text.replace("true", "True", 1), text.replace('"', "'", 2), text.replace("/", "\\/", 1)),
        canonical(dict(reversed(json.loads(text).items()))),
        text.replace('"channels":[]', '"channels":' + "[" * 3000 + "]" * 3000),
    ]
    return str(_one(rng, other))


def mutants(rng: np.random.Generator, plans: list[Any], count: int) -> list[str]:
    """So many different texts, each a plan with one or two changes; half of them claim what is true of them."""
    found = dict[str, None]()
    while len(found) < count:
        document = copy.deepcopy(_one(rng, plans))
        try:
            for _ in range(rng.integers(1, 3)):
                _one(rng, CHANGES)(rng, document)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
            continue  # the second change found no place in what the first one left
        if rng.random() < 0.6:
            for true in recertified(document):
                document = true
                if rng.random() < 0.4:
                    nudge_a_claim(rng, document)
        text = canonical(document)
        found[respelled(rng, text) if rng.random() < 0.15 else text] = None
    return list(found)
