"""Lists to tick in records: a list, a text with separators, or one column of 0/1 for each item, by public rules.

An empty list and "none of these" are nothing ticked; so is an empty cell, unless no answer is a value of its own. More
items than may be ticked are refused by the row, as every unknown value is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.errors import InputError
from bcdp.policy import MultipleFeature, Policy
from bcdp.policy.multiple_feature import NONE, Ticked, sets_of

_SEPARATORS = (";", "|", ",")
_UNKNOWN, _MANY = -1, -3


def with_lists(policy: Policy, table: pa.Table) -> pa.Table:
    """The table with one column for each list to tick: columns `NAME_ITEM` of 0/1 become one of lists."""
    for name, feature in policy.features.items():
        if not isinstance(feature, MultipleFeature) or name in table.column_names:
            continue
        parts = [f"{name}_{value}" for value in feature.values]
        if all(table.column_names.count(part) == 1 for part in parts):
            ticked = np.array([_are_ticked(part, table.column(part)) for part in parts])
            lists = [[feature.values[item] for item in np.flatnonzero(row)] for row in ticked.T]
            table = table.append_column(name, pa.array([[str(value) for value in row] for row in lists], _TEXTS))
    return table


_TEXTS = pa.list_(pa.string())
_YES = {"1": True, "1.0": True, "true": True, "True": True, "TRUE": True}
_NO = {"0": False, "0.0": False, "false": False, "False": False, "FALSE": False, "": False, "None": False, "nan": False}


def _are_ticked(name: str, column: pa.ChunkedArray) -> list[bool]:
    known = _YES | _NO
    words = [str(value) for value in column.to_pylist()]
    for row, word in enumerate(words, start=1):
        if word not in known:
            raise _refused(name, "a value that is not listed", "0, 1, false, true, or empty", row)
    return [known[word] for word in words]


def ticked_codes(feature: MultipleFeature, name: str, column: pa.ChunkedArray, silent: int) -> npt.NDArray[np.int32]:
    """The code of each record; `silent` where there is no value."""
    known = {**_words(feature), "": silent}
    codes = [_code(feature, known, value, silent) for chunk in column.chunks for value in chunk.to_pylist()]
    for row, code in enumerate(codes, start=1):
        if code == _UNKNOWN:
            listed = ", ".join(map(repr, feature.values[:12]))
            raise _refused(name, "an item that is not listed", f"{listed}, in a list or with ; between them", row)
        if code == _MANY:
            raise _refused(name, "more items than may be ticked", f"at most {feature.at_most}", row)
    return np.array(codes, dtype=np.int32)


def unticked(feature: MultipleFeature, values: pa.Array) -> Iterator[tuple[str, int]]:
    """The records that cannot be read, each by its problem ("item" or "many") and its row, counted from 0."""
    codes = readable_sets(feature, values)
    for row in np.flatnonzero(codes < 0).tolist():
        yield "item" if codes[row] == _UNKNOWN else "many", row


def readable_sets(feature: MultipleFeature, values: pa.Array) -> npt.NDArray[np.int32]:
    """The code of each record as far as it can be read, and numbers below 0 elsewhere."""
    known, silent = {**_words(feature), "": 0}, len(feature.sets) if feature.own else 0
    return np.array([_code(feature, known, value, silent) for value in values.to_pylist()], dtype=np.int32)


def _words(feature: MultipleFeature) -> dict[str, int]:
    return {_spelled(value): number for number, value in enumerate(feature.values)}


def _spelled(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _code(feature: MultipleFeature, items: dict[str, int], value: Any, silent: int) -> int:
    if value is None or value == "" or (isinstance(value, float) and np.isnan(value)):
        return silent
    parts = value if isinstance(value, list | tuple | np.ndarray) else _split(str(_spelled(value)), items)
    words = [_spelled(part).strip() for part in parts]
    if words == [NONE] and NONE not in items:
        return 0
    if not set(words) <= items.keys() - {""}:
        return _UNKNOWN
    ticked = tuple(sorted({items[word] for word in words}))
    return _codes(len(feature.values), len(feature.sets[-1])).get(ticked, _MANY)


def _split(text: str, items: Iterable[str]) -> list[str]:
    if text in items:
        return [text]
    separator = next((mark for mark in _SEPARATORS if mark in text), ";")
    return [part for part in (word.strip() for word in text.split(separator)) if part]


@lru_cache(maxsize=64)
def _codes(items: int, most: int) -> dict[Ticked, int]:
    return {ticked: code for code, ticked in enumerate(sets_of(items, most))}


def _refused(name: str, got: str, accepted: str, row: int) -> InputError:
    error = InputError(f"column '{name}': got {got}; accepted: {accepted}")
    error.row = row
    return error
