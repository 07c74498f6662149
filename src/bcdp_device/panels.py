"""When the waves of a panel begin and end: days of the calendar, by the plan alone.

`web/device/panel.js` computes the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, get_args

Every = Literal["day", "week", "month", "year"]
EVERY: tuple[Every, ...] = get_args(Every)
FEWEST_WAVES, MOST_WAVES = 2, 400
LATEST_DAY = 28  # of a month on which waves of months or years may begin: every month has it
LAST_YEAR = 9000  # in which a panel may begin: no wave is then beyond the calendar
_DAYS = {"day": 1, "week": 7}


@dataclass(frozen=True)
class Calendar:
    """The waves of a panel: how many, how far apart, and the first day of the first."""

    waves: int
    every: Every
    start: date

    def first_day(self, wave: int) -> date:
        """The first day of a wave, numbered from 1; of the one after the last, the day after the panel.

        >>> Calendar(12, "month", date(2026, 11, 15)).first_day(3)
        datetime.date(2027, 1, 15)
        """
        if self.every in _DAYS:
            return self.start + timedelta(_DAYS[self.every] * (wave - 1))
        months = 12 * self.start.year + self.start.month - 1 + (wave - 1) * (1 if self.every == "month" else 12)
        return date(months // 12, months % 12 + 1, self.start.day)

    def last_day(self, wave: int) -> date:
        """The last day of a wave."""
        return self.first_day(wave + 1) - timedelta(1)

    def wave_on(self, day: date) -> int:
        """The wave of a day: 0 before the panel, one more than there are after it.

        >>> weeks = Calendar(3, "week", date(2027, 1, 4))
        >>> [weeks.wave_on(date(2027, 1, day)) for day in (3, 4, 10, 11, 24, 25)]
        [0, 1, 1, 2, 3, 4]
        """
        if day < self.start:
            return 0
        if self.every in _DAYS:
            passed = (day - self.start).days // _DAYS[self.every]
        else:
            months = 12 * (day.year - self.start.year) + day.month - self.start.month - (day.day < self.start.day)
            passed = months if self.every == "month" else months // 12
        return min(passed, self.waves) + 1
