"""Dates in records, by public rules: the day, month or year that a cell states, as the number that it counts.

A cell is a date of Arrow, or a text such as 1974-05-31; months may be written as 1974-05, and years as 1974. Nothing
else is read: 05/06/74 has two meanings.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.errors import InputError, refuse
from bcdp.policy import NumericFeature, Policy
from bcdp.policy.features import Dates
from bcdp_device.dates import accepted_dates, read_date

_NUMPY_UNITS = {"days": "D", "months": "M", "years": "Y"}


def with_dates(policy: Policy, table: pa.Table) -> pa.Table:
    """The table with the columns of dates as numbers, which are empty where they are."""
    for name, feature in policy.features.items():
        if isinstance(feature, NumericFeature) and feature.dates and table.column_names.count(name) == 1:
            numbers = pa.array(date_numbers(feature.dates, name, table.column(name)), from_pandas=True)
            table = table.set_column(table.column_names.index(name), name, numbers)
    return table


def date_numbers(dates: Dates, name: str, column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """The number of each date of a column, NaN where there is none.

    >>> days = Dates(since="1974-01-01", unit="days")
    >>> date_numbers(days, "seen", pa.chunked_array([["1974-01-31", None, "", "1973-12-31"]])).tolist()
    [30.0, nan, nan, -1.0]
    """
    parts, rows = [np.empty(0)], 0
    for chunk in column.chunks:
        parts.append(_numbers(dates, name, chunk, rows))
        rows += len(chunk)
    return np.concatenate(parts)


def _numbers(dates: Dates, name: str, values: pa.Array, rows: int) -> npt.NDArray[np.float64]:
    kind = values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _counted(dates, values.cast(pa.date32(), safe=False))
    if pa.types.is_dictionary(kind):
        values = values.dictionary_decode()
    if pa.types.is_nested(kind) or pa.types.is_temporal(kind) or pa.types.is_boolean(kind):
        raise refuse(f"column '{name}'", "no dates", accepted_dates(dates.unit))
    encoded = values.dictionary_encode()
    numbers = np.array([*(_number(dates, value) for value in encoded.dictionary.to_pylist()), np.nan])
    codes = encoded.indices.cast(pa.int64()).fill_null(len(numbers) - 1).to_numpy(zero_copy_only=False)
    result: npt.NDArray[np.float64] = numbers[codes]
    if np.isinf(result).any():
        error = InputError(f"column '{name}': got a value that is no date; accepted: {accepted_dates(dates.unit)}")
        error.row = rows + int(np.isinf(result).argmax()) + 1
        raise error
    return result


def _counted(dates: Dates, values: pa.Array) -> npt.NDArray[np.float64]:
    """The numbers of Arrow's dates."""
    unit = _NUMPY_UNITS[dates.unit]
    days = values.cast(pa.int32()).fill_null(0).to_numpy().astype("datetime64[D]")
    since = np.datetime64(dates.since, "D").astype(f"datetime64[{unit}]")
    numbers: npt.NDArray[np.float64] = (days.astype(f"datetime64[{unit}]") - since).astype(np.float64)
    numbers[np.asarray(values.is_null())] = np.nan
    return numbers


def _number(dates: Dates, value: Any) -> float:
    """The number of a date; NaN where there is none, infinite where it is none."""
    if value is None or value == "" or value != value:
        return np.nan
    day = date_meant(value, dates)
    return np.inf if day is None else float(dates.number(day))


def date_meant(value: Any, dates: Dates) -> date | None:
    """The day that a value states, None if it states none."""
    if isinstance(value, datetime | date):
        return value.date() if isinstance(value, datetime) else value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return read_date(value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value), dates.unit)
