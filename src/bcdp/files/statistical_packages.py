"""Files of SPSS, Stata and SAS, batch by batch: values by their labels, what the file declares missing as missing.

A column that a policy does not speak of is read by its labels if the file says that its numbers are codes: it has
labels for values that are not missing, and is not declared as a scale. A multiple-response set of SPSS is one more
column, of the items that were ticked.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from bcdp.errors import InputError, install

ENDINGS = (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt")
# what the schema says of a column: its question, the words of its values, and whose set of ticks it belongs to
LABEL, LABELS, MEMBER_OF = b"label", b"labels", b"member of"
_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_NUMBERS = ("double", "float", "int8", "int16", "int32")
_ITEMS = pa.list_(pa.string())


class _SurveyColumn(NamedTuple):
    """What a file says of a column: whether it has numbers, its question, the words of its values."""

    number: bool
    label: str
    words: dict[Any, str]
    coded: bool  # whether its numbers are codes


class _ResponseSet(NamedTuple):
    """A list to tick: a column for each item, or one for each tick that holds the item's code (then without words)."""

    label: str
    items: dict[str, str | None]
    counted: Any  # the value of an item's column that is a tick

    def words(self, columns: Mapping[str, _SurveyColumn]) -> list[str]:
        """The items."""
        if None not in self.items.values():
            return [word for word in self.items.values() if word]
        return [word for name in self.items for word in columns[name].words.values()]


def survey_schema(path: Path, content: bytes | None = None) -> pa.Schema:
    """The columns of a file, with questions and value labels as they stand in the file; no record is read.

    Here and below, `content` is what is in the file if it is at hand; the path is but its name then.
    """
    columns, sets = _columns(path, content)
    member_of = {item: name for name, ticks in sets.items() for item in ticks.items}
    fields = []
    for name, column in columns.items():
        metadata = _metadata(column.label, list(column.words.values()) if column.coded else [])
        if name in member_of:
            metadata[MEMBER_OF] = member_of[name].encode()
        kind = pa.float64() if column.number and not column.coded else pa.string()
        fields.append(pa.field(name, kind, metadata=metadata or None))
    for name, ticks in sets.items():
        fields.append(pa.field(name, _ITEMS, metadata=_metadata(ticks.label, ticks.words(columns)) or None))
    return pa.schema(fields)


def _metadata(label: str, words: Sequence[str]) -> dict[bytes, bytes]:
    listed = {LABELS: json.dumps(list(dict.fromkeys(words)), ensure_ascii=False).encode()} if words else {}
    return ({LABEL: label.encode()} if label else {}) | listed


def survey_batches(
    path: Path,
    rows: int,
    types: Mapping[str, pa.DataType] | None,
    columns: Sequence[str] | None,
    content: bytes | None = None,
) -> Iterator[pa.RecordBatch]:
    """The records, so many at a time; `types` says which columns are wanted as numbers, and which by their labels."""
    (known, sets), stated = _columns(path, content), types or {}
    every = [*known, *sets]
    wanted = [name for name in every if columns is None or not set(columns) <= set(every) or name in columns]
    needed = {item for name in wanted for item in (sets[name].items if name in sets else (name,))}
    start, read = 0, rows
    while read == rows:
        data, _ = _read(path, content, usecols=[*needed], row_offset=start, row_limit=rows, output_format="dict")
        arrays = [
            _ticks(data, sets[name], known)
            if name in sets
            else _array(data.get(name, []), known[name], stated.get(name))
            for name in wanted
        ]
        yield pa.RecordBatch.from_arrays(arrays, names=wanted)
        start, read = start + rows, len(arrays[0]) if arrays else 0


def _ticks(data: Mapping[str, Any], ticks: _ResponseSet, known: Mapping[str, _SurveyColumn]) -> pa.Array:
    """The items that each record ticked; nothing where every column of the set is missing."""
    records = []
    for row in zip(*(data.get(name, []) for name in ticks.items), strict=True):
        answered = [_word(value, known[name].words) for name, value in zip(ticks.items, row, strict=True)]
        words = [
            answer if item is None else item
            for answer, item, value in zip(answered, ticks.items.values(), row, strict=True)
            if answer is not None and (item is None or value == ticks.counted)
        ]
        records.append(list(dict.fromkeys(words)) if any(answer is not None for answer in answered) else None)
    return pa.array(records, _ITEMS)


