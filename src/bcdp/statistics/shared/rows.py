"""What is shown of an estimate: rows in sections, which every display shows without knowing the statistic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

MOST_TOLD = 32  # rows of a curve in a table


class AnyEstimate(Protocol):
    """An estimate of any kind."""

    @property
    def value(self) -> float: ...
    @property
    def se(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


LISTED = 10_000  # values, beyond which only the most frequent are written down
MANY = 100  # values, beyond which all intervals hold together, and the most frequent values are shown


@dataclass(frozen=True)
class Row:
    """One number to show: `name` as the policy has it, `label` in words, `possible` the range it may have.

    `key` leads to its truth, where that is known: the feature and, for a share, the value; of two features the pair; of
    a distribution `(feature,)` and then "below" and the edge, or "quantiles" and the share. `raw` is the unbiased
    number behind it, where the two differ. `in_units` says that it is in the units of a number or score, not a share.
    """

    name: str
    label: str
    number: AnyEstimate
    possible: tuple[float, float]
    key: tuple[Any, ...] = ()
    answers: int | None = None
    raw: float | None = None
    in_units: bool = False

    @property
    def percent(self) -> bool:
        """Whether it is a share, or a difference of shares, which pages show in percent."""
        return not self.in_units and self.possible in ((0.0, 1.0), (-1.0, 1.0))

    def truth(self, known: Mapping[Any, Any] | None) -> float | None:
        """Its truth among what is known, None where it is not."""
        value: Any = known if self.key else None
        for part in self.key:
            value = value.get(part) if isinstance(value, Mapping) else None
        return None if value is None else float(value)

    def to_dict(self) -> dict[str, Any]:
        """The row in plain JSON; what is not finite is null."""
        number = {name: _finite(getattr(self.number, name)) for name in ("value", "se", "low", "high")}
        possible = [_finite(end) for end in self.possible]
        document = {"name": self.name, "label": self.label, **number, "answers": self.answers, "possible": possible}
        document["percent"] = self.percent
        more = {"open_people": self.open_people, "moved": None if self.moved is None else _finite(self.moved)}
        return document | {name: number for name, number in more.items() if number is not None}

    @property
    def moved(self) -> float | None:
        """How far fake reports could have shifted the estimate, where their number is assumed."""
        return getattr(self.number, "moved", None)

    @property
    def open_people(self) -> int | None:
        """The equivalent open sample size, where the estimate has one."""
        return getattr(self.number, "open_people", None)


@dataclass(frozen=True)
class Section:
    """Rows that belong together: `subject` is what they are about, `heads` name the columns of labels and numbers.

    `drawn` says how a picture shows them: numbers on a line each, shares as bars side by side, the cells of a `grid` of
    the values named, row by row, numbers as dots on one common line, or a curve: the rows' values over `places`,
    between `ends`, with their intervals as a band. `interval` is added to the name of the intervals' column. Remarks
    stand below; pages, which have the room, begin with the note.
    """

    subject: str
    heads: tuple[str, str]
    rows: tuple[Row, ...]
    drawn: Literal["points", "bars", "grid", "dots", "curve"] = "points"
    title: str = ""
    interval: str = ""
    remarks: tuple[str, ...] = ()
    note: str = ""
    grid: tuple[tuple[Any, ...], tuple[Any, ...]] = ((), ())
    places: tuple[float, ...] = ()
    ends: tuple[float, float] = (0.0, 1.0)

    @property
    def told(self) -> tuple[Row, ...]:
        """The rows that a table shows: of a long curve some, equally far apart."""
        step = -(-len(self.rows) // MOST_TOLD) if self.drawn == "curve" else 1
        return self.rows[step - 1 :: step]

    def to_dict(self) -> dict[str, Any]:
        """The section in plain JSON, for pages in a browser."""
        return {**vars(self), "rows": [row.to_dict() for row in self.rows], "told": [row.name for row in self.told]}


def as_dates(written: Callable[[float], str], rows: Iterable[Row]) -> tuple[str, ...]:
    """A remark for each row that counts days, months or years, with the dates that its numbers are.

    >>> from types import SimpleNamespace
    >>> mean = SimpleNamespace(value=1.0, se=0.1, low=0.0, high=2.0)
    >>> as_dates(lambda number: f"1940-01-0{number + 1:g}", [Row("born", "born", mean, (0.0, 9.0))])
    ('As dates: born 1940-01-02 (1940-01-01 to 1940-01-03)',)
    """
    dated = [f"{row.name} {_dated(written, row.number)}" for row in rows]
    return (f"As dates: {'; '.join(dated)}",) if dated else ()


def _dated(written: Callable[[float], str], number: AnyEstimate) -> str:
    value = written(number.value) if math.isfinite(number.value) else "not known"
    return f"{value} ({written(number.low)} to {written(number.high)})"


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
