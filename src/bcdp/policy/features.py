"""The features: numbers within public bounds, dates among them, and those with public values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Tag, ValidationInfo, field_validator

from bcdp.errors import refuse
from bcdp.policy.base_feature import NO_ANSWER, NOT_APPLICABLE, ONE_TYPE, OWN, BaseFeature, IfWrong
from bcdp.policy.field_checks import PLACEHOLDER, Accepts, Number, Record, Storable, expected, one_of
from bcdp.policy.multiple_feature import MultipleFeature
from bcdp.policy.names import OPEN, PROTECTED
from bcdp.policy.valued_features import (
    BinaryFeature,
    CategoricalFeature,
    OpenFeature,
    OrdinalFeature,
)
from bcdp_device.dates import UNITS, Unit, accepted_dates, first_day, number_of, read_date, start_of, written

MOST_CUTS = 31
DATE = "date"  # the type in a policy of a number that counts days, months or years
_A_FEATURE = "a mapping such as {type: numeric, bounds: [0, 100], delta: 0.2}"


def _ordered(bounds: tuple[float, float]) -> tuple[float, float]:
    half = (bounds[1] - bounds[0]) / 2  # devices divide by it
    if not 0 < half < math.inf:
        raise ValueError
    return bounds


def _rising(cuts: tuple[float, ...] | None) -> tuple[float, ...] | None:
    if cuts is None or (
        1 <= len(cuts) <= MOST_CUTS and all(previous < following for previous, following in pairwise(cuts))
    ):
        return cuts
    raise ValueError


class Dates(Record):
    """What a number counts that is a date: days, calendar months or calendar years since the first of its bounds."""

    since: Annotated[Storable, Accepts("a date such as 1940-01-01")]
    unit: Annotated[Unit, Accepts("days, months or years")]

    @property
    def start(self) -> date:
        """The day with number 0."""
        return date.fromisoformat(self.since)

    def number(self, day: date) -> int:
        """The number of a day."""
        return number_of(day, self.start, self.unit)

    def written(self, number: float) -> str:
        """The date nearest to a number."""
        return written(number, self.start, self.unit)

    def reach(self, most: float) -> bool:
        """Whether 0 to `most` are dates: the first day with number 0 is stated, and there is one with the last."""
        start = read_date(self.since)
        if start is None or most != math.floor(most) or most > 1e7:
            return False
        try:
            return start_of(start, self.unit) == start and first_day(int(most), start, self.unit) > start
        except OverflowError:
            return False


class NumericFeature(BaseFeature):
    """A number within public bounds, or a date; what lies outside is moved to the nearer bound."""

    is_number: ClassVar[bool] = True

    type: Annotated[Literal["numeric"], ONE_TYPE]
    bounds: Annotated[tuple[Number, Number], AfterValidator(_ordered), Accepts("two finite numbers, low < high")]
    missing: Annotated[Literal["own"] | Number | None, Accepts("a finite number within the bounds, or own")] = None
    ranges: Annotated[
        tuple[Number, ...] | None,
        AfterValidator(_rising),
        Accepts(f"a list of 1 to {MOST_CUTS} rising numbers inside the bounds, where a range ends and the next begins"),
    ] = None

    dates: Annotated[Dates | None, Accepts("{since: 1940-01-01, unit: days}, which a feature of type date has")] = None

    @field_validator("dates")
    @classmethod
    def _from_zero(cls, dates: Dates | None, info: ValidationInfo) -> Dates | None:
        low, high = info.data.get("bounds", (0.0, 1.0))
        if dates is not None and not (low == 0 and dates.reach(high)):
            raise expected(
                "the first day of its unit, and as bounds 0 and the whole number of a day until 9999-12-31; a feature "
                "of type date has both from its keys from and to"
            )
        return dates

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
        rounded = size - self.extras
        if code >= rounded:
            return NO_ANSWER if self.own and code == rounded else NOT_APPLICABLE
        number = low + (high - low) * code / (rounded - 1)
        return f"near {number:g}" if self.dates is None else f"near {self.dates.written(number)}"

    def words_between(self, cuts: Iterable[float]) -> tuple[str, ...]:
        if self.dates is None:
            return super().words_between(cuts)
        ends = [self.dates.written(math.ceil(end)) for end in (self.span[0], *cuts, self.span[1])]
        return tuple(f"{low} to {high}" for low, high in pairwise(ends))

    @property
    def is_date(self) -> bool:
        return self.dates is not None

    def written(self, number: float) -> str:
        return super().written(number) if self.dates is None else self.dates.written(number)

    @property
    def share(self) -> str:
        unit = "" if self.dates is None else f", in {self.dates.unit} since {self.dates.written(0)}"
        return super().share + unit

    @property
    def joint_inputs(self) -> int:
        return 2 + self.extras

    @property
    def span(self) -> tuple[float, float]:
        return self.bounds

    def indicators(self, codes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        inside, share = codes <= 1, (codes + 1) / 2  # beyond 1 are the codes of no answer and not applicable
        beyond = [codes == 2 + extra for extra in range(self.extras)]
        return np.stack([np.where(inside, 1 - share, 0.0), np.where(inside, share, 0.0), *beyond], axis=1)

    def input_values(self, levels: int) -> npt.NDArray[np.float64]:
        if not self.extras:
            return super().input_values(levels)
        shares = np.linspace(0.0, 1.0, levels - self.extras)
        ends = np.stack([1 - shares, shares], axis=1)
        result = np.zeros((levels, 2 + self.extras))
        result[: len(ends), :2], result[len(ends) :, 2:] = ends, np.eye(self.extras)
        return result

    def worth(self, codes: npt.NDArray[Any], category: int | None = None) -> npt.NDArray[np.float64]:
        return codes if category is None else 2 * self.indicators(codes)[:, category] - 1

    @property
    def cuts(self) -> tuple[float, ...]:
        """Where the ranges begin that a measured promise is about, all but the first; by default four equal ones."""
        low, high = self.bounds
        return self.ranges or tuple(low + (high - low) * part for part in (0.25, 0.5, 0.75))

    @property
    def definition(self) -> dict[str, Any]:
        stated = {} if self.dates is None else {"dates": self.dates.model_dump()}
        return super().definition | stated | ({} if self.ranges is None else {"ranges": list(self.ranges)})


def _class(feature: object) -> str | None:
    """The class whose mistakes to report: by type, or by its other keys while the type is itself a mistake."""
    if not isinstance(feature, Mapping):
        return None
    named = feature.get("type")
    if isinstance(named, str) and named in (*PROTECTED, OPEN):
        return f"{named.capitalize()}Feature"
    return "NumericFeature" if "bounds" in feature else "CategoricalFeature" if "values" in feature else "BinaryFeature"


Feature = BinaryFeature | NumericFeature | CategoricalFeature | OrdinalFeature | MultipleFeature
Declared = Annotated[
    Annotated[BinaryFeature, Tag("BinaryFeature")]
    | Annotated[NumericFeature, Tag("NumericFeature")]
    | Annotated[CategoricalFeature, Tag("CategoricalFeature")]
    | Annotated[OrdinalFeature, Tag("OrdinalFeature")]
    | Annotated[MultipleFeature, Tag("MultipleFeature")]
    | Annotated[OpenFeature, Tag("OpenFeature")],
    one_of(_class, _A_FEATURE),
]


def without_dates(document: Mapping[str, Any], mistakes: list[str]) -> dict[str, Any]:
    """A policy's document in which every feature of type date is the number that it counts.

    `from`, `to`, `ranges` and `missing` are dates there, and so are the `edges` of its distributions. What is none is
    added to `mistakes`.

    >>> without_dates({"features": {"born": {"type": "date", "from": "1940", "to": "1999", "unit": "years"}}}, [])
    {'features': {'born': {'type': 'numeric', 'bounds': [0, 59], 'dates': {'since': '1940-01-01', 'unit': 'years'}}}}
    """
    stated = document.get("features")
    features = dict(stated) if isinstance(stated, Mapping) else {}
    declared: dict[str, Dates] = {}
    for name, feature in features.items():
        if isinstance(feature, Mapping) and feature.get("type") == DATE:
            features[name] = _counted(f"features.{name}", feature, mistakes)
            declared[name] = Dates(**features[name]["dates"])
    if not declared:
        return dict(document)
    return {**document, "features": features, **_dated_tasks(document.get("tasks"), declared, mistakes)}


def _counted(path: str, feature: Mapping[str, Any], mistakes: list[str]) -> dict[str, Any]:
    """The number that a feature of type date is; any other where it is stated wrongly."""
    rest = {key: value for key, value in feature.items() if key not in ("from", "to", "unit")}
    unit: Unit = next((unit for unit in UNITS if unit == feature.get("unit", "days")), "days")
    days = _Days(unit, mistakes)
    if unit != feature.get("unit", "days"):
        days.refuse(f"{path}.unit", feature["unit"], "days, months or years, or no such key: then days")
    for key in {"bounds", "dates"} & rest.keys():
        days.refuse(f"{path}.{key}", rest[key], "no such key: the earliest date is from, the latest is to")
    start, end = (days.read(f"{path}.{key}", feature.get(key)) for key in ("from", "to"))
    since = start_of(start or date.min, unit)
    last = number_of(end, since, unit) if start and end else 1
    if last < 1:
        days.refuse(f"{path}.to", feature["to"], f"a date that is at least one of the {unit} after from")

    def number(key: str, stated: Any) -> int:
        day = days.read(f"{path}.{key}", stated)
        return 0 if day is None else number_of(day, since, unit)

    if isinstance(rest.get("ranges"), list | tuple):
        rest["ranges"] = [number("ranges", cut) for cut in rest["ranges"]]
    if rest.get("missing") not in (None, OWN):
        rest["missing"] = number("missing", rest["missing"])
    dates = {"since": since.isoformat(), "unit": unit}
    if days.failed:
        rest = {key: value for key, value in rest.items() if key not in ("ranges", "missing")}
    return {**rest, "type": "numeric", "bounds": [0, max(last, 1)], "dates": dates}


@dataclass
class _Days:
    """Reads what a policy states as dates, and collects what is none."""

    unit: Unit
    mistakes: list[str]
    failed: bool = False

    def refuse(self, path: str, stated: Any, accepted: str) -> None:
        self.failed = True
        self.mistakes.append(str(refuse(path, stated, accepted)))

    def read(self, path: str, stated: Any) -> date | None:
        plain = stated.isoformat()[:10] if isinstance(stated, date) else stated
        day = read_date(str(plain), self.unit) if isinstance(plain, str | int) else None
        if day is None:
            accepted = accepted_dates(self.unit)
            self.refuse(path, stated, accepted + f"; write it in place of {PLACEHOLDER}" * (stated == PLACEHOLDER))
        return day


def _dated_tasks(tasks: Any, declared: Mapping[str, Dates], mistakes: list[str]) -> dict[str, Any]:
    """The tasks with the edges of distributions of dates as numbers."""
    if not isinstance(tasks, list | tuple):
        return {} if tasks is None else {"tasks": tasks}
    return {"tasks": [_dated_edges(f"tasks[{n}].edges", task, declared, mistakes) for n, task in enumerate(tasks)]}


def _dated_edges(path: str, task: Any, declared: Mapping[str, Dates], mistakes: list[str]) -> Any:
    match task:
        case {"distribution": [str() as name], "edges": [*edges]} if name in declared:
            days = _Days(declared[name].unit, mistakes)
            read = [days.read(path, edge) for edge in edges if not isinstance(edge, float)]
            if len(read) == len(edges) and not days.failed:
                return {**task, "edges": [declared[name].number(day) for day in read if day]}
    return task


def with_second_demand(feature: Declared, demand: IfWrong | None) -> Declared:
    """The feature with the second demand that the policy makes of all; lists with strict items state none."""
    if isinstance(feature, OpenFeature) or feature.if_wrong is not None or demand is None:
        return feature
    if isinstance(feature, MultipleFeature) and feature.items:
        raise expected("no deltas of single items where the policy states if_wrong")
    return feature.model_copy(update={"if_wrong": demand})
