"""Records as numbers, by public rules only: clip, impute, look up; nothing random, nothing that could leak.

A numeric feature becomes a float in [-1, 1], a binary or categorical one the number of its value. What is missing is
imputed by the policy's public rule, or a value of its own (the last; of a number, 2), and refused where there is no
rule. What is out of bounds is moved to the nearer bound, and a value that the policy does not know is refused, by its
column and row: errors never quote a record.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bcdp.errors import IncompleteError, InputError, refuse
from bcdp.policy import NOT_APPLICABLE, Feature, MultipleFeature, NumericFeature, Policy, ValuedFeature
from bcdp.records.dates import with_dates
from bcdp.records.follow_ups import asked_rows, settled
from bcdp.records.ticks import ticked_codes, with_lists
from bcdp.records.whole_words import LARGEST_WHOLE, WholeWords, joined, whole_numbers

Codes = npt.NDArray[Any]  # float64 in [-1, 1], or int32 numbers of values
_CODE = np.int32
_UNKNOWN, _LACKING = -1, -2  # no codes: of a value that is not listed, and of none where there is no rule for that
UNANSWERED = 2.0  # the code of no answer among those of a number, where it is a value of its own
_NUMBERS = (int, float, Decimal, np.number, type(None))
_WIDEST = 2**20  # the widest range of whole numbers that is looked up in a table


def as_arrow(table: Any) -> pa.Table:
    """Anything that Arrow can read as a table: pandas, polars, pyarrow, a mapping of columns, a list of mappings."""
    if isinstance(table, pa.Table):
        return table
    if hasattr(table, "collect_schema") and hasattr(table, "collect"):  # polars, not computed yet
        table = table.collect()
    if isinstance(table, list | tuple) and table and all(isinstance(row, Mapping) for row in table):
        names = dict.fromkeys(name for row in table for name in row)
        table = {name: [row.get(name) for row in table] for name in names}
    try:
        if isinstance(table, pa.RecordBatch):
            return pa.Table.from_batches([table])
        return _from_columns(list(table.items())) if isinstance(table, Mapping) else pa.table(table)
    except InputError:
        raise
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # their own words may quote the records
        if hasattr(table, "items") and not isinstance(table, Mapping):  # pandas: one column at a time names which
            return _from_columns([(str(name), values) for name, values in table.items()])
        raise InputError(
            f"table: {type(table).__name__} cannot be read; accepted: pandas, polars, pyarrow, a mapping of names to "
            "columns of equal length or a list of mappings"
        ) from None


def _from_columns(columns: list[tuple[Any, Any]]) -> pa.Table:
    """The columns as they are: two of one name stay two, for `encode` to refuse."""
    return pa.Table.from_arrays([_column(*column) for column in columns], names=[name for name, _ in columns])


def _column(name: object, values: Any) -> Any:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        if isinstance(values, Collection) and all(isinstance(value, _NUMBERS) for value in values):
            return pa.array([_as_float(value) for value in values], pa.float64())
        raise InputError(
            f"column '{name}': {type(values).__name__} cannot be read; accepted: a list of values of one type"
        ) from None


def _as_float(value: Any) -> float | None:
    """A number that may be too large for Arrow, as the nearest double: sending must not depend on how large it is."""
    if value is None:
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except ValueError:  # a signalling NaN
        return math.nan


def arrow_types(policy: Policy) -> dict[str, pa.DataType]:
    """How to read each feature from a file that states no types."""
    numbers = [name for name, own in policy.features.items() if own.is_number and not own.is_date]
    return dict.fromkeys(policy.declared, pa.string()) | dict.fromkeys(numbers, pa.float64())


def as_coded(policy: Policy, table: pa.Table) -> pa.Table:
    """The table with one column of numbers or values for each feature: lists to tick put together, dates counted."""
    return with_dates(policy, with_lists(policy, table))


def encode(policy: Policy, table: pa.Table) -> dict[str, Codes]:
    """One array of codes for each feature of the policy; other columns are not looked at."""
    table = as_coded(policy, table)
    counts = {name: table.column_names.count(name) for name in policy.features}
    if unclear := {name: count for name, count in counts.items() if count != 1}:
        shown = ", ".join(
            f"{count or 'no'} column{'s' * (count > 1)} {name!r}{'' if count else _instead(name, table.column_names)}"
            for name, count in unclear.items()
        )
        named = ", ".join(map(repr, policy.features))
        raise InputError(f"table: got {shown}; accepted: one column for each of {named}")
    codes = {name: _encode_column(policy, name, table.column(name)) for name in policy.features}
    if policy.blocks:
        codes = settled(policy, codes, lambda name: is_missing(table.column(name)))
    if counts := +Counter({name: int(np.count_nonzero(~(code >= -1))) for name, code in codes.items()}):
        raise incomplete(counts, len(table))
    return codes


def encoded_blocks(policy: Policy, table: pa.Table, size: int) -> Iterator[tuple[slice, dict[str, Codes]]]:
    """The codes of each block of rows; an error counts all rows, not only of the block that shows it."""
    for start in range(0, max(len(table), 1), size):
        part = slice(start, min(start + size, len(table)))
        try:
            codes = encode(policy, table[part])
        except InputError:
            encode(policy, table)
            raise
        yield part, codes


def lacking(policy: Policy, tables: Iterable[Any]) -> tuple[Counter[str], int]:
    """How many records have no value of each feature that has no `missing` rule, and how many records there are."""
    counts, people = Counter[str](), 0
    for table in (as_coded(policy, as_arrow(table)) for table in tables):
        people += len(table)
        gaps = {name: is_missing(table.column(name)) for name, own in policy.features.items() if own.missing is None}
        if policy.blocks:
            codes = {name: _encode_column(policy, name, table.column(name)) for name in policy.features}
            gaps |= {name: gaps[name] & asked for name, asked in asked_rows(policy, codes) if name in gaps}
        counts.update({name: int(np.count_nonzero(gap)) for name, gap in gaps.items()})
    return +counts, people


def incomplete(counts: Counter[str], people: int) -> IncompleteError:
    """The error that tells the person who holds the records how many of them have no value of these features."""
    of_all = "{0:,} of {1:,} records have no value" if people > 1 else "the record has no value"
    gaps = "; ".join(f"column '{name}': {of_all.format(count, people)}" for name, count in counts.items())
    return IncompleteError(
        f"{gaps}; accepted: complete records, or `missing: VALUE` in the policy's feature, to count them as VALUE, "
        "or `missing: own`, to make no answer a value of its own"
    )


def _instead(name: str, columns: list[str]) -> str:
    """The column that may have been meant, in brackets; empty if none is near."""
    folded = {column.strip().casefold(): column for column in columns}
    close = get_close_matches(name.strip().casefold(), folded, n=1)
    return f" (did you mean {folded[close[0]]!r}?)" if close else ""


def unusual(policy: Policy, table: pa.Table) -> Counter[tuple[str, str]]:
    """How many values of each feature are "missing" or "outside" the bounds, in a table that can be encoded.

    This depends on the records: it is for the person who holds them all, and never leaves a device.
    """
    counts, table = Counter[tuple[str, str]](), as_coded(policy, table)
    asked = dict(asked_rows(policy, encode(policy, table))) if policy.blocks else {}
    for name, feature in policy.features.items():
        column = table.column(name)
        counts[name, "missing"] = sum(map(_count_missing, column.chunks))
        if name in asked:
            counts[name, "missing"] = int(np.count_nonzero(is_missing(column) & asked[name]))
        if feature.is_number:
            numbers, (low, high) = numbers_of(column), feature.span
            counts[name, "outside"] = int(np.count_nonzero(numbers < low) + np.count_nonzero(numbers > high))
    return counts


def _count_missing(values: pa.Array) -> int:
    if values.null_count == 0 and (pa.types.is_boolean(values.type) or pa.types.is_integer(values.type)):
        return 0
    return int(np.count_nonzero(_missing(values)))


def is_missing(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Where a column has no value: null, NaN, or an empty text."""
    return np.concatenate([np.empty(0, dtype=bool), *map(_missing, column.chunks)])


