"""A first draft of a policy from the columns of a data file: names, types, whether any is missing; never a value."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from bcdp.errors import refuse
from bcdp.exact import odds_up
from bcdp.files import NOT_A_NUMBER, csv_names, read_batches
from bcdp.files.statistical_packages import ENDINGS, LABEL, LABELS, MEMBER_OF, survey_schema
from bcdp.policy import PLACEHOLDER
from bcdp.policy.yaml_text import one_line
from bcdp.records.encoding import holds_numbers, is_missing

_EPSILON = 1.0
_SENSITIVE = 0.2
_NUMBER = r"^\s*[-+]?\s*\p{Sc}?\s*\d[\d.,' ]*\s*[%\p{Sc}]?\s*$"

_HEADER = f"""\
# A draft: write public knowledge in place of every {PLACEHOLDER}, and confirm every type. Delete what is not to be
# collected, such as ids, names, dates and free text: columns that a policy does not name are never looked at.
# Bounds and values taken from the private data themselves would leak them: an income of 3 141 593 as the upper bound
# says that somebody earns it. Take them from public knowledge: the question asked, a census, common sense.
"""


class FileColumns(NamedTuple):
    """What a file's columns hold, for anybody who holds the file: numbers of records, and of different texts."""

    people: int
    missing: Counter[str]
    numbers: Counter[str]  # in columns of text: what is a number, perhaps with separators and signs
    different: Counter[str]  # in columns of text, as far as the first records show


def policy_skeleton(path: str | Path, watch: Callable[[FileColumns], object] = lambda columns: None) -> str:
    """The YAML text of a policy to be filled in, from the column names and types of a CSV, Parquet or survey file.

    The files of SPSS, Stata and SAS have questions and value labels too, which are the questionnaire's and no record's.

    A column with missing values gets a line for them. How many there are is not written, because policies are public:
    `watch` is called with it.
    """
    schema = _named(_schema(Path(path)))
    columns = _columns(read_batches(Path(path), {}), schema)
    watch(columns)
    return _text(schema, columns.missing)


def skeleton_of(table: pa.Table) -> tuple[str, Counter[str], int]:
    """The same text for a table in memory, and what its file's `watch` would be given.

    >>> text, missing, people = skeleton_of(pa.table({"age": [31, None]}))
    >>> missing, people
    (Counter({'age': 1}), 2)
    """
    schema = _named(table.schema)
    columns = _columns(table.to_batches(), schema)
    return _text(schema, columns.missing), columns.missing, columns.people


def _named(schema: pa.Schema) -> pa.Schema:
    if not schema.names or "" in schema.names or len(set(schema.names)) < len(schema.names):
        raise refuse("data", schema.names, "a file whose columns have different names, none of them empty")
    return schema


def _text(schema: pa.Schema, missing: Counter[str]) -> str:
    lines = [
        _HEADER,
        f"epsilon: {_EPSILON}  # for the whole record: odds of any guess {_odds(_EPSILON)}, whatever the correlation",
        "features:",
        *(
            line
            for column in schema
            if MEMBER_OF not in (column.metadata or {})  # whose list is a column of its own
            for line in _feature(column, missing[column.name] > 0)
        ),
        "correlation: 1  # nothing is assumed, and the smallest delta limits every answer; 0: features tell nothing of",
        "# each other; {odds: 3}: whoever knows all else about a person can move the odds of an answer at most 3 times",
        "# tasks:  # left out: the mean of every numeric and binary feature, the frequencies of every categorical one",
        "mechanism: survey",
    ]
    return "\n".join(lines) + "\n"


def _schema(path: Path) -> pa.Schema:
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet", *ENDINGS):
        raise refuse("data", str(path), "a file whose name ends in .csv, .parquet, .sav, .dta, .sas7bdat or .xpt")
    try:
        if suffix in ENDINGS:
            return survey_schema(path)
        if suffix == ".parquet":
            return parquet.read_schema(path)
        csv_names(path)  # says what is wrong with its letters or its commas
        with csv.open_csv(path) as reader:
            return reader.schema
    except (OSError, pa.ArrowException):  # their own words may quote the data
        raise refuse("data", str(path), "an existing CSV or Parquet file with columns") from None


