"""Plans whose form is wrong in one place, each of which no planner writes and no device can execute."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from make_vectors import BIT, NUMBER, RELAY, SURVEY, built, categories, panel
from refused_panels import NO_PANEL, PANELS

from bcdp.exact import TOTAL
from bcdp.plan import Plan
from bcdp.randomizers import response

Cases = list[dict[str, str]]
DROPPED = object()
HUGE = 10**400  # what its digits say, and infinite to whoever reads them as a double


def canonical(document: Any) -> str:
    """The text of a document as plans are written; half a letter is escaped, since no file can hold it."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def small() -> Any:
    """A plan of many parts, as short as can be."""
    correlation = {
        "kind": "listed",
        "source": "a sample",
        "bounds": [["bit", ["kind"], 0.5], ["kind", ["bit", "number"], 0.25]],
        "laws": [["bit", "kind", [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]]],
        "rounded": ["number"],
        "products": [["kind", ["number"], 0.5]],
    }
    features = {
        "bit": {**BIT, "missing": True},
        "kind": {**categories(3), "missing": "v1"},
        "number": {**NUMBER, "missing": 0.5},
    }
    asked: Any = [
        (("kind",), (3,), response(3, 0.5)),
        (("bit", "number"), (3,), response(3, 0.25), [None, None]),
    ]
    return json.loads(built(features, asked, [[0], [1]], correlation).text)


def stepped() -> Any:
    """A plan in which a number enters by steps."""
    correlation = {
        "kind": "listed",
        "source": "a sample",
        "bounds": [["bit", ["number"], 0.5]],
        "rounded": ["number"],
        "cuts": {"number": [0.5, 1.0]},
    }
    asked: Any = [
        (("bit", "number"), (2, 3), response(6, 0.25)),
        (("bit", "number"), (3,), response(3, 0.25), [None, None]),
    ]
    return json.loads(
        built({"bit": BIT, "number": NUMBER}, asked, [[0], [1]], correlation, {0: [None, [0.5, 1.0]]}).text
    )


def opened() -> Any:
    """A plan with features that are open."""
    asked: Any = [(("sick",), (2,), response(2, 0.25))]
    return json.loads(built({"sick": BIT, **OPEN}, asked, [[0]]).text)


def followed() -> Any:
    """A plan with a follow-up, a follow-up of that, and a number that is asked under two conditions."""
    features = {
        "kind": categories(3),
        "then": {**BIT, "asked_if": {"kind": ["v1", "v2"]}},
        "much": {**NUMBER, "asked_if": {"kind": "v2", "then": 1}},
        "bit": BIT,
        "where": OPEN["where"],
    }
    asked: Any = [
        (("kind", "then", "much"), (3, 3, 3), response(6, 0.5), None),
        (("bit",), (2,), response(2, 0.25)),
    ]
    return json.loads(built(features, asked, [[0], [1]]).text)


def ticked() -> Any:
    """A plan with a list to tick, one item of which has a delta of its own."""
    features = {
        "media": {"type": "multiple", "values": ["tv", "web", "3"], "at_most": 2, "items": {"tv": {"delta": 4.5}}},
        "bit": BIT,
    }
    asked: Any = [(("media",), (7,), response(7, 0.5)), (("bit",), (2,), response(2, 0.25))]
    return json.loads(built(features, asked, [[0, 1], [1]]).text)


def waved() -> Any:
    """A panel with small tables."""
    document = json.loads(panel().text)
    document["tables"][1], document["tables"][3] = response(17, 0.5).to_dict(), response(9, 0.5).to_dict()
    return json.loads(Plan.certified({key: part for key, part in document.items() if key != "certificate"}).text)


def followed_by_change() -> Any:
    """A plan that asks about a change, and has no waves."""
    document = waved()
    del document["collection"]["panel"]
    for menu in document["menus"]:
        del menu["wave"]
    return document


def silent() -> Any:
    """A plan in which no answer is a value of its own, with every task that allows it."""
    features = {
        "bit": {**BIT, "missing": "own"},
        "kind": {**categories(2), "missing": "own"},
        "number": {**NUMBER, "missing": "own"},
        "whole": BIT,
    }
    asked: Any = [(("kind",), (3,), response(3, 0.5)), (("bit", "number"), (3, 3), response(9, 0.25))]
    document = json.loads(built(features, asked, [[0], [1]]).text)
    by = [{"mean": ["whole"], "by": "kind"}, {"table": ["kind", "bit"]}]
    document["collection"]["tasks"] = [{"mean": ["bit", "number"]}, {"frequency": ["bit", "kind"]}, *by]
    return document


