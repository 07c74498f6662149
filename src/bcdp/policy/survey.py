"""What the organiser tells people, perhaps in several languages: the organiser's words, which nobody has checked."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, StrictInt

from bcdp.policy.field_checks import Accepts, Record, Writable, ordered, some

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
