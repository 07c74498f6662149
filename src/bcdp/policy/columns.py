"""What a column of records looks like, from its name and its words: a date, an identifier, free text, or none of them.

Told is a kind, never a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bcdp.policy.encoding import is_missing, spelled

DATE, IDENTIFIER, FREE_TEXT = "dates", "identifiers", "free text"
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([ T].*)?|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d\d)")
_IDENTIFIER = re.compile(
    r"[^@\s]+@[^@\s]+\.[^@\s]+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{32,}|\+\d[\d ()/-]{7,}"
)
_NAMES_ONE = re.compile(
    r"(^|[^a-z])(id|uuid|guid|ssn|iban|e-?mail|phone|telephone|passport|surname|lastname|firstname)([^a-z]|$)"
)
_FEW = 20  # records: of fewer nothing is told by how often words repeat
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
    places = np.flatnonzero(~gaps)
    plain = present.dictionary_decode() if pa.types.is_dictionary(present.type) else present
    found = plain.dictionary_encode()
    codes = found.indices.to_numpy(zero_copy_only=False)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    words = tuple(spelled(value) for value in found.dictionary.to_pylist())
    return ColumnWords(
        words,
        tuple(counts.tolist()),
        tuple(places[first].tolist()),
        int(np.count_nonzero(gaps)),
        int(gaps.argmax()) if gaps.any() else 0,
    )


def looks_like(name: str, kind: pa.DataType, found: ColumnWords) -> str | None:
    """What nobody should collect as it is: dates, identifiers or free text; None if the column looks like none.

    >>> looks_like("seen", pa.string(), words_of(pa.array(["2024-01-31", "2024-02-01"])))
    'dates'
    >>> looks_like("region", pa.string(), words_of(pa.array(["north", "south"] * 20)))
    """
    if pa.types.is_temporal(kind):
        return DATE
    people = sum(found.counts)
    if not people:
        return None
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)
    if text and _share(found, _DATE) > _MOST:
        return DATE
    distinct = len(found.words) / people
    if (text and _share(found, _IDENTIFIER) > _MOST) or (_named_one(name) and distinct > _MOST):
        return IDENTIFIER
    if not text or people < _FEW or all(map(_is_number, found.words)):
        return None
    spaced = sum(count for word, count, _ in found if " " in word.strip()) / people
    length = sum(count * len(word) for word, count, _ in found) / people
    if distinct > _MANY and spaced > _MANY and length > _LONG:
        return FREE_TEXT
    return IDENTIFIER if distinct > _MOST else None


def _named_one(name: str) -> bool:
    return bool(_NAMES_ONE.search(re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()))


def _share(found: ColumnWords, pattern: re.Pattern[str]) -> float:
    return sum(count for word, count, _ in found if pattern.fullmatch(word.strip())) / sum(found.counts)


def is_date(word: str) -> bool:
    """Whether a word is written as a date."""
    return _DATE.fullmatch(word.strip()) is not None


def _is_number(word: str) -> bool:
    return number_in(word) is not None


def number_in(word: str) -> float | None:
    """The number that a word states, None if it states none.

    >>> number_in("41.5"), number_in("41,000"), number_in("41 kg")
    (41.5, None, None)
    """
    try:
        return float(word)
    except ValueError:
        return None


_GROUPED = re.compile(r"[-+]?\d{1,3}([ ,'\u00a0\u202f]\d{3})+(\.\d+)?")


def number_meant(word: str) -> str | None:
    """A number written for people, in groups of three, as files write it; None if the word is no such number.

    >>> number_meant("41,000.5"), number_meant("1,5")
    ('41000.5', None)
    """
    return re.sub(r"[^\d.+-]", "", word) if _GROUPED.fullmatch(word.strip()) else None


def only_texts(values: pa.Array, said: Mapping[str, str | None]) -> pa.Array:
    """The array as text, each word that `said` names replaced, by nothing where that is None."""
    texts = pc.cast(values.dictionary_decode() if pa.types.is_dictionary(values.type) else values, pa.string())
    distinct = texts.dictionary_encode()
    mended = [None if word is None else said.get(word, word) for word in distinct.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(distinct.indices, pa.array(mended, pa.string())).dictionary_decode()
