"""Writes vectors/*.json: plans of every kind with the answers that every device must give (vectors/README.md)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.device import answers
from bcdp.exact import TOTAL, chance_up, log_up, odds_up
from bcdp.mechanisms.planning import make_plan
from bcdp.plan import Plan, certify, menu_of_ticket
from bcdp.plan.messages import linked_plan, sends_all
from bcdp.policy import MultipleFeature, NumericFeature, Policy
from bcdp.policy.multiple_feature import sets_of
from bcdp.randomizers import (
    Dense,
    Projective,
    Table,
    Waves,
    binary,
    hadamard,
    joint,
    numeric,
    projective,
    response,
    subset,
)
from bcdp.randomizers.ticks import padded
from bcdp.records.encoding import Codes, as_arrow, encode
from bcdp.records.open_groups import group_numbers
from bcdp_device.dates import Unit, number_of, read_date
from bcdp_device.panels import Calendar

FOLDER = Path(__file__).resolve().parent.parent / "vectors"
MANY = 1000
MOST_LOOKED_AT = 2**16  # symbols, among which the edges of all are looked for
Words = npt.NDArray[np.uint32]


def mix(x: Words) -> Words:
    for shift, factor in ((16, 0x21F0AAAD), (15, 0x735A2D97)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return x ^ (x >> np.uint32(15))


def word(seed: int, records: Words, position: int) -> Words:
    start = mix(np.array([seed], dtype=np.uint32))
    return mix(mix(start + records) + np.array([position], dtype=np.uint32))


class GivenWords:
    """Words that are written down, one row for each record, in the place of secret ones."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def __len__(self) -> int:
        return len(self._words)

    def take(self, rows: npt.NDArray[np.intp]) -> GivenWords:
        return GivenWords(self._words[rows])

    def column(self, position: int) -> Words:
        return self._words[:, position]


class GeneratedWords:
    """The device's words for the records of the generator, in the place of secret ones."""

    def __init__(self, seed: int, records: Words) -> None:
        self._seed, self._records = seed, records

    def __len__(self) -> int:
        return len(self._records)

    def take(self, rows: npt.NDArray[np.intp]) -> GeneratedWords:
        return GeneratedWords(self._seed, self._records[rows])

    def column(self, position: int) -> Words:
        return word(self._seed, self._records, position)


