"""Tables on disk, read batch by batch and written whole or not at all: Parquet, CSV and Arrow; survey files are read.

What is wrong with a file is described by its columns and lines: what people's records say is never quoted.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeGuard

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from bcdp.errors import InputError, refuse
from bcdp.files.statistical_packages import ENDINGS as SURVEY_ENDINGS
from bcdp.files.statistical_packages import survey_batches, survey_schema
from bcdp_device.files import lock as lock  # how files are written is the device's code
from bcdp_device.files import locked as locked
from bcdp_device.files import written_whole as written_whole

Source = str | os.PathLike[str] | IO[str] | IO[bytes]  # of a document: a path, or an open file

BATCH_ROWS = 2**18
_ALL_ROWS = 2**30  # more than a file in memory has
NOT_A_NUMBER = ("", "NA", "N/A", "#N/A", "n/a", "NaN", "nan", "NULL", "null")  # cells without a number, in a CSV
_BATCH_VALUES = 2**22  # rows times columns: wide tables are read in shorter batches, so that memory stays bounded
_CSV_BYTES = 2**23
_MAPPED_BYTES = 2**26  # of a batch of an Arrow file: larger ones are not read whole
_FORMATS = "a .parquet, .csv, .arrow or .feather file"
_SURVEYS = ", or one of SPSS (.sav), Stata (.dta) or SAS (.sas7bdat, .xpt)"


def read_batches(
    path: Path, types: Mapping[str, pa.DataType] | None = None, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a file in batches of at most 2^18 rows and about 2^22 values.

    `types` says how to read the columns of a CSV, which states none itself; `columns` are those that are needed, if the
    format lets the others be skipped; if one is not there, all are read, so that who asked can say which there are. A
    folder is read as the Parquet files in it, as Spark writes them.
    """
    try:
        if path.is_dir():
            for part in parquet_files(path):
                yield from read_batches(part, types, columns)
        elif ending(path) == ".parquet":
            yield from _read_parquet(path, columns)
        elif ending(path) == ".csv":
            yield from _read_csv(path, types, columns)
        elif ending(path) in (".arrow", ".feather"):
            yield from _read_arrow(path)
        elif ending(path) in SURVEY_ENDINGS:
            for batch in survey_batches(path, BATCH_ROWS, types, columns):
                yield from _short(batch)
        else:
            raise InputError(f"{path}: its ending '{path.suffix}' is not known; accepted: {_FORMATS}{_SURVEYS}")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; accepted: {_FORMATS}") from None
    except OSError as error:
        reason = f" ({os.strerror(error.errno)})" if error.errno else ""
        raise InputError(f"{path}: cannot be read{reason}; accepted: {_FORMATS}, complete") from None
    except pa.ArrowException:  # its own words may quote the data
        raise InputError(f"{path}: cannot be read; accepted: {_FORMATS}, complete") from None


def table_in_memory(name: str, content: bytes, types: Mapping[str, pa.DataType] | None = None) -> pa.Table:
    """The rows of a file of this name whose content is at hand: nothing is written, and errors quote none of it.

    Without `types` a CSV's columns are of the types that its cells have, and those of a survey file carry their labels.

    >>> table_in_memory("people.csv", b"age\\n31\\n").to_pydict()
    {'age': [31]}
    """
    kind, source = ending(Path(name)), pa.BufferReader(content)
    try:
        if kind == ".parquet":
            return pa.parquet.read_table(source)
        if kind in (".arrow", ".feather"):
            return pa.ipc.open_file(source).read_all()
        if kind == ".csv":
            with pa.csv.open_csv(pa.BufferReader(content)) as reader:
                names = reader.schema.names
            stated = (
                {}
                if types is None
                else {name_of_column: types.get(name_of_column, pa.string()) for name_of_column in names}
            )
            convert = pa.csv.ConvertOptions(column_types=stated, null_values=NOT_A_NUMBER)
            batches = pa.csv.read_csv(source, convert_options=convert).to_batches()
            return pa.Table.from_batches([_empty_is_null(batch) for batch in batches])
        if kind in SURVEY_ENDINGS:
            table = pa.Table.from_batches(survey_batches(Path(name), _ALL_ROWS, types, None, content))
            return table if types is not None else table.cast(survey_schema(Path(name), content))
    except (OSError, pa.ArrowException, UnicodeDecodeError):  # their own words may quote the data
        raise InputError(f"{name}: cannot be read; accepted: {_FORMATS}, complete, in UTF-8") from None
    raise InputError(f"{name}: its ending is not known; accepted: {_FORMATS}{_SURVEYS}")


