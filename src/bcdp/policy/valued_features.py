"""The features with a public list of values: binary, categorical, ordinal; and open ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from bcdp.policy.base_feature import NO_ANSWER, NOT_APPLICABLE, ONE_TYPE, OWN, BaseFeature, Integers, Scalar, Values
from bcdp.policy.field_checks import Accepts, Number, Record, Text, expected
from bcdp.policy.survey import Translations, ValueNames

MOST_VALUES = 2**20  # whole numbers from one to another
MOST_LISTED = 100_000  # values that a plan lists one by one
MOST_STEPS = 100  # of an ordinal feature
MOST_GROUPS = 10_000  # of open values: what a tally counts apart
INTEGERS = "{{integers: [first, last]}} with 2 to {} whole numbers"
SCALARS = "text (not empty, which means missing), a whole number or true/false"


def is_scale(scores: tuple[float, ...]) -> bool:
    """Whether numbers rise, and a device can divide by how far."""
    return all(low < high for low, high in pairwise(scores)) and math.isfinite(scores[-1] - scores[0])


def _one_each(words: dict[str, tuple[str, ...]] | None, info: ValidationInfo) -> dict[str, tuple[str, ...]] | None:
    size = len(info.data.get("values") or (0, 1))
    if words is not None and size > MOST_LISTED:
        raise expected(f"no such key for more than {MOST_LISTED} values")
    if any(not len(set(listed)) == len(listed) == size for listed in (words or {}).values()):
        raise expected(f"in each language {size} different texts, one for each value")
    return words


def listed_value(values: Sequence[Scalar], value: object) -> int | None:
    """The place of a value among those listed, None if it is none of them: 1 is not true, and neither is "1".

    >>> listed_value(range(10, 20), 12), listed_value((0, 1), True)
    (2, None)
    """
    if isinstance(values, range):
        return values.index(value) if type(value) is int and value in values else None
    return next((index for index, known in enumerate(values) if type(known) is type(value) and known == value), None)


class Extended(Sequence[Scalar]):
    """So many whole numbers, and what follows them, without a copy of the numbers."""

    def __init__(self, values: range, extras: Sequence[Scalar]) -> None:
        self._values, self._extras = values, extras

    def __len__(self) -> int:
        return len(self._values) + len(self._extras)

    def __iter__(self) -> Iterator[Scalar]:
        yield from self._values
        yield from self._extras

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        inside = index if index >= 0 else len(self) + index
        return self._values[inside] if inside < len(self._values) else self._extras[inside - len(self._values)]


class ValuedFeature(BaseFeature):
    values: Annotated[tuple[Scalar, ...] | range, Integers(MOST_VALUES, Values)] | None = None
    missing: Annotated[Scalar | None, Accepts(SCALARS)] = None
    value_labels: ValueNames | None = None  # the words of the values in other languages

    _check_words = field_validator("value_labels")(_one_each)

    @field_validator("missing")
    @classmethod
    def _among(cls, missing: Scalar | None, info: ValidationInfo) -> Scalar | None:
        values = info.data.get("values", (missing,)) or (0, 1, False, True)
        listed = listed_value(values, missing) is not None
        if missing == OWN and not listed and listed_value(values, NO_ANSWER) is not None:
            raise expected(f"one of the values: own would add one called {NO_ANSWER!r}, and there is one already")
        if missing not in (None, OWN) and not listed:
            raise expected(f"one of {', '.join(map(repr, values[:20]))}{', ...' * (len(values) > 20)}, or own")
        return missing

    @property
    def own(self) -> bool:
        return self.missing == OWN and listed_value(self.values or (), OWN) is None  # what is listed is meant first

    @property
    def imputes(self) -> bool:
        return self.missing is not None and not self.own

    @property
    def categories(self) -> Sequence[Scalar]:
        extras = [name for name, has in ((NO_ANSWER, self.own), (NOT_APPLICABLE, self.follows)) if has]
        values = self.values or (0, 1)
        return (
            Extended(values, extras)
            if extras and isinstance(values, range)
            else (*values, *extras)
            if extras
            else values
        )

    def codes_with(self, value: Scalar) -> tuple[int, ...]:
        if self.values is None:
            return (int(value),) if value in (0, 1) else ()
        index = listed_value(self.values, value)
        return () if index is None else (index,)

    @property
    def shares_inputs(self) -> bool:
        return self.imputes


class BinaryFeature(ValuedFeature):
    """One of two values; `values` is None for the usual 0/1 and false/true."""

    type: Annotated[Literal["binary"], ONE_TYPE]
    values: Annotated[
        Annotated[Values, Field(min_length=2, max_length=2)] | None,
        Accepts(f"two different values, each {SCALARS}"),
    ] = None

    @property
    def share(self) -> str:
        return f"{self.label} = {self.categories[1]}"


class CategoricalFeature(ValuedFeature):
    """One of a public list of values."""

    type: Annotated[Literal["categorical"], ONE_TYPE]
    values: Annotated[
        tuple[Scalar, ...] | range,
        Integers(MOST_VALUES, Annotated[Values, Field(min_length=1, max_length=MOST_LISTED)]),
        Accepts(f"a list of 1 to {MOST_LISTED} different values, each {SCALARS}; or {INTEGERS.format(MOST_VALUES)}"),
    ]

    @property
    def counts_values(self) -> bool:
        return True


class OrdinalFeature(ValuedFeature):
    """One of a public list of values in their order; `scores`, 1, 2, .. unless stated, are what its mean is of."""

    type: Annotated[Literal["ordinal"], ONE_TYPE]
    values: Annotated[
        tuple[Scalar, ...] | range,
        Integers(MOST_STEPS, Annotated[Values, Field(min_length=2, max_length=MOST_STEPS)]),
        Accepts(
            f"a list of 2 to {MOST_STEPS} different values from low to high, each {SCALARS}; or "
            f"{INTEGERS.format(MOST_STEPS)}"
        ),
    ]
    scores: Annotated[tuple[Number, ...] | None, Accepts("rising numbers, one for each value")] = None

    @field_validator("scores")
    @classmethod
    def _rising(cls, scores: tuple[float, ...] | None, info: ValidationInfo) -> tuple[float, ...] | None:
        values = info.data.get("values", scores) or ()
        if scores is not None and not (len(scores) == len(values) and is_scale(scores)):
            raise expected(f"{len(values)} rising numbers, one for each value")
        return scores

    @property
    def counts_values(self) -> bool:
        return True

    @property
    def asked_as(self) -> str:
        return "categorical"

    @property
    def span(self) -> tuple[float, float]:
        return self.scale[0], self.scale[-1]

    @property
    def scale(self) -> tuple[float, ...]:
        return self.scores or tuple(map(float, range(1, len(self.values) + 1)))


class OpenFeature(Record):
    """What the collector knows of each person anyway: sent as it is next to the report, never protected.

    Promises are then about each group of open values by itself (theory.md, section 4.10).
    """

    missing: ClassVar[None] = None  # every record needs a value

    type: Annotated[Literal["open"], ONE_TYPE]
    label: Text = ""
    help: Text | None = None
    labels: Translations | None = None
    helps: Translations | None = None
    values: Annotated[
        Values,
        Field(min_length=1, max_length=MOST_GROUPS),
        Accepts(f"a list of 1 to {MOST_GROUPS} different values, each {SCALARS}"),
    ]
    value_labels: ValueNames | None = None

    _check_words = field_validator("value_labels")(_one_each)

    @property
    def categories(self) -> Sequence[Scalar]:
        """The values that a person may have, in the order of their codes."""
        return self.values