def _columns(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> FileColumns:
    """What commands that read records see in each column."""
    columns = FileColumns(0, Counter(), Counter(), Counter())
    for batch in batches:  # the cells of a CSV as text: a later one may not fit the type of the first
        for column in schema:
            name, values = column.name, _plain(batch.column(column.name))
            gaps = is_missing(pa.chunked_array([values]))
            if pa.types.is_string(values.type) and holds_numbers(column.type):
                gaps |= np.asarray(pc.is_in(values, pa.array(NOT_A_NUMBER)))
            columns.missing[name] += int(np.count_nonzero(gaps))
            if _is_text(column.type):
                columns.numbers[name] += pc.sum(pc.match_substring_regex(values, _NUMBER)).as_py() or 0
                columns.different[name] = columns.different[name] or pc.count_distinct(values).as_py()
        columns = columns._replace(people=columns.people + len(batch))
    return FileColumns(columns.people, +columns.missing, +columns.numbers, +columns.different)


def _plain(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _feature(column: pa.Field, lacking: bool) -> list[str]:
    missing = (
        f"    missing: {PLACEHOLDER}  # own: counted apart; or the value that counts; without a rule these are refused"
    )
    metadata = column.metadata or {}
    label = [f"    label: {one_line(metadata[LABEL].decode())}"] if LABEL in metadata else []
    listed = _to_tick if pa.types.is_list(column.type) else _listed
    kind = listed(json.loads(metadata[LABELS])) if LABELS in metadata else _kind(column.type)
    return [
        f"  {one_line(column.name)}:",
        *label,
        *(f"    {line}" for line in kind),
        *([missing] if lacking else []),
        f"    delta: {_EPSILON}  # {_SENSITIVE}: odds of a guess about it {_odds(_SENSITIVE)}, "
        "if the correlation below is right",
    ]


def _listed(words: list[str]) -> tuple[str, ...]:
    """The lines of a column whose file has the words of its values."""
    return (
        f"type: {'binary' if len(words) == 2 else 'categorical'}",
        f"values: {one_line(words)}  # the file's value labels, in the order of their codes",
    )


def _to_tick(words: list[str]) -> tuple[str, ...]:
    """The lines of a multiple-response set."""
    return (
        "type: multiple",
        f"values: {one_line(words)}  # the items of the file's multiple-response set",
        f"at_most: {PLACEHOLDER}  # how many a person may tick; without this line all of them",
    )


def _kind(arrow: pa.DataType) -> tuple[str, ...]:
    """The lines that say what a column is, as far as its Arrow type says."""
    types = pa.types
    if types.is_boolean(arrow):
        return ("type: binary",)
    if holds_numbers(arrow):
        return (
            "type: numeric  # or categorical, if the numbers are codes; or binary, if they are 0 and 1",
            f"bounds: [{PLACEHOLDER}, {PLACEHOLDER}]  # the least and greatest possible, from public knowledge",
        )
    if types.is_dictionary(arrow) or _is_text(arrow):
        return (
            "type: categorical  # or binary, if there are two values",
            f"values: [{PLACEHOLDER}]  # all possible ones, from public knowledge, letter for letter",
        )
    if types.is_date(arrow) or types.is_timestamp(arrow):
        return (
            "type: date",
            f"from: {PLACEHOLDER}  # the earliest and the latest possible, from public knowledge",
            f"to: {PLACEHOLDER}",
            "unit: months  # or days, or years: the coarser, the fewer people share no date with others",
        )
    return (f"type: {PLACEHOLDER}  # a column of {arrow}: turn it into a number, a category or yes/no first",)


def _is_number(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_integer(arrow) or pa.types.is_floating(arrow) or pa.types.is_decimal(arrow))


def _is_text(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow))


def _odds(level: float) -> str:
    """What a level means to a person; the factor is rounded up, as every claim is (theory.md, section 1)."""
    return f"move by at most x{odds_up(level):.2f}"
