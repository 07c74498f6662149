"""The features: binary, numeric within public bounds, categorical with public values; and open ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Context
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictInt, Tag, ValidationInfo, field_validator

from bcdp.policy.checks import Accepts, Number, Record, Text, Writable, different, expected, one_of, ordered
from bcdp.policy.names import OPEN, TYPES
from bcdp.policy.survey import Translations, ValueNames

MOST_VALUES = 10_000
MOST_CUTS = 31
MOST_GROUPS = 10_000  # of open values: what a tally counts apart
_LARGEST_WHOLE = 2**53 - 1  # whole numbers beyond it are not exact in a browser
_ONE_TYPE = Accepts("binary, numeric, categorical or open")
_A_FEATURE = "a mapping such as {type: numeric, bounds: [0, 100], delta: 0.2}"
_SCALARS = "text (not empty, which means missing), a whole number or true/false"
OWN = "own"  # the rule that makes no answer a value of its own
NO_ANSWER = "no answer"  # the name of that value

Scalar = (
    StrictBool
    | Annotated[StrictInt, Field(ge=-_LARGEST_WHOLE, le=_LARGEST_WHOLE)]
    | Annotated[Writable, Field(min_length=1)]
)
Values = Annotated[tuple[Scalar, ...], BeforeValidator(ordered), AfterValidator(different)]


def _ordered(bounds: tuple[float, float]) -> tuple[float, float]:
    half = (bounds[1] - bounds[0]) / 2  # devices divide by it
    if not 0 < half < math.inf:
        raise ValueError
    return bounds


def _rising(cuts: tuple[float, ...] | None) -> tuple[float, ...] | None:
    if cuts is None or (1 <= len(cuts) <= MOST_CUTS and all(one < following for one, following in pairwise(cuts))):
        return cuts
    raise ValueError


def _one_each(words: dict[str, tuple[str, ...]] | None, info: ValidationInfo) -> dict[str, tuple[str, ...]] | None:
    size = len(info.data.get("values") or (0, 1))
    if any(not len(set(listed)) == len(listed) == size for listed in (words or {}).values()):
        raise expected(f"in each language {size} different texts, one for each value")
    return words


def _spelled(end: float) -> str:
    """A number to 15 digits, ties away from 0 and no -0: `web/device/promise.js` spells it so too."""
    rounded = Context(prec=15, rounding=ROUND_HALF_UP).create_decimal(end)
    return repr(float(rounded) + 0.0).removesuffix(".0")


class _Feature(Record):
    """What all features share; a policy fills in `delta` (epsilon, if left out) and `label` (the name)."""

    is_number: ClassVar[bool] = False  # a number within bounds, which devices round at random

    type: str
    label: Text = ""
    help: Text | None = None
    labels: Translations | None = None  # the label and the help in other languages
    helps: Translations | None = None
    delta: Annotated[Number, Field(ge=0), Accepts("a finite number of at least 0")] = 0.0

    @property
    def definition(self) -> dict[str, Any]:
        """All that decides how a value is coded: what is measured about one definition says nothing about another."""
        return self.model_dump(mode="json", include={"type", "values", "bounds", "missing"})

    @property
    def own(self) -> bool:
        """Whether no answer is a value of its own, which questions tell apart from all others."""
        return False

    @property
    def imputes(self) -> bool:
        """Whether no answer counts as one of the other values."""
        return False

    @property
    def rule(self) -> str | None:
        """How records without a value are counted as others; None if they are refused, or a value of their own."""
        missing = self.definition["missing"]
        return f"missing counted as {repr(missing).removesuffix('.0')}" if self.imputes else None

    @property
    def missing_said(self) -> str:
        """How records without a value are counted, for who holds them; only where there is a rule."""
        return self.rule or "missing counted as no answer"

    @property
    def counts_values(self) -> bool:
        """Whether the frequencies of what a question tells apart are decoded, not a mean."""
        return self.own

    @property
    def asked_as(self) -> str:
        """The type as which it is asked: with no answer among its values it is none of two, and no plain number."""
        return "categorical" if self.own else self.type

    @property
    def categories(self) -> tuple[Scalar, ...]:
        """The values that a person may have, in the order of their codes; none are listed for a number."""
        return ()

    @property
    def cuts(self) -> tuple[float, ...]:
        """Where the ranges of a number begin that a measured promise is about, all but the first; values have none."""
        return ()

    @property
    def range_words(self) -> tuple[str, ...]:
        """These ranges to read; a number at a cut is in the range that begins there."""
        return self.words_between(self.cuts) if self.cuts else ()

    def words_between(self, cuts: Iterable[float]) -> tuple[str, ...]:
        """What of a number lies between some cuts, to read."""
        ends = map(_spelled, (self.span[0], *cuts, self.span[1]))
        return tuple(f"{low} to {high}" for low, high in pairwise(ends))

    def equal_cuts(self, bins: int) -> tuple[float, ...]:
        """Where so many equal parts of a number's bounds begin, the first apart."""
        low, high = self.span
        return tuple(low + (high - low) * part / bins for part in range(1, bins))

    def word_of(self, code: int, size: int) -> str:
        """A code to read, one of `size`: the value, or for a number about where it is."""
        return repr(self.categories[code])

    @property
    def joint_inputs(self) -> int:
        """How many inputs it has in a question about several features; a number is rounded at random to one of two.

        Where no answer is a value of its own, it is the last input.
        """
        return len(self.categories)

    @property
    def span(self) -> tuple[float, float]:
        """What its mean may be, in own units: for values, the share of one of them."""
        return 0.0, 1.0

    @property
    def share(self) -> str:
        """What its mean is the mean of, in words: of two values with words of their own, the one that counts."""
        return self.label

    @property
    def columns(self) -> tuple[int | None, ...]:
        """How it enters a record of numbers: as one number (None), or as one sign for each value (its code)."""
        return tuple(range(self.joint_inputs)) if self.counts_values else (None,)

    @property
    def shares_inputs(self) -> bool:
        """Whether two values may be coded alike: numbers are rounded, and `missing` stands for no value.

        Such values may still differ in what they say of the other features. A feature without a `missing` rule is taken
        as complete, and so is one whose missing values are one value more: its promise speaks of the value coded.
        """
        return True

    def indicators(self, codes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """How far each record is at each input: at the one of its value; between two of them, if it is a number."""
        return np.asarray(codes[:, None] == np.arange(self.joint_inputs), dtype=np.float64)

    def input_values(self, levels: int) -> npt.NDArray[np.float64]:
        """What is decoded at each of so many inputs of a question: the number that it is, or one number for each."""
        return np.eye(levels) if self.counts_values else np.linspace(-1.0, 1.0, levels)[:, None]

    def worth(self, codes: npt.NDArray[Any], category: int | None = None) -> npt.NDArray[np.float64]:
        """Its codes on the [-1, 1] scale: a number as it is, two values as signs, one category against the others."""
        return 2.0 * (codes if category is None else codes == category) - 1


class NumericFeature(_Feature):
    """A number within public bounds; what lies outside is moved to the nearer bound."""

    is_number: ClassVar[bool] = True

    type: Annotated[Literal["numeric"], _ONE_TYPE]
    bounds: Annotated[tuple[Number, Number], AfterValidator(_ordered), Accepts("two finite numbers, low < high")]
    missing: Annotated[Literal["own"] | Number | None, Accepts("a finite number within the bounds, or own")] = None
    ranges: Annotated[
        tuple[Number, ...] | None,
        AfterValidator(_rising),
        Accepts(f"a list of 1 to {MOST_CUTS} rising numbers inside the bounds, where a range ends and the next begins"),
    ] = None

    @field_validator("ranges")
    @classmethod
    def _inside(cls, cuts: tuple[float, ...] | None, info: ValidationInfo) -> tuple[float, ...] | None:
        low, high = info.data.get("bounds", (-math.inf, math.inf))
        if cuts is not None and not low < cuts[0] <= cuts[-1] < high:
            raise expected(f"numbers above {low:g} and below {high:g}, the bounds")
        return cuts

    @field_validator("missing")
    @classmethod
    def _within(cls, missing: float | str | None, info: ValidationInfo) -> float | str | None:
        low, high = info.data.get("bounds", (-math.inf, math.inf))
        if isinstance(missing, int | float) and not low <= missing <= high:
            raise expected(f"a number within the bounds [{low:g}, {high:g}], or own")
        return missing

    @property
    def own(self) -> bool:
        return self.missing == OWN

    @property
    def imputes(self) -> bool:
        return self.missing is not None and not self.own

    def word_of(self, code: int, size: int) -> str:
        low, high = self.bounds
        rounded = size - self.own
        return NO_ANSWER if code == rounded else f"near {low + (high - low) * code / (rounded - 1):g}"

    @property
    def joint_inputs(self) -> int:
        return 2 + self.own

    @property
    def span(self) -> tuple[float, float]:
        return self.bounds

    def indicators(self, codes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        inside, place = codes <= 1, (codes + 1) / 2  # beyond 1 is the code of no answer
        return np.stack([np.where(inside, 1 - place, 0.0), np.where(inside, place, 0.0), ~inside], axis=1)

    def input_values(self, levels: int) -> npt.NDArray[np.float64]:
        if not self.own:
            return super().input_values(levels)
        places = np.linspace(0.0, 1.0, levels - 1)
        return np.vstack([np.stack([1 - places, places, 0 * places], axis=1), [0.0, 0.0, 1.0]])

    def worth(self, codes: npt.NDArray[Any], category: int | None = None) -> npt.NDArray[np.float64]:
        return codes if category is None else 2 * self.indicators(codes)[:, category] - 1

    @property
    def cuts(self) -> tuple[float, ...]:
        """Where the ranges begin that a measured promise is about, all but the first; by default four equal ones."""
        low, high = self.bounds
        return self.ranges or tuple(low + (high - low) * part for part in (0.25, 0.5, 0.75))

    @property
    def definition(self) -> dict[str, Any]:
        return super().definition | ({} if self.ranges is None else {"ranges": list(self.ranges)})


class _ValuedFeature(_Feature):
    values: Values | None = None
    missing: Annotated[Scalar | None, Accepts(_SCALARS)] = None
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
        return (*(self.values or (0, 1)), *((NO_ANSWER,) if self.own else ()))

    @property
    def shares_inputs(self) -> bool:
        return self.imputes


class BinaryFeature(_ValuedFeature):
    """One of two values; `values` is None for the usual 0/1 and false/true."""

    type: Annotated[Literal["binary"], _ONE_TYPE]
    values: Annotated[
        Annotated[Values, Field(min_length=2, max_length=2)] | None,
        Accepts(f"two different values, each {_SCALARS}"),
    ] = None

    @property
    def share(self) -> str:
        return f"{self.label} = {self.categories[1]}"


class CategoricalFeature(_ValuedFeature):
    """One of a public list of values."""

    type: Annotated[Literal["categorical"], _ONE_TYPE]
    values: Annotated[
        Values,
        Field(min_length=1, max_length=MOST_VALUES),
        Accepts(f"a list of 1 to {MOST_VALUES} different values, each {_SCALARS}"),
    ]

    @property
    def counts_values(self) -> bool:
        return True


class OpenFeature(Record):
    """What the collector knows of each person anyway: sent as it is beside the report, never protected.

    Promises are then about each group of open values by itself (docs/theory.md, section 4.10).
    """

    type: Annotated[Literal["open"], _ONE_TYPE]
    label: Text = ""
    help: Text | None = None
    labels: Translations | None = None
    helps: Translations | None = None
    values: Annotated[
        Values,
        Field(min_length=1, max_length=MOST_GROUPS),
        Accepts(f"a list of 1 to {MOST_GROUPS} different values, each {_SCALARS}"),
    ]
    value_labels: ValueNames | None = None

    _check_words = field_validator("value_labels")(_one_each)

    @property
    def categories(self) -> tuple[Scalar, ...]:
        """The values that a person may have, in the order of their codes."""
        return self.values


def _class(feature: object) -> str | None:
    """The class whose mistakes to report: by type, or by its other keys while the type is itself a mistake."""
    if not isinstance(feature, Mapping):
        return None
    named = feature.get("type")
    if isinstance(named, str) and named in (*TYPES, OPEN):
        return f"{named.capitalize()}Feature"
    return "NumericFeature" if "bounds" in feature else "CategoricalFeature" if "values" in feature else "BinaryFeature"


Feature = BinaryFeature | NumericFeature | CategoricalFeature
Declared = Annotated[
    Annotated[BinaryFeature, Tag("BinaryFeature")]
    | Annotated[NumericFeature, Tag("NumericFeature")]
    | Annotated[CategoricalFeature, Tag("CategoricalFeature")]
    | Annotated[OpenFeature, Tag("OpenFeature")],
    one_of(_class, _A_FEATURE),
]
