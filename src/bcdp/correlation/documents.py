"""A correlation model as a plan holds it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from bcdp.correlation.models import Listed, PerFeature, Ranges, Rows
from bcdp.errors import refuse

_KEYS = {  # of each kind: required, optional
    "per feature": ({"kind", "default", "named", "source"}, {"odds"}),
    "listed": ({"kind", "bounds", "source"}, {"laws", "rounded", "products", "ranges", "odds", "cuts"}),
}
_FARTHEST_FROM_1 = Fraction(1, 2**30)  # the sum of a distribution, exactly: its probabilities are doubles
_LARGEST = sys.float_info.max


def correlation_from_dict(document: object) -> PerFeature | Listed:
    """A model as a plan holds it, every bound checked.

    >>> model = PerFeature(0.1, {"smoker": 0.3})
    >>> correlation_from_dict(model.to_dict()) == model
    True
    """
    kind = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(kind, str) or kind not in _KEYS:
        raise refuse("correlation", document, "a mapping with kind 'per feature' or 'listed'")
    required, optional = _KEYS[kind]
    if not required <= set(document) <= required | optional:
        raise refuse("correlation", sorted(document), f"the keys {', '.join(sorted(required))}")
    source = document["source"]
    if not isinstance(source, str):
        raise refuse("correlation.source", source, "text")
    if kind == "per feature":
        named = _named("correlation.named", document["named"], bound)
        return PerFeature(bound("correlation.default", document["default"]), named, source, *_odds(document))
    rounded = _names("correlation.rounded", document["rounded"]) if "rounded" in document else frozenset()
    bounds, products = (_bounds(f"correlation.{key}", document.get(key, []), bound) for key in ("bounds", "products"))
    ranges = _ranges("correlation.ranges", document["ranges"]) if "ranges" in document else {}
    cuts = _ranges("correlation.cuts", document["cuts"]) if "cuts" in document else {}
    odds = _bounds("correlation.odds", document.get("odds", []), odds_bound)
    return Listed(
        bounds,
        source,
        _laws(document.get("laws", [])),
        rounded=rounded,
        products=products,
        ranges=ranges,
        listed_odds=odds,
        cuts=cuts,
    )


def _odds(document: dict[str, object]) -> tuple[float, dict[str, float]]:
    """The odds of a 'per feature' document: by default and for the named features; parts not stated have no limit."""
    if "odds" not in document:
        return math.inf, {}
    stated = document["odds"]
    if not isinstance(stated, dict) or not stated or not set(stated) <= {"default", "named"}:
        raise refuse("correlation.odds", stated, "a mapping with the keys default or named or both")
    default = odds_bound("correlation.odds.default", stated["default"]) if "default" in stated else math.inf
    return default, _named("correlation.odds.named", stated.get("named", {}), odds_bound)


def _named(path: str, stated: object, read: Callable[[str, object], float]) -> dict[str, float]:
    if not isinstance(stated, dict) or not all(isinstance(name, str) for name in stated):
        raise refuse(path, stated, "a mapping of feature names to numbers")
    return {name: read(f"{path}.{name}", most) for name, most in stated.items()}


def _bounds(path: str, rows: object, read: Callable[[str, object], float]) -> dict[tuple[str, frozenset[str]], float]:
    if not isinstance(rows, list) or not all(_is_bound(row) for row in rows):
        raise refuse(path, rows, "a list of [feature, [other features], number]")
    bounds = {(feature, frozenset(others)): read(f"{path}.{feature}", most) for feature, others, most in rows}
    if len(bounds) < len(rows):
        raise refuse(path, rows, "each feature and set of others once")
    return bounds


def _names(path: str, names: object) -> frozenset[str]:
    texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not isinstance(names, list) or not names or not texts or len(set(names)) < len(names):
        raise refuse(path, names, "a list of different feature names, at least one")
    return frozenset(names)


def _ranges(path: str, stated: object) -> Ranges:
    if not isinstance(stated, dict) or not stated or not all(_are_cuts(cuts) for cuts in stated.values()):
        raise refuse(path, stated, "for at least one number, where its ranges begin, rising")
    return {name: tuple(map(float, cuts)) for name, cuts in stated.items()}


def _are_cuts(cuts: object) -> bool:
    if not isinstance(cuts, list) or not cuts:
        return False
    numbers = all(isinstance(cut, int | float) and not isinstance(cut, bool) and abs(cut) <= _LARGEST for cut in cuts)
    return numbers and all(previous < following for previous, following in pairwise(cuts))


def _is_bound(row: object) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 3
        and isinstance(row[0], str)
        and isinstance(row[1], list)
        and all(isinstance(other, str) for other in row[1])
    )


def _laws(rows: object) -> dict[tuple[str, str], Rows]:
    if not isinstance(rows, list) or not all(_is_law(row) for row in rows):
        raise refuse("correlation.laws", rows, "a list of [feature, other feature, rows of probabilities]")
    laws = {(feature, other): tuple(tuple(map(float, law)) for law in table) for feature, other, table in rows}
    if len(laws) < len(rows):
        raise refuse("correlation.laws", rows, "each feature and other feature once")
    return laws


def _is_law(row: object) -> bool:
    if not (isinstance(row, list) and len(row) == 3 and isinstance(row[0], str) and isinstance(row[1], str)):
        return False
    laws = row[2]
    rectangular = isinstance(laws, list) and laws and all(isinstance(law, list) for law in laws)
    if not rectangular or len({len(law) for law in laws}) != 1:
        return False
    return row[0] != row[1] and all(
        all(isinstance(p, int | float) and not isinstance(p, bool) and 0 <= p <= 1 for p in law)
        and abs(sum(map(Fraction, law), start=Fraction(-1))) <= _FARTHEST_FROM_1
        for law in laws
    )


def bound(path: str, value: object) -> float:
    """A stated distance as a float, if it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise refuse(path, value, "a number from 0 to 1")
    return float(value)


def odds_bound(path: str, value: object) -> float:
    """Stated odds as a float, if they are a finite number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= _LARGEST:
        raise refuse(path, value, "a finite number of at least 1")
    return float(value)
