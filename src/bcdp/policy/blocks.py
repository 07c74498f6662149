"""Blocks: features that depend on each other by design, such as a question and its follow-ups.

Nothing is assumed of how the answers inside a block go together. A block is asked by one question, whose inputs are the
combinations of answers that can occur; q and odds of its features are about everything outside it (theory.md, 4.17).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import prod

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError, refuse
from bcdp.policy.base_feature import NOT_APPLICABLE, BaseFeature, Scalar
from bcdp.policy.features import Declared, Feature
from bcdp.policy.field_checks import nearest
from bcdp.policy.multiple_feature import MultipleFeature

MOST_COMBINATIONS = 512  # of answers inside a block
MOST_DIGITS = 2**20  # of all answers in it, combined in any way

Integers = npt.NDArray[np.int64]
Conditions = tuple[tuple[tuple[int, frozenset[int]], ...], ...]  # of each feature: places of others, and codes of each


def blocks_of(features: Mapping[str, Feature]) -> dict[str, tuple[str, ...]]:
    """For each feature that is in a block the whole block, in the features' order.

    >>> from bcdp import Policy
    >>> blocks_of(Policy(epsilon=1, features={"drugs": {"type": "binary"}, "age": {"type": "numeric", "bounds": [0, 9]},
    ...     "often": {"type": "binary", "asked_if": {"drugs": 1}}}).features)
    {'drugs': ('drugs', 'often'), 'often': ('drugs', 'often')}
    """
    group = {name: name for name in features}
    for name, feature in features.items():
        for parent in feature.asked_if or ():
            first, second = group[name], group[parent]
            group = {member: first if own == second else own for member, own in group.items()}
    members: dict[str, list[str]] = {}
    for name, own in group.items():
        members.setdefault(own, []).append(name)
    return {name: tuple(members[own]) for name, own in group.items() if len(members[own]) > 1}


def combinations(features: Mapping[str, Feature], names: tuple[str, ...], sizes: tuple[int, ...]) -> Integers:
    """The combinations of answers to a block's questions that can occur, as rows of codes in rising order.

    A follow-up has its last code, not applicable, exactly where a condition of it does not hold. `sizes`: how many
    codes each feature has; a number has as many as it is rounded to.
    """
    return _possible(_conditions(features, names), sizes)


def _conditions(features: Mapping[str, Feature], names: tuple[str, ...]) -> Conditions:
    def codes(parent: str, values: tuple[Scalar, ...]) -> frozenset[int]:
        return frozenset(code for value in values for code in features[parent].codes_with(value))

    return tuple(
        tuple(
            (names.index(parent), codes(parent, values)) for parent, values in (features[name].asked_if or {}).items()
        )
        for name in names
    )


@lru_cache(maxsize=256)
def _possible(conditions: Conditions, sizes: tuple[int, ...]) -> Integers:
    digits = np.indices(sizes).reshape(len(sizes), -1)
    possible = np.ones(digits.shape[1], dtype=np.bool_)
    for digit, size, condition in zip(digits, sizes, conditions, strict=True):
        if condition:
            asked = np.all([np.isin(digits[place], list(codes)) for place, codes in condition], axis=0)
            possible &= asked == (digit < size - 1)
    result = np.ascontiguousarray(digits[:, possible].T, dtype=np.int64)
    result.setflags(write=False)
    return result


def mistakes_in(declared: Mapping[str, Declared]) -> Iterator[InputError]:
    """What is wrong with the conditions of follow-ups, which only all features together show."""
    features = {name: feature for name, feature in declared.items() if feature.type != "open"}
    listed = [
        (name, parent, values) for name, own in features.items() for parent, values in (own.asked_if or {}).items()
    ]
    for name, feature in features.items():
        for item, own in (feature.items if isinstance(feature, MultipleFeature) and feature.items else {}).items():
            if own.delta > feature.delta:
                yield refuse(f"features.{name}.items.{item}.delta", own.delta, f"at most the list's, {feature.delta:g}")
    wrong = [mistake for condition in listed for mistake in _mistake(declared, *condition)]
    yield from wrong
    if wrong or not listed:
        return
    circle = _circle({name: tuple(feature.asked_if or ()) for name, feature in features.items()})
    if circle:
        path = f"features.{circle[0]}.asked_if"
        yield refuse(path, " -> ".join(circle), "a follow-up of a question that does not depend on it in turn")
        return
    for block in sorted(set(blocks_of(features).values())):
        sizes = tuple(features[name].joint_inputs for name in block)
        count = len(combinations(features, block, sizes)) if prod(sizes) <= MOST_DIGITS else prod(sizes)
        if count > MOST_COMBINATIONS:
            accepted = f"at most {MOST_COMBINATIONS} combinations of answers to questions that depend on each other"
            yield refuse(f"features: the block of {', '.join(block)}", f"{count} combinations of answers", accepted)


def _mistake(
    declared: Mapping[str, Declared], name: str, parent: str, values: tuple[Scalar, ...]
) -> Iterator[InputError]:
    path = f"features.{name}.asked_if"
    if parent not in declared or parent == name:
        yield refuse(path, parent, f"another feature of this policy{nearest(parent, set(declared) - {name})}")
    elif declared[parent].type in ("open", "numeric"):
        yield refuse(path, parent, "a protected feature with values, which is neither open nor numeric")
    else:
        known = declared[parent]
        unknown = [value for value in values if isinstance(known, BaseFeature) and not known.codes_with(value)]
        if unknown:
            listed = ", ".join(map(repr, (_stated(known) or (0, 1))[:20]))
            yield refuse(f"{path}.{parent}", unknown[0], f"some of the values of {parent}: {listed}")
    own = declared[name]
    if NOT_APPLICABLE in _stated(own):
        yield refuse(f"features.{name}.values", NOT_APPLICABLE, "other words: a follow-up that is not asked has these")


def _stated(feature: Declared) -> tuple[Scalar, ...]:
    return getattr(feature, "values", None) or ()


def _circle(parents: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Features each of which is asked by the values of the next, and the last by those of the first; or none."""
    done: set[str] = set()
    for start in parents:
        path = [start]
        trail = {start: iter(parents[start])}
        while path:
            following = next(trail[path[-1]], None)
            if following is None:
                done.add(path.pop())
            elif following in path:
                return [*path[path.index(following) :], following]
            elif following not in done:
                path.append(following)
                trail[following] = iter(parents[following])
    return []
