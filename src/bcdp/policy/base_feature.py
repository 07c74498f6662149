"""What all protected features share: words, a demand, how values become codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context
from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictBool,
    StrictInt,
)
from pydantic_core import CoreSchema, core_schema

from bcdp.policy.field_checks import (
    Accepts,
    Number,
    Record,
    Storable,
    Text,
    Writable,
    different,
    ordered,
    some,
    visible,
)
from bcdp.policy.survey import Translations

ONE_TYPE = Accepts("binary, numeric, date, categorical, ordinal, multiple or open")
OWN = "own"  # the rule that makes no answer a value of its own
NO_ANSWER = "no answer"  # the name of that value
NOT_APPLICABLE = "not applicable"  # the name of the value of a question that is not asked
LARGEST_MULTIPLE = 1000.0  # in a second demand
_LARGEST_WHOLE = 2**53 - 1  # whole numbers beyond it are not exact in a browser

Scalar = (
    StrictBool
    | Annotated[StrictInt, Field(ge=-_LARGEST_WHOLE, le=_LARGEST_WHOLE)]
    | Annotated[Storable, Field(min_length=1)]
)


def _visible(values: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    for value in values:
        visible(str(value))
    return values


Values = Annotated[tuple[Scalar, ...], BeforeValidator(ordered), AfterValidator(different), AfterValidator(_visible)]


@dataclass(frozen=True)
class Integers:
    """Values of a `listed` type, or `{integers: [first, last]}`: at most so many whole numbers, all between these.

    >>> from pydantic import TypeAdapter
    >>> TypeAdapter(Annotated[tuple[Scalar, ...] | range, Integers(1000, Values)]).validate_python({"integers": [0, 9]})
    range(0, 10)
    """

    most: int
    listed: Any

    def check(self, stated: Any, validate: Callable[[Any], Any]) -> Any:
        """The values that a document states."""
        match stated:
            case range(start=first, stop=stop, step=1):
                last = stop - 1
            case {"integers": [int() as first, int() as last], **rest} if not rest:
                pass
            case _:
                return validate(stated)
        integers = type(first) is type(last) is int and -_LARGEST_WHOLE <= first < last <= _LARGEST_WHOLE
        if not integers or last - first >= self.most:
            raise ValueError
        return range(first, last + 1)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        inner = handler.generate_schema(self.listed)
        written = core_schema.wrap_serializer_function_ser_schema(_written, schema=inner)
        return core_schema.no_info_wrap_validator_function(self.check, inner, serialization=written)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        ends = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
        form = {"type": "object", "required": ["integers"], "properties": {"integers": ends}}
        return {"anyOf": [handler(schema), {**form, "additionalProperties": False}]}


def _written(values: Any, write: Callable[[Any], Any]) -> Any:
    return {"integers": [values[0], values[-1]]} if isinstance(values, range) else write(values)


def _listed(condition: Any) -> Any:
    """The values with which a follow-up is asked: one is a list of one."""
    if not isinstance(condition, Mapping):
        return condition
    return {name: values if isinstance(values, list | tuple) else [values] for name, values in condition.items()}


Condition = Annotated[
    dict[
        Annotated[Writable, Accepts("the name of a feature, as text")],
        Annotated[Values, AfterValidator(some), Accepts("a value of that feature, or a list of different ones")],
    ],
    BeforeValidator(_listed),
    AfterValidator(some),
    Accepts("{feature: value} or {feature: [values]}, with which the question is asked", inside=True),
]


def _spelled(end: float) -> str:
    """A number to 15 digits, ties away from 0 and no -0: `web/device/wording/promise.js` spells it so too."""
    rounded = Context(prec=15, rounding=ROUND_HALF_UP).create_decimal(end)
    return repr(float(rounded) + 0.0).removesuffix(".0")


class Assumed(NamedTuple):
    """How far others may move with a feature: in total variation, and by which factor in odds."""

    q: float
    odds: float


class IfWrong(Record):
    """At `times` the stated q and odds - 1, a feature's level is at most `delta` times the level demanded of it.

    >>> IfWrong(times=2, delta=1.5).moved(0.05, 3.0)
    Assumed(q=0.1, odds=5.0)
    """

    times: Annotated[
        Number, Field(gt=1, le=LARGEST_MULTIPLE), Accepts(f"a number above 1 and at most {LARGEST_MULTIPLE:g}")
    ]
    delta: Annotated[
        Number,
        Field(ge=1, le=LARGEST_MULTIPLE),
        Accepts(f"a number from 1 to {LARGEST_MULTIPLE:g}, times delta"),
    ]

    def moved(self, q: float, odds: float) -> Assumed:
        """The larger bounds, in the operations of every reader of a plan."""
        return Assumed(min(1.0, self.times * q), 1 + self.times * (odds - 1))

    def level(self, delta: float) -> float:
        """The level that is still demanded of a feature of this delta."""
        return self.delta * delta


class BaseFeature(Record):
    """What all features share; a policy fills in `delta` (epsilon, if left out) and `label` (the name)."""

    is_number: ClassVar[bool] = False  # a number within bounds, which devices round at random

    type: str
    label: Text = ""
    help: Text | None = None
    labels: Translations | None = None  # the label and the help in other languages
    helps: Translations | None = None
    delta: Annotated[Number, Field(ge=0), Accepts("a finite number of at least 0")] = 0.0
    if_wrong: Annotated[IfWrong | None, Accepts("{times: 2, delta: 1.5}, or no such key", inside=True)] = None
    asked_if: Condition | None = None  # of a follow-up: the values of other features with which it is asked

    @property
    def definition(self) -> dict[str, Any]:
        """All that decides how a value is coded: what is measured about one definition says nothing about another."""
        condition = {"asked_if"} if self.follows else set()
        return self.model_dump(mode="json", include={"type", "values", "bounds", "missing"} | condition)

    def with_delta(self, delta: float) -> Self:
        """The same feature with another demand."""
        return self.model_copy(update={"delta": delta})

    @property
    def follows(self) -> bool:
        """Whether it is a follow-up: not applicable, its last input, unless other features have certain values."""
        return self.asked_if is not None

    @property
    def extras(self) -> int:
        """How many inputs follow those of its values: no answer, if that is a value of its own, and not applicable."""
        return self.own + self.follows

    @property
    def own(self) -> bool:
        """Whether no answer is a value of its own, which questions distinguish from all others."""
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
        """Whether the frequencies of what a question distinguishes are decoded, not a mean."""
        return self.extras > 0

    @property
    def asked_as(self) -> str:
        """The type as which it is asked: with no answer among its values it is none of two, and no plain number."""
        return "categorical" if self.extras else self.type

    @property
    def categories(self) -> Sequence[Scalar]:
        """The values that a person may have, in the order of their codes; none are listed for a number."""
        return ()

    def codes_with(self, value: Scalar) -> tuple[int, ...]:
        """The codes that mean a value; none if it is not listed."""
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

    @property
    def scale(self) -> tuple[float, ...]:
        """The numbers that its values stand for, where their mean may be asked for."""
        return ()

    @property
    def is_date(self) -> bool:
        """Whether its numbers count days, months or years."""
        return False

    def written(self, number: float) -> str:
        """A number of the feature to read, which is a date where it counts days, months or years."""
        return f"{number:,.0f}" if abs(number) >= 1e4 else f"{number:.6g}"

    def word_of(self, code: int, size: int) -> str:
        """A code to read, one of `size`: the value, or for a number about where it is."""
        return repr(self.categories[code])

    @property
    def joint_inputs(self) -> int:
        """How many inputs it has in a question about several features; a number is rounded at random to one of two.

        After them come no answer, where it is a value of its own, and not applicable, of a follow-up.
        """
        return len(self.categories)

    @property
    def span(self) -> tuple[float, float]:
        """What its mean may be, in own units: for values, the share of one of them."""
        return 0.0, 1.0

    @property
    def in_units(self) -> bool:
        """Whether its mean is in units of its own, of numbers or of scores, and no share."""
        return self.is_number or bool(self.scale)

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
        """Whether two values may be coded the same way: numbers are rounded, and `missing` stands for no value.

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
