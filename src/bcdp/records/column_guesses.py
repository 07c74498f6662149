"""What a column of records looks like, from its name and its words: a date, an identifier, free text, or none of them.

Told is a kind, never a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bcdp.records.encoding import is_missing, spelled

DATE, IDENTIFIER, FREE_TEXT = "dates", "identifiers", "free text"
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([ T].*)?|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d\d)")
_IDENTIFIER = re.compile(
    r"[^@\s]+@[^@\s]+\.[^@\s]+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{32,}|\+\d[\d ()/-]{7,}"
)
_NAMES_ONE = re.compile(
    r"(^|[^a-z])(id|uuid|guid|ssn|iban|e-?mail|phone|telephone|passport|surname|lastname|firstname)([^a-z]|$)"
)
_FEW = 20  # records: of fewer nothing is reported by how often words repeat
_MOST = 0.9  # of all words are different where they name a person
_MANY = 0.5  # likewise, where they are sentences
_LONG = 20  # letters of a usual sentence


@dataclass(frozen=True)
class ColumnWords:
    """The different words of some rows of a column, how often each occurs, and the first row of each, from 0."""

    words: tuple[str, ...]
    counts: tuple[int, ...]
    rows: tuple[int, ...]
    missing: int
    first_missing: int

    def __iter__(self) -> Iterator[tuple[str, int, int]]:
        return zip(self.words, self.counts, self.rows, strict=True)


def words_of(values: pa.Array) -> ColumnWords | None:
    """The words of an array as a policy recognises them; None for lists and records, which have none.

    >>> words_of(pa.array(["a", None, "a", "b"])).counts
    (2, 1)
    """
    if pa.types.is_nested(values.type):
        return None
    gaps = is_missing(pa.chunked_array([values]))
    present = values.filter(pa.array(~gaps))
    positions = np.flatnonzero(~gaps)
    plain = present.dictionary_decode() if pa.types.is_dictionary(present.type) else present
    encoded = plain.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    words = tuple(spelled(value) for value in encoded.dictionary.to_pylist())
    return ColumnWords(
        words,
        tuple(counts.tolist()),
        tuple(positions[first].tolist()),
        int(np.count_nonzero(gaps)),
        int(gaps.argmax()) if gaps.any() else 0,
    )


def looks_like(name: str, kind: pa.DataType, words: ColumnWords) -> str | None:
    """What nobody should collect as it is: dates, identifiers or free text; None if the column looks like none.

    >>> looks_like("seen", pa.string(), words_of(pa.array(["2024-01-31", "2024-02-01"])))
    'dates'
    >>> looks_like("region", pa.string(), words_of(pa.array(["north", "south"] * 20)))
    """
    if pa.types.is_temporal(kind):
        return DATE
    people = sum(words.counts)
    if not people:
        return None
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)
    if text and _share(words, _DATE) > _MOST:
        return DATE
    distinct = len(words.words) / people
    if (text and _share(words, _IDENTIFIER) > _MOST) or (_named_one(name) and distinct > _MOST):
        return IDENTIFIER
    if not text or people < _FEW or all(map(_is_number, words.words)):
        return None
    spaced = sum(count for word, count, _ in words if " " in word.strip()) / people
    length = sum(count * len(word) for word, count, _ in words) / people
    if distinct > _MANY and spaced > _MANY and length > _LONG:
        return FREE_TEXT
    return IDENTIFIER if distinct > _MOST else None


def _named_one(name: str) -> bool:
    return bool(_NAMES_ONE.search(re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()))


def _share(words: ColumnWords, pattern: re.Pattern[str]) -> float:
    return sum(count for word, count, _ in words if pattern.fullmatch(word.strip())) / sum(words.counts)


def is_date(word: str) -> bool:
    """Whether a word is written as a date."""
    return _DATE.fullmatch(word.strip()) is not None


def _is_number(word: str) -> bool:
    return number_in(word) is not None


def number_in(word: str) -> float | None:
    """The number that a word states to the reader of files, None if it states none.

    >>> number_in("41.5"), number_in("41,000"), number_in("41 kg"), number_in("1_000")
    (41.5, None, None, None)
    """
    plain = word.strip(" \t")
    if not plain.isascii() or "_" in plain or plain != plain.strip():  # Python reads these, and files have none of it
        return None
    try:
        return float(plain)
    except ValueError:
        return None


_SIGNS = {"$": "USD", "US$": "USD", "\u20ac": "EUR", "\u00a3": "GBP", "\u00a5": "JPY", "\u20b9": "INR", "\u20a9": "KRW"}
_CODES = (
    *("AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "ILS", "INR", "JPY", "KRW", "MXN"),
    *("NOK", "NZD", "PLN", "RUB", "SEK", "SGD", "TRY", "USD", "ZAR"),
)
_CURRENCY = "|".join(map(re.escape, (*_SIGNS, *_CODES)))
_AMOUNT = re.compile(
    rf"(?P<sign>[-+]?)(?:(?P<before>{_CURRENCY})\s*)?(?P<inner>[-+]?)"
    r"(?P<number>(?:[0-9]{1,3}(?P<apart>[ ,'_\u00a0\u2019\u202f])[0-9]{3}(?:(?P=apart)[0-9]{3})*|[0-9]+)(?:\.[0-9]+)?)"
    rf"(?:\s*(?P<after>{_CURRENCY}))?"
)


@dataclass(frozen=True)
class Amount:
    """A number written for people, as files write it, and its currency, if it states one."""

    text: str
    currency: str | None = None


def number_meant(word: str) -> Amount | None:
    """The number that a person reads in a word: in groups of three digits, with a currency; None if it is no such one.

    A decimal comma, a percent sign or a unit could mean several things, so none of them is read.

    >>> number_meant("$41,000.5"), number_meant("1,5"), number_meant("41k")
    (Amount(text='41000.5', currency='USD'), None, None)
    """
    matched = _AMOUNT.fullmatch(word.strip())
    if matched is None or (matched["sign"] and matched["inner"]) or (matched["before"] and matched["after"]):
        return None
    currency = matched["before"] or matched["after"]
    digits = re.sub(r"[^0-9.]", "", matched["number"])
    minus = "-" * ("-" in (matched["sign"], matched["inner"]))
    return Amount(minus + digits, _SIGNS.get(currency, currency) if currency else None)


def rewritten(values: pa.Array, written: Callable[[str], str | None]) -> pa.Array:
    """The array as text, each of its words as `written` says; no value is an empty text.

    An empty cell has to be one: in a file of one column, a line without any is no record.
    """
    gaps = is_missing(pa.chunked_array([values]))
    plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    distinct = plain.dictionary_encode()
    words = [None if value is None else written(spelled(value)) for value in distinct.dictionary.to_pylist()]
    texts = pa.DictionaryArray.from_arrays(distinct.indices, pa.array(words, pa.string())).dictionary_decode()
    return pc.if_else(pa.array(gaps), "", texts.fill_null(""))