OPEN: dict[str, Any] = {
    "where": {"type": "open", "values": ["n", "s", 3], "label": "Region"},
    "year": {"type": "open", "values": [2025, 2026], "value_labels": {"de": ["vorher", "nachher"]}},
}
FEATURES = ("collection", "features")
TURNED = "not \u202edetcetorp\u202c"
HIDDEN = [
    *(
        f"a{letter}b"
        for letter in "\u202d\u2066\u2069\u200e\u061c\u200b\u2060\ufeff\xad\ufe0f\u3164\u2028\0\t\x9b\u200c\u200d"
    ),
    *("a\U000e0041b", "a\U000e0100b", "می\u200c", "\u200cمی", "می\u200c\u200cخواهم", "می\u200c خواهم", "می\u200da"),
]  # of no width, of direction, variants, tags, controls; joiners that are not between two letters that join
LARGE = small()["collection"] | {"epsilon": 21.0}
LARGE["features"] = {name: feature | {"delta": 20.0} for name, feature in LARGE["features"].items()}
EACH = {"kind": "per feature", "source": "a guess", "default": 1.0, "named": {}}
FORMS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("another version of the format", ("bcdp",), 2),
    ("no version of the format", ("bcdp",), DROPPED),
    ("true for the version", ("bcdp",), True),
    ("1.0 for the version", ("bcdp",), 1.0),
    ("text for the version", ("bcdp",), "1"),
    ("an unknown mechanism", ("mechanism",), "shuffle"),
    ("no mechanism", ("mechanism",), DROPPED),
    *((f"no {key}", (key,), DROPPED) for key in ("channels", "collection", "correlation", "certificate", "tables")),
    *(
        (f"{key}: null", (key,), None)
        for key in ("channels", "collection", "correlation", "certificate", "tables", "menus")
    ),
    ("a correlation in the collection", ("collection", "correlation"), 0.1),
    ("a mechanism in the collection", ("collection", "mechanism"), "survey"),
    ("a trust that need not be stated", ("collection", "trust"), "device"),
    ("no panel, stated", ("collection", "panel"), None),
    ("an unknown key of a feature", (*FEATURES, "bit", "note"), "x"),
    ("a key that JavaScript knows", (*FEATURES, "bit", "__proto__"), {}),
    ("an unknown key of a question", ("questions", 0, "note"), "x"),
    ("an unknown key of a product", ("questions", 1, "note"), "x"),
    ("an unknown key of a menu", ("menus", 0, "note"), "x"),
    ("an unknown key of a table", ("tables", 0, "note"), "x"),
    ("an unknown key of the correlation", ("correlation", "default"), 0.5),
    ("an unknown key of the certificate", ("certificate", "note"), "x"),
    ("an unknown key of a claim", ("certificate", "features", "bit", "note"), 0.0),
    *(
        (f"the type {kind!r}", (*FEATURES, "bit", "type"), kind)
        for kind in ("toString", "__proto__", "Binary", None, 1)
    ),
    ("a feature that is a list", (*FEATURES, "bit"), []),
    ("no features", FEATURES, {}),
    ("an epsilon of 0", ("collection", "epsilon"), 0.0),
    ("an epsilon one double above 20", ("collection", "epsilon"), float(np.nextafter(20.0, 21.0))),
    ("an epsilon of 21, with deltas of their own", ("collection",), LARGE),
    ("true for epsilon", ("collection", "epsilon"), True),
    ("an epsilon of 400 digits", ("collection", "epsilon"), HUGE),
    *((f"the label {label!r}", (*FEATURES, "bit", "label"), label) for label in (None, 5, "FILL", "\ud800", ["x"])),
    *((f"the help {text!r}", (*FEATURES, "bit", "help"), text) for text in (5, "FILL", "\udc00")),
    *((f"the delta {delta!r}", (*FEATURES, "kind", "delta"), delta) for delta in (None, True, "1", -1.0)),
    ("a delta of 400 digits", (*FEATURES, "kind", "delta"), HUGE),
    *(
        (f"the values {values!r}", (*FEATURES, "kind", "values"), values)
        for values in (
            *(None, "abc", ["a", "b", ""], ["a", "b", "FILL"], ["a", "b", None], ["a", "b", ["c"]], ["v1", 1, True]),
            *(["v1", 0, False], ["v1", 1, "1"], ["v1", True, "true"], ["v1", 1.0, 2], ["v1", 1.5, 2], ["v1", "x"]),
            *(["v1", 2**53, 2], ["v1", -(2**53), 2], ["v1", "\ud800", 2], ["v1", "v2", "v3", "v4"]),
        )
    ),
    ("three values of a bit", (*FEATURES, "bit", "values"), [True, "x", "y"]),
    ("one value of a bit", (*FEATURES, "bit", "values"), [True]),
    ("values of a number", (*FEATURES, "number", "values"), [1, 2]),
    ("bounds of a bit", (*FEATURES, "bit", "bounds"), [0.0, 1.0]),
    *((f"missing is {it!r}, of a bit", (*FEATURES, "bit", "missing"), it) for it in ("true", 1.0, 2, "", [True])),
    *((f"missing is {it!r}, of a kind", (*FEATURES, "kind", "missing"), it) for it in ("v3", 1, "", ["v1"])),
    *((f"missing is {it!r}, of a number", (*FEATURES, "number", "missing"), it) for it in (13.0, -4, True, "0", [0.5])),
    *(
        (f"the bounds {bounds!r}", (*FEATURES, "number", "bounds"), bounds)
        for bounds in (
            *([0.5, 0.5], [1.0, 0.0], [0.0], [0.0, 1.0, 2.0], [0, True], ["0", 1], None, {"0": 0, "1": 1}, [None, 1]),
            [-1e308, 1e308],
        )
    ),
    ("bounds whose half is 0", (*FEATURES, "number"), {"type": "numeric", "bounds": [0.0, 5e-324]}),
    ("a bound of 400 digits", (*FEATURES, "number", "bounds"), [0, HUGE]),
    *(
        (f"{key}: {it!r}", (*FEATURES, "bit", key), it)
        for key in ("labels", "helps")
        for it in (
            {},
            [],
            "de",
            {"de": ""},
            {"de": "FILL"},
            {"de": None},
            {"de": 1},
            {"DE": "x"},
            {"DE": "x", "de": "y"},
            {"d": "x"},
        )
    ),
    *(
        (f"a label with {letter!r}", (*FEATURES, "bit", "labels"), {"de": f"a{letter}b"})
        for letter in ("\0", "\t", "\x1b", "\x7f", "\x9f", "\u2028", "\u202a", "\u202e", "\u2066", "\u2069", "\ud83d")
    ),
    *((f"the label {label!r}", (*FEATURES, "bit", "label"), label) for label in HIDDEN),
    ("help that is turned round", (*FEATURES, "bit", "help"), TURNED),
    ("a value that is turned round", (*FEATURES, "kind", "values"), ["v1", TURNED, "v3"]),
    ("words of values that are turned round", (*FEATURES, "bit", "value_labels"), {"de": ["ja", TURNED]}),
    ("a name that is turned round", (*FEATURES, TURNED), BIT),
    ("a title that is turned round", ("collection", "survey"), SURVEY | {"title": TURNED}),
    ("a source that is turned round", ("correlation", "source"), TURNED),
    ("a label of 2,001 letters", (*FEATURES, "bit", "labels"), {"de": "é" * 2001}),
    *(
        (f"the words {it!r} of a bit's values", (*FEATURES, "bit", "value_labels"), it)
        for it in (
            {},
            [],
            {"de": ["ja"]},
            {"de": ["ja", "ja"]},
            {"de": ["ja", "nein", "ja"]},
            {"de": ["ja", ""]},
            {"de": "ja"},
            {"de": {}},
            {"1": []},
        )
    ),
    ("words of values of a number", (*FEATURES, "number", "value_labels"), {"de": ["x", "y"]}),
    ("two words for three values", (*FEATURES, "kind", "value_labels"), {"de": ["x", "y"]}),
    *((f"the survey {it!r}", ("collection", "survey"), it) for it in ({}, [], "a survey", {"title": "x"})),
    *(
        (f"a survey whose {key} is {it!r}", ("collection", "survey"), SURVEY | {key: it})
        for key, it in (
            *(
                (key, it)
                for key in ("title", "purpose", "organiser", "contact")
                for it in ("", None, 1, "FILL", "\x1b[2J")
            ),
            *(("minutes", it) for it in (0, 601, 3.0, 2.5, True, "3")),
            *((key, it) for key in ("titles", "purposes", "declines") for it in ("x", {}, {"de": ""}, {"x-1": "x"})),
            *(("decline", ""), ("note", "x"), ("promise", "nobody will know")),
        )
    ),
    *((f"the relay {it!r}", ("collection", "relay"), it) for it in ({}, [], "https://a/", {"url": "https://a/"})),
    *(
        (f"a relay whose {key} is {it!r}", ("collection", "relay"), RELAY | {key: it})
        for key, it in (
            *(("url", it) for it in ("", None, 1, "FILL", "https://a", "http://a/", "https:///", "https://A/", "//a/")),
            *(("url", it) for it in ("https://a/?b", "https://a/#b", "https://b@a/", "https://a:/", "https://a/\n")),
            *(("url", it) for it in ("https://é/", "https://-a/", "http://localhost.a/", "https://a/" + "b" * 191)),
            *(("key", it) for it in ("", None, 1, "FILL", RELAY["key"].upper(), RELAY["key"][2:], RELAY["key"] + "\n")),
            *(("key", it) for it in (RELAY["key"].replace("0020", "0010"), RELAY["key"][:-1] + "3", [], "0" * 82)),
            *(("keys", RELAY["key"]), ("promise", "nobody will know")),
        )
    ),
    *(
        (f"the order {order!r}", ("collection", "order"), order)
        for order in (None, "bit", {}, [], ["bit", "kind", None])
    ),
    *((f"{letters!r} in a task", ("collection", "tasks"), [{"mean": [letters]}]) for letters in ("\ud800", *HIDDEN)),
    *((f"{letters!r} for a task", ("collection", "tasks"), [{letters: ["bit"]}]) for letters in ("\ud800", *HIDDEN)),
    ("rows of 31-bit words", ("tables", 0), {"family": "response", "levels": 3, "keep": 2**31 - 2**30, "other": 2**29}),
    ("a table in a form that is not known", ("tables", 0, "family"), "toString"),
    ("a table that is a list", ("tables", 0), []),
    ("a table without a weight", ("tables", 0, "other"), DROPPED),
    ("a weight as a float", ("tables", 0, "keep"), float(2**31)),
    ("true for a weight", ("tables", 0, "other"), True),
    ("a weight of 400 digits", ("tables", 0, "keep"), HUGE),
    ("a response of one level", ("tables", 0), {"family": "response", "levels": 1, "keep": TOTAL, "other": 1}),
    (
        "a response of 10,001 levels",
        ("tables", 2),
        {"family": "response", "levels": 10_001, "keep": TOTAL - 10_000, "other": 1},
    ),
    ("a response that never lies", ("tables", 0), {"family": "response", "levels": 3, "keep": TOTAL, "other": 0}),
    ("an order that is no power of 2", ("tables", 0), {"family": "hadamard", "levels": 3, "order": 6, "keep": 2**29}),
    ("an order below the levels", ("tables", 0), {"family": "hadamard", "levels": 3, "order": 2, "keep": 2**30}),
    ("a bit that lies", ("tables", 0), {"family": "hadamard", "levels": 3, "order": 4, "keep": 2**29 - 1}),
    ("a bit that never lies", ("tables", 0), {"family": "hadamard", "levels": 3, "order": 4, "keep": 2**30}),
    *(
        (f"the waves {waves!r}", ("tables", 0), {"family": "waves", "levels": 3, "waves": waves})
        for waves in (
            *([], {}, [[6, 1, 2, 9]], [6, 1, 2, 9, 1], [[6, 1, 2, 9, 1, 1]], [[7, 1, 2, 9, 1]], [[6, 0, 2, 9, 1]]),
            *([[6, 6, 2, 9, 1]], [[6, 1, 0, 9, 1]], [[6, 1, 6, 9, 1]], [[6, 1, 2, 1, 9]], [[6, 1, 2, 9, 0]]),
            *([[6, 1, 2, 2**31, 1]], [[6, 1, 2, True, 1]], [[6, 1, 2, 9.0, 1]], [[6, 1, 2, 9, None]]),
        )
    ),
    ("waves of one level", ("tables", 0), {"family": "waves", "levels": 1, "waves": [[2, 1, 1, 9, 1]]}),
    ("waves without a list", ("tables", 0), {"family": "waves", "levels": 3}),
    *(
        (f"the weights {rows!r}", ("tables", 2), {"family": "dense", "weights": rows})
        for rows in ([], [[]], {}, [[TOTAL], []], [[TOTAL], None], [[2**31]], [[TOTAL + 1, -1]], [[float(TOTAL)]])
    ),
    ("a question that is a list", ("questions", 0), []),
    ("a question about nothing", ("questions", 0, "features"), []),
    ("a feature that is not collected", ("questions", 0, "features"), ["else"]),
    ("a feature twice in a question", ("questions", 1, "features"), ["bit", "bit"]),
    (
        "the kind of a question written out",
        ("questions", 0),
        {"features": ["kind"], "levels": [3], "table": 0, "kind": "values"},
    ),
    ("categories of a question about values", ("questions", 0, "categories"), []),
    ("a product without categories", ("questions", 1, "categories"), DROPPED),
    ("a product with a category too many", ("questions", 1, "categories"), [None, None, None]),
    ("a category of a bit", ("questions", 1, "categories"), [0, None]),
    ("a product of two numbers of levels", ("questions", 1, "levels"), [3, 1]),
    (
        "the square of a bit",
        ("questions", 1),
        {"features": ["bit"], "levels": [3], "table": 1, "kind": "product", "categories": [None]},
    ),
    (
        "a product of three features",
        ("questions", 1),
        {
            "features": ["bit", "number", "kind"],
            "levels": [3],
            "table": 1,
            "kind": "product",
            "categories": [None, None, 0],
        },
    ),
    (
        "a category that the feature has not",
        ("questions", 1),
        {"features": ["kind", "number"], "levels": [3], "table": 1, "kind": "product", "categories": [3, None]},
    ),
    ("one level", ("questions", 1, "levels"), [1]),
    ("levels as floats", ("questions", 0, "levels"), [3.0]),
    ("true for a table's number", ("questions", 1, "table"), True),
    ("a negative table", ("questions", 1, "table"), -1),
    ("no questions", ("questions",), []),
    ("no menus", ("menus",), []),
    *((f"menus from {origin!r}", ("collection", "menu_from"), origin) for origin in ("device", "Ticket", None, True)),
    ("a menu without questions", ("menus", 0, "questions"), []),
    ("a negative question", ("menus", 1, "questions"), [-1]),
    ("a question's number as a float", ("menus", 1, "questions"), [1.0]),
    *(
        (f"the kind {kind!r} of correlation", ("correlation", "kind"), kind)
        for kind in ("prior", None, ["listed"], "toString")
    ),
    ("no kind of correlation", ("correlation", "kind"), DROPPED),
    ("no source", ("correlation", "source"), DROPPED),
    *((f"the source {source!r}", ("correlation", "source"), source) for source in (None, 5, "\ud800")),
    *(
        (f"{key}: null", ("correlation", key), None)
        for key in ("bounds", "laws", "rounded", "products", "ranges", "odds")
    ),
    *(
        (f"the ranges {cuts!r} of a number", (*FEATURES, "number", "ranges"), cuts)
        for cuts in (
            *([], {}, "0", 0.5, [True], ["0"], [None], [0.5, 0.5], [0.5, 0.0], [-3.5], [12.25], [HUGE]),
            [number / 32 for number in range(32)],
        )
    ),
    ("ranges of a bit", (*FEATURES, "bit", "ranges"), [0.5]),
    *(
        (f"{cuts!r} for the ranges", ("correlation", "ranges"), cuts)
        for cuts in (
            *([], {}, ["number"], {"number": None}, {"number": []}, {"number": [0.5]}, {"number": "quarters"}),
            *({"number": [0.4375, 4.375]}, {"number": [0.4375, 4.375, 8.3125, 9.0]}, {"bit": [0.4375, 4.375, 8.3125]}),
            *(
                {"number": [8.3125, 4.375, 0.4375]},
                {"number": [0.4375, 4.375, "8.3125"]},
                {"number": [0.4375, 4.375, 8.3125], "else": [1]},
            ),
        )
    ),
    *(
        (f"the bound {row!r}", ("correlation", "bounds", 0), row)
        for row in (
            *(
                [],
                ["bit", ["kind"]],
                ["bit", ["kind"], 0.5, 0.5],
                [1, ["kind"], 0.5],
                ["bit", "kind", 0.5],
                ["bit", [1], 0.5],
            ),
            *(["bit", ["kind"], q] for q in (-0.5, True, None, "0.5", float(np.nextafter(1.0, 2.0)))),
            *(["kind", ["number", "bit"], 0.25], ["kind", ["bit", "number", "bit"], 0.5]),
        )
    ),
    *(
        (f"the odds {rows!r}", ("correlation", "odds"), rows)
        for rows in (
            *({"default": 2.0}, 2.0, [2.0], [["bit", ["kind"]]], [["bit", "kind", 2.0]], [["bit", [1], 2.0]]),
            *(
                [["bit", ["kind"], most]]
                for most in (0.5, float(np.nextafter(1.0, 0.0)), 0, -2.0, True, None, "2", [2.0], HUGE)
            ),
            *([["bit", ["kind"], most]] for most in (float("nan"), float("inf"))),
            [["kind", ["bit", "number"], 2.0], ["kind", ["number", "bit"], 2.0]],
        )
    ),
    *(
        (f"{stated!r} for the odds of each feature", ("correlation",), {**EACH, "odds": stated})
        for stated in (
            *({}, [], None, 2.0, {"kind": 2.0}, {"default": 2.0, "rest": 2.0}, {"named": []}, {"named": None}),
            *({"default": most} for most in (0.5, True, None, "2", HUGE, float("nan"), float("inf"))),
            *({"named": {"bit": most}} for most in (float(np.nextafter(1.0, 0.0)), False, None, [2.0], {}, HUGE)),
        )
    ),
    *(
        (f"the law {row!r}", ("correlation", "laws", 0), row)
        for row in (
            *(["bit", "number", [[0.5, 0.5]]], ["bit", "kind", [[0.5, 0.5]]], ["kind", "kind", [[0.5, 0.25, 0.25]]]),
            *(["bit", "kind", []], ["bit", "kind", [[]]], ["bit", "kind", [[0.5, 0.5, 0.0], [1.0]]], ["bit", "kind"]),
            *(
                ["bit", ["kind"], [[0.5, 0.25, 0.25]]],
                ["bit", "kind", [[1.5, -0.25, -0.25]]],
                ["bit", "kind", [[True, 0, 0]]],
            ),
            *(
                ["bit", "kind", [[0.5, 0.25, 0.25 + 2.0**-30 + 2.0**-50]]],
                ["bit", "kind", [[0.5, 0.25, 0.25 - 2.0**-29]]],
            ),
        )
    ),
    *(
        (f"rounded: {names!r}", ("correlation", "rounded"), names)
        for names in (["bit"], ["number", "bit"], [1], "number", {})
    ),
    *((f"the objective {it!r}", ("certificate", "objective"), it) for it in ("low", True, [], 2)),
    ("an objective of 400 digits", ("certificate", "objective"), HUGE),
    ("no optimality gap", ("certificate", "optimality_gap"), DROPPED),
    ("a whole number as a claim", ("certificate", "features", "bit", "c"), 20),
    ("text as a claim", ("certificate", "features", "bit", "c"), "20"),
    ("a negative claim", ("certificate", "epsilon"), -1.0),
    ("no claim at all", ("certificate", "epsilon"), None),
    ("more is claimed than was asked", ("certificate", "epsilon"), 20.5),
    (
        "a claim about a feature that is not collected",
        ("certificate", "features", "else"),
        {"asked": 1.0, "c": 0.0, "certified": 0.0},
    ),
    ("something that was asked less than claimed", ("certificate", "features", "bit", "certified"), 20.5),
]

