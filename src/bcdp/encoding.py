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
            return pa.table({name: _column(values) for name, values in table.items()})
        return pa.table(table)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(
            f"table: {type(table).__name__} cannot be read ({error}); accepted: pandas, polars, pyarrow or a "
            "mapping of names to columns of equal length"
        ) from None


def _column(values: Any) -> Any:
    return values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)


def encode(policy: Policy, table: pa.Table) -> dict[str, Codes]:
    """One array of codes for each feature of the policy; other columns are not looked at."""
    missing = [name for name in policy.features if name not in table.column_names]
    if missing:
        raise refuse("table", f"no column {', '.join(map(repr, missing))}", f"columns {', '.join(policy.features)}")
    return {name: _encode_column(policy, name, table.column(name)) for name in policy.features}


def _encode_column(policy: Policy, name: str, column: pa.ChunkedArray) -> Codes:
    feature = policy.features[name]
    if isinstance(feature, NumericFeature):
        return _scaled(feature, name, column)
    words = codes_of(feature.values)
    imputed = words[_text(feature.imputed)]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    encoded = values.dictionary_encode()
    known = [_code(feature.values, words, name, value, imputed) for value in encoded.dictionary.to_pylist()]
    indices = np.asarray(pc.fill_null(encoded.indices, len(known)), dtype=np.int64)
    return np.array([*known, imputed], dtype=np.int64)[indices]


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
