"""Writes vectors/refused.json: plans with one mistake each, which every reader refuses (vectors/README.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from make_vectors import BIT, FOLDER, MIXED, NUMBER, PLANS, ROUNDED, batched, built, numbers, written
from refused_forms import Cases, canonical, forms
from refused_second import second_demands

from bcdp.exact import TOTAL
from bcdp.randomizers import binary, response


def promises() -> Cases:
    """Promises that are not kept, and parts that do not fit together."""
    text = PLANS["menus"]().text
    cases: Cases = []

    def case(why: str, change: Callable[[Any], object]) -> None:
        document = json.loads(text)
        change(document)
        assert canonical(document) != text, why
        cases.append({"why": why, "plan": canonical(document)})

    def lowered(holder: dict[str, float], key: str) -> None:
        holder[key] = float(np.nextafter(holder[key], 0))

    case("epsilon is claimed one double too low", lambda d: lowered(d["certificate"], "epsilon"))
    for name in MIXED:
        for key in ("certified", "c"):
            if name != "never" or key == "certified":
                case(f"{key} of {name} is claimed one double too low",
                     lambda d, n=name, k=key: lowered(d["certificate"]["features"][n], k))  # fmt: skip
    case("asked is not the delta", lambda d: d["certificate"]["features"]["bit"].update(asked=19.0))
    case("less was asked", lambda d: (d["collection"]["features"]["kind"].update(delta=0.01),
                                      d["certificate"]["features"]["kind"].update(asked=0.01)))  # fmt: skip
    case("a claim is missing", lambda d: d["certificate"]["features"].pop("bit"))
    case("more correlation than was counted on", lambda d: d["correlation"]["bounds"].pop(1))
    case("a probability above 1", lambda d: d["correlation"]["bounds"][0].__setitem__(2, 1.5))
    case("weights do not sum to 2^32", lambda d: d["menus"][1].update(weight=d["menus"][1]["weight"] + 1))
    case("a menu of weight 0", lambda d: d["menus"].append({"weight": 0, "questions": [0]}))
    case("a feature twice in a menu", lambda d: d["menus"][0].update(questions=[0, 2]))
    case("no such question", lambda d: d["menus"][0].update(questions=[0, 9]))
    case("no such table", lambda d: d["questions"][0].update(table=9))
    case("a table of other levels", lambda d: d["questions"][0].update(table=1))
    case("levels that a feature does not have", lambda d: d["questions"][1].update(levels=[4]))
    case("an unknown kind of question", lambda d: d["questions"][0].update(kind="riddle"))
    case("an unknown family", lambda d: d["tables"][0].update(family="other"))
    case("a response that does not sum up", lambda d: d["tables"][0].update(keep=d["tables"][0]["keep"] - 1))
    case("a response that lies more than it tells the truth", lambda d: d["tables"][0].update(keep=1, other=TOTAL // 3))
    case("a row that does not sum up", lambda d: d["tables"][2]["weights"][0].__setitem__(0, 7))
    case("a negative weight", lambda d: d["tables"][2]["weights"][0].__setitem__(0, -1))
    case("a fraction as a weight", lambda d: d["tables"][2]["weights"][0].__setitem__(0, 0.5))
    case("rows of different lengths", lambda d: d["tables"][2]["weights"][0].append(0))
    case("an unknown key", lambda d: d.update(note="trust me"))
    case("channels in a survey", lambda d: d["channels"].append({"features": ["bit"], "keep": TOTAL // 2}))
    case("bounds in the wrong order", lambda d: d["collection"]["features"]["number"].update(bounds=[5, 1]))
    case("an order that leaves a feature out", lambda d: d["collection"].update(order=["bit", "kind", "number"]))
    case("an order with a feature twice", lambda d: d["collection"].update(order=[*MIXED, "bit"]))
    case("an order of something else", lambda d: d["collection"].update(order=["bit", "kind", "never", 7]))
    case("a value twice", lambda d: d["collection"]["features"]["kind"].update(values=["a", "b", "a"]))
    case("a type that is not known", lambda d: d["collection"]["features"]["kind"].update(type="text"))
    case("an epsilon that protects nobody", lambda d: d["collection"].update(epsilon=21.0))
    text = PLANS["known-laws"]().text
    case("a law that was counted on is missing", lambda d: d["correlation"]["laws"].pop(0))
    case("laws that are further apart", lambda d: d["correlation"]["laws"][0].__setitem__(2, [[0.3, 0.7], [0.6, 0.4]]))
    case("a law that is none", lambda d: d["correlation"]["laws"][0].__setitem__(2, [[0.4, 0.5], [0.55, 0.45]]))
    case("a law of too many values", lambda d: d["correlation"]["laws"][0][2].__setitem__(0, [0.4, 0.5, 0.1]))
    case("laws stated twice", lambda d: d["correlation"]["laws"].append(d["correlation"]["laws"][0]))
    text = PLANS["never-given"]().text
    case("a symbol that is never given hides the others", lambda d: d["certificate"]["features"]["secret"].update(
        certified=0.0))  # fmt: skip
    unmarked = {key: value for key, value in ROUNDED.items() if key not in ("rounded", "products")}
    for what, menu in (("product", [3]), ("square", [4]), ("square beside it", [4, 6]), ("number of 4 levels", [7])):
        text = numbers([menu], unmarked).text
        case(f"a {what} that counts as if it were rounded once", lambda d: d["correlation"].update(rounded=["x", "y"]))
    text = PLANS["rounded"]().text
    case("a product that is known less well", lambda d: d["correlation"]["products"][2].__setitem__(2, 0.5))
    case("a product stated twice", lambda d: d["correlation"]["products"].append(["bit", ["y", "x"], 0.25]))
    case("only some of the numbers are rounded", lambda d: d["correlation"].update(rounded=["x"]))
    case("rounded numbers named twice", lambda d: d["correlation"]["rounded"].append("x"))
    case("rounded numbers without a name", lambda d: d["correlation"].update(rounded=[]))
    text = PLANS["menus"]().text
    cases.append({"why": "half a text", "plan": text[: len(text) // 2]})
    cases.append({"why": "a key twice", "plan": text.replace('{"bcdp":1,', '{"bcdp":1,"bcdp":1,', 1)})
    text = PLANS["ranges"]().text
    for name in ("wage", "age"):
        case(f"certified of {name} is claimed one double too low, for guesses of its range",
             lambda d, n=name: lowered(d["certificate"]["features"][n], "certified"))  # fmt: skip
    case("ranges other than the feature's", lambda d: d["correlation"]["ranges"].update(wage=[-2.0, 9.5]))
    case("ranges other than the default", lambda d: d["correlation"]["ranges"].update(age=[50.0]))
    case("ranges of what is no number", lambda d: d["correlation"]["ranges"].update(part=[0.5]))
    case("ranges of no feature", lambda d: d["correlation"]["ranges"].update(height=[0.5]))
    case("ranges of nothing", lambda d: d["correlation"].update(ranges={}))
    case("ranges out of order", lambda d: d["collection"]["features"]["wage"].update(ranges=[0.125, -2.0, 9.5]))
    case("a range beyond the bounds", lambda d: d["collection"]["features"]["age"].update(ranges=[25.0, 100.0]))
    case("the levels inside a range are overlooked",
         lambda d: d["certificate"]["features"]["wage"].update(certified=1.69))  # fmt: skip
    text = PLANS["steps"]().text
    for name in ("wage", "age", "part"):
        case(f"certified of {name} is claimed one double too low, asked by steps",
             lambda d, n=name: lowered(d["certificate"]["features"][n], "certified"))  # fmt: skip
    case("steps at a cut that the bounds do not know", lambda d: d["correlation"]["cuts"]["age"].pop(1))
    case("steps that count as rounded", lambda d: d["correlation"].pop("cuts"))
    text = PLANS["odds"]().text
    for name in ("wage", "age", "part"):
        case(f"certified of {name} is claimed one double too low, under odds",
             lambda d, n=name: lowered(d["certificate"]["features"][n], "certified"))  # fmt: skip
    case("odds that were counted on are missing", lambda d: d["correlation"]["odds"].pop(0))
    case("larger odds than were counted on", lambda d: d["correlation"]["odds"][2].__setitem__(2, 1.75))
    case("odds of fewer others than were counted on", lambda d: d["correlation"]["odds"][2].__setitem__(1, ["part"]))
    text = PLANS["odds-of-each"]().text
    for name in ("bit", "never"):
        case(f"certified of {name} is claimed one double too low, under odds of each",
             lambda d, n=name: lowered(d["certificate"]["features"][n], "certified"))  # fmt: skip
    case("no odds of a feature that counted on them", lambda d: d["correlation"]["odds"].pop("default"))
    return cases


def batches() -> Iterator[tuple[str, str]]:
    """Promises about the counts of a batch that are not kept, or not to be understood."""
    asked: Any = [(("bit",), (2,), binary(1.5))]
    demand = {"people": 10_000, "honest": 0.95, "epsilon": 1, "odds": 1.5, "features": {"bit": 0.5}}
    text = batched(built({"bit": BIT, "other": BIT}, asked, [[0]]), "relay", demand).text
    claims = json.loads(text)["certificate"]["counts"]
    for form in ("epsilon", "odds"):
        for name in (None, *claims["features"]):
            document = json.loads(text)
            stated = document["certificate"]["counts"]
            (stated if name is None else stated["features"][name])[form] *= 0.999
            yield f"{form} of {name or 'all'} in counts is claimed too low", canonical(document)
    demands: dict[str, list[Any]] = {
        "people": [None, 999, 10_000.0, True, "10000", 10**10 + 1, 9000],
        "honest": [None, 0, 1.5, True, "1", 0.8, 1e-5],
        "chance": [None, 0, 1, 1e-16, True, 5e-7],
        "epsilon": [0, 21, True, "1", 1e-3],
        "odds": [1, 1e9, True, "2", 1.001],
        "features": [None, [], {"bit": 0}, {"bit": None}, {"nobody": 1}, {"bit": 1e-3}],
        "other": [1],
    }
    for key, values in demands.items():
        for value in values:
            document = json.loads(text)
            document["collection"]["counts"][key] = value
            yield f"counts with the {key} {value!r}", canonical(document)
    document = json.loads(text)
    document["collection"]["menu_from"] = "ticket"
    yield "menus from tickets in a batch", canonical(document)
    for trust in (None, "device", "Relay", True, ["relay"]):
        document = json.loads(text)
        document["collection"]["trust"] = trust
        yield f"trust in {trust!r}", canonical(document)
    for part, key in (
        ("collection", "trust"),
        ("collection", "counts"),
        ("certificate", "counts"),
        ("collection", "relay"),
    ):
        for nothing in (True, False):
            document = json.loads(text)
            document[part][key] = None
            if nothing:
                del document[part][key]
            yield f"{'no ' * nothing}{key}{' of null' * (not nothing)} in the {part} of a batch", canonical(document)
    document = json.loads(text)
    document["collection"]["counts"] = {"people": 10_000}
    yield "counts that limit nothing", canonical(document)
    for change in ({"note": 0.0}, {"features": {}}, {"features": None}, {"epsilon": -0.5}, {"odds": None}):
        document = json.loads(text)
        document["certificate"]["counts"] |= change
        yield f"claims about counts with {change}", canonical(document)


def messages() -> Iterator[tuple[str, str]]:
    """Several messages of one person whose claims are not true, or that are not apart."""
    text = PLANS["messages"]().text
    claims = json.loads(text)["certificate"]["counts"]
    for form in ("epsilon", "odds"):
        for name in (None, *claims["features"]):
            document = json.loads(text)
            stated = document["certificate"]["counts"]
            (stated if name is None else stated["features"][name])[form] *= 0.998
            yield f"{form} of {name or 'all'} in the counts of messages is claimed too low", canonical(document)
    for name, changed in (
        ("messages without a relay", lambda d: d["collection"].update(trust="collector")),
        ("a feature in two messages", lambda d: d["menus"][2]["questions"].append(0)),
        ("a message that is drawn", lambda d: d["menus"][1].update(weight=TOTAL // 2)),
        ("a message of fewer people", lambda d: d["menus"][2].update(weight=TOTAL - 1)),
        ("menus of messages that are drawn", lambda d: [menu.update(weight=TOTAL // 3) for menu in d["menus"]]),
        ("messages that are claimed to reveal what one does", lambda d: d["certificate"].update(epsilon=3.0)),
        ("messages of fewer honest people", lambda d: d["collection"]["counts"].update(honest=0.89)),
    ):
        document = json.loads(text)
        changed(document)
        yield name, canonical(document)
    document = json.loads(text)
    many = [f"x{number}" for number in range(33)]
    claim = document["certificate"]["features"]["never"]
    counted = document["certificate"]["counts"]["features"]["never"]
    document["collection"]["features"] = dict.fromkeys(many, BIT)
    document["collection"]["counts"] = {"people": 4000, "epsilon": 20}
    document["correlation"] = {"kind": "per feature", "default": 0.1, "named": {}, "source": "assumed"}
    document["tables"] = [{"family": "response", "levels": 2, "keep": TOTAL // 2, "other": TOTAL // 2}]
    document["questions"] = [{"features": [name], "levels": [2], "table": 0} for name in many]
    document["menus"] = [{"weight": TOTAL, "questions": [number]} for number in range(33)]
    document["certificate"]["features"] = dict.fromkeys(many, claim)
    document["certificate"]["counts"] |= {"epsilon": 19.0, "odds": 19.0, "features": dict.fromkeys(many, counted)}
    yield "33 messages", canonical(document)


def renamed(name: str) -> str:
    """A plan whose only feature has this name."""
    document = json.loads(PLANS["binary"]().text)
    document["collection"]["features"] = {name: BIT}
    document["questions"][0]["features"] = [name]
    document["certificate"]["features"] = {name: document["certificate"]["features"]["answer"]}
    return canonical(document)


def large() -> Iterator[tuple[str, str]]:
    """Plans that are too large to count or to enumerate; they tell nothing of anybody."""
    coin = {"family": "response", "levels": 2, "keep": TOTAL // 2, "other": TOTAL // 2}
    names = [f"x{number}" for number in range(25)]
    asked: Any = [((name,), (2,), binary(0.0)) for name in names]
    most = json.loads(built(dict.fromkeys(names[:24], BIT), asked[:24], [list(range(24))]).text)
    for place in (most["collection"]["features"], most["certificate"]["features"]):
        place["x24"] = place["x0"]
    most["questions"].append({"features": ["x24"], "levels": [2], "table": 24})
    most["tables"].append(coin)
    most["menus"][0]["questions"].append(24)
    yield "more answers than can be counted", canonical(most)
    wide = json.loads(built({"x": NUMBER, "y": NUMBER}, [(("x", "y"), (2, 2), response(4, 0.0))], [[0]]).text)
    wide["questions"][0]["levels"] = [64, 64]
    wide["tables"][0] |= {"levels": 4096, "keep": 2**20, "other": 2**20}
    yield "a joint table that is too large to go through", canonical(wide)


def spellings() -> Iterator[tuple[str, str]]:
    """Other texts of a plan that is right: its id is the hash of one of them."""
    text = PLANS["binary"]().text
    document = json.loads(text)
    yield "a space at the end", text + " "
    yield "a line end", text + "\n"
    yield "a mark of the order of bytes", "\ufeff" + text
    yield "spaces between", json.dumps(document, sort_keys=True)
    yield "keys in another order", json.dumps(dict(reversed(document.items())), separators=(",", ":"))
    yield "an escape that need not be", text.replace("answer", "\\u0061nswer")
    for old, new in (
        *(
            ('"epsilon":20.0', f'"epsilon":{other}')
            for other in ("2e1", "20.00", "2E1", "+20.0", "020.0", "20.", "NaN", "Infinity")
        ),
        *(('"weight":4294967296', f'"weight":{other}') for other in ("4294967296.0", "4.294967296e9", "4294967296e0")),
        *(('"table":0', f'"table":{other}') for other in ("-0", "0.0", "00", "0e0", "false")),
        *(('"objective":null', f'"objective":{other}') for other in ("1e400", "-1e400", "2", "1e5", "1.0e+16", "-0")),
        ('"default":0.1', '"default":0.1,"default":0.1'),
        ('"default":0.1', '"default":1e-1'),
        ('"channels":[]', '"channels":[],"channels":[]'),
        ('"channels":[]', '"channels":' + "[" * 2000 + "]" * 2000),
        ("null", "None"),
    ):
        assert old in text, old
        yield f"{new[:40]} for {old}", text.replace(old, new, 1)


def refused() -> Cases:
    """All of them."""
    names = {
        "no letter": "",
        "a name left to be filled in": "FILL",
        "201 letters": "é" * 201,
        "half a letter": "\ud800",
    }
    others = [*((f"a name of {what}", renamed(name)) for what, name in names.items()), *large(), *spellings()]
    others += batches()
    others += messages()
    return [*promises(), *forms(), *({"why": why, "plan": plan} for why, plan in others), *second_demands()]


def main() -> None:
    """Writes the file."""
    (FOLDER / "refused.json").write_text(written(refused()), encoding="utf-8")


if __name__ == "__main__":
    main()