def _missing(values: pa.Array) -> npt.NDArray[np.bool_]:
    kind = values.type
    if pa.types.is_dictionary(kind):
        words = np.append(_missing(values.dictionary), True)  # last, what a null place stands for
        if not words[:-1].any() and not values.null_count:
            return np.zeros(len(values), dtype=bool)
        return np.asarray(words[values.indices.cast(pa.int64()).fill_null(len(words) - 1)])
    missing = values.is_null(nan_is_null=True)
    if kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()):
        values = values.cast(pa.large_binary())
        missing = pc.or_(missing, pc.equal(pc.binary_length(values), 0).fill_null(True))
    return np.asarray(missing.to_numpy(zero_copy_only=False))


def _encode_column(policy: Policy, name: str, column: pa.ChunkedArray) -> Codes:
    feature = policy.features[name]
    if isinstance(feature, NumericFeature):
        return _scaled(feature, name, column)
    if isinstance(feature, MultipleFeature):
        return ticked_codes(feature, name, column, silent=len(feature.sets) if feature.own else 0)
    known: Mapping[str, int] = codes_of(feature.values)
    if feature.follows:
        known = joined(known, {NOT_APPLICABLE: len(feature.categories) - 1})
    imputed = imputed_code(feature, known, _LACKING)
    parts, rows = [], 0
    for chunk in column.chunks:
        try:
            codes = values_coded(joined(known, {"": imputed}), imputed, chunk)
        except pa.ArrowNotImplementedError:
            raise refuse(f"column '{name}'", _values_of(chunk.type), "text, numbers or true/false") from None
        if len(codes) and codes.min() < 0 and (unknown := codes == _UNKNOWN).any():
            raise _unknown(name, feature, rows + int(unknown.argmax()) + 1)
        rows += len(codes)
        parts.append(codes)
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=_CODE), *parts])


