"""Files of SPSS, Stata and SAS, batch by batch: values by their labels, what the file declares missing as missing.

A column that a policy does not speak of is read by its labels if the file says that its numbers are codes: it has
labels for values that are not missing, and is not declared as a scale.
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
LABEL, LABELS = b"label", b"labels"  # what the schema says of a column: its question, and the words of its values
_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_NUMBERS = ("double", "float", "int8", "int16", "int32")


class _SurveyColumn(NamedTuple):
    """What a file says of a column: whether it has numbers, its question, the words of its values."""

    number: bool
    label: str
    words: dict[Any, str]
    coded: bool  # whether its numbers are codes


def survey_schema(path: Path, content: bytes | None = None) -> pa.Schema:
    """The columns of a file, with questions and value labels as they stand in the file; no record is read.

    Here and below, `content` is what is in the file if it is at hand; the path is but its name then.
    """
    fields = []
    for name, column in _columns(path, content).items():
        metadata = {LABEL: column.label.encode()} if column.label else {}
        if column.coded:
            metadata[LABELS] = json.dumps(list(dict.fromkeys(column.words.values())), ensure_ascii=False).encode()
        kind = pa.float64() if column.number and not column.coded else pa.string()
        fields.append(pa.field(name, kind, metadata=metadata or None))
    return pa.schema(fields)


def survey_batches(
    path: Path,
    rows: int,
    types: Mapping[str, pa.DataType] | None,
    columns: Sequence[str] | None,
    content: bytes | None = None,
) -> Iterator[pa.RecordBatch]:
    """The records, so many at a time; `types` says which columns are wanted as numbers, and which by their labels."""
    known, stated = _columns(path, content), types or {}
    wanted = [name for name in known if columns is None or not set(columns) <= set(known) or name in columns]
    start, read = 0, rows
    while read == rows:
        data, _ = _read(path, content, usecols=wanted, row_offset=start, row_limit=rows, output_format="dict")
        arrays = [_array(data.get(name, []), known[name], stated.get(name)) for name in wanted]
        yield pa.RecordBatch.from_arrays(arrays, names=wanted)
        start, read = start + rows, len(arrays[0]) if arrays else 0


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


def _columns(path: Path, content: bytes | None) -> dict[str, _SurveyColumn]:
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
    return columns


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
