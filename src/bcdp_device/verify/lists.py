"""Lists to tick: the sets of items that may be ticked are the values, and an item may have a delta of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any

from bcdp_device.errors import refuse
from bcdp_device.verify.values import mapping, number, whole

MOST_ITEMS = 30
MOST_SETS = 1024
MOST_AIMED = 256  # sets, where an item has a delta of its own
NONE = "none of these"

Ticked = tuple[int, ...]
Items = Mapping[str, tuple[int, float]]  # the number and the delta of each item that has one of its own


def read_sets(path: str, stated: Mapping[str, Any], items: int) -> tuple[Ticked, ...]:
    """What may be ticked: small sets first, then in the order of their items."""
    most = items if stated.get("at_most") is None else whole(f"{path}.at_most", stated["at_most"], 1, items)
    if sum(comb(items, size) for size in range(most + 1)) > MOST_SETS:
        raise refuse(f"{path}.at_most", stated.get("at_most"), f"at most {MOST_SETS} sets")
    return tuple(ticked for size in range(most + 1) for ticked in combinations(range(items), size))


def read_items(path: str, stated: Any, values: Sequence[Any], delta: float, sets: int) -> dict[str, tuple[int, float]]:
    """The items with a delta of their own, which is at most the list's."""
    if stated is None:
        return {}
    known = {str(value): place for place, value in enumerate(values)}
    if not mapping(path, stated) or not set(stated) <= set(known) or sets > MOST_AIMED:
        raise refuse(path, stated, f"some of the items, where at most {MOST_AIMED} sets may be ticked")
    items = {}
    for name, own in stated.items():
        demand = number(f"{path}.{name}.delta", mapping(f"{path}.{name}", own, ("delta",))["delta"], 0)
        if demand > delta:
            raise refuse(f"{path}.{name}.delta", demand, f"at most the list's, {delta}")
        items[name] = (known[name], demand)
    return items


def numbered_items(values: Sequence[Any], sets: Sequence[Ticked]) -> tuple[tuple[Any, frozenset[int]], ...]:
    """Each item with the numbers of the sets that it is in, and nothing ticked with its own."""
    listed = [
        (value, frozenset(code for code, ticked in enumerate(sets) if place in ticked))
        for place, value in enumerate(values)
    ]
    return (*listed, *([(NONE, frozenset({0}))] if NONE not in values else []))


def is_ticked(sets: Sequence[Ticked], item: int, code: int) -> int:
    """Whether an item is ticked, 0 or 1; each value beyond the sets is one of its own."""
    return int(item in sets[code]) if code < len(sets) else code + 2