def read_text(source: Source, accepted: str) -> str:
    """The text of a document such as a plan."""
    path = path_of(source)
    try:
        content: str | bytes = source.read() if _is_open(source) else path.read_bytes()
        return content if isinstance(content, str) else content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = str(error.strerror).lower() if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"{path}: cannot be read ({reason}); accepted: {accepted}") from None


def write_text(target: Source, text: str) -> None:
    """Writes a document, in UTF-8, to a path or to a file that was opened for text or for bytes."""
    if _is_open(target):
        target.write(text if isinstance(target, io.TextIOBase) else text.encode())
    else:
        path_of(target).write_text(text, encoding="utf-8")


def path_of(source: Source) -> Path:
    """Where a document is; of an open file its name, if it has one."""
    if _is_open(source):
        name = getattr(source, "name", None)
        return Path(name if isinstance(name, str) else "file")
    if not isinstance(source, str | os.PathLike):
        raise refuse("path", f"a value of type {type(source).__name__}", "a path, or an open file")
    return Path(source)


def _is_open(source: Any) -> TypeGuard[IO[Any]]:
    return hasattr(source, "read") or hasattr(source, "write")


@contextmanager
def naming_file(path: Path, rows: int = 0) -> Iterator[None]:
    """Names the file in errors about its contents, and the record, of which so many rows stand before the table's."""
    try:
        yield
    except InputError as error:
        row = "" if error.row is None else f", row {rows + error.row:,}"
        raise type(error)(f"{path}{row}: {error}") from None


def ending(path: Path) -> str:
    """How a file's name ends, which says what it holds, in small letters."""
    return path.suffix.lower()


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files of a folder that Spark finished writing, in the order of their names; a file is itself one."""
    if not path.is_dir():
        if ending(path) != ".parquet":
            raise InputError(f"{path}: its ending '{path.suffix}' is not known here; accepted: a .parquet file")
        return [path]
    parts = sorted(part for part in path.glob("*.parquet") if not part.name.startswith(("_", ".")))
    if not parts or (path / "_temporary").exists():
        what = "is not finished" if parts else "has no Parquet files"
        raise InputError(f"{path}: the folder {what}; accepted: {_FORMATS}, or a folder of complete .parquet files")
    return parts


def _read_parquet(path: Path, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    schema = pa.parquet.read_schema(path)
    texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    chosen = _chosen(schema.names, columns)
    some = None if len(chosen) == len(schema.names) else chosen
    # dictionaries are read as they are stored; nothing is fetched ahead, which would be the whole file
    with pa.parquet.ParquetFile(
        path, read_dictionary=texts, buffer_size=2**20, pre_buffer=False, page_checksum_verification=True
    ) as file:
        yield from file.iter_batches(batch_size=_rows(len(chosen)), columns=some)


def _read_arrow(path: Path) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
        mapped = source.size() > _MAPPED_BYTES * file.num_record_batches
        # pages of a mapped file count as memory in use; what is read is given back, but batches are read whole
        with (
            pa.memory_map(str(path)) if mapped else pa.OSFile(str(path)) as reopened,
            pa.ipc.open_file(reopened) as reader,
        ):
            for number in range(reader.num_record_batches):
                yield from _short(reader.get_batch(number))


def _chosen(names: list[str], columns: Sequence[str] | None) -> list[str]:
    """The columns of a file to read, as often as they are there."""
    return names if columns is None or not set(columns) <= set(names) else [name for name in names if name in columns]


def csv_names(path: Path) -> list[str]:
    """The names of a CSV's columns, from its first line."""
    with _told_of_csv(path), path.open(encoding="utf-8-sig", newline="") as file:
        names = next((row for row in csv.reader(file) if row), [])
    if not names:
        raise InputError(f"{path}: is empty; accepted: a CSV whose first line names the columns")
    if len(names) == 1 and (separators := {";", "\t"} & set(names[0])):
        raise InputError(f"{path}: its first line has {separators.pop()!r} and no comma; accepted: a CSV with commas")
    return names