def imputed_code(feature: ValuedFeature, known: Mapping[str, int], none: int) -> int:
    """The code of no answer: that of a value, one more where it is a value of its own, and `none` without a rule."""
    if feature.missing is None:
        return none
    return len(feature.categories) - feature.extras if feature.own else known[spelled(feature.missing)]


def _values_of(kind: pa.DataType) -> str:
    """What a column holds; the type of a record within a record would name its keys, which are the record's."""
    return "lists or records" if pa.types.is_nested(kind) else f"values of type {kind}"


def _unknown(name: str, feature: ValuedFeature, row: int) -> InputError:
    values = feature.values
    listed = ", ".join(map(repr, (values or (0, 1, False, True))[:12])) + ", ..." * (len(values or ()) > 12)
    empty = ", or empty" * (feature.missing is not None)
    hint = " (capitals and spaces count)" if any(isinstance(value, str) for value in values or ()) else ""
    hint = hint if values else " (other words: state `values` in the policy)"
    error = InputError(f"column '{name}': got a value that is not listed; accepted: {listed}{empty}{hint}")
    error.row = row
    return error


def values_coded(known: Mapping[str, int], imputed: int, values: pa.Array) -> npt.NDArray[np.int32]:
    """The code of each value, `_UNKNOWN` where it is not known."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _looked_up(values_coded(known, imputed, values.dictionary), imputed, values.indices)
    if pa.types.is_boolean(kind):
        false, true = (known.get(word, -1) for word in ("false", "true"))
        first, skipped = divmod(values.offset, 8)
        packed = np.frombuffer(values.buffers()[1] or b"", dtype=np.uint8)[first:]
        codes = np.unpackbits(packed, bitorder="little", count=skipped + len(values))[skipped:].astype(_CODE)
        if (false, true) != (0, 1):
            codes = codes * _CODE(true - false) + _CODE(false)
        return _with_missing(codes, imputed, values)
    if pa.types.is_integer(kind) and kind != pa.uint64():
        if isinstance(known, WholeWords):
            return known.coded(values)
        numbers = whole_numbers(known)
        low, high = min(numbers, default=0) - 1, max(numbers, default=0) + 1
        if high - low < _WIDEST:
            table = np.full(high - low + 1, -1, dtype=_CODE)
            table[[number - low for number in numbers]] = list(numbers.values())
            return _looked_up(table, imputed, values, low)
    if (pa.types.is_string(kind) or pa.types.is_large_string(kind)) and not isinstance(known, WholeWords):
        position = pc.index_in(values, value_set=pa.array(known, kind))
        codes = _looked_up(np.fromiter(known.values(), _CODE), -1, position)
        return _with_missing(codes, imputed, values)
    distinct = values.dictionary_encode()
    table = np.array([_code(known, imputed, value) for value in distinct.dictionary.to_pylist()], dtype=_CODE)
    return _looked_up(table, imputed, distinct.indices)


def _looked_up(table: npt.NDArray[np.int32], missing: int, numbers: pa.Array, low: int = 0) -> npt.NDArray[np.int32]:
    """The table's entry for each number, counted from `low`; numbers beyond the table have its first or last one."""
    present = numbers.fill_null(0) if numbers.null_count else numbers
    offsets = present.to_numpy(zero_copy_only=False).astype(np.intp, copy=False)
    if low:
        offsets = offsets - low  # what wraps around lands beyond the table too
    codes = table.take(offsets, mode="clip") if len(table) else np.empty(len(offsets), _CODE)
    return _with_missing(codes, missing, numbers)