STEPS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("cuts that bounds know: null", ("correlation", "cuts"), None),
    *(
        (f"the cuts {cuts!r} of a question", ("questions", 0, "cuts"), cuts)
        for cuts in (
            *(None, [], {}, "0.5", [None, None], [[0.5, 1.0]], [None, [0.5, 1.0], None], [[0.5], [0.5, 1.0]]),
            *([None, cuts] for cuts in ([], [0.5], [0.5, 1.0, 2.0], [1.0, 0.5], [0.5, 0.5], [-3.5, 0.5], [0.5, 12.25])),
            *([None, [0.5, end]] for end in (True, None, "1", [1.0], HUGE, float("nan"))),
        )
    ),
    ("cuts of a product", ("questions", 1, "cuts"), [None, [0.5, 1.0]]),
    *(
        (f"{cuts!r} for the cuts that bounds know", ("correlation", "cuts"), cuts)
        for cuts in (
            *([], {}, ["number"], {"number": []}, {"number": None}, {"number": 0.5}, {"bit": [0.5]}, {"else": [0.5]}),
            *({"number": ends} for ends in ([0.5, 0.5], [1.0, 0.5], [-3.5], [12.25], [True], ["1"], [HUGE], [None])),
        )
    ),
]


def forms() -> Cases:
    """One part changed of a plan that is right: in form no planner writes it, and no device can execute it."""
    return [
        *changed(small(), FORMS),
        *changed(stepped(), STEPS),
        *changed(opened(), OPENED),
        *changed(silent(), OWN),
        *changed(followed(), BLOCKS),
        *changed(ticked(), LISTS),
        *changed(dated(), DATES),
        *changed(waved(), PANELS),
        *changed(followed_by_change(), [("a question about change without a panel", ("bcdp",), 1)]),
        *changed(opened(), NO_PANEL),
    ]