def _array(values: Any, column: _SurveyColumn, wanted: pa.DataType | None) -> pa.Array:
    by_words = column.coded if wanted is None else not pa.types.is_floating(wanted)
    if column.number and not (by_words and column.words):
        return pa.array(values, pa.float64(), from_pandas=True)
    if not column.number:
        array = pa.array(values, from_pandas=True)
        if not pa.types.is_string(array.type):  # dates and times
            return array if len(array) and array.null_count < len(array) else array.cast(pa.string())
        values = array.to_pylist()
    return pa.array([_word(value, column.words) for value in values], pa.string())


def _word(value: Any, words: Mapping[Any, str]) -> str | None:
    """The label of a value, else the value as a file writes it; nothing where there is none."""
    if value is None or value != value or value == "":
        return None
    word = words.get(value)
    return word or (str(int(value)) if isinstance(value, float) and value.is_integer() else str(value))


def _columns(path: Path, content: bytes | None) -> tuple[dict[str, _SurveyColumn], dict[str, _ResponseSet]]:
    declares = _READERS[path.suffix.lower()] == "read_sav"  # which numbers are missing, beside those that are not there
    _, meta = _read(path, content, metadataonly=True, **({"user_missing": True} if declares else {}))
    labels = meta.column_names_to_labels
    columns = {}
    for name in meta.column_names:
        number = meta.readstat_variable_types.get(name) in _NUMBERS
        declared = (meta.missing_ranges or {}).get(name, [])
        stated = meta.variable_value_labels.get(name, {})
        words = {
            value: str(stated[value]).strip()
            for value in sorted(stated, key=lambda value: (isinstance(value, str), value))
            if str(stated[value]).strip() and not _is_missing(value, declared, number)
        }
        coded = bool(words) and meta.variable_measure.get(name) != "scale"
        columns[name] = _SurveyColumn(number, (labels.get(name) or "").strip(), words, coded)
    return columns, _response_sets(meta, columns)


def _response_sets(meta: Any, columns: Mapping[str, _SurveyColumn]) -> dict[str, _ResponseSet]:
    """The sets whose names are no column's; the items of a set of yes/no columns are called by the columns' labels."""
    sets = {}
    for name, stated in (getattr(meta, "mr_sets", None) or {}).items():
        members = [member for member in stated["variable_list"] if member in columns]
        words = [columns[member].label or member for member in members]
        if name in columns or not members:
            continue
        distinct = words if len(set(words)) == len(words) else members
        items = dict.fromkeys(members) if not stated["is_dichotomy"] else dict(zip(members, distinct, strict=True))
        sets[name] = _ResponseSet((stated["label"] or "").strip(), items, stated["counted_value"])
    return sets


def _is_missing(value: Any, declared: Sequence[Mapping[str, Any]], number: bool) -> bool:
    """Whether a labelled value is one that the file declares missing; of numbers, letters stand for kinds of that."""
    if number and isinstance(value, str):
        return True
    return any(part["lo"] <= value <= part["hi"] for part in declared if isinstance(value, type(part["lo"])))


def _read(path: Path, content: bytes | None, **how: Any) -> tuple[Any, Any]:
    try:
        import pyreadstat
    except ImportError:
        raise InputError(f"{path}: the package pyreadstat is missing; accepted: {install('survey-files')}") from None
    if content is None:
        catalogue = path.with_suffix(".sas7bcat")
        if path.suffix.lower() == ".sas7bdat" and catalogue.exists():
            how["catalog_file"] = str(catalogue)  # SAS keeps the words of values there
        with path.open("rb"):  # shows whether it is there and may be read
            pass
    source = str(path) if content is None else io.BytesIO(content)
    try:
        result: tuple[Any, Any] = getattr(pyreadstat, _READERS[path.suffix.lower()])(source, **how)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeError, ValueError, OverflowError):
        # their own words may quote the data
        raise InputError(f"{path}: cannot be read; accepted: a complete file of SPSS, Stata or SAS") from None
    return result
