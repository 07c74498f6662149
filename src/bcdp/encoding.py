"""Records as numbers, by public rules only: clip, impute, look up; nothing random, nothing that could leak.

A numeric feature becomes a float in [-1, 1], a binary or categorical one the number of its value. What is missing is
imputed by the policy's public rule, what is out of bounds is moved to the nearer bound, and a value that the policy
does not know is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bcdp.errors import InputError, refuse
from bcdp.policy import NumericFeature, Policy

Codes = npt.NDArray[Any]  # float64 in [-1, 1], or int64 numbers of values


def as_arrow(table: Any) -> pa.Table:
    """Anything that Arrow can read as a table: pandas, polars, pyarrow, a mapping of columns."""
    if isinstance(table, pa.Table):
        return table
    try:
        if isinstance(table, pa.RecordBatch):
            return pa.Table.from_batches([table])
        if isinstance(table, Mapping):
            return pa.table({name: _column(name, values) for name, values in table.items()})
        return pa.table(table)
    except InputError:
        raise
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(
            f"table: {type(table).__name__} cannot be read ({error}); accepted: pandas, polars, pyarrow or a "
            "mapping of names to columns of equal length"
        ) from None


def _column(name: object, values: Any) -> Any:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"column '{name}': cannot be read ({error}); accepted: a list of values of one type") from None


def arrow_types(policy: Policy) -> dict[str, pa.DataType]:
    """How to read each feature from a file that states no types."""
    return {
        name: pa.float64() if isinstance(feature, NumericFeature) else pa.string()
        for name, feature in policy.features.items()
    }


def encode(policy: Policy, table: pa.Table) -> dict[str, Codes]:
    """One array of codes for each feature of the policy; other columns are not looked at."""
    found = {name: table.column_names.count(name) for name in policy.features}
    if unclear := {name: count for name, count in found.items() if count != 1}:
        shown = ", ".join(f"{count or 'no'} column{'s' * (count > 1)} '{name}'" for name, count in unclear.items())
        raise InputError(f"table: got {shown}; accepted: one column for each of {', '.join(policy.features)}")
    return {name: _encode_column(policy, name, table.column(name)) for name in policy.features}


def _encode_column(policy: Policy, name: str, column: pa.ChunkedArray) -> Codes:
    feature = policy.features[name]
    if isinstance(feature, NumericFeature):
        return _scaled(feature, name, column)
    words = codes_of(feature.values)
    imputed = words[_text(feature.imputed)]
    codes = [np.empty(0, dtype=np.int64)]
    for chunk in column.chunks:
        encoded = chunk if pa.types.is_dictionary(column.type) else _dictionary(name, chunk)
        values = encoded.dictionary.to_pylist()
        indices = np.asarray(pc.fill_null(encoded.indices.cast(pa.int64()), len(values)), dtype=np.int64)
        code_of = np.full(len(values) + 1, imputed)
        for index in np.flatnonzero(np.bincount(indices, minlength=len(values))[: len(values)]):  # only values in use
            code_of[index] = _code(feature.values, words, name, values[index], imputed)
        codes.append(code_of[indices])
    return np.concatenate(codes)


def _dictionary(name: str, chunk: pa.Array) -> pa.DictionaryArray:
    try:
        return chunk.dictionary_encode()
    except pa.ArrowNotImplementedError:
        raise refuse(f"column '{name}'", f"values of type {chunk.type}", "text, numbers or true/false") from None


def _text(value: object) -> str:
    """The word by which a value is recognised: `1`, `1.0` and `"1"` are one value, and so are `true` and `"true"`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def codes_of(values: tuple[Any, ...] | None) -> dict[str, int]:
    """The number of each value, by its word; a binary feature without values knows 0/1 and false/true."""
    if values is None:
        return {"0": 0, "1": 1, "false": 0, "true": 1, "False": 0, "True": 1}
    return {_text(value): number for number, value in enumerate(values)}


def _code(values: tuple[Any, ...] | None, codes: dict[str, int], name: str, value: object, imputed: int) -> int:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return imputed
    code = codes.get(_text(value))
    if code is None:
        known = (
            "0, 1, false or true"
            if values is None
            else ", ".join(map(repr, values[:12])) + ", ..." * (len(values) > 12)
        )
        raise refuse(f"column '{name}'", value, known)
    return code


def _scaled(feature: NumericFeature, name: str, column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    kind = column.type
    if not (
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)
    ):
        raise refuse(f"column '{name}'", f"values of type {kind}", "numbers")
    numbers = np.asarray(pc.cast(column, pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    low, high = feature.bounds
    inside = np.clip(np.where(np.isnan(numbers), feature.imputed, numbers), low, high)
    return np.clip((inside - low) / (high - low) * 2 - 1, -1.0, 1.0)