OPENED: list[tuple[str, tuple[Any, ...], Any]] = [
    ("nothing but an open feature", FEATURES, {"where": OPEN["where"]}),
    *(
        (f"{key} of an open feature", (*FEATURES, "where", key), value)
        for key, value in (("delta", 0.5), ("missing", "n"), ("bounds", [0, 1]), ("ranges", [0.5]), ("note", "x"))
    ),
    ("no values of an open feature", (*FEATURES, "where", "values"), DROPPED),
    *(
        (f"the open values {values!r}", (*FEATURES, "where", "values"), values)
        for values in (
            None,
            [],
            "ns",
            ["n", "n"],
            [1, True],
            [1, "1"],
            ["n", ""],
            ["n", "FILL"],
            [1.5],
            [None],
            [2**53],
        )
    ),
    (
        "10,100 groups of open values",
        FEATURES,
        {"sick": BIT, **{f"g{size}": {"type": "open", "values": list(range(size))} for size in (101, 100)}},
    ),
    ("one word for two open values", (*FEATURES, "year", "value_labels"), {"de": ["vorher"]}),
    ("an open type in capitals", (*FEATURES, "where", "type"), "Open"),
    ("a question about an open feature", ("questions", 0), {"features": ["year"], "levels": [2], "table": 0}),
    (
        "a claim about an open feature",
        ("certificate", "features", "where"),
        {"asked": 20.0, "certified": 0.0, "c": 0.0},
    ),
    ("an order without the open features", ("collection", "order"), ["sick"]),
]


