"""The features: binary, numeric within public bounds, categorical with public values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictInt, Tag, ValidationInfo, field_validator

from bcdp.policy.checks import Accepts, Number, Record, Text, Words, different, expected, one_of
from bcdp.policy.names import TYPES

MOST_VALUES = 10_000
_LARGEST_WHOLE = 2**53 - 1  # whole numbers beyond it are not exact in a browser
_ONE_TYPE = Accepts("binary, numeric or categorical")
_SCALARS = "text (not empty, which means missing), a whole number or true/false"

Scalar = (
    StrictBool
    | Annotated[StrictInt, Field(ge=-_LARGEST_WHOLE, le=_LARGEST_WHOLE)]
    | Annotated[Words, Field(min_length=1)]
)
Values = Annotated[tuple[Scalar, ...], AfterValidator(different)]


def _ordered(bounds: tuple[float, float]) -> tuple[float, float]:
    half = (bounds[1] - bounds[0]) / 2  # devices divide by it
    if not 0 < half < math.inf:
        raise ValueError
    return bounds


class _Feature(Record):
    """What all features share; a policy fills in `delta` (epsilon, if left out) and `label` (the name)."""

    type: str
    label: Text = ""
    help: Text | None = None
    delta: Annotated[Number, Field(ge=0), Accepts("a finite number of at least 0")] = 0.0

    @property
    def definition(self) -> dict[str, Any]:
        """All that decides how a value is coded: what is measured about one definition says nothing about another."""
        return self.model_dump(mode="json", include={"type", "values", "bounds", "missing"})


class NumericFeature(_Feature):
    """A number within public bounds; what lies outside is moved to the nearer bound."""

    type: Annotated[Literal["numeric"], _ONE_TYPE]
    bounds: Annotated[tuple[Number, Number], AfterValidator(_ordered), Accepts("two finite numbers, low < high")]
    missing: Annotated[Number | None, Accepts("a finite number within the bounds")] = None

    @field_validator("missing")
    @classmethod
    def _within(cls, missing: float | None, info: ValidationInfo) -> float | None:
        low, high = info.data.get("bounds", (-math.inf, math.inf))
        if missing is not None and not low <= missing <= high:
            raise expected(f"a number within the bounds [{low:g}, {high:g}]")
        return missing

    @property
    def imputed(self) -> float:
        """The public number that stands for a missing one: `missing`, or else the middle of the bounds."""
        low, high = self.bounds
        return low + (high - low) / 2 if self.missing is None else self.missing


class _ValuedFeature(_Feature):
    values: Values | None = None
    missing: Annotated[Scalar | None, Accepts(_SCALARS)] = None

    @field_validator("missing")
    @classmethod
    def _among(cls, missing: Scalar | None, info: ValidationInfo) -> Scalar | None:
        values = info.data.get("values", (missing,)) or (0, 1, False, True)
        if missing is not None and not any(type(value) is type(missing) and value == missing for value in values):
            raise expected(f"one of {', '.join(map(repr, values[:20]))}{', ...' * (len(values) > 20)}")
        return missing

    @property
    def imputed(self) -> Scalar:
        """The public value that stands for a missing one: `missing`, or else the first value."""
        return (self.values or (0,))[0] if self.missing is None else self.missing


class BinaryFeature(_ValuedFeature):
    """One of two values; `values` is None for the usual 0/1 and false/true."""

    type: Annotated[Literal["binary"], _ONE_TYPE]
    values: Annotated[
        Annotated[Values, Field(min_length=2, max_length=2)] | None,
        Accepts(f"two different values, each {_SCALARS}"),
    ] = None


class CategoricalFeature(_ValuedFeature):
    """One of a public list of values."""

    type: Annotated[Literal["categorical"], _ONE_TYPE]
    values: Annotated[
        Values,
        Field(min_length=1, max_length=MOST_VALUES),
        Accepts(f"a list of 1 to {MOST_VALUES} different values, each {_SCALARS}"),
    ]


def _class(feature: object) -> str | None:
    """The class whose mistakes to report: by type, or by its other keys while the type is itself a mistake."""
    if not isinstance(feature, Mapping):
        return None
    named = feature.get("type")
    if isinstance(named, str) and named in TYPES:
        return f"{named.capitalize()}Feature"
    return "NumericFeature" if "bounds" in feature else "CategoricalFeature" if "values" in feature else "BinaryFeature"


Feature = Annotated[
    Annotated[BinaryFeature, Tag("BinaryFeature")]
    | Annotated[NumericFeature, Tag("NumericFeature")]
    | Annotated[CategoricalFeature, Tag("CategoricalFeature")],
    one_of(_class, "a mapping such as {type: numeric, bounds: [0, 100], delta: 0.2}"),
]
