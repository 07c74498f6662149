"""What a word of a column is to a feature, and how it is written so that devices accept it.

A word is rewritten only if it can mean one thing. What a person can read and this module cannot is left for a person.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bcdp.files import NOT_A_NUMBER
from bcdp.policy import Feature, NumericFeature, OpenFeature
from bcdp.policy.features import Dates
from bcdp.records.column_guesses import is_date, number_in, number_meant
from bcdp.records.encoding import codes_of, spelled
from bcdp_device.dates import read_date

OTHER = "other"
_TIMED = re.compile(r"\d{4}-\d\d-\d\d[ T].*")
_OPPOSITES = [  # pairs of words of one meaning, in small letters
    ({"no", "n", "false", "f", "0", "0.0", "off", "none"}, {"yes", "y", "true", "t", "1", "1.0", "on"}),
    ({"female", "f", "woman", "w"}, {"male", "m", "man"}),
]
_NO_VALUE = {  # words that mean no value where no listed value is meant, in small letters
    *("na", "n/a", "n.a.", "#n/a", "nan", "null", "nil", "-", "--", "?", ".", "unknown", "missing"),
    *("no answer", "not available", "not applicable", "prefer not to say", "not stated", "refused", "don't know"),
}


@dataclass(frozen=True)
class Verdict:
    """The kind of problem that a word is (None: it is none), and how it is written: None as an empty cell.

    Where it is not `settled`, devices refuse the word, and nothing may be written in its place.
    """

    kind: str | None
    written: str | None
    settled: bool = True
    currency: str | None = None


def verdicts(feature: Feature | OpenFeature) -> Callable[[str], Verdict]:
    """How the words of a feature's column are judged.

    >>> from bcdp.policy import NumericFeature
    >>> judge = verdicts(NumericFeature(type="numeric", bounds=(0, 100000)))
    >>> judge("$41,000").written, judge("many").settled
    ('41000', False)
    """
    if isinstance(feature, NumericFeature):
        return _of_numbers(feature) if feature.dates is None else _of_dates(feature, feature.dates)
    return _of_values(feature)


def _of_numbers(feature: NumericFeature) -> Callable[[str], Verdict]:
    (low, high), gap = feature.span, _gap(feature)

    def judge(word: str) -> Verdict:
        number = number_in(word)
        if word in NOT_A_NUMBER:
            return Verdict("missing", None, gap.settled)
        if word.strip().casefold() in _NO_VALUE or (number is not None and math.isnan(number)):
            return gap
        if number is not None:
            return Verdict(None if low <= number <= high else "outside", word)
        if (meant := number_meant(word)) is not None:
            return Verdict("amount", meant.text, currency=meant.currency)
        return Verdict("date" if is_date(word) else "text", word, settled=False)

    return judge


def _of_dates(feature: NumericFeature, dates: Dates) -> Callable[[str], Verdict]:
    (low, high), gap = feature.span, _gap(feature)

    def judge(word: str) -> Verdict:
        plain = word.strip()
        day = read_date(plain, dates.unit)
        if day is not None:
            return Verdict(None if low <= dates.number(day) <= high else "outside", plain)
        if _TIMED.fullmatch(plain) and read_date(plain[:10]):
            return Verdict("timed", plain[:10])
        return gap if plain.casefold() in _NO_VALUE else Verdict("no date", word, settled=False)

    return judge


def _of_values(feature: Feature | OpenFeature) -> Callable[[str], Verdict]:
    values, gap, other = listed_values(feature), _gap(feature), other_of(feature)
    known, meanings = codes_of(getattr(feature, "values", None)), _meanings(values)

    def judge(word: str) -> Verdict:
        if word in known:
            return Verdict(None, word)
        plain = word.strip().casefold()
        meant = meanings.get(plain, meanings.get(_whole(plain)))
        if word.strip() in known:
            return Verdict("spelled", word.strip())
        if meant is not None:
            return Verdict("spelled" if meant.casefold() == plain else "alias", meant)
        if plain in _NO_VALUE:
            return gap
        return Verdict("unlisted", word if other is None else spelled(other), other is not None)

    return judge


def _gap(feature: Feature | OpenFeature) -> Verdict:
    return Verdict("gap", None, feature.missing is not None)


def _whole(word: str) -> str:
    """A whole number such as 2.00 as values are spelled; any other word as it is."""
    number = number_in(word)
    return str(int(number)) if number is not None and number.is_integer() else word


def listed_values(feature: Feature | OpenFeature) -> tuple[Any, ...]:
    """The values that a record may have; of two values that are not named, 0 and 1."""
    return getattr(feature, "values", None) or (0, 1)


def other_of(feature: Feature | OpenFeature) -> Any:
    """The value of a feature that counts all unlisted ones, None if it has none."""
    return next((value for value in listed_values(feature) if spelled(value).strip().casefold() == OTHER), None)


def _meanings(values: tuple[Any, ...]) -> dict[str, str]:
    """The listed value that a word in small letters means, where only one can be meant."""
    by_plain: dict[str, list[str]] = {}
    for value in values:
        by_plain.setdefault(spelled(value).strip().casefold(), []).append(spelled(value))
    meanings: dict[str, set[str]] = {}
    for pair in _OPPOSITES:
        named = [[plain for plain in by_plain if plain in words] for words in pair]
        # one value of each side, or `f` of [m, f] would mean `no`; of several numbers 1 is no `yes`
        if [len(side) for side in named] != [1, 1] or (named[1][0].isdigit() and len(values) > 2):
            continue
        for words, (plain,) in zip(pair, named, strict=True):
            for word in words:
                meanings.setdefault(word, set()).update(by_plain[plain])
    listed = {plain: set(written) for plain, written in by_plain.items()}
    return {word: min(written) for word, written in (meanings | listed).items() if len(written) == 1}