OWN: list[tuple[str, tuple[Any, ...], Any]] = [
    *(
        (f"missing is {it!r}, of a {name} with no answer as a value", (*FEATURES, name, "missing"), it)
        for name in ("bit", "kind", "number")
        for it in ("Own", "no answer", ["own"], {"own": True}, 99.5, *([None] if name != "number" else []))
    ),
    ("no answer among the values, and as a value of its own", (*FEATURES, "kind", "values"), ["no answer", "v1"]),
    ("own among the values, and so no value more", (*FEATURES, "kind", "values"), ["own", "v1"]),
    ("three values, and no level for no answer", (*FEATURES, "kind", "values"), ["v0", "v1", "v2"]),
    ("two levels of a number with no answer", ("questions", 1, "levels"), [3, 2]),
    ("two levels of a bit with no answer", ("questions", 1, "levels"), [2, 3]),
    ("a table for too many levels", ("questions", 1, "levels"), [3, 4]),
    ("a word for no answer", (*FEATURES, "kind", "value_labels"), {"de": ["a", "b", "keine"]}),
    (
        "cuts of a number with no answer",
        ("questions", 1),
        {"features": ["bit", "number"], "levels": [3, 3], "table": 1, "cuts": [None, [0.5, 1.0]]},
    ),
    *(
        (
            f"the product of {' and '.join(names)}, with no answer",
            ("questions", 0),
            {"features": names, "levels": [3], "table": 0, "kind": "product", "categories": [kind] * len(names)},
        )
        for names, kind in ((["bit", "whole"], None), (["number", "whole"], None), (["number"], None), (["kind"], 0))
    ),
    (
        "the product of a value that there is not, with no answer",
        ("questions", 0),
        {"features": ["bit", "whole"], "levels": [3], "table": 0, "kind": "product", "categories": [3, None]},
    ),
    ("a cascade", ("mechanism",), "cascade"),
]


