"""What a plan collects: its features and what they are for, refused if it is not to be understood in every part."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from itertools import count
from typing import Any

from bcdp_device.dates import Unit
from bcdp_device.errors import refuse
from bcdp_device.verify.blocks import Condition, read_conditions
from bcdp_device.verify.listed_values import (
    MOST_LISTED,
    check_scores,
    check_value_labels,
    read_values,
)
from bcdp_device.verify.lists import Items, Ticked, numbered_items, read_items, read_sets
from bcdp_device.verify.values import (
    mapping,
    names,
    neighbours,
    number,
    rising,
    sequence,
    shown,
    translations,
    whole,
    word,
)

LARGEST_EPSILON = 20
LARGEST_MULTIPLE = 1000
LONGEST_NAME = 200
MOST_CUTS = 31
COMMON_KEYS = ("label", "help", "labels", "helps", "delta", "missing", "asked_if", "if_wrong")
OWN_KEYS = {
    "binary": ((), ("values", "value_labels")),
    "numeric": (("bounds",), ("ranges", "dates")),
    "categorical": (("values",), ("value_labels",)),
    "ordinal": (("values",), ("value_labels", "scores")),
    "multiple": (("values",), ("value_labels", "at_most", "items")),
}
DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
OPEN_KEYS = (("type", "values"), ("label", "help", "labels", "helps", "value_labels"))
OWN = "own"  # no answer is a value of its own
NO_ANSWER = "no answer"
MOST_GROUPS = 10_000
SURVEY_KEYS = ("title", "purpose", "organiser", "contact")
SURVEY_TRANSLATIONS = ("titles", "purposes", "declines")
MOST_MINUTES = 600
LONGEST_URL = 200
MOST_PEOPLE = 10**10  # in a batch
LARGEST_ODDS = 1e8  # of a demand on its counts
COLLECTION_KEYS = ("tasks", "order", "survey", "relay", "counts", "trust", "menu_from", "panel")
RELAY_URL = re.compile(
    r"(https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?|http://(localhost|127\.0\.0\.1))(:[0-9]{1,5})?(/[A-Za-z0-9._~-]*)+"
)
RELAY_KEY = re.compile(r"[0-9a-f]{2}0020[0-9a-f]{64}000400010001")


@dataclass(frozen=True)
class Number:
    """What a number may be: its bounds, where its ranges begin (the first apart), what counts for a missing one."""

    bounds: tuple[float, float]
    cuts: tuple[float, ...]
    missing: float | None
    dates: tuple[date, Unit] | None = None  # of a date: since which day, and in which unit, it is counted

    @property
    def parts(self) -> list[tuple[float, float]]:
        """The ends of what guesses of a range tell apart, as shares of the bounds: "missing" is a part of its own.

        In doubles, by the operations of every reader.
        """
        low, high = self.bounds
        ends = [0.0, *((cut - low) / (high - low) for cut in self.cuts), 1.0]
        imputed = [] if self.missing is None else [(self.missing - low) / (high - low)]
        return [*neighbours(ends), *zip(imputed, imputed)]

    def code(self, number: float) -> float:
        """A number within the bounds as devices code it, from -1 to 1."""
        low, high = self.bounds
        return min(max((number - low) / (high - low) * 2 - 1, -1.0), 1.0)

    def steps(self, cuts: Sequence[float]) -> list[tuple[int, int]]:
        """The first and last level of every part, where levels begin at these cuts: devices compare codes."""
        begins = [self.code(cut) for cut in cuts]
        ends = [self.code(cut) for cut in self.cuts]
        first = [0, *(sum(begin <= end for begin in begins) for end in ends)]
        last = [*(sum(begin < end for begin in begins) for end in ends), len(begins)]
        missing = [] if self.missing is None else [sum(begin <= self.code(self.missing) for begin in begins)]
        return [
            *((low, max(low, high)) for low, high in zip(first, last)),
            *zip(missing, missing),
        ]


@dataclass(frozen=True)
class Feature:
    """A feature: how many values it has (None for numbers), what was asked for it, whether others stand for no answer.

    Where no answer is a value of its `own`, it is counted among the values; of a number it is the last level.
    """

    kind: str
    values: int | None
    delta: float
    missing: bool
    number: Number | None = None
    own: bool = False
    listed: tuple[tuple[Any, frozenset[int]], ...] = ()  # its values, with their numbers
    between: range | None = None  # its values, where they are too many whole numbers to be listed
    condition: Condition | None = None  # of a feature that is not always asked; its last value is not applicable
    imputed: int | None = None  # the number of the value that no answer counts as
    sets: tuple[Ticked, ...] = ()  # of a list to tick: what may be ticked
    items: Items = field(default_factory=dict)  # of a list: those with a delta of their own
    if_wrong: Second | None = None  # what is asked where q and odds are larger than stated
    repeated: bool = False  # whether its value is a history over the waves of a panel

    @property
    def equal_pairs(self) -> bool:
        """Whether two values may enter a question in the same way and differ in what they say of other features."""
        return self.kind == "numeric" or self.missing or self.repeated

    @property
    def extras(self) -> int:
        """How many levels follow those of its values."""
        return self.own + (self.condition is not None)


@dataclass(frozen=True)
class Second:
    """A level that is asked at so many `times` the stated q and odds - 1."""

    times: float
    asked: float


@dataclass(frozen=True)
class Demand:
    """What was asked of the counts of a batch: levels by their form, and of single features; its honest people."""

    people: int
    chance: float
    levels: Mapping[str, float]
    features: Mapping[str, float]


@dataclass(frozen=True)
class Collection:
    """The features by their names, what was asked for the whole record, and perhaps for the counts of a batch."""

    epsilon: float
    features: Mapping[str, Feature]  # those that are protected
    demand: Demand | None = None
    open: Mapping[str, Feature] = field(default_factory=dict)  # those that are sent as they are, in the stated order


def read_collection(stated: Any) -> Collection:
    """The collection that a plan states; its tasks, which no guarantee depends on, may be anything."""
    collection = mapping("collection", stated, ("epsilon", "features"), COLLECTION_KEYS)
    epsilon = number("collection.epsilon", collection["epsilon"])
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise refuse("collection.epsilon", epsilon, f"a number above 0 and at most {LARGEST_EPSILON}")
    stated_features = mapping("collection.features", collection["features"])
    declared = {
        name: _with_second(f"features.{name}", stated, _feature(f"features.{name}", name, stated, epsilon))
        for name, stated in stated_features.items()
    }
    features = _conditional(
        {name: feature for name, feature in declared.items() if feature.kind != "open"}, stated_features
    )
    if not features:
        raise refuse("collection.features", sorted(stated_features), "at least one feature that is not open")
    if math.prod(feature.values or 1 for feature in declared.values() if feature.kind == "open") > MOST_GROUPS:
        raise refuse("collection.features", sorted(declared), f"at most {MOST_GROUPS} combinations of open values")
    order = names("collection.order", collection.get("order", list(declared)), declared, len(declared))
    if collection.get("survey") is not None:
        _check_survey("collection.survey", collection["survey"])
    if collection.get("relay") is not None:
        _check_relay("collection.relay", collection["relay"])
    if ("counts" in collection) != ("trust" in collection):
        raise refuse("collection.trust", sorted(collection), "relay or collector with counts, or neither")
    demand = _demand("collection.counts", collection["counts"], features) if "counts" in collection else None
    if "trust" in collection and collection["trust"] not in ("relay", "collector"):
        raise refuse("collection.trust", collection["trust"], "relay or collector")
    if collection.get("trust") == "relay" and collection.get("relay") is None:
        raise refuse("collection.trust", "relay", "collector, or a relay")
    if "menu_from" in collection and (collection["menu_from"] != "ticket" or "trust" in collection):
        raise refuse("collection.menu_from", collection["menu_from"], "ticket where devices alone are trusted")
    return Collection(
        epsilon, features, demand, {name: declared[name] for name in order if declared[name].kind == "open"}
    )


def _demand(path: str, stated: Any, features: Mapping[str, Feature]) -> Demand:
    mapping(path, stated, ("people",), ("epsilon", "odds", "features", "chance", "honest"))
    people = whole(f"{path}.people", stated["people"], 1_000, MOST_PEOPLE)
    honest = _between(f"{path}.honest", stated.get("honest", 1), 0, 1)
    counted = math.floor(people * Fraction(str(honest)))
    chance = number(f"{path}.chance", stated.get("chance", 1e-6))
    if counted < 1 or not 1e-15 <= chance < 1:
        raise refuse(path, [honest, chance], "at least one honest person, and a chance from 1e-15 to below 1")
    levels = {}
    if stated.get("epsilon") is not None:
        levels["epsilon"] = _between(f"{path}.epsilon", stated["epsilon"], 0, LARGEST_EPSILON)
    if stated.get("odds") is not None:
        levels["odds"] = math.log(_between(f"{path}.odds", stated["odds"], 1, LARGEST_ODDS))
    single = mapping(f"{path}.features", stated.get("features", {}))
    names(f"{path}.features", list(single), features, 0)
    asked = {name: _between(f"{path}.features.{name}", level, 0, LARGEST_EPSILON) for name, level in single.items()}
    if not levels and not asked:
        raise refuse(path, sorted(stated), "at least one of epsilon, odds and features")
    return Demand(counted, chance, levels, asked)


def _between(path: str, stated: Any, above: float, most: float) -> float:
    if not above < number(path, stated) <= most:
        raise refuse(path, stated, f"a number above {above:g} and at most {most:g}")
    return float(stated)


def _conditional(features: Mapping[str, Feature], stated: Mapping[str, Any]) -> dict[str, Feature]:
    """The features with the conditions under which they are asked."""
    listed = {name: feature.listed for name, feature in features.items() if feature.listed}
    conditions = read_conditions({name: stated[name] for name in features}, listed)
    return {
        name: replace(
            feature, condition=conditions[name], values=None if feature.values is None else feature.values + 1
        )
        if name in conditions
        else feature
        for name, feature in features.items()
    }


def _check_survey(path: str, stated: Any) -> None:
    mapping(path, stated, SURVEY_KEYS, ("minutes", "decline", *SURVEY_TRANSLATIONS))
    for key in (*SURVEY_KEYS, *(("decline",) if stated.get("decline") is not None else ())):
        shown(f"{path}.{key}", stated[key])
    if stated.get("minutes") is not None:
        whole(f"{path}.minutes", stated["minutes"], 1, MOST_MINUTES)
    for key in SURVEY_TRANSLATIONS:
        translations(f"{path}.{key}", stated.get(key))


def _check_relay(path: str, stated: Any) -> None:
    mapping(path, stated, ("url", "key"))
    if len(word(f"{path}.url", stated["url"])) > LONGEST_URL or not RELAY_URL.fullmatch(stated["url"]):
        raise refuse(f"{path}.url", stated["url"], f"an https address of at most {LONGEST_URL} letters, with a path")
    if not RELAY_KEY.fullmatch(word(f"{path}.key", stated["key"])):
        raise refuse(f"{path}.key", stated["key"], "a key configuration of RFC 9458, in hexadecimal")


def _feature(path: str, name: str, stated: Any, epsilon: float) -> Feature:
    if len(word(path, name, 1)) > LONGEST_NAME:
        raise refuse(path, name, f"a name of at most {LONGEST_NAME} letters")
    kind = mapping(path, stated).get("type")
    if not isinstance(kind, str) or kind not in (*OWN_KEYS, "open"):
        raise refuse(f"{path}.type", kind, "binary, numeric, categorical, ordinal, multiple or open")
    if kind == "open":
        mapping(path, stated, *OPEN_KEYS)
    else:
        required, optional = OWN_KEYS[kind]
        mapping(path, stated, ("type", *required), (*COMMON_KEYS, *optional))
    word(f"{path}.label", stated.get("label", name))
    if stated.get("help") is not None:
        word(f"{path}.help", stated["help"])
    for key in ("labels", "helps"):
        translations(f"{path}.{key}", stated.get(key))
    delta, missing = number(f"{path}.delta", stated.get("delta", epsilon), 0), stated.get("missing")
    if kind == "numeric":
        own = missing == OWN
        known = _number(path, stated, None if own else missing)
        return Feature(kind, None, delta, known.missing is not None, known, own)
    listed = stated.get("values")
    values = (0, 1) if listed is None and kind == "binary" else read_values(f"{path}.values", kind, listed)
    if isinstance(values, range):
        return _whole_numbers(path, stated, values, delta)
    accepted = (0, 1, False, True) if listed is None else values
    counted = any(type(value) is type(missing) and value == missing for value in accepted)
    own = missing == OWN and not counted and NO_ANSWER not in accepted
    if not (missing is None or counted or own):
        raise refuse(f"{path}.missing", missing, f"one of the values, or own, which adds {NO_ANSWER!r} to them")
    if stated.get("value_labels") is not None:
        check_value_labels(f"{path}.value_labels", stated["value_labels"], len(values))
    if stated.get("scores") is not None:
        check_scores(f"{path}.scores", stated["scores"], len(values))
    if kind == "multiple":
        return _list(path, stated, values, delta, own)
    plain = ((0, 0), (1, 1), (False, 0), (True, 1)) if listed is None else tuple(zip(values, count()))
    imputed = next((code for value, code in plain if type(value) is type(missing) and value == missing), None)
    numbered = tuple((value, frozenset({code})) for value, code in plain)
    return Feature(
        kind, len(values) + own, delta, counted, None, own=own, listed=numbered, imputed=imputed if counted else None
    )


def _whole_numbers(path: str, stated: Any, values: range, delta: float) -> Feature:
    """A feature with more whole numbers than are listed; of these none has words of its own."""
    missing = stated.get("missing")
    own, counted = missing == OWN, type(missing) is int and missing in values
    if not (missing is None or counted or own):
        raise refuse(f"{path}.missing", missing, f"one of the values, or own, which adds {NO_ANSWER!r} to them")
    if stated.get("value_labels") is not None:
        raise refuse(f"{path}.value_labels", "labels", f"no such key for more than {MOST_LISTED} values")
    imputed = values.index(missing) if counted else None
    return Feature("categorical", len(values) + own, delta, counted, own=own, imputed=imputed, between=values)


def _with_second(path: str, stated: Mapping[str, Any], feature: Feature) -> Feature:
    """The feature with its second demand, if it states one; a list with strict items has none."""
    second = stated.get("if_wrong")
    if second is None:
        return feature
    if feature.items:
        raise refuse(f"{path}.if_wrong", second, "no such key where single items have a delta of their own")
    times, factor = (
        number(f"{path}.if_wrong.{key}", mapping(f"{path}.if_wrong", second, ("times", "delta"))[key], 0)
        for key in ("times", "delta")
    )
    if not (1 < times <= LARGEST_MULTIPLE and 1 <= factor <= LARGEST_MULTIPLE):
        raise refuse(f"{path}.if_wrong", second, f"times above 1 and delta from 1, both up to {LARGEST_MULTIPLE}")
    return replace(feature, if_wrong=Second(times, factor * feature.delta))


def _list(path: str, stated: Any, values: Sequence[Any], delta: float, own: bool) -> Feature:
    if stated.get("missing") is not None and not own:
        raise refuse(f"{path}.missing", stated["missing"], "own, or no such key")
    sets = read_sets(path, stated, len(values))
    items = read_items(f"{path}.items", stated.get("items"), values, delta, len(sets))
    listed = numbered_items(values, sets)
    return Feature("multiple", len(sets) + own, delta, False, own=own, listed=listed, sets=sets, items=items)


def _number(path: str, stated: Any, missing: Any) -> Number:
    bounds, ranges = stated["bounds"], stated.get("ranges")
    low, high = (number(f"{path}.bounds", end) for end in (*sequence(f"{path}.bounds", bounds, 2)[:2],))
    half = (high - low) / 2  # devices divide by it
    if len(bounds) > 2 or not 0 < half < float("inf"):
        raise refuse(f"{path}.bounds", bounds, "two numbers, low first")
    if missing is not None and not low <= number(f"{path}.missing", missing) <= high:
        raise refuse(f"{path}.missing", missing, "a number within the bounds")
    dates = None if stated.get("dates") is None else _dates(f"{path}.dates", stated["dates"], low, high)
    if ranges is None:
        cuts = tuple(low + (high - low) * share for share in (0.25, 0.5, 0.75))
    elif len(cuts := rising(f"{path}.ranges", ranges, low, high)) > MOST_CUTS:
        raise refuse(f"{path}.ranges", ranges, f"at most {MOST_CUTS} numbers")
    return Number((low, high), cuts, None if missing is None else float(missing), dates)


def _dates(path: str, stated: Any, low: float, high: float) -> tuple[date, Unit]:
    """The first day and the unit of dates: what a number from 0 on can count, until the year 9999."""
    since, unit = (mapping(path, stated, ("since", "unit"))[key] for key in ("since", "unit"))
    if unit not in ("days", "months", "years") or not (isinstance(since, str) and DAY.fullmatch(since)):
        raise refuse(path, stated, "since, a date such as 1940-01-01, and unit: days, months or years")
    try:
        start = date.fromisoformat(since)
    except ValueError:
        raise refuse(f"{path}.since", since, "a day of the calendar") from None
    begins = unit == "days" or (start.day == 1 and (unit == "months" or start.month == 1))
    years = date.max.year - start.year
    most = {"days": (date.max - start).days, "months": 12 * years + 12 - start.month, "years": years}[unit]
    if not begins or low != 0 or not high.is_integer() or high > most:
        raise refuse(path, stated, "the first day of its unit, and bounds of 0 and a whole number until the year 9999")
    return start, unit
