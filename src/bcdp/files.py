"""Tables on disk, read batch by batch and written whole or not at all: Parquet, CSV and Arrow."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from bcdp.errors import InputError

BATCH_ROWS = 2**18
_BATCH_VALUES = 2**22  # rows times columns: wide tables are read in shorter batches, so that memory stays bounded
_CSV_BYTES = 2**23
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORMATS = "a .parquet, .csv, .arrow or .feather file"


def read_batches(
    path: Path, types: Mapping[str, pa.DataType] | None = None, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a file in batches of at most 2^18 rows and about 2^22 values.

    `types` says how to read the columns of a CSV, which states none itself; `columns` are those that are needed, if the
    format lets the others be skipped. A folder is read as the Parquet files in it, as Spark writes them.
    """
    try:
        if path.is_dir():
            for part in parquet_files(path):
                yield from read_batches(part, types, columns)
        elif path.suffix == ".parquet":
            yield from _read_parquet(path, columns)
        elif path.suffix == ".csv":
            convert = pa.csv.ConvertOptions(column_types=dict(types or {}), strings_can_be_null=True)
            read = pa.csv.ReadOptions(block_size=_CSV_BYTES)
            with pa.csv.open_csv(path, read_options=read, convert_options=convert) as reader:
                for batch in reader:
                    yield from _short(batch)
        elif path.suffix in (".arrow", ".feather"):
            with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
                for number in range(file.num_record_batches):
                    yield from _short(file.get_batch(number))
        else:
            raise InputError(f"{path}: its ending '{path.suffix}' is not known; accepted: {_FORMATS}")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; accepted: {_FORMATS}") from None
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: cannot be read ({reason}); accepted: {_FORMATS}, complete") from None


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files of a folder that Spark finished writing, in the order of their names; a file is itself one."""
    if not path.is_dir():
        if path.suffix != ".parquet":
            raise InputError(f"{path}: its ending '{path.suffix}' is not known here; accepted: a .parquet file")
        return [path]
    found = sorted(part for part in path.glob("*.parquet") if not part.name.startswith(("_", ".")))
    if not found or (path / "_temporary").exists():
        what = "is not finished" if found else "has no Parquet files"
        raise InputError(f"{path}: the folder {what}; accepted: {_FORMATS}, or a folder of complete .parquet files")
    return found


def _read_parquet(path: Path, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    schema = pa.parquet.read_schema(path)
    texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    chosen = None if columns is None else [name for name in columns if name in schema.names]
    # dictionaries are read as they are stored; nothing is fetched ahead, which would be the whole file
    with pa.parquet.ParquetFile(
        path, read_dictionary=texts, buffer_size=2**20, pre_buffer=False, page_checksum_verification=True
    ) as file:
        yield from file.iter_batches(batch_size=_rows(len(chosen or schema.names)), columns=chosen)


def _rows(columns: int) -> int:
    return max(2**10, min(BATCH_ROWS, _BATCH_VALUES // max(columns, 1)))


def _short(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    size = _rows(batch.num_columns)
    return (batch.slice(start, size) for start in range(0, len(batch), size))


def row_count(path: Path) -> int | None:
    """How many rows a file has, as far as can be told without reading them; a CSV's are judged by its first lines."""
    try:
        if path.is_dir():
            return sum(int(pa.parquet.read_metadata(part).num_rows) for part in parquet_files(path))
        if path.suffix == ".parquet":
            return int(pa.parquet.read_metadata(path).num_rows)
        if path.suffix == ".csv":
            with path.open("rb") as file:
                start = file.read(2**16)
            return round(path.stat().st_size / len(start) * start.count(b"\n")) if start else 0
    except (pa.ArrowException, OSError, InputError):
        pass  # reading it will tell what is wrong
    return None


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path beside the real one to write to; it takes the real one's place when the block ends well, else it goes.

    A run that is killed leaves its draft behind, which the next run writes over; while a run is alive, a lock keeps
    others from the same draft.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        with draft.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(f"{path}: another run is writing it; accepted: a file of its own") from None
            try:
                os.truncate(draft, 0)
                yield draft
                with draft.open("rb+") as written:
                    os.fsync(written.fileno())
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)
    except OSError as error:
        if error.errno not in _NO_ROOM and str(error.filename) != str(draft):
            raise
        reason = os.strerror(error.errno or errno.EIO)
        raise InputError(f"{path}: cannot be written ({reason}); accepted: a place with enough room") from None
