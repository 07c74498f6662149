"""Blocks: features that depend on each other because one is asked only if another has certain values.

Nothing is assumed inside a block. The answer to its one question tells apart two values of a feature by at most the
largest weight of what the one may go with over the smallest of what the other may (theory.md, section 4.17).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from bcdp_device.errors import refuse
from bcdp_device.verify.values import mapping, sequence

MOST_DIGITS = 2**20  # of all answers in a block, combined in any way
NOT_APPLICABLE = "not applicable"

Condition = Mapping[str, frozenset[int]]  # with which values of other features, by their numbers, one is asked
Listed = Mapping[str, tuple[tuple[Any, frozenset[int]], ...]]  # the values of each feature, with their numbers


def read_conditions(features: Mapping[str, Any], listed: Listed) -> dict[str, Condition]:
    """Of each feature that is asked only under a condition, that condition; none depends on itself."""
    conditions: dict[str, Condition] = {}
    for name, feature in features.items():
        if feature.get("asked_if") is None:
            continue
        path = f"features.{name}.asked_if"
        conditions[name] = {
            parent: frozenset[int]().union(
                *(_numbers(f"{path}.{parent}", value, listed[parent]) for value in _values(path, stated))
            )
            for parent, stated in mapping(path, feature["asked_if"]).items()
            if _known(path, parent, name, listed)
        }
        if not conditions[name] or any(value == NOT_APPLICABLE for value, _ in listed.get(name, ())):
            raise refuse(path, feature["asked_if"], f"at least one feature, and no value called {NOT_APPLICABLE!r}")
    for name in conditions:
        _check_circle(name, conditions)
    return conditions


def _known(path: str, parent: str, name: str, listed: Listed) -> bool:
    if parent not in listed or parent == name:
        raise refuse(path, parent, "another protected feature with values")
    return True


def _values(path: str, stated: Any) -> Sequence[Any]:
    values = sequence(path, stated if isinstance(stated, (list, tuple)) else [stated], 1)
    if not all(isinstance(value, (str, int)) for value in values):
        raise refuse(path, stated, "values of a feature")
    spelled = {str(value).lower() if isinstance(value, bool) else str(value) for value in values}
    if not len(spelled) == len(set(values)) == len(values):
        raise refuse(path, stated, "different values")
    return values


def _numbers(path: str, value: Any, listed: Sequence[tuple[Any, frozenset[int]]]) -> frozenset[int]:
    for known, numbers in listed:
        if type(known) is type(value) and known == value:
            return numbers
    raise refuse(path, value, "some of the feature's values")


def _check_circle(name: str, conditions: Mapping[str, Condition]) -> None:
    reached, pending = set[str](), [*conditions[name]]
    while pending:
        parent = pending.pop()
        if parent == name:
            raise refuse(f"features.{name}.asked_if", name, "a feature that does not depend on itself")
        if parent not in reached:
            reached.add(parent)
            pending += conditions.get(parent, ())


def block_of(name: str, conditions: Mapping[str, Condition]) -> frozenset[str]:
    """All features that depend on a feature, or that it depends on, at any distance; itself among them."""
    linked = {name}
    while True:
        more = {other for child, condition in conditions.items() for other in (child, *condition)
                if linked & {child, *condition}} - linked  # fmt: skip
        if not more:
            return frozenset(linked)
        linked |= more


def combinations(
    path: str, names: Sequence[str], levels: Sequence[int], conditions: Mapping[str, Condition]
) -> list[tuple[int, ...]]:
    """The levels of all features of a block that can occur together, in rising order: its question's inputs."""
    if math.prod(levels) > MOST_DIGITS:
        raise refuse(f"{path}.levels", levels, f"at most {MOST_DIGITS} combinations")
    possible = []
    for digits in product(*map(range, levels)):
        held = dict(zip(names, digits))
        if all(
            all(held[parent] in values for parent, values in conditions.get(name, {}).items()) != (digit == size - 1)
            for name, digit, size in zip(names, digits, levels)
            if name in conditions
        ):
            possible.append(digits)
    return possible


def view_extremes(
    column: Sequence[int], parts: Sequence[int], outside: Sequence[Any]
) -> dict[int, tuple[list[int], list[int]]]:
    """For each part the most and the least weight for what is asked outside the block, in one order."""
    weights: dict[int, dict[Any, list[int]]] = {}
    for weight, part, others in zip(column, parts, outside):
        weights.setdefault(part, {}).setdefault(others, []).append(weight)
    order = sorted(set(outside))
    return {
        part: ([max(own[others]) for others in order], [min(own[others]) for others in order])
        for part, own in weights.items()
    }


def view_ratio(columns: Collection[Sequence[int]], parts: Sequence[int], shared: Collection[int]) -> Fraction | float:
    """The largest ratio between two values of a feature; `parts`: its value at each input.

    Two values of a `shared` part may each go with anything that the part goes with.
    """
    worst: Fraction | float = Fraction(1)
    values = sorted(set(parts))
    for column in set(map(tuple, columns)):
        weights = {value: [weight for weight, own in zip(column, parts) if own == value] for value in values}
        most = {value: max(own) for value, own in weights.items()}
        least = {value: min(own) for value, own in weights.items()}
        for a, b in product(values, repeat=2):
            if (a != b or a in shared) and most[a]:
                worst = max(worst, Fraction(most[a], least[b]) if least[b] else math.inf)
    return worst
