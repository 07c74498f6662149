"""The features with a public list of values: binary, categorical, ordinal; and open ones."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from bcdp.policy.base_feature import NO_ANSWER, NOT_APPLICABLE, ONE_TYPE, OWN, BaseFeature, Scalar, Values
from bcdp.policy.field_checks import Accepts, Number, Record, Text, expected
from bcdp.policy.survey import Translations, ValueNames

MOST_VALUES = 10_000
MOST_STEPS = 100  # of an ordinal feature
MOST_GROUPS = 10_000  # of open values: what a tally counts apart
SCALARS = "text (not empty, which means missing), a whole number or true/false"


def is_scale(scores: tuple[float, ...]) -> bool:
    """Whether numbers rise, and a device can divide by how far."""
    return all(low < high for low, high in pairwise(scores)) and math.isfinite(scores[-1] - scores[0])


def _one_each(words: dict[str, tuple[str, ...]] | None, info: ValidationInfo) -> dict[str, tuple[str, ...]] | None:
    size = len(info.data.get("values") or (0, 1))
    if any(not len(set(listed)) == len(listed) == size for listed in (words or {}).values()):
        raise expected(f"in each language {size} different texts, one for each value")
    return words


class ValuedFeature(BaseFeature):
    values: Values | None = None
    missing: Annotated[Scalar | None, Accepts(SCALARS)] = None
    value_labels: ValueNames | None = None  # the words of the values in other languages

    _check_words = field_validator("value_labels")(_one_each)

    @field_validator("missing")
    @classmethod
    def _among(cls, missing: Scalar | None, info: ValidationInfo) -> Scalar | None:
        values = info.data.get("values", (missing,)) or (0, 1, False, True)
        listed = any(type(value) is type(missing) and value == missing for value in values)
        if missing == OWN and not listed and NO_ANSWER in values:
            raise expected(f"one of the values: own would add one called {NO_ANSWER!r}, and there is one already")
        if missing not in (None, OWN) and not listed:
            raise expected(f"one of {', '.join(map(repr, values[:20]))}{', ...' * (len(values) > 20)}, or own")
        return missing

    @property
    def own(self) -> bool:
        return self.missing == OWN and OWN not in (self.values or ())  # a value that is listed is meant first

    @property
    def imputes(self) -> bool:
        return self.missing is not None and not self.own

    @property
    def categories(self) -> tuple[Scalar, ...]:
        extras = ((NO_ANSWER, self.own), (NOT_APPLICABLE, self.follows))
        return (*(self.values or (0, 1)), *(name for name, has in extras if has))

    def codes_with(self, value: Scalar) -> tuple[int, ...]:
        listed = [(v, n) for n, v in enumerate(self.values)] if self.values else [(0, 0), (1, 1), (False, 0), (True, 1)]
        return tuple(code for known, code in listed if type(known) is type(value) and known == value)

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
        Values,
        Field(min_length=1, max_length=MOST_VALUES),
        Accepts(f"a list of 1 to {MOST_VALUES} different values, each {SCALARS}"),
    ]

    @property
    def counts_values(self) -> bool:
        return True


class OrdinalFeature(ValuedFeature):
    """One of a public list of values in their order; `scores`, 1, 2, .. unless stated, are what its mean is of."""

    type: Annotated[Literal["ordinal"], ONE_TYPE]
    values: Annotated[
        Values,
        Field(min_length=2, max_length=MOST_STEPS),
        Accepts(f"a list of 2 to {MOST_STEPS} different values from low to high, each {SCALARS}"),
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
    def categories(self) -> tuple[Scalar, ...]:
        """The values that a person may have, in the order of their codes."""
        return self.values
