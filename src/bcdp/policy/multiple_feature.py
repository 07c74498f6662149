"""The feature with several values at once: tick all that apply. Its codes are the sets that may be ticked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StrictInt, ValidationInfo, field_validator

from bcdp.policy.base_feature import NO_ANSWER, NOT_APPLICABLE, ONE_TYPE, Scalar, Values
from bcdp.policy.field_checks import Accepts, Number, Record, Writable, expected
from bcdp.policy.valued_features import SCALARS, ValuedFeature

NONE = "none of these"  # the name of nothing ticked
MOST_ITEMS = 30
MOST_SETS = 1024  # that may be ticked
MOST_AIMED = 256  # if an item has a delta of its own

Ticked = tuple[int, ...]  # the numbers of the items


@lru_cache(maxsize=256)
def sets_of(items: int, most: int) -> tuple[Ticked, ...]:
    """The sets of at most so many items, in the order of their codes: small ones first, then by their items.

    >>> sets_of(3, 2)
    ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    """
    return tuple(ticked for size in range(most + 1) for ticked in combinations(range(items), size))


class ItemDemand(Record):
    """What is asked for one item."""

    delta: Annotated[Number, Field(ge=0), Accepts("a finite number of at least 0")]


class MultipleFeature(ValuedFeature):
    """Any of a public list of items, at most so many; `items` may have deltas of their own, each below the list's."""

    type: Annotated[Literal["multiple"], ONE_TYPE]
    values: Annotated[
        Values,
        Field(min_length=2, max_length=MOST_ITEMS),
        Accepts(f"a list of 2 to {MOST_ITEMS} different items, each {SCALARS}"),
    ]
    missing: Annotated[Literal["own"] | None, Accepts("own, or no such key: then nothing is ticked")] = None
    at_most: Annotated[Annotated[StrictInt, Field(ge=1)] | None, Accepts("a whole number of at least 1")] = Field(
        default=None, validate_default=True
    )
    items: Annotated[
        dict[Writable, Annotated[ItemDemand, Accepts("{delta: 0.2}", inside=True)]] | None,
        Accepts("{item: {delta: 0.2}}, for some of the items", inside=True),
    ] = None

    @field_validator("at_most")
    @classmethod
    def _few(cls, most: int | None, info: ValidationInfo) -> int | None:
        items = len(info.data.get("values") or (0, 1))
        if most is not None and most > items:
            raise expected(f"a whole number from 1 to {items}, the number of items")
        sets = sum(comb(items, size) for size in range((most or items) + 1))
        if sets > MOST_SETS:
            raise expected(f"so few that at most {MOST_SETS} sets of items may be ticked, not {sets}")
        return most

    @field_validator("items")
    @classmethod
    def _listed(cls, items: dict[str, ItemDemand] | None, info: ValidationInfo) -> dict[str, ItemDemand] | None:
        values = info.data.get("values") or ()
        if items is None:
            return items
        if not items or not set(items) <= set(map(str, values)):
            raise expected(f"some of {', '.join(map(str, values))}, each with its delta")
        sets = len(sets_of(len(values), info.data.get("at_most") or len(values)))
        if sets > MOST_AIMED:
            raise expected(f"no deltas of single items where {sets} sets may be ticked; at most {MOST_AIMED} with them")
        return items

    @field_validator("items")
    @classmethod
    def _one_demand(cls, items: dict[str, ItemDemand] | None, info: ValidationInfo) -> dict[str, ItemDemand] | None:
        if items is not None and info.data.get("if_wrong") is not None:
            raise expected("no deltas of single items where the list states if_wrong")
        return items

    @property
    def definition(self) -> dict[str, Any]:
        return super().definition | {"at_most": self.at_most}

    @property
    def missing_said(self) -> str:
        return super().missing_said if self.own else "missing counted as nothing ticked"

    @property
    def counts_values(self) -> bool:
        return True

    @property
    def asked_as(self) -> str:
        return "categorical"

    @property
    def sets(self) -> tuple[Ticked, ...]:
        """What may be ticked, in the order of codes."""
        return sets_of(len(self.values), self.at_most or len(self.values))

    @property
    def categories(self) -> Sequence[Scalar]:
        extras = ((NO_ANSWER, self.own), (NOT_APPLICABLE, self.follows))
        named = (" and ".join(str(self.values[item]) for item in ticked) or NONE for ticked in self.sets)
        return (*named, *(name for name, has in extras if has))

    def codes_with(self, value: Scalar) -> tuple[int, ...]:
        if value == NONE and NONE not in self.values:
            return (0,)
        listed = [item for item, known in enumerate(self.values) if type(known) is type(value) and known == value]
        return tuple(code for code, ticked in enumerate(self.sets) if listed and listed[0] in ticked)

    def has(self, item: int) -> tuple[int, ...]:
        """For each code whether an item is ticked, 0 or 1; no answer is 2, not applicable the last."""
        return (*(int(item in ticked) for ticked in self.sets), *(2 + extra for extra in range(self.extras)))

    def with_delta(self, delta: float) -> Self:
        """The same list with another demand, which limits that of every item."""
        items = self.items and {
            name: own.model_copy(update={"delta": min(own.delta, delta)}) for name, own in self.items.items()
        }
        return self.model_copy(update={"delta": delta, "items": items})

    @property
    def strict_items(self) -> dict[str, tuple[int, float]]:
        """Of the items with a delta of their own, the number and the delta, which is at most the list's."""
        numbers = {str(value): number for number, value in enumerate(self.values)}
        return {name: (numbers[name], min(own.delta, self.delta)) for name, own in (self.items or {}).items()}
