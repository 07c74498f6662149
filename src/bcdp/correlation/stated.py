"""What was measured, as numbers that a policy may state: only such as hold on the sample itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from bcdp.correlation.limits import observed_distance, odds_limit
from bcdp.correlation.models import Correlation
from bcdp.policy import Feature, Policy
from bcdp.records.encoding import as_arrow, encode, is_missing
from bcdp.records.open_groups import group_numbers

_UP_TO = 0.99  # a q that is more says nothing
_WORTH_STATING = 100.0  # odds that are more say next to nothing
_MOST_CELLS = 2**22


def stated_numbers(q: Mapping[str, float], odds: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Bounds as a person would state them, rounded up; what says next to nothing is left out.

    >>> stated_numbers({"smoker": 0.1234, "age": 1.0}, {"smoker": 2.31, "age": 2000.0})
    {'smoker': {'q': 0.13, 'odds': 2.4}}
    """
    stated = {name: {"q": _up(q[name], 100)} if q[name] <= _UP_TO else {} for name in q}
    for name, most in odds.items():
        stated[name] |= {"odds": _up(most, 10)} if most < _WORTH_STATING else {}
    return {name: numbers for name, numbers in stated.items() if numbers}


def holding_numbers(
    policy: Policy, sample: Any, limits: Correlation, confidence: float = 0.95
) -> dict[str, dict[str, float]]:
    """For each feature the q and odds that a policy may state after this sample, as they hold on the sample itself.

    A stated number speaks of every guess, and of all others together as they are: so numbers count as they are, within
    every group of open values. q is the larger of the limit and of what was observed; odds are limits of their own.
    Plans made of them certify no less than an audit of the sample measures.

    >>> from bcdp.correlation.pilot import estimate_correlation
    >>> policy = Policy(epsilon=1, features={"a": {"type": "binary"}, "b": {"type": "binary"}})
    >>> sample = {"a": [0, 1] * 500, "b": [0, 1, 1, 0] * 250}
    >>> holding_numbers(policy, sample, estimate_correlation(policy, sample))
    {'a': {'q': 0.1, 'odds': 1.3}, 'b': {'q': 0.1, 'odds': 1.3}}
    """
    table, names = as_arrow(sample), frozenset(policy.features)
    q = {name: limits.q(name, policy.outside(name, names)) for name in policy.features}
    odds = dict.fromkeys(policy.features, 1.0)
    group = group_numbers(policy, table)
    failure = (1 - confidence) / (len(policy.groups) * len(names))
    for number in range(len(policy.groups)):
        seen, limited = _observed(policy, table.filter(pa.array(group == number)), failure)
        q = {name: max(q[name], seen[name]) for name in q}
        odds = {name: max(odds[name], limited[name]) for name in odds}
    return stated_numbers(q, odds)


def _observed(policy: Policy, table: pa.Table, failure: float) -> tuple[dict[str, float], dict[str, float]]:
    """The largest distance seen between the others given two values of each feature, and a limit on the odds."""
    codes = encode(policy, table)
    given = {name: _numbered(codes[name]) for name in codes}
    distance, odds = dict.fromkeys(codes, 1.0), dict.fromkeys(codes, math.inf)
    for name, feature in policy.features.items():
        own, cell = given[name], np.zeros(len(table), dtype=np.int64)
        outside = policy.outside(name, frozenset(codes))
        for other in codes:
            if other in outside:
                cell = _numbered(cell * (given[other].max(initial=0) + 1) + given[other])
        if feature.imputes:  # missing is one more value where it is given, and the value imputed for all others
            asked = codes[name] != len(feature.categories) - 1 if feature.follows else True
            own = np.where(is_missing(table.column(name)) & asked, own.max(initial=0) + 1, own)
        values = max(int(own.max(initial=0)) + 1, 0 if feature.is_number else len(feature.categories))
        cells = int(cell.max(initial=0)) + 1
        if values * cells <= _MOST_CELLS and not feature.is_number:
            counts = np.bincount(own * cells + cell, minlength=values * cells).reshape(values, cells).astype(float)
            distance[name] = observed_distance(counts) if len(table) else 1.0
            possible = math.prod(_cells(policy.features[other]) for other in outside)
            odds[name] = odds_limit(counts, failure, integers=True) if cells == possible else math.inf
    return distance, odds


def _cells(feature: Feature) -> float:
    """How many values a feature has: a combination of the others that was never seen leaves their odds unlimited."""
    return math.inf if feature.is_number else len(feature.categories)


def _numbered(codes: Any) -> Any:
    """Codes by their place among those that occur."""
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _up(number: float, parts: int) -> float:
    return math.ceil(number * parts) / parts
