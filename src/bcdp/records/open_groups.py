"""Open features: what the collector knows of each person anyway, as the number of the person's group.

A group is a combination of open values. Its number has one digit for each open feature, in the policy's order, the last
changing fastest; it is sent next to the report as it is, and takes part in nothing random.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.errors import InputError, refuse
from bcdp.policy import OpenFeature, Policy
from bcdp.records.encoding import codes_of, spelled, values_coded

_LACKING = -2  # no code: where a record has no value

Groups = npt.NDArray[np.uint32]


def group_numbers(policy: Policy, table: pa.Table) -> Groups:
    """The number of each record's group: 0 throughout where nothing is open.

    >>> features = {"smoker": {"type": "binary"}, "arm": {"type": "open", "values": ["a", "b"]}}
    >>> policy = Policy(epsilon=1, features=features)
    >>> group_numbers(policy, pa.table({"arm": ["b", "a"]})).tolist()
    [1, 0]
    """
    number = np.zeros(len(table), dtype=np.uint32)
    for name, feature in policy.open.items():
        if (count := table.column_names.count(name)) != 1:
            stated = f"{count or 'no'} column{'s' * (count > 1)} {name!r}"
            raise refuse("table", stated, f"one column for the open feature {name!r}")
        number = number * np.uint32(len(feature.values)) + _codes(name, feature, table.column(name))
    return number


def _codes(name: str, feature: OpenFeature, column: pa.ChunkedArray) -> Groups:
    known = {"": _LACKING, **codes_of(feature.values)}
    try:
        parts = [values_coded(known, _LACKING, chunk) for chunk in column.chunks]
    except pa.ArrowNotImplementedError:
        raise refuse(f"column '{name}'", f"values of type {column.type}", "text, numbers or true/false") from None
    codes = np.concatenate([np.empty(0, dtype=np.int32), *parts])
    if lacking := int(np.count_nonzero(codes == _LACKING)):
        stated = f"{lacking:,} of {len(codes):,} records have no value"
        raise InputError(f"column '{name}': {stated}; accepted: a value of every record, because it is sent as it is")
    if (wrong := codes < 0).any():
        listed = ", ".join(map(repr, feature.values[:12])) + ", ..." * (len(feature.values) > 12)
        error = InputError(f"column '{name}': got a value that is not listed; accepted: {listed}")
        error.row = int(wrong.argmax()) + 1
        raise error
    return codes.astype(np.uint32)


def group_of(policy: Policy, record: Mapping[str, Any]) -> int:
    """The number of one person's group."""
    return int(group_numbers(policy, pa.table({name: pa.array([record.get(name)]) for name in policy.open}))[0])


def digits_of(policy: Policy, groups: npt.NDArray[Any]) -> dict[str, npt.NDArray[np.int64]]:
    """The number of each group's value of each open feature."""
    sizes = [len(feature.values) for feature in policy.open.values()]
    digits = np.unravel_index(np.asarray(groups, dtype=np.int64), sizes) if sizes else ()
    return dict(zip(policy.open, (np.asarray(digit, dtype=np.int64) for digit in digits), strict=True))


def value_number(policy: Policy, name: str, value: object) -> int:
    """The number of a value of an open feature, however it is spelled."""
    feature = policy.open[name]
    code = codes_of(feature.values).get(spelled(value))
    if code is None:
        raise refuse(f"value of {name}", value, ", ".join(map(repr, feature.values[:12])))
    return code


def whole_column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """A column of reports, if it holds whole numbers, none missing."""
    column = table.column(name)
    if pa.types.is_decimal(column.type) and column.type.scale == 0:  # as some warehouses write whole numbers
        column = column.cast(pa.int64())
    if not pa.types.is_integer(column.type) or column.null_count:
        raise refuse(
            f"reports.{name}", f"type {column.type} with {column.null_count} missing", "whole numbers, none missing"
        )
    return column
