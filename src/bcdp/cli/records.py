"""What commands that read people's records print about them, for the person who holds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bcdp.policy import Policy


def told_lacking(found: Counter[str], people: int) -> Iterator[str]:
    """A sentence for each column of a draft's file with missing values."""
    for name, missing in found.items():
        yield f"{name}: {missing:,} of {people:,} have no value; fill in `missing`, or leave these records out"


def told_unusual(policy: Policy, found: Counter[tuple[str, str]], people: int) -> Iterator[str]:
    """A sentence for each feature with values that were missing, or outside its bounds."""
    for name, feature in policy.features.items():
        if missing := found[name, "missing"]:
            yield f"{name}: {missing:,} of {people:,} {feature.rule}, as the policy says"
        if outside := found[name, "outside"]:
            low, high = feature.span
            yield f"{name}: {outside:,} of {people:,} outside [{low:g}, {high:g}], moved to the bound"
