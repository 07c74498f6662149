"""Records as numbers: every rule by hand, every kind of table alike, and what is not known is refused by name."""

from __future__ import annotations

import decimal
import io
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcdp import InputError, Policy
from bcdp.records.encoding import as_arrow, encode, is_missing, unusual

POLICY = Policy(
    epsilon=1,
    features={
        "smoker": {"type": "binary", "missing": 0},
        "answer": {"type": "binary", "values": ["no", "yes"], "missing": "yes"},
        "income": {"type": "numeric", "bounds": [-50, 150], "missing": 50},
        "age": {"type": "numeric", "bounds": [0, 100], "missing": 25},
        "region": {"type": "categorical", "values": ["north", "south", 3], "missing": "south"},
    },
)
RECORDS: dict[str, list[Any]] = {
    "smoker": [1, 0, None],
    "answer": ["no", None, "yes"],
    "income": [-50.0, 150.0, None],
    "age": [75.0, None, 100.0],
    "region": ["south", "north", None],
}
CODES = {"smoker": [1, 0, 0], "answer": [0, 1, 1], "income": [-1, 1, 0], "age": [0.5, -0.5, 1], "region": [1, 0, 1]}


PLAIN = (
    r"column 'smoker': got a value that is not listed; accepted: 0, 1, False, True, or empty "
    r"\(other words: state `values` in the policy\)"
)


def codes(**columns: Any) -> dict[str, list[float]]:
    """The codes of some columns, the others filled up."""
    given_columns = {name: as_arrow({name: values}).column(name) for name, values in columns.items()}
    size = max(len(column) for column in given_columns.values())
    table = {name: pa.nulls(size) for name in POLICY.features} | given_columns
    return {name: values.tolist() for name, values in encode(POLICY, pa.table(table)).items() if name in columns}


def _read_csv(records: dict[str, list[Any]]) -> pa.Table:
    text = pd.DataFrame(records).to_csv(index=False)
    return pyarrow.csv.read_csv(
        io.BytesIO(text.encode()), convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    )


TABLES = {
    "lists": RECORDS,
    "arrays": {name: np.array(values, dtype=object) for name, values in RECORDS.items()},
    "arrow": pa.table(RECORDS),
    "batch": pa.RecordBatch.from_pydict(RECORDS),
    "chunks": pa.concat_tables([pa.table(RECORDS).slice(0, 1), pa.table(RECORDS).slice(1)]),
    "dictionary": pa.table({**RECORDS, "region": pa.array(RECORDS["region"]).dictionary_encode()}),
    "dictionaries": pa.table(
        {
            **RECORDS,
            "region": pa.chunked_array(
                [pa.array(["south", "north"]).dictionary_encode(), pa.array([None], pa.string()).dictionary_encode()]
            ),
        }
    ),
    "pandas": pd.DataFrame(RECORDS),
    "pandas categories": pd.DataFrame(
        {**RECORDS, "region": pd.Categorical(RECORDS["region"], ["unused", "south", "north"])}
    ),
    "pandas nullable": pd.DataFrame(RECORDS).convert_dtypes(),
    "polars": pl.DataFrame(RECORDS),
    "polars categories": pl.DataFrame(RECORDS).with_columns(pl.col("region").cast(pl.Categorical)),
    "polars enumeration": pl.DataFrame(RECORDS).with_columns(pl.col("region").cast(pl.Enum(["south", "x", "north"]))),
    "csv": _read_csv(RECORDS),
    "another column": {**RECORDS, "name": ["not", "looked", "at"]},
}


@pytest.mark.parametrize("name", TABLES)
def test_every_kind_of_table_gives_the_same_codes(name: str) -> None:
    encoded = encode(POLICY, as_arrow(TABLES[name]))
    assert {name: values.tolist() for name, values in encoded.items()} == CODES
    assert {name: values.dtype for name, values in encoded.items()} == {
        name: np.dtype(np.float64 if name in ("income", "age") else np.int32) for name in CODES
    }


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1, None], [0, 1, 0]),
        ([0.0, 1.0, -0.0, math.nan], [0, 1, 0, 0]),
        ([False, True], [0, 1]),
        (["0", "1", "false", "true", "False", "True", "FALSE", "TRUE"], [0, 1] * 4),
        (["0.0", "1.0", ""], [0, 1, 0]),
        ([b"0", b"true"], [0, 1]),
        (np.array([1, 0], dtype=np.uint8), [1, 0]),
        ([decimal.Decimal(1), decimal.Decimal(0)], [1, 0]),
        (pa.array(["1", "0"], pa.string_view()), [1, 0]),
        (pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array([1, None])), [1, 0, 0]),
    ],
)
def test_a_bit_is_written_in_many_ways(values: Any, expected: list[int]) -> None:
    assert codes(smoker=values) == {"smoker": expected}


