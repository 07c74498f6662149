"""Demands on counts: what the tally or the batch of many people may reveal about one of them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from bcdp.policy.field_checks import Accepts, Number, Record, expected

LEAST_COUNTED = 1_000  # people: of smaller tallies nothing is said
MOST_COUNTED = 10**10  # more people than there are
LARGEST_EPSILON = 20.0  # e^20 is half a billion: beyond it there is no protection to speak of
CountsEpsilon = Annotated[Number, Field(gt=0, le=LARGEST_EPSILON), Accepts("a number above 0 and at most 20")]


class CountsDemand(Record):
    """What the counts of so many people may reveal about one of them, except with a small chance.

    `people`: in one tally or batch, in the smallest group where features are open. `honest`: the share of them who
    follow the plan and do not work with anybody who sees the counts. `epsilon` and `odds` are about the whole record,
    `features` about one feature each.
    """

    people: Annotated[
        int,
        Field(strict=True, ge=LEAST_COUNTED, le=MOST_COUNTED),
        Accepts(f"a whole number of at least {LEAST_COUNTED:,}"),
    ]
    epsilon: CountsEpsilon | None = None
    odds: Annotated[Number, Field(gt=1, le=1e8), Accepts("a factor above 1, such as 1.35")] | None = None
    features: Annotated[
        dict[str, CountsEpsilon], Accepts("a mapping from features to levels, such as {income: 0.3}", inside=True)
    ] = Field(default_factory=dict)
    chance: Annotated[Number, Field(ge=1e-15, lt=1), Accepts("a number from 1e-15 to below 1, such as 1e-6")] = 1e-6
    honest: Annotated[Number, Field(gt=0, le=1), Accepts("a share above 0 and at most 1, such as 0.9")] = 1.0

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if self.epsilon is None and self.odds is None and not self.features:
            raise expected("at least one of epsilon, odds and features")
        if self.honest_people < 1:
            raise expected("at least one honest person")
        return self

    @property
    def honest_people(self) -> int:
        """How many people's answers hide one of them."""
        return math.floor(self.people * Fraction(str(self.honest)))

    @property
    def record_levels(self) -> dict[str, float]:
        """The demands about the whole record, in nats, by their form."""
        levels = {"epsilon": self.epsilon, "odds": self.odds and math.log(self.odds)}
        return {form: level for form, level in levels.items() if level is not None}

    @model_serializer(mode="wrap")
    def _plain(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = write(self)
        left_out: dict[str, Any] = {"epsilon": None, "odds": None, "features": {}, "honest": 1.0}
        return {key: value for key, value in document.items() if key not in left_out or value != left_out[key]}
