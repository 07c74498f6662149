"""The names of features, wherever a policy speaks of them again: they must be declared, and of a fitting type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast

from pydantic import AfterValidator, ValidationInfo

from bcdp.policy.field_checks import Accepts, Writable, different, expected, nearest, some

TYPES = ("binary", "numeric", "categorical", "ordinal")  # of protected features with one value
PROTECTED = (*TYPES, "multiple")  # with lists to tick, which few statistics are of
_OWN = "own"  # the rule that makes no answer a value of its own
OPEN = "open"  # the type of those that are not


def _declared(
    *types: str, also: str = "", complete: tuple[str, ...] = (), apart: tuple[str, ...] = (), offered: str = ""
) -> AfterValidator:
    """A check that a name is that of a feature of the policy, of one of these types.

    Of `complete` types none may have no answer as a value of its own. Of those `apart` none may be in a block, and the
    sentence says what is `offered` instead.
    """

    def check(name: str, info: ValidationInfo) -> str:
        declared = cast("dict[str, object]", (info.context or {}).get("types"))
        if declared is not None and name == also and name in declared:
            raise expected(f"another name for the feature {also!r}: here the word means all features not named")
        if declared is None or name == also:
            return name
        if name not in declared:
            raise expected(f"a feature of this policy{also and f' or {also!r}'}{nearest(name, declared)}")
        if declared[name] == OPEN:
            raise expected("a protected feature; by an open one everything can be told, without a task: estimate --by")
        if declared[name] in PROTECTED and declared[name] not in types:
            raise expected(f"a {' or '.join(types)} feature, and this one is {declared[name]}")
        if declared[name] in complete and name in (info.context or {}).get("own", ()):
            raise expected("a feature without `missing: own`: give this one a value that counts for no answer")
        if declared[name] in apart and name in (info.context or {}).get("linked", ()):
            raise expected(f"a feature without follow-ups that is none itself: of these, {offered}")
        return name

    return AfterValidator(check)


_NAME = Accepts("the name of a feature, as text")
_NAMES = (AfterValidator(some), AfterValidator(different), Accepts("a list of different feature names", inside=True))

_NUMBER = ("numeric",)
_OF_BLOCKS = "mean, frequency, share, table or mean by group"

AnyName = Annotated[Writable, _NAME, _declared(*PROTECTED)]
NameOrDefault = Annotated[Writable, _NAME, _declared(*PROTECTED, also="default")]
MeanName = Annotated[Writable, _NAME, _declared("numeric", "binary", "ordinal")]
NumericName = Annotated[Writable, _NAME, _declared("numeric")]
ColumnName = Annotated[Writable, _NAME, _declared(*TYPES, complete=_NUMBER, apart=TYPES, offered=_OF_BLOCKS)]
GroupedName = Annotated[Writable, _NAME, _declared("numeric", "binary", "ordinal")]
TableName = Annotated[
    Writable, _NAME, _declared(*PROTECTED, complete=_NUMBER, apart=_NUMBER, offered="a number's mean, also by group")
]
GroupName = Annotated[
    Writable, _NAME, _declared(*TYPES, complete=_NUMBER, apart=_NUMBER, offered="those with values, not numbers")
]
CategoryName = Annotated[Writable, _NAME, _declared("categorical", "binary", "ordinal")]
CountedName = Annotated[Writable, _NAME, _declared("categorical", "binary", "ordinal", "multiple")]
ColumnNames = Annotated[tuple[ColumnName, ...], *_NAMES]
GroupedNames = Annotated[tuple[GroupedName, ...], *_NAMES]
TableNames = Annotated[tuple[TableName, ...], *_NAMES]
MeanNames = Annotated[tuple[MeanName, ...], *_NAMES]
NumericNames = Annotated[tuple[NumericName, ...], *_NAMES]
CategoryNames = Annotated[tuple[CategoryName, ...], *_NAMES]
CountedNames = Annotated[tuple[CountedName, ...], *_NAMES]


def _two(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) != 2:
        raise expected("two different features")
    return names


def _two_or_three(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) not in (2, 3):
        raise expected("two or three different features")
    return names


TwoOrThree = Annotated[TableNames, AfterValidator(_two_or_three)]
CategoryPair = Annotated[CategoryNames, AfterValidator(_two)]


def declared_types(features: object) -> dict[str, object] | None:
    """What each feature says its type is, right or wrong; None if there is no telling which features there are."""
    if not isinstance(features, Mapping):
        return None
    return {
        name: feature.get("type") if isinstance(feature, Mapping) else None
        for name, feature in features.items()
        if isinstance(name, str)
    }


def own_names(features: object) -> frozenset[str]:
    """The features that seem to have no answer as a value of their own; whether they are right is checked elsewhere."""
    stated = features.items() if isinstance(features, Mapping) else ()
    return frozenset(
        name
        for name, feature in stated
        if isinstance(feature, Mapping) and feature.get("missing") == _OWN and _OWN not in (feature.get("values") or ())
    )


def stated_bounds(features: object) -> dict[str, tuple[float, float]]:
    """What numbers seem to lie between; whether that is right is checked elsewhere."""
    bounds = {}
    for name, feature in features.items() if isinstance(features, Mapping) else ():
        match feature:
            case {"bounds": [int() | float() as low, int() | float() as high]}:
                bounds[name] = (low, high)
    return bounds


def stated_values(features: object) -> dict[str, list[Any]]:
    """The values that features seem to have; whether they are right is checked elsewhere."""
    stated = features.items() if isinstance(features, Mapping) else ()
    listed = ((name, feature.get("values")) for name, feature in stated if isinstance(feature, Mapping))
    return {name: list(values) for name, values in listed if isinstance(values, list | tuple)}


def linked_names(features: object) -> frozenset[str]:
    """The features that seem to be in a block: follow-ups, and those that they depend on."""
    stated = features.items() if isinstance(features, Mapping) else ()
    conditions = {
        name: feature["asked_if"]
        for name, feature in stated
        if isinstance(feature, Mapping) and feature.get("asked_if")
    }
    parents = (parent for condition in conditions.values() if isinstance(condition, Mapping) for parent in condition)
    return frozenset([*conditions, *parents])