def records_of(plan: Plan, seed: int, people: int) -> dict[str, list[Any]]:
    """The generator's records, one column for each feature."""
    columns: dict[str, list[Any]] = {}
    for number, name in enumerate(sorted(plan.policy.declared)):
        feature = plan.policy.declared[name]
        words = word(seed, np.arange(people, dtype=np.uint32), 1000 + number)
        values: list[Any]
        if isinstance(feature, MultipleFeature):
            values = [[feature.values[item] for item in feature.sets[int(w) // 16 % len(feature.sets)]] for w in words]
        elif isinstance(feature, NumericFeature):
            low, high = feature.bounds
            values = [low + (high - low) * (int(w) / 2**32 * 1.5 - 0.25) for w in words]
        else:
            known = feature.values or (0, 1)
            values = [known[int(w) // 16 % len(known)] for w in words]
        seldom = _usual(feature) if getattr(feature, "missing", None) is None else None
        columns[name] = [seldom if w % 16 == 0 else value for w, value in zip(words, values, strict=True)]
    rows = [_as_asked(plan, dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
    return {name: [row[name] for row in rows] for name in columns}


def _as_asked(plan: Plan, record: dict[str, Any]) -> dict[str, Any]:
    """The record without the answers to follow-ups that are not asked."""
    for _ in plan.policy.blocks:  # so often that a follow-up of a follow-up is reached
        for name in plan.policy.blocks:
            condition = plan.policy.features[name].asked_if or {}
            if not all(_is_value(plan, parent, record[parent], values) for parent, values in condition.items()):
                record = {**record, name: None}
    return record


def _is_value(plan: Plan, parent: str, value: Any, values: Sequence[Any]) -> bool:
    """Whether a feature has one of some values, no answer counting as the policy says."""
    feature = plan.policy.features[parent]
    if isinstance(value, list):
        return any(one in value for one in values)
    counted = feature.definition["missing"] if value is None and feature.imputes else value
    return counted is not None and any(feature.codes_with(v) == feature.codes_with(counted) for v in values)


def _usual(feature: Any) -> Any:
    """The middle of the bounds, or the first value; of a list nothing ticked."""
    if isinstance(feature, MultipleFeature):
        return []
    if isinstance(feature, NumericFeature):
        low, high = feature.bounds
        return low + (high - low) / 2
    return (feature.values or (0, 1))[0]


def reports_of(plan: Plan, seed: int, people: int) -> tuple[list[int], list[int]]:
    """The menus and answers of the generator's records, by the device; of several messages, one after the other."""
    codes = with_earlier(plan, *(encode(plan.policy, as_arrow(records_of(plan, s, people))) for s in (seed, seed + 1)))
    words = GeneratedWords(seed, np.arange(people, dtype=np.uint32))
    menus, answer = answers(plan, codes, words)  # type: ignore[arg-type]
    return menus.tolist(), answer.tolist()


def with_earlier(plan: Plan, now: Mapping[str, Codes], before: Mapping[str, Codes]) -> dict[str, Codes]:
    """The codes of records with those of an earlier wave, where questions are about change."""
    changes = [question for question in plan.questions if question.since is not None]
    return {**now, **{question.rules.reads(question)[1]: before[question.features[0]] for question in changes}}


def groups_of(plan: Plan, seed: int, people: int) -> list[int]:
    """The groups of the generator's records, by their open values."""
    groups: list[int] = group_numbers(plan.policy, as_arrow(records_of(plan, seed, people))).tolist()
    return groups


def edges(plan: Plan) -> list[tuple[dict[str, Any], list[int]]]:
    """Records and words on both sides of every kind of boundary: menus, a number's rounding, the tables."""
    asked = [[plan.questions[number] for number in menu.questions] for menu in plan.menus]
    length = 1 + max(sum(question.rules.words(question) for question in questions) for questions in asked)
    found, start = [], 0
    for menu in plan.menus:
        for question in (plan.questions[number] for number in menu.questions):
            for which in (0, 1):
                record = {name: _place(feature, which) for name, feature in plan.policy.declared.items()}
                record = _as_asked(plan, record)
                near = _boundaries(plan.tables[question.table], which * (plan.tables[question.table].levels - 1))
                for choice in (*near, 2**30 - 1, 2**30):
                    found.append((record, [start, *[choice] * (length - 1)]))
        start += menu.weight
        found.append((record, [start - 1, *[0] * (length - 1)]))
    return found


def _place(feature: Any, which: int) -> Any:
    """The first or last value; a number a quarter from the low or the high bound; no answer, if that is the last."""
    if which and getattr(feature, "own", False):
        return None
    if isinstance(feature, MultipleFeature):
        return [feature.values[item] for item in feature.sets[-which]]
    if isinstance(feature, NumericFeature):
        low, high = feature.bounds
        return low + (high - low) * (0.25, 0.75)[which]
    return (feature.values or (0, 1))[-which]


def _boundaries(table: Table, level: int) -> list[int]:
    """Some words around which the symbol changes."""
    if table.symbols > MOST_LOOKED_AT:
        return [table.symbols, TOTAL // 7]  # nothing special: a hyperplane begins every few words
    row = np.sort(table.row(level))[::-1]
    near = np.concatenate([np.cumsum(table.row(level)), np.cumsum(row), [TOTAL // 4 + row[0], TOTAL // 32 + row[0]]])
    words = np.unique(np.concatenate([near - 1, near]))
    words = words[(words > 0) & (words < TOTAL - 1)]
    symbols = [table.sample(np.full(len(words), level), (words + step).astype(np.uint32)) for step in (-1, 0, 1)]
    changes = words[(symbols[0] != symbols[1]) | (symbols[1] != symbols[2])]
    return [int(choice) for choice in changes[:6]]


def answers_to(plan: Plan, given: list[tuple[dict[str, Any], list[int]]]) -> list[dict[str, Any]]:
    """Examples: records with their words and the device's reports."""
    columns = as_arrow({name: [record[name] for record, _ in given] for name in plan.policy.declared})
    words = np.array([chosen for _, chosen in given], dtype=np.uint32)
    codes = encode(plan.policy, columns)
    before = {
        name: column[::-1] for name, column in codes.items()
    }  # the record of an earlier wave is another example's
    menus, answer = answers(plan, with_earlier(plan, codes, before), GivenWords(words))  # type: ignore[arg-type]
    if sends_all(plan):
        sent = answer.reshape(len(plan.menus), -1).T.tolist()
        found = [
            {"record": record, "words": chosen, "answers": a} for (record, chosen), a in zip(given, sent, strict=True)
        ]
    else:
        reports = zip(given, menus.tolist(), answer.tolist(), strict=True)
        found = [{"record": record, "words": chosen, "menu": m, "answer": a} for (record, chosen), m, a in reports]
    groups = group_numbers(plan.policy, columns).tolist()
    return [one | {"group": group} for one, group in zip(found, groups, strict=True)] if plan.policy.open else found


def vector(plan: Plan, seed: int) -> dict[str, Any]:
    levels = certify(plan)
    menus, answer = reports_of(plan, seed, MANY)
    opened = {"groups": groups_of(plan, seed, MANY)} if plan.policy.open else {}
    tickets = {"tickets": tickets_of(plan)} if plan.policy.menu_from == "ticket" else {}
    return {
        "plan": plan.text,
        "id": plan.id,
        "levels": {"epsilon": levels.epsilon, "c": dict(levels.c), "delta": dict(levels.delta)},
        "examples": answers_to(plan, edges(linked_plan(plan))),
        "seed": seed,
        "menus": menus,
        "answers": answer,
        **opened,
        **tickets,
    }


def tickets_of(plan: Plan) -> list[list[Any]]:
    """Tickets, and the menu that each assigns."""
    tickets = ["", "a", "a.b", "Zz~_-.9", *(f"ticket {number}" for number in range(60))]
    return [[ticket, menu_of_ticket(plan, ticket)] for ticket in tickets]


Asked = list[tuple[tuple[str, ...], tuple[int, ...], Table] | tuple[tuple[str, ...], tuple[int, ...], Table, list[Any]]]


Cuts = Mapping[int, list[list[float] | None]]  # of a question, feature by feature


def built(
    features: dict[str, Any],
    asked: Asked,
    menus: list[list[int]],
    correlation: Any = 0.1,
    cuts: Cuts | None = None,
    tasks: Sequence[dict[str, Any]] = (),
) -> Plan:
    """A plan with these questions and menus of unequal weight, which promises exactly what its tables keep."""
    steps = cuts or {}
    weights = [TOTAL // (number + 2) // 2 for number in range(1, len(menus))]
    document: dict[str, Any] = {
        "mechanism": "survey",
        "collection": {"epsilon": 20.0, "features": features, **({"tasks": tasks} if tasks else {})},
        "correlation": {"kind": "per feature", "default": correlation, "named": {}, "source": "assumed"}
        if isinstance(correlation, float)
        else correlation,
        "tables": [question[2].to_dict() for question in asked],
        "questions": [
            {"features": question[0], "levels": question[1], "table": number}
            | ({} if len(question) < 4 else BLOCK if question[3] is None else PRODUCT | {"categories": question[3]})
            | ({"cuts": steps[number]} if number in steps else {})
            for number, question in enumerate(asked)
        ],
        "menus": [
            {"weight": weight, "questions": numbers}
            for weight, numbers in zip([TOTAL - sum(weights), *weights], menus, strict=True)
        ],
    }
    return Plan.certified(document)


BLOCK: dict[str, Any] = {"kind": "block"}
PRODUCT: dict[str, Any] = {"kind": "product"}
BIT: dict[str, Any] = {"type": "binary"}
INTEGERS: dict[str, Any] = {"type": "categorical", "values": {"integers": [7, 1_000_006]}}
LIST: dict[str, Any] = {"type": "multiple", "values": ["tv", "radio", "3", "web"]}
NUMBER: dict[str, Any] = {"type": "numeric", "bounds": [-3.5, 12.25]}
BRACKETS = [-3.25, -1, 0, 0.5, 1, 1.5, 2, 2.75, 3.125, 4, 5.5, 6, 8, 10.5, 12]


def categories(size: int) -> dict[str, Any]:
    return {"type": "categorical", "values": [f"v{i}" for i in range(size)]}


def hinting(*shares: int) -> Dense:
    """Two answers, the first of these chances in percent, level by level, none of them in order."""
    first = np.array(shares) * (TOTAL // 100)
    return Dense(np.stack([first, TOTAL - first], axis=1))


def numbers(menus: list[list[int]], correlation: Any) -> Plan:
    """Questions about numbers: rounded to some of 17 levels, multiplied, squared, or rounded otherwise."""
    asked: Asked = [
        (("x",), (17,), numeric(1.3)),
        (("x", "y"), (2, 5), joint((2, 5), 0.8)),
        (("bit",), (2,), binary(0.3)),
        (("x", "y"), (17,), numeric(1.4), [None, None]),
        (("x",), (17,), numeric(1.2), [None]),
        (("bit", "x"), (9,), response(9, 0.7), [None, None]),
        (("y",), (17,), numeric(1.1)),
        (("x",), (4,), response(4, 0.9)),
    ]
    kept = sorted({number for menu in menus for number in menu})
    features = {"secret": BIT, "bit": BIT, "x": NUMBER, "y": NUMBER}
    return built(features, [asked[k] for k in kept], [[kept.index(k) for k in menu] for menu in menus], correlation)


def designed() -> Plan:
    """A plan as the planner makes it: jointly shaped tables and several menus."""
    policy = Policy(
        epsilon=2,
        correlation=0.05,
        features={
            "smoker": {"type": "binary", "values": ["no", "yes"], "delta": 0.2, "label": "Smoking"},
            "income": {"type": "numeric", "bounds": [0, 200000], "delta": 0.2, "missing": 0},
            "région": {"type": "categorical", "values": ["north", "south", "east", "west"]},
            "age": {"type": "numeric", "bounds": [18, 100]},
        },
    )
    return make_plan(policy)


SURVEY: dict[str, Any] = {
    "title": "How we work",
    "titles": {"de": "Wie wir arbeiten", "pt-BR": "Como trabalhamos", "ar": "كيف نعمل"},
    "purpose": "To learn how many people work at night.\nResults are published.",
    "purposes": {"de": "Um zu erfahren, wie viele nachts arbeiten."},
    "organiser": "An institute “of work”",
    "contact": "survey@example.org",
    "minutes": 3,
    "decline": "Nothing happens.",
    "declines": {"de": "Dann geschieht nichts."},
}


RELAY = {"url": "https://relay.example.org:8443/a-b/~c.d_", "key": f"7b0020{'09af' * 16}000400010001"}


def relayed() -> Plan:
    """A plan that names a relay, and the key for which reports are sealed."""
    return make_plan(Policy(epsilon=1, features={"night": {"type": "binary"}}, relay=RELAY))


def batched(plan: Plan, trust: str, counts: dict[str, Any]) -> Plan:
    """The plan with a main promise about the counts of a batch."""
    document = json.loads(plan.text)
    document["collection"] |= {"trust": trust, "counts": counts} | ({"relay": RELAY} if trust == "relay" else {})
    return Plan.certified({key: part for key, part in document.items() if key != "certificate"})


def assigned() -> Plan:
    """A plan whose menus tickets assign."""
    document = json.loads(PLANS["menus"]().text)
    document["collection"]["menu_from"] = "ticket"
    return Plan.certified({key: part for key, part in document.items() if key != "certificate"})


def in_messages(
    features: dict[str, Any], asked: Asked, messages: list[list[int]], counts: dict[str, Any], correlation: Any
) -> Plan:
    """A plan that sends several messages, each answering some of the questions."""
    document = json.loads(built(features, asked, [[number] for number in range(len(asked))], correlation).text)
    document["menus"] = [{"weight": TOTAL, "questions": numbers} for numbers in messages]
    document["collection"] |= {"trust": "relay", "counts": counts, "relay": RELAY}
    return Plan.certified({key: part for key, part in document.items() if key != "certificate"})


def panel() -> Plan:
    """A plan over three waves, with questions about change from the first wave and from the second."""
    features = {"bit": BIT, "kind": categories(3), "number": {**NUMBER, "missing": 1.0}, "where": OPENED["where"]}
    asked: Asked = [
        (("bit", "kind"), (2, 3), joint((2, 3), 0.8)),
        (("number",), (17,), numeric(1.1)),
        (("bit",), (2, 2), response(4, 0.7)),
        (("kind",), (3, 3), subset(9, 3, 0.9)),
    ]
    menus = [[0], [0, 1], [2], [0], [3], [1, 0]]
    document = json.loads(built(features, [*asked[:2]], [[0]]).text)
    since = [{"kind": "change", "since": wave} for wave in (1, 2)]
    document["tables"] = [question[2].to_dict() for question in asked]
    document["questions"] += [
        {"features": question[0], "levels": question[1], "table": 2 + number} | since[number]
        for number, question in enumerate(asked[2:])
    ]
    weights = [TOTAL // (number + 3) // 2 for number in range(5)]
    document["menus"] = [
        {"weight": weight, "questions": numbers, "wave": wave}
        for weight, numbers, wave in zip([TOTAL - sum(weights), *weights], menus, (1, 2, 2, 3, 3, 3), strict=True)
    ]
    document["collection"]["panel"] = {"waves": 3, "every": "month", "start": "2027-01-15"}
    return Plan.certified({key: part for key, part in document.items() if key != "certificate"})


def told() -> Plan:
    """A plan with all that an organiser may tell people."""
    night = {"de": "Arbeiten Sie nachts?", "en": "Do you work at night?"}
    features = {
        "night": {"type": "binary", "labels": night, "value_labels": {"de": ["nein", "ja"]}, "missing": 0},
        "hours": {"type": "numeric", "bounds": [0, 80], "help": "A week.", "helps": {"de": "In der Woche."}},
        "place": {
            "type": "categorical",
            "values": ["home", "work", "else"],
            "value_labels": {"fr": ["ici", "là", "Été"]},
        },
    }
    return make_plan(Policy(epsilon=2, correlation=0.05, features=features, survey=SURVEY))


OPENED: dict[str, Any] = {
    "sick": {**BIT, "delta": 0.5, "missing": 0},
    "where": {"type": "open", "values": ["north", "south", "west"], "value_labels": {"fr": ["n", "s", "t"]}},
    "hours": NUMBER,
    "year": {"type": "open", "values": [2025, 2026], "label": "Year of the survey"},
}
LISTED = {
    "kind": "listed",
    "source": "a known prior",
    "bounds": [["bit", ["number"], 0.05], ["kind", ["bit", "number"], 0.3], ["number", ["bit"], 0.125]],
}
LAWS = {
    "kind": "listed",
    "source": "a known prior",
    "bounds": [["secret", ["answer"], 0.4], ["secret", ["kind"], 0.3]],
    "laws": [["secret", "answer", [[0.4, 0.6], [0.55, 0.45]]], ["secret", "kind", [[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]]]],
}
ROUNDED = {
    "kind": "listed",
    "source": "a sample",
    "bounds": [
        [feature, others, 0.0625]
        for feature, others in (
            *[("secret", others) for others in (["x"], ["x", "y"], ["bit", "x"], ["bit", "x", "y"])],
            *[("bit", others) for others in (["x"], ["x", "y"])],
            ("x", ["y"]),
        )
    ],
    "rounded": ["x", "y"],
    "products": [["bit", ["x", "y"], 0.25], ["secret", ["x"], 0.125], ["secret", ["x", "y"], 0.1875]],
}
RANGED: dict[str, Any] = {
    "wage": {**NUMBER, "ranges": [-2.0, 0.125, 9.5]},
    "age": {"type": "numeric", "bounds": [0, 100], "missing": 30},
    "part": BIT,
}
RANGES = {
    "kind": "listed",
    "source": "a sample",
    "bounds": [
        *[["wage", others, 0.0625] for others in (["age"], ["age", "part"], ["part"])],
        *[["age", others, 0.25] for others in (["part"], ["part", "wage"], ["wage"])],
        ["part", ["age", "wage"], 0.125],
    ],
    "rounded": ["age", "wage"],
    "ranges": {"wage": [-2.0, 0.125, 9.5], "age": [25.0, 50.0, 75.0]},
}
ODDS = {
    **RANGES,
    "odds": [["age", ["part", "wage"], 1.0], ["part", ["age", "wage"], 3.0], ["wage", ["age", "part"], 1.5]],
}
ODDS_OF_EACH = {
    "kind": "per feature",
    "source": "a guess",
    "default": 1.0,
    "named": {"bit": 0.125, "kind": 0.0625},
    "odds": {"default": 2.0, "named": {"kind": 1.5, "number": 1.25}},
}
ODDS_OF_MESSAGES = {
    "kind": "per feature",
    "source": "a guess",
    "default": 0.0625,
    "named": {"kind": 0.25, "never": 0.125},
    "odds": {"named": {"number": 1.5, "other": 1.0, "never": 3.0}},
}
KNOWN_CUTS = {**RANGES, "cuts": {"age": [12.5, 25, 50.0, 75.0], "wage": [-2.0, 0.125, 9.5]}}
OWN: dict[str, Any] = {
    "bit": {**BIT, "missing": "own"},
    "wage": {**NUMBER, "ranges": [-2.0, 0.125, 9.5], "missing": "own"},
    "kind": {**categories(2), "missing": "own"},
    "home": {"type": "categorical", "values": ["own", "rent"], "missing": "own"},
}
PARTIAL: dict[str, Any] = {
    "kind": categories(2),
    "more": BIT,
    "paid": {"type": "numeric", "bounds": [0, 10], "asked_if": {"more": 1}, "missing": "own"},
    "wage": {**NUMBER, "ranges": [-2.0, 0.125, 9.5], "missing": "own"},
}
PARTIAL_RANGES = {
    "kind": "listed",
    "source": "a sample",
    "bounds": [
        ["kind", ["more", "paid"], 0.0625],
        ["kind", ["wage"], 0.125],
        ["more", ["kind"], 0.25],
        ["more", ["wage"], 0.125],
        ["paid", ["kind", "wage"], 0.125],
        ["wage", ["kind"], 0.25],
        ["wage", ["more", "paid"], 0.0625],
        ["wage", ["kind", "more", "paid"], 0.125],
    ],
    "rounded": ["paid", "wage"],
    "ranges": {"paid": [2.5, 5.0, 7.5], "wage": [-2.0, 0.125, 9.5]},
    "cuts": {"paid": [2.5, 5.0], "wage": [-2.0, 0.125, 9.5]},
}
OWN_RANGES = {
    "kind": "listed",
    "source": "a sample",
    "bounds": [
        *[[name, others, 0.0625] for name in ("home", "kind") for others in (["wage"], ["bit", "wage"], ["bit"])],
        ["wage", ["bit"], 0.25],
        ["wage", ["home", "kind"], 0.125],
        ["bit", ["wage"], 0.25],
    ],
    "rounded": ["wage"],
    "ranges": {"wage": [-2.0, 0.125, 9.5]},
    "laws": [["home", "bit", [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]]],
}
MIXED: dict[str, Any] = {"bit": {**BIT, "missing": True}, "number": NUMBER, "kind": categories(3), "never": BIT}

PLANS: dict[str, Callable[[], Plan]] = {
    "binary": lambda: built({"answer": BIT}, [(("answer",), (2,), binary(0.7))], [[0]]),
    "one-bit-number": lambda: built({"x": {**NUMBER, "missing": 0}}, [(("x",), (2,), binary(0.25))], [[0]]),
    "17-levels": lambda: built({"x": NUMBER}, [(("x",), (17,), numeric(2.0))], [[0]]),
    "response": lambda: built({"kind": categories(7)}, [(("kind",), (7,), response(7, 1.1))], [[0]]),
    "subset": lambda: built({"kind": categories(6)}, [(("kind",), (6,), subset(6, 2, 0.8))], [[0]]),
    "hadamard": lambda: built({"kind": categories(21)}, [(("kind",), (21,), hadamard(21, 0.9))], [[0]]),
    "joint": lambda: built(
        MIXED,
        [(("bit", "number", "kind"), (2, 3, 3), joint((2, 3, 3), 1.5)), (("never",), (2,), binary(0.3))],
        [[0], [1]],
    ),
    "menus": lambda: built(
        MIXED,
        [
            (("bit", "number"), (2, 2), joint((2, 2), 0.9)),
            (("kind",), (3,), response(3, 0.4)),
            (("number",), (17,), numeric(1.5)),
            (("kind", "bit"), (3, 2), subset(6, 2, 0.7)),
        ],
        [[0, 1], [2], [3, 2], [1, 2]],
        LISTED,
    ),
    "product": lambda: built(
        MIXED,
        [
            (("bit", "number"), (2,), binary(0.4), [None, None]),
            (("number",), (17,), numeric(1.2), [None]),
            (("kind", "number"), (5,), response(5, 0.9), [2, None]),
            (("never",), (2,), binary(0.2)),
        ],
        [[0, 3], [1], [2, 3]],
    ),
    "known-laws": lambda: built(
        {"answer": BIT, "kind": categories(3), "secret": BIT},
        [(("answer",), (2,), binary(1.5)), (("kind",), (3,), subset(3, 2, 1.1))],
        [[0], [1]],
        LAWS,
    ),
    "designed": designed,
    "never-given": lambda: built(
        {"answer": BIT, "secret": BIT},
        [(("answer",), (2,), Dense(np.array([[0, TOTAL // 2 + 9, TOTAL // 2 - 9], [0, TOTAL // 2, TOTAL // 2]])))],
        [[0]],
        {**LAWS, "bounds": [["secret", ["answer"], 1.0]], "laws": [["secret", "answer", [[0.25, 0.75], [0.75, 0.25]]]]},
    ),
    "rounded": lambda: numbers([[0], [1, 2], [3], [4], [5, 6]], ROUNDED),
    "rounded-beside": lambda: numbers([[4, 6], [0]], ROUNDED),
    "rounded-otherwise": lambda: numbers([[7], [0]], ROUNDED),
    "ranges": lambda: built(
        RANGED,
        [
            (("wage", "part"), (5, 2), hinting(2, 9, 5, 3, 3, 9, 3, 9, 1, 9)),
            (("age",), (2,), binary(0.5)),
            (("part", "age", "wage"), (2, 3, 2), hinting(5, 4, 3, 3, 1, 2, 3, 5, 9, 9, 9, 8)),
            (("age", "wage"), (2, 5), joint((2, 5), 0.7)),
        ],
        [[0, 1], [2], [3]],
        RANGES,
    ),
    "odds": lambda: built(
        RANGED,
        [
            (("wage", "part"), (5, 2), hinting(2, 9, 5, 3, 3, 9, 3, 9, 1, 9)),
            (("age",), (2,), binary(0.5)),
            (("part", "age", "wage"), (2, 3, 2), hinting(5, 4, 3, 3, 1, 2, 3, 5, 9, 9, 9, 8)),
            (("part",), (2,), binary(1.25)),
        ],
        [[0, 1], [2], [1, 3]],
        ODDS,
    ),
    "odds-of-each": lambda: built(
        MIXED,
        [
            (("bit", "number"), (2, 2), joint((2, 2), 0.9)),
            (("kind",), (3,), response(3, 0.4)),
            (("kind", "bit"), (3, 2), subset(6, 2, 0.7)),
            (("number",), (2,), binary(1.5)),
            (("kind", "number"), (5,), response(5, 0.9), [2, None]),
        ],
        [[0, 1], [2, 3], [4], [1, 3]],
        ODDS_OF_EACH,
    ),
    "told": told,
    "steps": lambda: built(
        RANGED,
        [
            (("wage", "part"), (4, 2), hinting(2, 9, 5, 3, 3, 9, 3, 9)),
            (("age",), (5,), response(5, 0.5)),
            (("part", "age", "wage"), (2, 3, 2), hinting(5, 4, 3, 3, 1, 2, 3, 5, 9, 9, 9, 8)),
            (("wage",), (3,), response(3, 0.25)),
            (("age", "wage"), (2, 4), subset(8, 3, 0.7)),
        ],
        [[0, 1], [2], [1, 3], [4]],
        KNOWN_CUTS,
        {
            0: [[-2.0, 0.125, 9.5], None],
            1: [[12.5, 25, 50.0, 75.0]],
            2: [None, [25, 50.0], None],
            3: [[0.0, 1]],
            4: [[30], [-2.0, 0.125, 9.5]],
        },
    ),
    "waves": lambda: built(
        {"x": NUMBER, "kind": categories(5), "bit": BIT},
        [
            (("x",), (7,), Waves(7, ((14, 1, 5, 3 * 2**27, 2**27), (7, 2, 3, 2**26, 2**25), (2, 1, 1, 999, 7)))),
            (("kind",), (5,), Waves(5, ((10, 3, 4, 2**28 + 5, 2**28 - 7),))),
            (("kind", "bit"), (5, 2), Waves(10, ((20, 1, 9, 2**27, 2**26), (5, 1, 2, 2**28, 2**27)))),
        ],
        [[0, 1], [2], [1]],
        LISTED | {"bounds": [["bit", ["kind"], 0.125], ["kind", ["bit"], 0.0625], ["x", ["kind"], 0.25]]},
        {0: [[-1.25, 1.0, 3.25, 5.5, 7.75, 10.0]]},
    ),
    "relayed": relayed,
    "open": lambda: built(
        OPENED,
        [(("sick", "hours"), (2, 3), joint((2, 3), 0.4)), (("hours",), (17,), numeric(1.5))],
        [[0], [1]],
    ),
    "own": lambda: built(
        OWN,
        [
            (("wage", "bit"), (3, 3), subset(9, 2, 0.8)),
            (("wage",), (18,), response(18, 1.1)),
            (("bit",), (3,), response(3, 0.7)),
            (("home", "wage", "kind"), (2, 5, 3), joint((2, 5, 3), 0.9)),
            (("kind", "wage"), (3, 6), subset(18, 2, 0.6)),
            (("kind", "home"), (3, 2), subset(6, 2, 0.5)),
        ],
        [[0], [1, 2], [3], [2], [4, 2], [5, 0]],
        OWN_RANGES,
    ),
    "edges": lambda: built(
        {"x": NUMBER, "bit": BIT},
        [
            (("x",), (16,), Waves(16, ((32, 1, 9, 2**27, 2**25), (16, 3, 4, 3 * 2**25, 2**25)))),
            (("bit",), (2,), binary(1)),
        ],
        [[0, 1], [0]],
        cuts={0: [BRACKETS]},
        tasks=[{"distribution": ["x"], "edges": BRACKETS, "quantiles": [0.5]}, {"mean": ["bit"], "weight": 2}],
    ),
    "block": lambda: built(
        {
            "kind": categories(3) | {"missing": "v1"},
            "then": {"type": "binary", "asked_if": {"kind": ["v1", "v2"]}, "missing": "own"},
            "much": NUMBER | {"asked_if": {"then": 1}},
            "last": categories(2) | {"asked_if": {"kind": "v2", "then": [True]}},
            "bit": BIT,
            "x": NUMBER,
        },
        [
            (("kind", "then", "much", "last"), (3, 4, 4, 3), hinting(5, 1, 3, 2, 4, 7, 1, 6, 2, 3, 1, 1, 4, 5), None),
            (("bit",), (2,), binary(0.5)),
            (("x", "bit"), (2, 2), joint((2, 2), 0.8)),
        ],
        [[0, 1], [2], [0]],
    ),
    "batch": lambda: batched(
        PLANS["menus"](),
        "relay",
        {"people": 10_000, "honest": 0.95, "epsilon": 1, "odds": 1.5, "features": {"bit": 0.5}},
    ),
    "batch-of-laws": lambda: batched(
        PLANS["known-laws"](), "collector", {"people": 2500, "epsilon": 2, "chance": 1e-9}
    ),
    "batch-of-ranges": lambda: batched(PLANS["odds"](), "collector", {"people": 1000, "odds": 20.0}),
    "batch-of-blocks": lambda: batched(PLANS["block"](), "collector", {"people": 100_000, "epsilon": 1, "honest": 0.5}),
    "ticks": lambda: built(
        {
            "media": LIST | {"at_most": 2, "items": {"tv": {"delta": 12.5}, "3": {"delta": 11}}},
            "apps": LIST | {"values": ["a", "b"], "missing": "own"},
            "bit": BIT,
            "which": LIST | {"asked_if": {"bit": 1}, "at_most": 1, "items": {"web": {"delta": 9.5}}},
            "more": BIT | {"asked_if": {"which": ["tv", "web"]}},
        },
        [
            (("media",), (11,), padded(sets_of(4, 2), 4, 2, 1.25)),
            (("apps",), (5,), hinting(4, 1, 3, 5, 2)),
            (("bit", "which", "more"), (2, 6, 3), hinting(5, 1, 3, 2, 4, 7, 1, 6), None),
        ],
        [[0, 1], [2], [0]],
    ),
    "messages": lambda: in_messages(
        {"bit": {**BIT, "missing": True}, "number": NUMBER, "kind": categories(3), "other": BIT, "never": BIT},
        [
            (("bit",), (2,), binary(1.75)),
            (("kind",), (3,), response(3, 1.25)),
            (("number",), (2,), binary(1.5)),
            (("other",), (2,), binary(1.75)),
        ],
        [[0], [2, 1], [3]],
        {"people": 4000, "honest": 0.9, "epsilon": 1.5, "odds": 8, "features": {"bit": 1.25}},
        ODDS_OF_MESSAGES,
    ),
    "messages-of-groups": lambda: in_messages(
        {**OPENED, "sick": {**BIT, "delta": 18.5}},
        [(("sick",), (2,), binary(2.5)), (("hours",), (2,), binary(2.0))],
        [[0], [1]],
        {"people": 20_000, "epsilon": 0.5, "chance": 1e-5},
        0.0625,
    ),
    "assigned": assigned,
    "steps-and-no-number": lambda: built(
        PARTIAL,
        [
            (("wage",), (5,), response(5, 0.75)),
            (("wage", "kind"), (4, 2), hinting(2, 9, 5, 3, 3, 9, 3, 8)),
            (("more", "paid"), (2, 5), hinting(5, 1, 3, 2, 4), None),
            (("wage", "more", "paid"), (3, 2, 4), hinting(5, 1, 3, 2, 4, 7, 1, 6, 2, 3, 1, 8), None),
            (("kind",), (2,), binary(0.5)),
        ],
        [[0, 2], [1], [3, 4], [2, 4]],
        PARTIAL_RANGES,
        {0: [[-2.0, 0.125, 9.5]], 1: [[-2.0, 9.5], None], 2: [None, [2.5, 5.0]], 3: [[0.125], None, [5.0]]},
    ),
    "panel": panel,
    "if-wrong": lambda: built(
        {
            "bit": {**BIT, "delta": 3.5, "if_wrong": {"times": 2, "delta": 1.5}},
            "kind": categories(3) | {"delta": 4.5, "if_wrong": {"times": 1.75, "delta": 1.25}},
            "x": NUMBER,
            "never": BIT | {"if_wrong": {"times": 3.5, "delta": 1}},
        },
        [
            (("bit", "x"), (2, 2), joint((2, 2), 0.8)),
            (("kind",), (3,), response(3, 1.25)),
        ],
        [[0, 1], [1], [0]],
        correlation={
            "kind": "per feature",
            "source": "a guess",
            "default": 0.1,
            "named": {"kind": 0.3},
            "odds": {"named": {"bit": 1.3, "kind": 6.0}},
        },
    ),
    "projective": lambda: built(
        {"kind": categories(12), "bit": BIT, "code": categories(60), "pair": categories(2), "place": categories(7)},
        [
            (("kind",), (12,), Projective(levels=12, field=3, dimension=3, high=500_000_000, low=180_000_000)),
            (("code",), (60,), projective(60, 1.25)),
            (("bit", "place"), (2, 7), Projective(levels=14, field=2, dimension=4, high=2**29, low=3 * 2**20)),
            (("place",), (7,), Projective(levels=7, field=7, dimension=2, high=2**31, low=2**27)),
            (("pair",), (2,), Projective(levels=2, field=127, dimension=2, high=9, low=9)),
        ],
        [[0, 2], [1], [3, 4], [1, 4]],
    ),
    "integers": lambda: built(
        {
            "code": {**INTEGERS, "missing": "own"},
            "year": {"type": "ordinal", "values": {"integers": [-3, 16]}, "missing": -3},
            "room": {"type": "categorical", "values": {"integers": [100, 299]}, "missing": 107},
            "bit": BIT,
        },
        [
            (("code",), (1_000_001,), projective(1_000_001, 2.0)),
            (("year", "bit"), (20, 2), response(40, 1.1)),
            (("room",), (200,), projective(200, 0.75)),
        ],
        [[0], [1, 2]],
    ),
    "own-products": lambda: built(
        {"bit": OWN["bit"], "kind": OWN["kind"], "x": NUMBER},
        [
            (("bit", "kind"), (2,), binary(0.6), [2, 0]),
            (("kind", "x"), (9,), response(9, 1.2), [2, None]),
            (("bit", "x"), (3,), response(3, 0.8), [1, None]),
        ],
        [[0], [1], [2]],
    ),
}


def odds() -> list[dict[str, float | None]]:
    """Levels on and beside the edges of the rule by which odds and chances are told; beyond 30 nats any odds."""
    factors = [Fraction(n, 100) for n in (101, 110, 123, 200, 739, 900, 5460, 123_456, 48_516_519_541)]
    chances = [Fraction(n, 1000 - n) for n in (501, 550, 900, 982, 998, 999)]
    edges = [log_up(ratio) for ratio in factors + chances]
    beside = [math.nextafter(level, side) for level in edges for side in (0.0, math.inf)]
    plain = [0.0, 5e-324, 0.1, 0.2, 1.0, 2.0, 4.0, 20.0, math.log(1.23 + 5e-10), 30.0, math.nextafter(30.0, 31.0), 99.0]
    return [
        {"level": level, "odds": factor if (factor := odds_up(level)) < math.inf else None, "becomes": chance_up(level)}
        for level in sorted([*edges, *beside, *plain])
    ]


def dates() -> list[list[Any]]:
    """What is written for a date, and its number: on the edges of months, years and leap years, and what is none."""
    starts: list[tuple[str, Unit]] = [("1940-01-01", "years"), ("1900-02-01", "months"), ("1999-12-31", "days")]
    texts = ["0001-01-01", "1600-02-29", "1700-02-28", "1700-03-01", "1900-02-28", "1900-03-01", "1939-12-31",
             "1940-01-01", "1970-01-01", "1999-12-31", "2000-01-01", "2000-02-29", "2000-03-01", "2023-12-31",
             "2024-02-29", "2024-12-31", "9999-12-31", "1974", "1974-05", "1974-5-1", "1974-05-1", "74-05-31",
             "1974-00", "1974-13", "1974-02-30", "1900-02-29", "1974-04-31", "1974-05-00", "0000-01-01", "10000-01-01",
             "+1974", "-1974", "1974-05-31T00:00", "1974-05-31 ", " 1974", "1974-05-31Z", "31.05.1974", "05/31/1974",
             "today", "1974/05", "\u0661\u0669\u0667\u0664", "FILL"]  # fmt: skip
    rows: list[list[Any]] = []
    for since, unit in starts:
        for text in [*texts, 1974, 1974.0, 1974.5, True, -1]:
            read = read_date(str(int(text) if isinstance(text, float) and text.is_integer() else text), unit)
            number = None if read is None or text is True else number_of(read, date.fromisoformat(since), unit)
            rows.append([since, unit, text, number])
    return rows


def waves() -> list[list[Any]]:
    """Panels with their days: the first and the last of each wave, and the wave of days around them."""
    rows: list[list[Any]] = []
    for every, starts in (
        ("day", ("2024-02-28", "1999-12-31")),
        ("week", ("2027-01-04", "2023-12-28")),
        ("month", ("2026-11-15", "2027-01-28", "2024-01-01")),
        ("year", ("2023-02-28", "9000-12-01", "0001-01-01")),
    ):
        for start in starts:
            calendar = Calendar(5, every, date.fromisoformat(start))  # type: ignore[arg-type]
            days = [calendar.first_day(wave) for wave in range(1, 7)]
            spans = [[days[wave - 1].isoformat(), calendar.last_day(wave).isoformat()] for wave in range(1, 6)]
            near = sorted({day + timedelta(shift) for day in days for shift in (-1, 0, 1) if day.year > 1})
            rows.append([every, start, spans, [[day.isoformat(), calendar.wave_on(day)] for day in near]])
    return rows


def written(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _seed(path: Path, new: int) -> int:
    """A vector that there is keeps its seed, wherever its plan is in the list."""
    return int(json.loads(path.read_text("utf-8"))["seed"]) if path.exists() else new


def main(folder: Path = FOLDER) -> None:
    documents: Mapping[str, object] = {
        **{name: vector(plan(), _seed(folder / f"{name}.json", n)) for n, (name, plan) in enumerate(PLANS.items(), 1)},
        "words/odds": odds(),
        "words/dates": dates(),
        "words/waves": waves(),
    }
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(written(document), encoding="utf-8")


if __name__ == "__main__":
    main()
