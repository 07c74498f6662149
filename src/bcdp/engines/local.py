"""Files to files on one machine: batch by batch on all cores, memory bounded by the batch, order kept."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from bcdp.device import privatize
from bcdp.errors import IncompleteError, InputError
from bcdp.files import ending, naming_file, read_batches, row_count, written_whole
from bcdp.plan import Plan
from bcdp.plan.messages import messages_each
from bcdp.records.encoding import arrow_types, as_arrow, incomplete, lacking, unusual
from bcdp.tally import Tally

__all__ = ["WRITES_FOLDER", "cores", "in_order", "privatize_file", "row_count", "tally_files"]

ROW_GROUP = 2**20
WRITES_FOLDER = False

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS, Windows


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """The results of the work on each item, in the order of the items, a few of them worked on at a time.

    Threads are enough: NumPy, Arrow and AES let go of the interpreter's lock while they compute.
    """
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def privatize_file(
    plan: Plan,
    data: Path,
    output: Path,
    key: bytes | None = None,
    id_column: str | None = None,
    *,
    advance: Callable[[float], None] = lambda rows: None,
    workers: int | None = None,
    watch: Callable[[Counter[tuple[str, str]]], object] = lambda counts: None,
) -> int:
    """How many people's reports were written: one for each record, in the same order, as Parquet, Arrow or CSV.

    Of several messages each, those of a batch of records are sorted.

    The same records, key and ids give the same bytes, whatever the number of workers. Two records with the same id are
    refused if they stand in the same batch; over a whole file that cannot be seen in bounded memory. `watch` is called
    how many values of each batch were missing or outside the bounds.
    """
    wanted = [*plan.policy.declared, *([id_column] if id_column is not None else [])]
    batches = partial(read_batches, data, arrow_types(plan.policy), wanted)
    work = partial(_reports, plan, data, key, id_column)
    people, writer, group = 0, None, list[pa.Table]()
    with written_whole(output) as draft:
        try:
            for reports, counts in in_order(work, _numbered(batches()), workers or cores()):
                writer = writer or _open(draft, ending(output), reports.schema)
                group.append(reports)
                people += len(reports) // messages_each(plan)
                if sum(map(len, group)) >= ROW_GROUP:
                    writer.write_table(pa.concat_tables(group), ROW_GROUP)
                    group.clear()
                advance(len(reports) // messages_each(plan))
                watch(counts)
            if writer is None:
                raise InputError(f"{data}: has no rows; accepted: at least one record")
            if group:
                writer.write_table(pa.concat_tables(group), ROW_GROUP)
        except IncompleteError:  # counted in one batch: now in all of them
            raise IncompleteError(f"{data}: {incomplete(*lacking(plan.policy, batches()))}") from None
        finally:
            if writer is not None:
                writer.close()
    return people


def _open(
    path: Path, kind: str, schema: pa.Schema
) -> pq.ParquetWriter | pa.ipc.RecordBatchFileWriter | pa.csv.CSVWriter:
    if kind in (".arrow", ".feather"):
        return pa.ipc.new_file(path, schema)
    if kind == ".csv":
        return pa.csv.CSVWriter(path, schema)
    # random answers do not compress beyond their dictionary; checksums distinguish a damaged file from a good one
    return pq.ParquetWriter(path, schema, compression="none", write_page_checksum=True)


def _numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Each batch with the number of rows before it."""
    rows = 0
    for batch in batches:
        yield rows, batch
        rows += len(batch)


def _reports(
    plan: Plan, data: Path, key: bytes | None, id_column: str | None, numbered: tuple[int, pa.RecordBatch]
) -> tuple[pa.Table, Counter[tuple[str, str]]]:
    rows, table = numbered[0], as_arrow(numbered[1])
    with naming_file(data, rows):
        return privatize(plan, table, key, id_column), unusual(plan.policy, table)


def tally_files(plan: Plan, paths: Sequence[Path], advance: Callable[[float], None] = lambda rows: None) -> Tally:
    """The counts of all the files together: reports, rows of menu, answer and count, and tallies (.json).

    Arrow decodes on all cores; counting is several times quicker than decoding and needs no more than one.
    """
    counted = Tally(plan)
    for path in paths:
        if path.suffix == ".json":
            counted = counted + Tally.load(path, plan)
            continue
        for batch in read_batches(path):
            with naming_file(path):
                counted.add(batch)
            advance(len(batch))
    return counted