_THEN = (*FEATURES, "then", "asked_if")
BLOCKS: list[tuple[str, tuple[Any, ...], Any]] = [
    *(
        (f"the condition {condition!r}", _THEN, condition)
        for condition in (
            "kind",
            [],
            {},
            ["kind"],
            {"kind": []},
            {"kind": None},
            {"kind": ["v1", "v1"]},
            {"kind": ["v1", "v9"]},
            {"kind": ["v1", None]},
            {"kind": [["v1"]]},
            {"kind": {"v1": True}},
            {"then": 1},
            {"much": 1},
            {"much": 0.5},
            {"where": "n"},
            {"nothing": 1},
            {"bit": 2},
            {"bit": "1"},
            {"bit": 1.5},
            {"bit": [1, True]},
            {"kind": "v1", "much": 1},
            {"kind": "not applicable"},
        )
    ),
    ("two questions that depend on each other", (*FEATURES, "kind", "asked_if"), {"then": 1}),
    ("not applicable among the values of a follow-up", (*FEATURES, "kind"), {**categories(2), "asked_if": {"bit": 1},
     "values": ["v1", "v2", "not applicable"]}),
    ("a condition of an open feature", (*FEATURES, "where", "asked_if"), {"bit": 1}),
    ("no condition, and so no block", _THEN, DROPPED),
    ("a block that is more than was asked", (*FEATURES, "bit", "asked_if"), {"kind": "v1"}),
    ("a block as values", ("questions", 0, "kind"), DROPPED),
    ("a block as a product", ("questions", 0, "kind"), "product"),
    ("cuts of a block", ("questions", 0, "cuts"), [None, None, [0.5, 1.0]]),
    ("categories of a block", ("questions", 0, "categories"), [None, None, None]),
    ("a block of one feature", ("questions", 1, "kind"), "block"),
    ("a part of a block", ("questions", 0),
     {"features": ["kind", "then"], "kind": "block", "levels": [3, 3], "table": 0}),
    ("a part of a block as values", ("questions", 1), {"features": ["kind"], "levels": [3], "table": 0}),
    ("a block and another feature", ("questions", 0),
     {"features": ["kind", "then", "much", "bit"], "kind": "block", "levels": [3, 3, 3, 2], "table": 0}),
    ("a follow-up without a level for not applicable", ("questions", 0, "levels"), [3, 2, 3]),
    ("a number without a level for not applicable", ("questions", 0, "levels"), [3, 3, 2]),
    ("more combinations than the table has levels", ("questions", 0, "levels"), [3, 3, 4]),
    ("more combinations than anybody looks at", ("questions", 0, "levels"), [3, 3, 2**18]),
    ("a block in a cascade", ("mechanism",), "cascade"),
]  # fmt: skip


