"""A first draft of a policy from the columns of a data file: names and types only, never a value."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import yaml
from pyarrow import csv, parquet

from bcdp.errors import refuse
from bcdp.files import csv_names
from bcdp.policy import PLACEHOLDER, Dumper

_EPSILON = 1.0
_SENSITIVE = 0.2

_HEADER = f"""\
# A draft: write public knowledge in place of every {PLACEHOLDER}, and confirm every type.
# Bounds and values taken from the private data themselves would leak them: an income of 3 141 593 as the upper bound
# says that somebody earns it. Take them from public knowledge: the question asked, a census, common sense.
"""


def policy_skeleton(path: str | Path) -> str:
    """The YAML text of a policy to be filled in, from the column names and types of a CSV or Parquet file."""
    schema = _schema(Path(path))
    if not schema.names or "" in schema.names or len(set(schema.names)) < len(schema.names):
        raise refuse("data", schema.names, "a file whose columns have different names, none of them empty")
    lines = [
        _HEADER,
        f"epsilon: {_EPSILON}  # for the whole record: {_odds(_EPSILON)}",
        "features:",
        *(line for column in schema for line in _feature(column)),
        "correlation: 1  # 0: the features tell nothing about each other; 1: nothing is assumed about them",
        "# tasks:  # left out: the mean of every numeric and binary feature, the frequencies of every categorical one",
        "mechanism: survey",
    ]
    return "\n".join(lines) + "\n"


def _schema(path: Path) -> pa.Schema:
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise refuse("data", str(path), "a file whose name ends in .csv or .parquet")
    try:
        if suffix == ".parquet":
            return parquet.read_schema(path)
        csv_names(path)  # tells what is wrong with its letters or its commas
        with csv.open_csv(path) as reader:
            return reader.schema
    except (OSError, pa.ArrowException):  # their own words may quote the data
        raise refuse("data", str(path), "an existing CSV or Parquet file with columns") from None


def _feature(column: pa.Field) -> list[str]:
    return [
        f"  {_word(column.name)}:",
        *(f"    {line}" for line in _kind(column.type)),
        f"    delta: {_EPSILON}  # {_SENSITIVE}: {_odds(_SENSITIVE)}; {_EPSILON}: {_odds(_EPSILON)}",
    ]


def _kind(arrow: pa.DataType) -> tuple[str, ...]:
    """The lines that say what a column is, as far as its Arrow type tells."""
    types = pa.types
    if types.is_boolean(arrow):
        return ("type: binary",)
    if types.is_integer(arrow) or types.is_floating(arrow) or types.is_decimal(arrow):
        return (
            "type: numeric  # or categorical, if the numbers are codes; or binary, if they are 0 and 1",
            f"bounds: [{PLACEHOLDER}, {PLACEHOLDER}]  # the least and greatest possible, from public knowledge",
        )
    if (
        types.is_dictionary(arrow)
        or types.is_string(arrow)
        or types.is_large_string(arrow)
        or types.is_string_view(arrow)
    ):
        return ("type: categorical", f"values: [{PLACEHOLDER}]  # all possible ones, from public knowledge")
    return (f"type: {PLACEHOLDER}  # a column of {arrow}: turn it into a number, a category or yes/no first",)


def _odds(level: float) -> str:
    """What a level means to a person; the factor is rounded up, as every claim is (docs/theory.md, section 1)."""
    return f"odds of any guess move by at most x{math.ceil(math.exp(level) * 1000) / 1000:.3f}"


def _word(text: str) -> str:
    """The text as YAML on one line, in quotes if it needs them."""
    plain = yaml.dump(text, Dumper=Dumper, allow_unicode=True, width=math.inf)
    quoted = yaml.dump(text, Dumper=Dumper, allow_unicode=True, width=math.inf, default_style='"')
    return text if plain == f"{text}\n...\n" else quoted.rstrip("\n")