def test_a_category_may_be_a_number_or_its_text() -> None:
    assert codes(region=[3, None]) == {"region": [2, 1]}
    assert codes(region=["3", "north"]) == {"region": [2, 0]}
    assert codes(region=[3.0]) == {"region": [2]}
    assert codes(region=["3.0", ""]) == {"region": [2, 1]}


def test_a_listed_word_means_itself_before_anything_else() -> None:
    """Also where it looks like nothing, or like another way to write its neighbour."""
    values = ["NA", "null", "nan", "n/a", 2, "2.0", True, "TRUE", "None"]
    policy = Policy(epsilon=1, features={"a": {"type": "categorical", "values": values, "missing": "NA"}})
    words = [str(value).lower() if value is True else str(value) for value in values]
    assert encode(policy, pa.table({"a": words}))["a"].tolist() == list(range(len(values)))
    assert encode(policy, pa.table({"a": ["True", "2", None, ""]}))["a"].tolist() == [6, 4, 0, 0]


@pytest.mark.parametrize(
    "values",
    [
        [75, None, math.nan, math.inf, -math.inf, 1e300, -1e300, 200, -0.001],
        np.array([75, np.nan, np.nan, np.inf, -np.inf, 1e300, -1e300, 200, -0.001]),
        pd.Series([75, None, None, np.inf, -np.inf, 1e300, -1e300, 200, -0.001]),
    ],
)
def test_numbers_are_imputed_then_clipped(values: Any) -> None:
    assert codes(age=values) == {"age": [0.5, -0.5, -0.5, 1, -1, 1, -1, 1, -1]}


@pytest.mark.parametrize(
    "values",
    [
        np.array([75, 0], dtype=np.uint64),
        np.array([75, 0], dtype=np.float16),
        [decimal.Decimal("75.0"), decimal.Decimal(0)],
        pa.array([75, 0], pa.decimal128(5, 2)),
    ],
)
def test_numbers_of_any_type(values: Any) -> None:
    assert codes(age=values) == {"age": [0.5, -1]}


def test_the_largest_whole_numbers_are_clipped_too() -> None:
    infinite, huge = decimal.Decimal("Infinity"), 10**400
    for values in ([infinite, -infinite, None, decimal.Decimal("sNaN")], [huge, -(2**63) - 1, None, math.nan]):
        for column in (values, np.array(values, dtype=object), pd.Series(values, dtype=object)):
            assert codes(age=column) == {"age": [1, -1, -0.5, -0.5]}
        frame = pd.DataFrame({**{name: [None] * 4 for name in POLICY.features}, "age": pd.Series(values, dtype=object)})
        assert encode(POLICY, as_arrow(frame))["age"].tolist() == [1, -1, -0.5, -0.5]
    assert codes(age=np.array([2**64 - 1], dtype=np.uint64)) == {"age": [1]}
    assert codes(age=np.array([-(2**63)])) == {"age": [-1]}


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(st.floats(), min_size=1, max_size=5),
)
def test_no_bounds_and_no_number_leave_the_unit_interval(first: float, second: float, values: list[float]) -> None:
    low, high = sorted((first, second))
    if not 0 < (high - low) / 2 < math.inf:
        return
    policy = Policy(epsilon=1, features={"x": {"type": "numeric", "bounds": [low, high], "missing": low}})
    found = encode(policy, pa.table({"x": pa.array(values, pa.float64())}))["x"]
    assert np.all(np.abs(found) <= 1)  # false for NaN
    for value, code in zip(values, found, strict=True):
        if not low < value < high:  # NaN among them
            assert code == (1 if value >= high else -1)


