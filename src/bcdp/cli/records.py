"""What commands that read people's records print about them, for the person who holds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bcdp.correlation.contradictions import Contradiction
    from bcdp.policy import Policy
    from bcdp.records.policy_draft import FileColumns

_MANY = 200  # different texts, beyond which a column can hardly be one of categories


def column_lines(columns: FileColumns) -> Iterator[str]:
    """What to know of the columns of a draft's file before the draft is filled in."""
    for name, missing in columns.missing.items():
        yield f"{name}: {missing:,} of {columns.people:,} have no value; fill in `missing`, or leave these records out"
    for name, different in columns.different.items():
        present, numbers = columns.people - columns.missing[name], columns.numbers[name]
        if 2 * numbers > present:
            yield (
                f"{name}: text, though {numbers:,} of {present:,} values are numbers; for type numeric, write every one"
                " like 1234.5, without thousands separators, $ or %, and leave the others empty"
            )
        elif different > _MANY:
            yield (
                f"{name}: text with more than {_MANY} different values; if these are ids, dates or free text, delete "
                "the feature, or turn it into a few categories first"
            )


def contradiction_lines(contradictions: list[Contradiction]) -> list[str]:
    """What records say against the stated correlation, and what to do about it; nothing if they say nothing."""
    from bcdp.correlation.contradictions import WHAT_TO_DO

    if not contradictions:
        return []
    return [
        "The records contradict what the policy states about correlation:",
        *(f"  {contradiction.sentence}" for contradiction in contradictions),
        f"{WHAT_TO_DO}.",
    ]


def unusual_lines(policy: Policy, counts: Counter[tuple[str, str]], people: int) -> Iterator[str]:
    """A sentence for each feature with values that were missing, or outside its bounds."""
    for name, feature in policy.features.items():
        if missing := counts[name, "missing"]:
            yield f"{name}: {missing:,} of {people:,} {feature.missing_said}, as the policy says"
        if outside := counts[name, "outside"]:
            low, high = feature.span
            yield f"{name}: {outside:,} of {people:,} outside [{low:,.15g}, {high:,.15g}], moved to the bound"
