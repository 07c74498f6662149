"""The same privatize and tally on Spark DataFrames, for records that one machine cannot hold.

Only DataFrame operations are used, so Spark Connect works too. The workers need the package `bcdp` installed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from bcdp.device import privatize as to_reports
from bcdp.errors import IncompleteError, InputError, install, refuse
from bcdp.files import parquet_files, written_whole
from bcdp.plan import GROUP, PLAN_KEY, Plan, report_schema
from bcdp.plan.mechanism import check_menus
from bcdp.plan.messages import sends_all
from bcdp.randomness import check_key
from bcdp.records.encoding import incomplete, lacking
from bcdp.tally import Tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_JAVA = "Java 17 or newer, for example the package openjdk-17-jre-headless of Debian and Ubuntu"


WRITES_FOLDER = True


def session() -> SparkSession:
    """The running Spark session, or a new one on the cores of this machine.

    `SPARK_REMOTE` names a Spark Connect server; `PYSPARK_SUBMIT_ARGS="--master URL pyspark-shell"` another master.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError(f"--engine: no Spark is installed; accepted: spark after {install('spark')}") from None
    if "SPARK_REMOTE" not in os.environ:
        _check_java()
    return SparkSession.builder.appName("bcdp").getOrCreate()


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    if java is None:
        raise InputError(f"--engine: Spark finds no Java; accepted: spark after installing {_JAVA}")
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', text)
    if version is not None and int(version[1]) < 17:
        raise InputError(f"--engine: Spark finds Java {version[1]}; accepted: spark after installing {_JAVA}")


def privatize(
    plan: Plan, records: DataFrame, key: bytes, ids: str, *, time: str | None = None, within: str | None = None
) -> DataFrame:
    """The reports of the records: the id and `menu` and `answer`, or `estimate` for a cascade plan.

    A key is needed, because Spark may run a task twice, and a second, fresh answer about the same person would reveal
    more than the plan allows: with a key and the record's id, every attempt repeats the same answer. No two records may
    have the same id; no attempt sees them all, so that is not checked here.

    Of a stream only the first record of an id is answered, because most sources deliver some messages twice. For that
    Spark keeps every id, or with a column of times those of the last time `within`, such as "1 day".
    """
    plan.verify()
    if sends_all(plan):  # next to ids
        raise refuse("plan.menus", f"{len(plan.menus)} messages", "a plan of one message, as an id would link several")
    if key is None:
        raise refuse("key", key, "32 random bytes, because Spark may run a task twice and the answer must be the same")
    check_key(key)
    if ids not in records.columns:
        raise refuse("ids", ids, f"one of the columns {', '.join(records.columns)}")
    if taken := {ids} & {"menu", "answer", "estimate", GROUP, *plan.policy.declared}:
        raise refuse("ids", taken.pop(), "a column that is neither a feature nor a part of a report")
    # a name that is not there is refused by the device, which knows how to say it
    if records.isStreaming:
        records = _first_of_each(records, ids, time, within)
    elif time is not None or within is not None:
        raise refuse("time", time, "none, as these records have all come: check_ids finds two with the same id")
    wanted = [name for name in [ids, *plan.policy.declared] if name in records.columns]
    chosen = records.select(*(f"`{name.replace('`', '``')}`" for name in wanted))
    id_type = chosen.schema[ids].dataType.simpleString()
    columns = report_schema(plan)
    report = ", ".join(f"{column.name} {_kinds(column.type)[0]}" for column in columns)
    reports = chosen.mapInArrow(
        partial(_answered, plan.text, key, ids), f"`{ids.replace('`', '``')}` {id_type}, {report}"
    )
    return reports.withMetadata(columns[0].name, {PLAN_KEY.decode(): plan.id})


def _first_of_each(records: DataFrame, ids: str, time: str | None, within: str | None) -> DataFrame:
    if (time is None) != (within is None):
        raise refuse("within", within, "a duration such as 1 day and a column of times, or neither")
    if time is None or within is None:
        return records.dropDuplicates([ids])
    if time not in records.columns:
        raise refuse("time", time, f"one of the columns {', '.join(records.columns)}")
    return records.withWatermark(time, within).dropDuplicatesWithinWatermark([ids])


