"""Records as they lie in memory, checked by the same public rules as `encoding` and coded only where they are asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.policy import Feature, NumericFeature, Policy
from bcdp.records import encoding as rules
from bcdp.records.whole_words import WholeWords, joined, whole_numbers

Array = npt.NDArray[Any]

_FARTHEST = 2**31 - 1  # whole numbers as stored are at most so far from 0


@dataclass(frozen=True, eq=False)
class Stored:
    """The values of one feature, all of which can be coded.

    Packed bits, of which so many are `skipped`; or whole numbers from `low` on; their code is the entry of `codes`. Or
    numbers in their own units, without `codes`.
    """

    values: Array
    codes: npt.NDArray[np.int32] | None = None
    low: int = 0
    skipped: int | None = None


def stored(policy: Policy, table: pa.Table) -> dict[str, Stored]:
    """The values of each feature of the policy; `encoding.encode` refuses or codes what cannot be used as it lies."""
    given = rules.as_coded(policy, table)  # for what lies as it is: `encode` counts dates itself
    columns = [given.column(name) for name in policy.features if given.column_names.count(name) == 1]
    if len(columns) < len(policy.features):
        rules.encode(policy, table)
    features = policy.features.items()
    columns_by_name = {
        name: _stored(feature, column) for (name, feature), column in zip(features, columns, strict=True)
    }
    if all(columns_by_name.values()):
        return {name: part for name, part in columns_by_name.items() if part is not None}
    coded = rules.encode(policy, table)
    return {name: columns_by_name[name] or _coded(feature, coded[name]) for name, feature in features}


def _coded(feature: Feature, codes: Array) -> Stored:
    return Stored(codes, np.arange(max(len(feature.categories), 1), dtype=np.int32))


def _stored(feature: Feature, column: pa.ChunkedArray) -> Stored | None:
    """A column as it lies in memory; None if it has to be looked at value by value."""
    if isinstance(feature, NumericFeature):
        return _numbers(feature, column)
    if column.num_chunks != 1 or column.null_count:
        return None
    values, known = column.chunk(0), rules.codes_of(feature.values)
    kind = values.type
    if isinstance(known, WholeWords):
        integers = pa.types.is_integer(kind) and kind != pa.uint64()
        return _within(values, np.arange(len(known), dtype=np.int32), known.values_listed.start) if integers else None
    if pa.types.is_boolean(kind):
        first, skipped = divmod(values.offset, 8)
        packed = np.frombuffer(values.buffers()[1] or b"", dtype=np.uint8)[first:]
        codes = np.array([known.get(word, -1) for word in ("false", "true")], dtype=np.int32)
        return Stored(packed, codes, 0, skipped) if codes.min() >= 0 else None
    if pa.types.is_dictionary(kind):
        imputed = rules.imputed_code(feature, known, -1)
        return _within(values.indices, rules.values_coded(joined(known, {"": imputed}), imputed, values.dictionary), 0)
    if pa.types.is_integer(kind) and kind != pa.uint64():
        numbers = whole_numbers(known)
        low = min(numbers, default=0)
        if numbers and max(numbers) - low == len(numbers) - 1:
            return _within(values, np.array([numbers[low + k] for k in range(len(numbers))], dtype=np.int32), low)
    return None


def _within(values: pa.Array, codes: npt.NDArray[np.int32], low: int) -> Stored | None:
    """Whole numbers, each of which has a code."""
    high = low + len(codes) - 1
    numbers = np.asarray(values)
    if not len(codes) or codes.min() < 0 or not -_FARTHEST <= low <= high <= _FARTHEST:
        return None
    if len(numbers) and not (low <= int(numbers.min()) and int(numbers.max()) <= high):
        return None
    return Stored(numbers, codes, low)


def _numbers(feature: Feature, column: pa.ChunkedArray) -> Stored | None:
    if not rules.holds_numbers(column.type):
        return None
    numbers = rules.numbers_of(column)
    lacks = feature.missing is None and len(numbers) and math.isnan(numbers.min())
    return None if lacks else Stored(numbers)


def scale(feature: Feature) -> tuple[float, float, float]:
    """The ends of a feature's scale, and the number that a missing one counts as."""
    low, high = feature.span
    return low, high, feature.missing if isinstance(feature.missing, float) else low
