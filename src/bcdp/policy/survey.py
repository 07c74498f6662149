"""How people are asked: what the organiser tells them, perhaps in several languages, and in which waves of a panel.

The organiser's words are checked by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, StrictInt, model_validator

from bcdp.policy.field_checks import Accepts, Record, Storable, Writable, expected, ordered, some
from bcdp_device.dates import read_date
from bcdp_device.panels import FEWEST_WAVES, LAST_YEAR, LATEST_DAY, MOST_WAVES, Calendar, Every

LONGEST_TEXT = 2000
MOST_MINUTES = 600
_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_TEXT = f"text of 1 to {LONGEST_TEXT} letters, none of them invisible"


def _language(code: str) -> str:
    if not _LANGUAGE.fullmatch(code):
        raise ValueError
    return code


Shown = Annotated[Writable, Field(min_length=1, max_length=LONGEST_TEXT), Accepts(_TEXT)]
Language = Annotated[Writable, AfterValidator(_language), Accepts("the code of a language, such as de or pt-BR")]
Translations = Annotated[
    dict[Language, Shown], AfterValidator(some), Accepts(f"{{language: text}}, each {_TEXT}", inside=True)
]
ValueNames = Annotated[
    dict[Language, Annotated[tuple[Shown, ...], BeforeValidator(ordered), Accepts("a list of texts", inside=True)]],
    AfterValidator(some),
    Accepts("{language: [a text for each value]}", inside=True),
]


class Survey(Record):
    """Who asks, what for, and how to reach them; `titles`, `purposes` and `declines` are texts in other languages."""

    title: Shown
    purpose: Shown
    organiser: Shown
    contact: Shown
    minutes: Annotated[
        Annotated[StrictInt, Field(ge=1, le=MOST_MINUTES)] | None, Accepts(f"a whole number from 1 to {MOST_MINUTES}")
    ] = None
    decline: Shown | None = None
    titles: Translations | None = None
    purposes: Translations | None = None
    declines: Translations | None = None


class Panel(Record):
    """The same people over several waves: each is asked in one of them, drawn before anything is known of them.

    `start` is the first day of the first wave. Waves of months and years begin on the same day of the month.
    """

    waves: Annotated[
        Annotated[StrictInt, Field(ge=FEWEST_WAVES, le=MOST_WAVES)],
        Accepts(f"a whole number from {FEWEST_WAVES} to {MOST_WAVES}"),
    ]
    every: Annotated[Every, Accepts("day, week, month or year")]
    start: Annotated[Storable, Accepts("the first day of the first wave, such as 2027-01-01")]

    @model_validator(mode="after")
    def _begins(self) -> Self:
        day = read_date(self.start)
        if day is None or day.year > LAST_YEAR or (day.day > LATEST_DAY and self.every in ("month", "year")):
            raise expected(f"a start such as 2027-01-01, of months and years at most day {LATEST_DAY} of a month")
        return self

    @cached_property
    def calendar(self) -> Calendar:
        """When each wave begins and ends."""
        return Calendar(self.waves, self.every, date.fromisoformat(self.start))


def unfit_for_a_panel(stated: Mapping[str, Any]) -> str | None:
    """What is accepted in place of a panel, where a policy states what nothing is proved of for whole histories.

    Inside a block an earlier value may go with any later one, and no sample of one wave bounds how histories go
    together (theory.md, section 4.23).
    """
    if stated.get("counts") or stated.get("trust", "device") != "device":
        return "no such key unless devices alone are trusted and counts is absent"
    if getattr(stated.get("correlation"), "kind", "one") not in ("one", "one_of_both", "per_feature"):
        return "no such key unless correlation states q or odds for each feature: a sample of one wave bounds neither"
    features = stated.get("declared", {}).values()
    if any(feature.type == "multiple" or getattr(feature, "asked_if", None) for feature in features):
        return "no such key where there are follow-ups or lists to tick"
    return None
