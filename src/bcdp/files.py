"""Tables on disk, read batch by batch and written whole or not at all: Parquet, CSV and Arrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from bcdp.errors import InputError

BATCH_ROWS = 2**18
_FORMATS = "a .parquet, .csv, .arrow or .feather file"


def read_batches(path: Path, types: Mapping[str, pa.DataType] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a file in batches; `types` says how to read the columns of a CSV, which states none itself."""
    try:
        if path.suffix == ".parquet":
            with pa.parquet.ParquetFile(path) as file:
                yield from file.iter_batches(batch_size=BATCH_ROWS)
        elif path.suffix == ".csv":
            convert = pa.csv.ConvertOptions(column_types=dict(types or {}), strings_can_be_null=True)
            with pa.csv.open_csv(path, convert_options=convert) as reader:
                yield from reader
        elif path.suffix in (".arrow", ".feather"):
            with pa.ipc.open_file(path) as file:
                yield from (file.get_batch(number) for number in range(file.num_record_batches))
        else:
            raise InputError(f"{path}: its ending '{path.suffix}' is not known; accepted: {_FORMATS}")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; accepted: {_FORMATS}") from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read ({error}); accepted: {_FORMATS}") from None


def row_count(path: Path) -> int | None:
    """How many rows a file has, where its format tells without reading them."""
    if path.suffix != ".parquet":
        return None
    try:
        return int(pa.parquet.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError):
        return None


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path beside the real one to write to; it takes the real one's place when the block ends well, else it goes."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