_MEDIA = (*FEATURES, "media")
_CLAIM = ("certificate", "features", "media", "items")
LISTS: list[tuple[str, tuple[Any, ...], Any]] = [
    *((f"at most {most!r} items", (*_MEDIA, "at_most"), most) for most in (0, 4, -1, 1.5, True, "2", [2])),
    *(
        (f"the items {items!r}", (*_MEDIA, "items"), items)
        for items in ({}, [], "tv", {"tv": 4.5}, {"tv": {}}, {"tv": {"delta": None}}, {"tv": {"delta": -1.0}},
                      {"tv": {"delta": 4.5, "q": 1}}, {"radio": {"delta": 4.5}}, {"tv": {"delta": 21.0}})
    ),
    ("one item", (*_MEDIA, "values"), ["tv"]),
    ("31 items", (*_MEDIA, "values"), ["tv", *(f"v{item}" for item in range(30))]),
    ("2,048 sets", _MEDIA, {"type": "multiple", "values": [f"v{item}" for item in range(11)]}),
    ("a list whose missing is an item", (*_MEDIA, "missing"), "tv"),
    ("scores of a list", (*_MEDIA, "scores"), [1, 2, 3]),
    ("items of what is no list", (*FEATURES, "bit", "items"), {"0": {"delta": 1.0}}),
    ("a list of other sets than the table has levels", (*_MEDIA, "at_most"), 1),
    ("a list and another feature in one question", ("questions", 0),
     {"features": ["media", "bit"], "levels": [7, 2], "table": 0}),
    ("no claim about a stricter item", _CLAIM, DROPPED),
    ("an empty claim about items", _CLAIM, {}),
    ("a claim about an item that is none", (*_CLAIM, "web"), {"asked": 20.0, "certified": 1.0, "c": 1.0}),
    ("a claim about an item without c", (*_CLAIM, "tv"), {"asked": 4.5, "certified": 1.0}),
    ("less was asked for an item", (*_CLAIM, "tv", "asked"), 4.0),
    ("less is claimed for an item than is true", (*_CLAIM, "tv", "certified"), 0.25),
    ("less c is claimed for an item than is true", (*_CLAIM, "tv", "c"), 0.25),
    ("more is claimed for an item than was asked", (*_CLAIM, "tv", "certified"), 5.0),
    ("claims about items of what is no list", ("certificate", "features", "bit", "items"), {}),
    ("a list in a cascade", ("mechanism",), "cascade"),
]  # fmt: skip


