"""Follow-ups in records, by public rules: whether a question is asked depends on the codes of other features alone.

Where it is not asked, its cell is empty or says "not applicable", and its code is the last one. A value there
contradicts the other features, and the record is refused. So is one without a value where the question is asked, unless
the policy has a rule for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bcdp.errors import InputError
from bcdp.policy import Feature, Policy

Codes = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


def not_applicable(feature: Feature) -> float:
    """The code of a question that is not asked: beyond those of all values and of no answer."""
    return 2.0 + feature.own if feature.is_number else len(feature.categories) - 1


def settled(policy: Policy, codes: Mapping[str, Codes], absent: Callable[[str], Mask]) -> dict[str, Codes]:
    """The codes of records with every follow-up as it is asked; `absent`: where a column has no value."""
    result = dict(codes)
    for name, asked in asked_rows(policy, result):
        code = not_applicable(policy.features[name])
        stated = (result[name] == code) & ~absent(name)
        contradicted = np.where(asked, stated, ~absent(name) & ~stated)
        if contradicted.any():
            raise _contradiction(policy, name, int(contradicted.argmax()), bool(asked[contradicted.argmax()]))
        result[name] = np.where(asked, result[name], np.asarray(code, dtype=result[name].dtype))
    return result


def asked_rows(policy: Policy, codes: dict[str, Codes]) -> Iterator[tuple[str, Mask]]:
    """For each follow-up in which records it is asked, after those that it depends on: their codes may be changed."""
    features, done = policy.features, {name for name, feature in policy.features.items() if not feature.follows}
    waiting = [name for name in policy.blocks if name not in done]
    while waiting:
        name = next(name for name in waiting if done.issuperset(features[name].asked_if or ()))
        conditions = (features[name].asked_if or {}).items()
        asked = [
            np.isin(codes[parent], [code for value in values for code in features[parent].codes_with(value)])
            for parent, values in conditions
        ]
        yield name, np.all(asked, axis=0)
        waiting.remove(name)
        done.add(name)


def _contradiction(policy: Policy, name: str, row: int, asked: bool) -> InputError:
    condition = " and ".join(
        f"{parent} is {' or '.join(map(repr, values))}"
        for parent, values in (policy.features[name].asked_if or {}).items()
    )
    got = "not applicable in a record in which it is asked" if asked else "a value in a record in which it is not asked"
    accepted = "a value there" if asked else "an empty cell there"
    error = InputError(f"column '{name}': got {got}; accepted: {accepted}, as it is asked if {condition}")
    error.row = row + 1
    return error
