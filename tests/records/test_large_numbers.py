"""Whole numbers of which a float cannot tell the neighbours apart are no value, whatever column they are in."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from bcdp import InputError, Policy
from bcdp.records.encoding import encode

LARGEST = 2**53 - 1


def code(word: str, column: pa.Array) -> int:
    policy = Policy(epsilon=1, features={"a": {"type": "categorical", "values": ["other", word]}})
    return int(encode(policy, pa.table({"a": column}))["a"][0])


COLUMNS = {
    "int": lambda number: pa.array([number], pa.int64()),
    "float": lambda number: pa.array(np.array([number], dtype=np.float64)),
    "decimal": lambda number: pa.array([Decimal(number)], pa.decimal128(20, 0)),
}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", COLUMNS)
def test_the_largest_whole_number_is_a_value_and_the_next_is_not(kind: str, sign: int) -> None:
    assert code(str(sign * LARGEST), COLUMNS[kind](sign * LARGEST)) == 1
    with pytest.raises(InputError, match="column 'a'"):
        code(str(sign * (LARGEST + 1)), COLUMNS[kind](sign * (LARGEST + 1)))


def test_the_same_digits_as_text_are_a_value() -> None:
    assert code(str(LARGEST + 1), pa.array([str(LARGEST + 1)])) == 1