def _kinds(column: pa.DataType) -> tuple[str, pa.DataType]:
    """What Spark calls the type of a report's column, and the nearest of Arrow's that it knows."""
    return ("bigint", pa.int64()) if pa.types.is_integer(column) else ("array<double>", pa.list_(pa.float64()))


@lru_cache(maxsize=8)
def _plan(text: str) -> Plan:
    return Plan.parse(text)


def _answered(text: str, key: bytes, ids: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        try:
            reports = to_reports(_plan(text), batch, key, ids)
        except IncompleteError as error:
            raise IncompleteError(f"in one of Spark's batches, {error}") from None
        columns = {ids: batch.column(ids)}
        for name in reports.column_names:
            kind = _kinds(reports.schema.field(name).type)[1]
            columns[name] = reports.column(name).cast(kind).combine_chunks()
        yield from pa.table(columns).combine_chunks().to_batches()


def _incomplete(plan: Plan, records: DataFrame) -> IncompleteError:
    """The error about all records, where a batch has shown that some have no value."""
    columns = (f"`{name.replace('`', '``')}`" for name in plan.policy.features)
    parts = records.select(*columns).mapInArrow(partial(_lacking, plan.text), "found string, people bigint").toArrow()
    counts = (Counter(json.loads(text)) for text in parts.column("found").to_pylist())
    return incomplete(sum(counts, Counter[str]()), sum(parts.column("people").to_pylist()))


def _lacking(text: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    counts, people = lacking(_plan(text).policy, batches)
    yield pa.RecordBatch.from_pydict({"found": [json.dumps(counts)], "people": [people]})


def check_ids(records: DataFrame, ids: str) -> None:
    """Refuses records of which two have the same id, as numbers or as texts: all ids are grouped, which moves them."""
    named = f"`{ids.replace('`', '``')}`"
    repeated = records.selectExpr(f"CAST({named} AS STRING) AS id").groupBy("id").count().where("count > 1").count()
    if repeated:
        raise refuse("ids", f"{repeated} ids that several records have", "a different id for each record")


def tally(plan: Plan, reports: DataFrame) -> Tally:
    """The counts of the reports."""
    total = Tally(plan)
    columns = _check_reports(plan, reports)
    if reports.isStreaming:
        raise refuse("reports", "a stream", "records that have all come, or a stream in tally_stream")
    if total.groups:
        return total.add(reports.groupBy(*total.groups).count().toArrow())
    parts = reports.select(*columns).mapInArrow(partial(_moments, plan.text), "tally string").toArrow()
    for text in sorted(parts.column("tally").to_pylist()):  # sums of floats in one order, whatever the tasks' order
        total = total + Tally.from_dict(json.loads(text), plan)
    return total


def tally_stream(plan: Plan, reports: DataFrame, output: Path, checkpoint: Path) -> DataStreamWriter:
    """A query that counts a stream of reports and keeps the tally in `output` up to date; `.start()` starts it.

    Spark keeps the counts in the folder `checkpoint` and hands out those that changed, as totals: a query that is
    stopped or killed and started again with the same folder and file goes on where it was, and counts nothing twice.
    """
    check_menus(plan)
    _check_reports(plan, reports)
    if not reports.isStreaming:
        raise refuse("reports", "records that have all come", "a stream, from readStream")
    changed = reports.groupBy(*Tally(plan).groups).count().writeStream.outputMode("update")
    return changed.option("checkpointLocation", _place(checkpoint)).foreachBatch(partial(_replaced, plan.text, output))


def _replaced(text: str, output: Path, changed: DataFrame, batch: int) -> None:
    """Writes the tally with the new totals of the cells that changed; run again with the same, it changes nothing."""
    plan = _plan(text)
    before = Tally.load(output, plan) if output.exists() else Tally(plan)
    totals = {tuple(cell): count for *cell, count in before.rows()}
    totals |= {tuple(row[name] for name in before.groups): row["count"] for row in changed.toArrow().to_pylist()}
    rows = [[*cell, count] for cell, count in totals.items()]
    columns = (pa.array(column, pa.int64()) for column in zip(*rows, strict=True))
    after = Tally(plan).add(pa.table(dict(zip([*before.groups, "count"], columns, strict=True)))) if rows else before
    with written_whole(output) as draft:
        after.save(draft)


def _check_reports(plan: Plan, reports: DataFrame) -> list[str]:
    """The columns of the plan's reports, if these are such reports."""
    for field in reports.schema.fields:
        stated = str(field.metadata.get(PLAN_KEY.decode(), plan.id))
        if stated != plan.id:
            raise refuse("reports", f"plan {stated[:12]}..", f"reports of plan {plan.id[:12]}..")
    columns = list(report_schema(plan).names)
    if missing := set(columns) - set(reports.columns):  # names of people's columns are not reported
        raise refuse("reports", f"no column {', '.join(sorted(missing))}", f"with {' and '.join(columns)}")
    return columns


def _moments(text: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    counted = Tally(_plan(text))
    for batch in batches:
        counted.add(batch)
    yield pa.RecordBatch.from_pydict({"tally": [json.dumps(counted.to_dict())]})


def row_count(path: Path) -> int | None:
    """Spark counts only what it reads."""
    return None


def privatize_file(
    plan: Plan,
    data: Path,
    output: Path,
    key: bytes | None = None,
    id_column: str | None = None,
    *,
    advance: Callable[[float], None] = lambda rows: None,
    watch: Callable[[Counter[tuple[str, str]]], object] = lambda counts: None,
) -> int:
    """How many reports were written into the folder `output`, as Parquet, in no particular order.

    Spark shows its own progress, and its workers do not report unusual values.

    Spark moves the files to their place when all of them are complete, and then writes `_SUCCESS` into the same folder.
    """
    if key is None or id_column is None:
        given = "no key and no id column" if key is None else "no id column"
        raise InputError(
            f"--engine spark: got {given}; accepted: a key file and an id column, because Spark may run a task twice "
            "and must repeat the same answer, not release a second one"
        )
    spark = session()
    with _told_clearly():
        records = _records(spark, data)
        try:
            with _told_clearly():
                reports = privatize(plan, records, key, id_column).drop(id_column)
                reports.write.mode("overwrite").parquet(_place(output))
        except IncompleteError:
            raise _incomplete(plan, records) from None
        return int(spark.read.parquet(_place(output)).count())


def tally_files(plan: Plan, paths: Sequence[Path], advance: Callable[[float], None] = lambda rows: None) -> Tally:
    """The counts of all the reports together: Parquet files and folders, tables by name, and tallies (.json)."""
    counted = Tally(plan)
    with _told_clearly():
        for path in paths:
            if path.suffix == ".json":
                counted = counted + Tally.load(path, plan)
                continue
            for file in parquet_files(path) if path.exists() else []:  # Spark does not show what a file says of itself
                counted.add(pq.read_schema(file).empty_table())
            counted = counted + tally(plan, _records(session(), path))
    return counted


def _records(spark: SparkSession, source: Path) -> DataFrame:
    if source.exists():
        parquet_files(source)
        return spark.read.parquet(_place(source))
    if not re.fullmatch(r"\w+(\.\w+)*", str(source)) or not spark.catalog.tableExists(str(source)):
        raise InputError(f"{source}: there is no such file or table; accepted: Parquet files or a table of Spark's")
    return spark.table(str(source))


def _place(path: Path) -> str:
    return f"file://{path.absolute()}"


@contextmanager
def _told_clearly() -> Iterator[None]:
    """Says in one sentence what went wrong in a worker, which Spark wraps into a traceback of several."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        matched = re.search(r"bcdp(?:_device)?\.errors\.(Input|Incomplete)Error: (.*)", str(error))
        kind = IncompleteError if matched and matched[1] == "Incomplete" else InputError
        raise kind(matched[2] if matched else f"Spark: {str(error).splitlines()[0]}") from None
    except pa.ArrowException as error:
        raise InputError(f"reports: cannot be read ({error}); accepted: complete Parquet files") from None