def _with_missing(codes: npt.NDArray[np.int32], missing: int, values: pa.Array) -> npt.NDArray[np.int32]:
    if values.null_count:
        codes[np.asarray(values.is_null())] = missing
    return codes


def spelled(value: object) -> str:
    """The word by which a value is recognised: `1`, `1.0` and `"1"` are one value, and so are `true` and `"true"`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def codes_of(values: Sequence[Any] | None) -> Mapping[str, int]:
    """The number of each value, by its words; a binary feature without values knows 0/1 and false/true.

    Files write 1 as 1.0 where another row is missing, and true as True or TRUE: each is known, unless it is listed as
    another value.
    """
    if isinstance(values, range):
        return WholeWords(values)
    listed = [(0, 0), (1, 1), (False, 0), (True, 1)] if values is None else [(v, n) for n, v in enumerate(values)]
    also = {word: number for value, number in listed for word in _other_words(value)}
    return {**also, **{spelled(value): number for value, number in listed}}


def _other_words(value: object) -> tuple[str, ...]:
    if isinstance(value, bool):
        return str(value), str(value).upper()
    return (f"{value}.0",) if isinstance(value, int) else ()


def _code(known: Mapping[str, int], imputed: int, value: Any) -> int:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return imputed
    if isinstance(value, int | float | Decimal) and not -LARGEST_WHOLE <= value <= LARGEST_WHOLE:
        return -1
    return known.get(spelled(value), -1)


def _scaled(feature: NumericFeature, name: str, column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """The numbers on the [-1, 1] scale; NaN where there is none, and no rule for that."""
    kind = column.type
    if not holds_numbers(kind) and not is_missing(column).all():
        raise refuse(f"column '{name}'", _values_of(kind), "numbers")
    numbers = np.array(numbers_of(column))
    if isinstance(feature.missing, float):
        numbers[np.isnan(numbers)] = feature.missing
    codes = _in_bounds(feature, numbers)
    if feature.own:
        codes[np.isnan(codes)] = UNANSWERED
    return codes


def _in_bounds(feature: Feature, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Numbers on the [-1, 1] scale, in place."""
    low, high = feature.span
    np.clip(numbers, low, high, out=numbers)
    numbers -= low
    numbers /= high - low
    numbers *= 2
    numbers -= 1
    return np.clip(numbers, -1.0, 1.0, out=numbers)


def coded_cuts(feature: Feature) -> npt.NDArray[np.float64]:
    """Where the ranges of a number begin on the [-1, 1] scale, the first apart.

    >>> coded_cuts(NumericFeature(type="numeric", bounds=(0, 100), ranges=(10, 50))).tolist()
    [-0.8, 0.0]
    """
    return coded_numbers(feature, feature.cuts)


def coded_numbers(feature: Feature, numbers: Iterable[float]) -> npt.NDArray[np.float64]:
    """Numbers of a feature on the [-1, 1] scale, as devices code them."""
    return _in_bounds(feature, np.array([*numbers], dtype=np.float64))


def range_of(feature: Feature, codes: Codes) -> npt.NDArray[np.int64]:
    """Which range each coded number is in, counted from 0; a number at a cut is in the range that begins there.

    >>> range_of(NumericFeature(type="numeric", bounds=(0, 100), ranges=(10, 50)), np.array([-1, -0.8, 0.7])).tolist()
    [0, 1, 2]
    """
    return step_of(feature, feature.cuts, codes)


def step_of(feature: Feature, cuts: Iterable[float], codes: Codes) -> npt.NDArray[np.int64]:
    """The step of each coded number, from 0, then those of no answer and not applicable: devices compare codes, too."""
    starts = np.append(coded_numbers(feature, cuts), 2.0 + np.arange(feature.extras))
    return np.searchsorted(starts, codes, side="right").astype(np.int64)


def holds_numbers(kind: pa.DataType) -> bool:
    """Whether a column of this type has numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def numbers_of(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """The numbers of a column, NaN where there is none; a column of another type is empty, or it was refused."""
    if not holds_numbers(column.type):
        return np.full(len(column), np.nan)
    return np.asarray(pc.cast(column, pa.float64(), safe=False).to_numpy(), dtype=np.float64)
