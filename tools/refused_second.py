"""Plans whose second demand, `if_wrong`, geometry or whole numbers are wrong in their form, or not kept."""

from __future__ import annotations

import json
from typing import Any

from make_vectors import BIT, LIST, built, categories
from refused_forms import DROPPED, FEATURES, HUGE, Cases, changed

from bcdp.randomizers import Projective, binary, projective, response

_BIT = (*FEATURES, "bit", "if_wrong")
_CLAIM = ("certificate", "features", "bit", "if_wrong")
_SECOND: list[tuple[str, tuple[Any, ...], Any]] = [
    *(
        (f"the second demand {it!r}", _BIT, it)
        for it in ({}, [], 2, True, {"times": 2}, {"delta": 1.5}, {"times": 2, "delta": 1.5, "q": 0.1})
    ),
    *(
        (f"a second demand at {times!r} times", (*_BIT, "times"), times)
        for times in (1, 1.0, 0.5, -2, 0, None, "2", True, 1001, HUGE, [2])
    ),
    *(
        (f"{factor!r} times delta", (*_BIT, "delta"), factor)
        for factor in (0.5, 0, -1.5, None, "2", True, 1001, HUGE, [1.5])
    ),
    ("a second demand on all", ("collection", "if_wrong"), {"times": 2, "delta": 1.5}),
    ("no claim about a second demand", _CLAIM, DROPPED),
    ("a claim about no second demand", ("certificate", "features", "x", "if_wrong"), 20.0),
    *((f"the claim {claim!r}", _CLAIM, claim) for claim in (None, -1.0, "1", True, HUGE)),
    ("less is claimed than is true where q is wrong", _CLAIM, 0.25),
    ("more is claimed than was asked where q is wrong", _CLAIM, 5.5),
    ("a second demand that the tables do not keep", (*_BIT, "times"), 1000),
    ("a second demand in a cascade", ("mechanism",), "cascade"),
]


GEOMETRY: dict[str, Any] = {
    "family": "projective",
    "levels": 12,
    "field": 3,
    "dimension": 3,
    "high": 500_000_000,
    "low": 180_000_000,
}
_GEOMETRIES: list[tuple[str, tuple[Any, ...], Any]] = [
    *(
        (f"a geometry whose {key} is {it!r}", ("tables", 0), GEOMETRY | {key: it})
        for key, it in (
            *(("levels", it) for it in (1, 11, 14, 12.0, True, None, "12", HUGE)),
            *(("field", it) for it in (0, 1, 2, 4, 9, 128, 131, 3.0, True, None, "3", HUGE)),
            *(("dimension", it) for it in (0, 1, 2, 16, 25, 3.0, True, None, "3", HUGE)),
            *(("high", it) for it in (0, 179_999_999, 2**31, 2**32 + 1, 5e8, True, None, HUGE)),
            *(("low", it) for it in (0, 500_000_001, 400_000_000, 1.5, True, None, HUGE)),
            ("points", 13),
        )
    ),
    *((f"a geometry without {key}", ("tables", 0, key), DROPPED) for key in ("levels", "field", "high")),
    ("a geometry that tells more than is claimed", ("tables", 0), GEOMETRY | {"low": 170_000_000}),
]


_CODE = (*FEATURES, "code")
_INTEGERS: list[tuple[str, tuple[Any, ...], Any]] = [
    *(
        (f"whole numbers stated as {it!r}", (*_CODE, "values"), it)
        for it in ({}, {"integers": [0, 199_999], "step": 1}, {"file": "codes.csv"}, None, "0 to 199999", 200_000)
    ),
    *(
        (f"whole numbers between {it!r}", (*_CODE, "values", "integers"), it)
        for it in (
            *([], [0], [0, 199_998, 199_999], [199_999, 0], [5, 5], [0, 2**20], [0, 199_998], [1, 200_001]),
            *(
                [0, 199_999.5],
                [False, 199_999],
                ["0", "199999"],
                [None, 199_999],
                [2**53 - 199_999, 2**53],
                {},
                5,
                HUGE,
            ),
        )
    ),
    *((f"{it!r} for no answer", (*_CODE, "missing"), it) for it in (-1, 200_000, "5", True, [5], "no answer")),
    ("labels of more values than are listed", (*_CODE, "value_labels"), {"en": ["zero"]}),
    ("whole numbers as two values", (*_CODE, "type"), "binary"),
    ("so many whole numbers as a scale", (*_CODE, "type"), "ordinal"),
    ("whole numbers sent as they are", (*_CODE, "type"), "open"),
    ("whole numbers to tick", (*_CODE, "type"), "multiple"),
]


def _integers() -> Any:
    """A plan about more whole numbers than may be listed."""
    code = {"type": "categorical", "values": {"integers": [0, 199_999]}}
    return json.loads(built({"code": code}, [(("code",), (200_000,), projective(200_000, 1.0))], [[0]]).text)


def _one_geometry() -> Any:
    """A plan that asks one question, as short as can be."""
    table = Projective(**{key: number for key, number in GEOMETRY.items() if key != "family"})
    return json.loads(built({"kind": categories(12)}, [(("kind",), (12,), table)], [[0]]).text)


def second_demands() -> Cases:
    """All of them."""
    features = {
        "media": LIST | {"at_most": 2, "items": {"tv": {"delta": 12.5}}},
        "bit": {**BIT, "if_wrong": {"times": 2, "delta": 1.5}},
    }
    asked: Any = [(("media",), (11,), response(11, 0.5)), (("bit",), (2,), response(2, 0.25))]
    listed = json.loads(built(features, asked, [[0], [1]]).text)
    claim = listed["certificate"]["features"]["bit"]["if_wrong"]
    listed["certificate"]["features"]["media"]["if_wrong"] = claim
    strict = (*FEATURES, "media", "if_wrong"), {"times": 2, "delta": 1.5}
    second = {"bit": {**BIT, "delta": 0.75, "if_wrong": {"times": 2, "delta": 1}}, "x": BIT}
    document = json.loads(built(second, [(("bit",), (2,), binary(0.5)), (("x",), (2,), binary(0.8))], [[0, 1]]).text)
    geometry = changed(_one_geometry(), _GEOMETRIES)
    return [
        *changed(document, _SECOND),
        *geometry,
        *changed(_integers(), _INTEGERS),
        *changed(listed, [("a list with a strict item and a second demand", *strict)]),
    ]
