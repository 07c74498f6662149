"""What commands that read people's records tell about them, to whoever holds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bcdp.policy import Policy


def told_unusual(policy: Policy, found: Counter[tuple[str, str]], people: int) -> Iterator[str]:
    """A sentence for each feature with values that were missing, or outside its bounds."""
    for name, feature in policy.features.items():
        if missing := found[name, "missing"]:
            value = f"{feature.imputed:g}" if feature.type == "numeric" else repr(feature.imputed)
            stated = "as the policy says" if feature.missing is not None else "state `missing` in the policy"
            yield f"{name}: {missing:,} of {people:,} missing, counted as {value} ({stated})"
        if (outside := found[name, "outside"]) and feature.type == "numeric":
            low, high = feature.bounds
            yield f"{name}: {outside:,} of {people:,} outside [{low:g}, {high:g}], moved to the bound"
