"""A correlation model as a plan holds it."""

from __future__ import annotations

import math

from bcdp.correlation.models import Listed, PerFeature, Rows
from bcdp.errors import refuse


def correlation_from_dict(document: object) -> PerFeature | Listed:
    """A model as a plan holds it, every bound checked.

    >>> model = PerFeature(0.1, {"smoker": 0.3})
    >>> correlation_from_dict(model.to_dict()) == model
    True
    """
    if not isinstance(document, dict) or document.get("kind") not in ("per feature", "listed"):
        raise refuse("correlation", document, "a mapping with kind 'per feature' or 'listed'")
    source = document.get("source")
    if not isinstance(source, str):
        raise refuse("correlation.source", source, "text")
    per_feature = document["kind"] == "per feature"
    parts = {"default", "named"} if per_feature else {"bounds"}
    if set(document) - (set() if per_feature else {"laws", "rounded", "products"}) != {"kind", "source"} | parts:
        raise refuse("correlation", sorted(document), f"the keys kind, source and {' and '.join(sorted(parts))}")
    if per_feature:
        named = document.get("named")
        if not isinstance(named, dict) or not all(isinstance(name, str) for name in named):
            raise refuse("correlation.named", named, "a mapping of feature names to numbers from 0 to 1")
        default = bound("correlation.default", document.get("default"))
        return PerFeature(default, {name: bound(f"correlation.named.{name}", q) for name, q in named.items()}, source)
    rounded = _names("correlation.rounded", document["rounded"]) if "rounded" in document else frozenset()
    bounds, products = (_bounds(f"correlation.{key}", document.get(key, [])) for key in ("bounds", "products"))
    return Listed(bounds, source, _laws(document.get("laws", [])), rounded, products)


def _bounds(path: str, rows: object) -> dict[tuple[str, frozenset[str]], float]:
    if not isinstance(rows, list) or not all(_is_bound(row) for row in rows):
        raise refuse(path, rows, "a list of [feature, [other features], number from 0 to 1]")
    bounds = {(feature, frozenset(others)): bound(f"{path}.{feature}", q) for feature, others, q in rows}
    if len(bounds) < len(rows):
        raise refuse(path, rows, "each feature and set of others once")
    return bounds


def _names(path: str, names: object) -> frozenset[str]:
    texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not isinstance(names, list) or not names or not texts or len(set(names)) < len(names):
        raise refuse(path, names, "a list of different feature names, at least one")
    return frozenset(names)


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
        and abs(math.fsum(law) - 1) < 1e-9
        for law in laws
    )


def bound(path: str, value: object) -> float:
    """A stated distance as a float, if it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise refuse(path, value, "a number from 0 to 1")
    return float(value)