def _read_csv(
    path: Path, types: Mapping[str, pa.DataType] | None, columns: Sequence[str] | None
) -> Iterator[pa.RecordBatch]:
    names = csv_names(path)
    # a column of no stated type is text: a guess from its first rows could be wrong about a later one
    stated = {} if types is None else {name: types.get(name, pa.string()) for name in names}
    chosen = _chosen(names, columns)
    convert = pa.csv.ConvertOptions(column_types=stated, include_columns=chosen, null_values=NOT_A_NUMBER)
    read = pa.csv.ReadOptions(block_size=_CSV_BYTES)
    with (
        _told_of_csv(path, names),
        pa.csv.open_csv(path, read_options=read, convert_options=convert) as reader,
    ):
        for batch in reader:
            yield from _short(_empty_is_null(batch))


def _empty_is_null(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with nulls for empty texts: in a text every other word, NA too, may be a value."""
    columns = batch.columns
    for number, column in enumerate(columns):
        if pa.types.is_string(column.type) and pc.any(empty := pc.equal(pc.binary_length(column), 0)).as_py():
            columns[number] = pc.if_else(empty, pa.scalar(None, pa.string()), column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


@contextmanager
def _told_of_csv(path: Path, names: Sequence[str] = ()) -> Iterator[None]:
    """Says in one sentence, with a line and without its contents, why a CSV cannot be read."""
    try:
        yield
    except UnicodeDecodeError:
        raise _not_utf8(path) from None
    except (pa.ArrowInvalid, csv.Error) as error:
        if "UTF8" in str(error):
            raise _not_utf8(path) from None
        if matched := re.match(
            r"In CSV column #(\d+): (Row #\d+: )?CSV conversion error", str(error)
        ):  # a row: one thread
            column = int(matched[1])
            line = _line(path, lambda row: not _is_number(row[column]))
            raise InputError(
                f"{path}: column '{names[column]}'{line}: got what is no number; accepted: a number such as 1234.5, "
                "without thousands separators, $ or %, or nothing where the policy states `missing`"
            ) from None
        line = _line(path, lambda row: len(row) != len(names))
        raise InputError(f"{path}{line}: cannot be read; accepted: {len(names)} columns in every line") from None


def _not_utf8(path: Path) -> InputError:
    return InputError(f"{path}: its text is not UTF-8; accepted: a CSV in UTF-8, converted by iconv -f latin1 -t utf8")


def _line(path: Path, wrong: Callable[[list[str]], bool]) -> str:
    """The end of a sentence, with the first line after the header that is wrong; empty if there is none."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            next(row for row in reader if row)
            return next((f", line {reader.line_num}" for row in reader if row and wrong(row)), "")
    except (csv.Error, IndexError, UnicodeDecodeError, StopIteration):
        return ""


def _is_number(cell: str) -> bool:
    try:
        return cell in NOT_A_NUMBER or float(cell) is not None
    except ValueError:
        return False


def _rows(columns: int) -> int:
    return max(2**10, min(BATCH_ROWS, _BATCH_VALUES // max(columns, 1)))


def _short(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    size = _rows(batch.num_columns)
    return (batch.slice(start, size) for start in range(0, len(batch), size))


def row_count(path: Path) -> int | None:
    """How many rows a file has, as far as is known without reading them; a CSV's are judged by its first lines."""
    try:
        if path.is_dir():
            return sum(int(pa.parquet.read_metadata(part).num_rows) for part in parquet_files(path))
        if ending(path) == ".parquet":
            return int(pa.parquet.read_metadata(path).num_rows)
        if ending(path) == ".csv":
            with path.open("rb") as file:
                start = file.read(2**16)
            return round(path.stat().st_size / len(start) * start.count(b"\n")) if start else 0
    except (pa.ArrowException, OSError, InputError):
        pass  # reading it will reveal what is wrong
    return None