def dated() -> Any:
    """A plan with a date."""
    number = {"type": "numeric", "bounds": [0, 40], "dates": {"since": "1980-01-01", "unit": "years"}}
    asked: Any = [(("born",), (2,), response(2, 0.25))]
    return json.loads(built({"born": number}, asked, [[0]]).text)


_BORN = (*FEATURES, "born")
DATES: list[tuple[str, tuple[Any, ...], Any]] = [
    *((f"the dates {dates!r}", (*_BORN, "dates"), dates)
      for dates in ({}, [], "years", True, {"since": "1980-01-01"}, {"unit": "years"},
                    {"since": "1980-01-01", "unit": "years", "to": "2020-01-01"})),
    *((f"dates since {day!r}", (*_BORN, "dates", "since"), day)
      for day in (None, 1980, "1980", "1980-01", "1980-1-1", "1980-01-02", "1980-02-01", "1980-02-30", "0000-01-01",
                  "+1980-01-01", "1980-01-01T00:00", "9960-01-01", "١٩٨٠-01-01", "FILL")),
    *((f"dates in {unit!r}", (*_BORN, "dates", "unit"), unit)
      for unit in (None, "weeks", "year", "Years", ["years"], "toString")),
    *((f"dates within {bounds!r}", (*_BORN, "bounds"), bounds)
      for bounds in ([1, 40], [-1, 40], [0, 40.5], [0, 8020], [0, 1e300])),
    ("dates of a bit", _BORN, {**BIT, "dates": {"since": "1980-01-01", "unit": "years"}}),
]  # fmt: skip


def changed(plan: Any, forms: list[tuple[str, tuple[Any, ...], Any]]) -> Cases:
    """The plan with each of these changes: why it is refused, the path to what changes, and its new value."""
    cases: Cases = []
    for why, path, value in forms:
        document = json.loads(canonical(plan))
        place = document
        for step in path[:-1]:
            place = place[step]
        if value is DROPPED:
            del place[path[-1]]
        elif isinstance(place, list) and path[-1] == len(place):
            place.append(value)
        else:
            place[path[-1]] = value
        cases.append({"why": why, "plan": canonical(document)})
    return cases
