"""A question as it is written in a plan."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from math import prod
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from bcdp.policy import Policy
from bcdp.policy.blocks import Integers
from bcdp.questions.block import BlockKind
from bcdp.questions.change import ChangeKind
from bcdp.questions.inputs import Coordinate, ranked
from bcdp.questions.kind import QuestionKind
from bcdp.questions.product import ProductKind
from bcdp.questions.values import ValuesKind
from bcdp_device.panels import MOST_WAVES

KINDS: Mapping[str, QuestionKind] = {
    "values": ValuesKind(),
    "product": ProductKind(),
    "block": BlockKind(),
    "change": ChangeKind(),
}
_LARGEST = int(sys.float_info.max)
Cut = Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)] | Annotated[float, Field(allow_inf_nan=False)]
"""2 and 2.0 are spelled differently, as in a policy."""


class PlanPart(BaseModel):
    """A part of a plan's document: nothing unknown, nothing converted, nothing changed later."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Question(PlanPart):
    """What is asked: the features, into how many levels each is coded, and the table that randomizes the combination.

    Kind "values", which the JSON leaves out: a number is rounded at random to one of its equally spaced levels; the
    first feature is the most significant digit. `cuts`, left out where there are none, has one entry for each feature:
    null, or for a number that is not rounded the rising numbers at which its levels begin, the first apart.

    Kind "product": one number in [-1, 1], the product of two features or, of a single numeric feature, its square
    as `2 x^2 - 1`, rounded at random to the one entry of `levels`. A binary feature is worth -1 or 1. `categories` has
    one entry for each feature: null, or for a categorical feature the number of a value, being worth 1 if that is the
    person's value and -1 if not.

    Kind "block": as "values", about all features of a block, or a list to tick, and perhaps others. The table's inputs
    are the combinations that can occur.

    Kind "change": the value of one feature in the earlier wave `since` of a panel, and its value now.
    """

    features: Annotated[tuple[str, ...], Field(min_length=1)]
    levels: tuple[Annotated[int, Field(ge=2)], ...]
    table: Annotated[int, Field(ge=0)]
    kind: Literal["values", "product", "block", "change"] = "values"
    categories: tuple[Annotated[int, Field(ge=0)] | None, ...] = ()
    cuts: tuple[tuple[Cut, ...] | None, ...] = ()
    since: Annotated[int, Field(ge=1, le=MOST_WAVES)] | None = None

    @property
    def rules(self) -> QuestionKind:
        """What its kind defines."""
        return KINDS[self.kind]

    @property
    def reads_values(self) -> bool:
        """Whether each feature is a digit of the table's input."""
        return self.rules.reads_values

    @property
    def reads_one_value(self) -> bool:
        """Whether the input is the value of a single feature."""
        return self.reads_values and len(self.features) == 1

    def coordinates(self, policy: Policy, codes: Mapping[str, npt.NDArray[Any]]) -> Iterator[Coordinate]:
        """The digits of the table's input for records with these codes."""
        return self.rules.coordinates(policy, self, codes)

    def combinations(self, policy: Policy) -> Integers | None:
        """The digits of each input of the table; None where every combination of digits is one."""
        return self.rules.combinations(self, policy.features)

    def inputs(self, policy: Policy) -> int:
        """How many inputs the table has."""
        possible = self.combinations(policy)
        return prod(self.levels) if possible is None else len(possible)

    def ranks(self, policy: Policy) -> Integers | None:
        """The input of each combination of digits; None where it is the combination's own number."""
        possible = self.combinations(policy)
        return None if possible is None else ranked(possible, self.levels)

    def digits(self, policy: Policy) -> Integers:
        """The digits of each input of the table, one row for each."""
        possible = self.combinations(policy)
        return np.indices(self.levels).reshape(len(self.levels), -1).T if possible is None else possible

    def at_inputs(self, policy: Policy, name: str, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """At each input of the table the numbers of a feature's digit there."""
        return np.asarray(numbers[self.digits(policy)[:, self.features.index(name)]])

    def cuts_of(self, name: str) -> tuple[float, ...] | None:
        """Where the levels of a feature begin, if it is a number that enters by steps; None for any other."""
        cuts = self.cuts[self.features.index(name)] if self.cuts else None
        return None if cuts is None else tuple(map(float, cuts))

    @model_serializer(mode="wrap")
    def _plain(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = write(self)
        for key in ("kind", "categories", "cuts", "since"):
            if key not in self.rules.own_keys or (key == "cuts" and not self.cuts):
                del document[key]
        return document