def test_no_rows_have_no_codes() -> None:
    for empty in (
        {name: [] for name in POLICY.features},
        pa.table(RECORDS).slice(0, 0),
        pa.table({name: pa.chunked_array([], pa.string()) for name in ("smoker", "answer", "region")})
        .append_column("income", pa.chunked_array([], pa.int64()))
        .append_column("age", pa.chunked_array([], pa.float64())),
        pl.DataFrame(RECORDS).head(0),
    ):
        assert {name: len(values) for name, values in encode(POLICY, as_arrow(empty)).items()} == dict.fromkeys(
            CODES, 0
        )


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("smoker", [0, 2], PLAIN),
        ("smoker", ["maybe"], PLAIN),
        ("smoker", [0.5], PLAIN),
        ("smoker", [math.inf], PLAIN),
        ("smoker", [10**30], PLAIN),
        ("answer", ["no", "YES"], "column 'answer': got a value that is not listed; accepted: 'no', 'yes', or empty"),
        ("answer", [True], "column 'answer': got a value that is not listed; accepted: 'no', 'yes', or empty"),
        ("region", ["west"], "column 'region': got a value .*; accepted: 'north', 'south', 3, or empty"),
        ("region", [["north"]], r"column 'region': got 'lists or records'; accepted: text"),
        ("smoker", [{"a": 1}], r"column 'smoker': got 'lists or records'; accepted: text"),
        ("age", ["12"], "column 'age': got 'values of type string'; accepted: numbers"),
        ("age", [True], "column 'age': got 'values of type bool'; accepted: numbers"),
        ("age", np.array(["2020-01-01"], dtype="M8[D]"), r"column 'age': got 'values of type date32\[day\]'; accepted"),
        ("age", pa.array([1.0]).dictionary_encode(), "column 'age': got 'values of type dictionary<.*'; accepted"),
        ("age", [1, "a"], "column 'age': .* cannot be read; accepted: a list of values of one type"),
        ("age", 5, "column 'age': .* cannot be read; accepted: a list of values of one type"),
        ("age", np.ones((2, 2)), "column 'age': .* cannot be read; accepted: a list of values of one type"),
    ],
)
def test_what_is_not_known_is_refused_by_the_name_of_its_column(column: str, values: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        codes(**{column: values})


def test_no_error_quotes_a_record() -> None:
    """Whatever is wrong with a table, the secret in it is not told; the row is, where one is to blame."""
    secret = "canary"
    policy = Policy(epsilon=1, features={"a": {"type": "categorical", "values": ["x"]}, "n": NUMBER})
    for table in (
        {"a": ["x", secret], "n": [1, 2]},
        {"a": ["x", 5, secret], "n": [1, 2, 3]},
        {"a": ["x", "x"], "n": [1, secret]},
        {"a": ["x", "x"], "n": [secret, secret]},
        pd.DataFrame({"a": ["x", "x"], "n": [1, secret]}),
        [{"a": secret}],
        pa.chunked_array([["x"], [secret]]),
    ):
        with pytest.raises(InputError) as caught:
            encode(policy, as_arrow(table))
        assert secret not in str(caught.value)
    with pytest.raises(InputError) as caught:
        encode(policy, pa.table({"a": pa.chunked_array([["x"], ["x", secret]]), "n": [1, 2, 3]}))
    assert caught.value.row == 3


NUMBER = {"type": "numeric", "bounds": [0, 10]}


def test_what_is_missing_or_outside_is_counted() -> None:
    policy = Policy(epsilon=1, features={"a": {"type": "categorical", "values": ["x"]}, "n": NUMBER})
    words = ["x", None, "", "x", "x"]
    numbers = pa.array([0.0, 10.0, math.nan, -1.0, math.inf])
    for texts in (
        pa.array(words),
        pa.array(words, pa.large_string()),
        pa.array(words, pa.string_view()),
        pa.array(words, pa.binary()),
        pa.array(words).dictionary_encode(),
        pa.chunked_array([words[:2], words[2:]]),
    ):
        found = unusual(policy, pa.table({"a": texts, "n": numbers}))
        assert found == {("a", "missing"): 2, ("n", "missing"): 1, ("n", "outside"): 2}


def test_a_long_list_of_values_is_not_all_recited() -> None:
    policy = Policy(epsilon=1, features={"c": {"type": "categorical", "values": list(range(100))}})
    with pytest.raises(InputError, match=r"column 'c': got a value .*; accepted: 0, 1, .*, 11, \.\.\.$"):
        encode(policy, pa.table({"c": [100]}))


def test_a_column_must_be_there_once() -> None:
    with pytest.raises(InputError, match="table: got no column 'income', no column 'age'; accepted: one column for"):
        encode(POLICY, pa.table({name: RECORDS[name] for name in ("smoker", "answer", "region")}))
    renamed = pa.table(RECORDS).rename_columns(["smoker", "answer", "income", " Age", "region"])
    with pytest.raises(InputError, match=r"got no column 'age' \(did you mean ' Age'\?\); accepted: one .* 'region'$"):
        encode(POLICY, renamed)
    twice = pa.table(RECORDS).append_column("age", pa.array([1.0, 2.0, 3.0]))
    with pytest.raises(InputError, match="table: got 2 columns 'age'; accepted: one column for"):
        encode(POLICY, twice)


@pytest.mark.parametrize("table", [None, 7, "data.csv", [{"age": 1}, 7], np.ones((2, 5)), {"a": [1], "b": [1, 2]}])
def test_what_is_no_table_is_refused(table: Any) -> None:
    with pytest.raises(InputError, match=r"table: \w+ cannot be read; accepted: pandas, polars, pyarrow, a mapping"):
        as_arrow(table)


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"])
def test_an_empty_text_is_missing_in_every_type(kind: str) -> None:
    column = pa.chunked_array([pa.array([b"", b"a", None]).cast(getattr(pa, kind)())])
    assert is_missing(column).tolist() == [True, False, True]
