"""Dates as whole numbers: days, calendar months or years since a stated day, in the proleptic Gregorian calendar.

`web/device/reading/dates.js` computes the same.
"""

from __future__ import annotations

import math
import re
from datetime import date, timedelta
from typing import Literal, get_args

Unit = Literal["days", "months", "years"]
UNITS: tuple[Unit, ...] = get_args(Unit)
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_PARTS = {"days": 3, "months": 2, "years": 1}  # of year, month and day: what a unit needs
_FORMS = {"days": "1974-05-31", "months": "1974-05 or 1974-05-31", "years": "1974 or 1974-05-31"}


def accepted_dates(unit: Unit) -> str:
    """What may be written for a date, in words.

    >>> accepted_dates("months")
    'a date such as 1974-05 or 1974-05-31'
    """
    return f"a date such as {_FORMS[unit]}"


def read_date(text: str, unit: Unit = "days") -> date | None:
    """The day that a text states, the first of those meant; None if it states none, or not as exactly as the unit.

    >>> read_date("1974-05-31"), read_date("1974-05", "months"), read_date("1974-05"), read_date("1974-02-30")
    (datetime.date(1974, 5, 31), datetime.date(1974, 5, 1), None, None)
    """
    match = _DATE.fullmatch(text)
    parts = [int(part) for part in match.groups() if part is not None] if match else []
    if len(parts) < _PARTS[unit]:
        return None
    try:
        return date(*[*parts, 1, 1][:3])
    except ValueError:
        return None


def number_of(day: date, since: date, unit: Unit) -> int:
    """How many days, calendar months or calendar years a day is after another.

    >>> number_of(date(1974, 5, 31), date(1940, 1, 1), "months")
    412
    """
    if unit == "days":
        return (day - since).days
    years = day.year - since.year
    return years if unit == "years" else 12 * years + day.month - since.month


def start_of(day: date, unit: Unit) -> date:
    """The first day of the month or year in which a day is; of days, the day itself."""
    return day if unit == "days" else day.replace(day=1) if unit == "months" else day.replace(month=1, day=1)


def first_day(number: int, since: date, unit: Unit) -> date:
    """The first day with a number, where `since` is one too; raises OverflowError outside the years 1 to 9999.

    >>> first_day(412, date(1940, 1, 1), "months")
    datetime.date(1974, 5, 1)
    """
    if unit == "days":
        return since + timedelta(number)
    months = 12 * since.year + since.month - 1 + number * (1 if unit == "months" else 12)
    if not 12 <= months < 12 * (date.max.year + 1):
        raise OverflowError
    return date(months // 12, months % 12 + 1, 1)


def written(number: float, since: date, unit: Unit) -> str:
    """The date nearest to a number, as exactly as the unit; ties are the later one.

    >>> written(412.4, date(1940, 1, 1), "months"), written(-0.6, date(1940, 1, 1), "days")
    ('1974-05', '1939-12-31')
    """
    text = first_day(math.floor(number + 0.5), since, unit).isoformat()
    return text[: {"days": 10, "months": 7, "years": 4}[unit]]
