"""A record as numbers, by public rules only: clip, impute, look up. Nothing random happens here.

A number is coded from -1 to 1, anything else by the number of its value. No answer, where it is a value of its own, and
"not applicable" follow the values; of a number they are 2 and above. An error never quotes a person's value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Union

from bcdp_device.dates import Unit, accepted_dates, number_of, read_date
from bcdp_device.errors import InputError
from bcdp_device.plan import Plan
from bcdp_device.verify.blocks import NOT_APPLICABLE
from bcdp_device.verify.collection import Feature, Number
from bcdp_device.verify.listed_values import LARGEST_WHOLE
from bcdp_device.verify.lists import NONE

Code = Union[int, float]
UNANSWERED = 2  # the code of no answer among those of a number
SEPARATORS = (";", "|", ",")


def codes_of(plan: Plan, record: Mapping[str, Any]) -> dict[str, Code]:
    """The code of every protected feature; what a follow-up depends on is coded before it."""
    codes: dict[str, Code] = {}
    for name in _parents_first(plan.features):
        feature, value = plan.features[name], record.get(name)
        asked = all(codes[parent] in values for parent, values in (feature.condition or {}).items())
        codes[name] = code_of(name, feature, value) if asked else _not_applicable(name, feature, value)
    return codes


def group_of(plan: Plan, record: Mapping[str, Any]) -> int:
    """The open values as one number, the last feature changing fastest."""
    group = 0
    for name, feature in plan.open.items():
        group = group * (feature.values or 1) + int(code_of(name, feature, record.get(name)))
    return group


def code_of(name: str, feature: Feature, value: Any) -> Code:
    """The code of one value."""
    if feature.sets:
        return _ticked(name, feature, value)
    if _is_missing(value):
        return _imputed(name, feature)
    if feature.number is not None:
        return _number(name, feature.number, value)
    if feature.between is not None:
        return _whole(name, feature.between, _word(value))
    code = _words(feature).get(_word(value))
    if code is None:
        listed = ", ".join(repr(known) for known, _ in feature.listed[:12]) + ", ..." * (len(feature.listed) > 12)
        raise InputError(f"{name}: got a value that is not listed; accepted: {listed}")
    return code


def _whole(name: str, values: range, word: str | None) -> int:
    """The place of a whole number among its feature's values, which are too many to be listed."""
    number = (word or "").removesuffix(".0")
    if not re.fullmatch("0|-?[1-9][0-9]{0,15}", number) or int(number) not in values:
        raise InputError(f"{name}: got a value that is not listed; accepted: {values[0]} to {values[-1]}")
    return int(number) - values[0]


def _parents_first(features: Mapping[str, Feature]) -> list[str]:
    order: list[str] = []
    while len(order) < len(features):  # no feature depends on itself, so that each round adds some
        order += [name for name in features if name not in order and set(features[name].condition or ()) <= set(order)]
    return order


def _not_applicable(name: str, feature: Feature, value: Any) -> int:
    if not _is_missing(value) and value != NOT_APPLICABLE:
        raise InputError(f"{name}: got a value; accepted: none, because the question is not asked")
    return 1 + feature.extras if feature.values is None else feature.values - 1


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _imputed(name: str, feature: Feature) -> Code:
    if feature.own:
        return UNANSWERED if feature.values is None else feature.values - feature.extras
    if feature.number is not None and feature.number.missing is not None:
        return feature.number.code(feature.number.missing)
    if feature.imputed is None:
        raise InputError(f"{name}: got no value; accepted: a value, because the plan has no rule for missing ones")
    return feature.imputed


def _number(name: str, number: Number, value: Any) -> float:
    if number.dates is not None:
        value = counted_date(name, number.dates, value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{name}: got an object of type {type(value).__name__}; accepted: a number")
    low, high = number.bounds
    return number.code(float(min(max(value, low), high)))  # of a whole number beyond all doubles, the bound


def counted_date(name: str, dates: tuple[date, Unit], value: Any) -> int:
    """A date as a number of days, months or years; a whole number states a year."""
    since, unit = dates
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    day = value if isinstance(value, date) else read_date(str(value), unit)
    if day is None:
        raise InputError(f"{name}: got a value that is no such date; accepted: {accepted_dates(unit)}")
    return number_of(day.date() if isinstance(day, datetime) else day, since, unit)


def _words(feature: Feature) -> dict[str | None, int]:
    """The number of each value by the words that may be written for it; a listed word means itself first."""
    listed = [(value, next(iter(codes))) for value, codes in feature.listed]
    also: dict[str | None, int] = {word: code for value, code in listed for word in _other_words(value)}
    return {**also, **{_word(value): code for value, code in listed}}


def _other_words(value: Any) -> tuple[str, ...]:
    if isinstance(value, bool):
        return str(value), str(value).upper()
    return (f"{value}.0",) if isinstance(value, int) else ()


def _word(value: Any) -> str | None:
    """The word by which a value is recognised: 1, 1.0 and "1" are one value, and so are true and "true"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if not isinstance(value, (int, float)) or not -LARGEST_WHOLE <= value <= LARGEST_WHOLE:
        return None
    return str(int(value)) if value == int(value) else str(value)


def _ticked(name: str, feature: Feature, value: Any) -> int:
    """The number of the set of ticked items; nothing is none of them, unless no answer is a value of its own."""
    if _is_missing(value):
        return len(feature.sets) if feature.own else 0
    items = [str(item) for item, _ in feature.listed][: sum(len(ticked) == 1 for ticked in feature.sets)]
    words = [str(part).strip() for part in (value if isinstance(value, (list, tuple)) else _split(str(value), items))]
    if words == [NONE] and NONE not in items:
        return 0
    if not set(words) <= set(items):
        raise InputError(f"{name}: got an item that is not listed; accepted: {', '.join(map(repr, items))}")
    ticked = tuple(sorted({items.index(word) for word in words}))
    if ticked not in feature.sets:
        most = max(map(len, feature.sets))
        raise InputError(f"{name}: got {len(ticked)} items; accepted: at most {most}")
    return feature.sets.index(ticked)


def _split(text: str, items: Sequence[str]) -> list[str]:
    if text in items:
        return [text]
    separator = next((mark for mark in SEPARATORS if mark in text), SEPARATORS[0])
    return [part.strip() for part in text.split(separator) if part.strip()]
