"""The same privatize and tally on Spark DataFrames, for records that one machine cannot hold.

Only DataFrame operations are used, so Spark Connect works too. The workers need the package `bcdp` installed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from bcdp.device import PLAN_KEY
from bcdp.device import privatize as to_reports
from bcdp.errors import InputError, refuse
from bcdp.files import parquet_files
from bcdp.plan import Plan
from bcdp.randomness import check_key
from bcdp.tally import Tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_JAVA = "Java 17 or newer, for example the package openjdk-17-jre-headless of Debian and Ubuntu"


def session() -> SparkSession:
    """The running Spark session, or a new one on the cores of this machine.

    `SPARK_REMOTE` names a Spark Connect server; `PYSPARK_SUBMIT_ARGS="--master URL pyspark-shell"` another master.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError("--engine: no Spark is installed; accepted: spark after `pip install bcdp[spark]`") from None
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


def privatize(plan: Plan, records: DataFrame, key: bytes, ids: str) -> DataFrame:
    """The reports of the records: the id and `menu` and `answer`, or `estimate` for a cascade plan.

    A key is needed, because Spark may run a task twice, and a second, fresh answer about the same person would tell
    more than the plan allows: with a key and the record's id, every attempt repeats the same answer. No two records may
    have the same id; no attempt sees them all, so that is not checked here.
    """
    plan.verify()
    if key is None:
        raise refuse("key", key, "32 random bytes, because Spark may run a task twice and the answer must be the same")
    check_key(key)
    if ids not in records.columns:
        raise refuse("ids", ids, f"one of the columns {', '.join(records.columns)}")
    if taken := {ids} & {"menu", "answer", "estimate", *plan.policy.features}:
        raise refuse("ids", taken.pop(), "a column that is neither a feature nor a part of a report")
    # a name that is not there is refused by the device, which knows how to say it
    wanted = [name for name in [ids, *plan.policy.features] if name in records.columns]
    chosen = records.select(*(f"`{name.replace('`', '``')}`" for name in wanted))
    id_type = chosen.schema[ids].dataType.simpleString()
    report = "menu bigint, answer bigint" if plan.mechanism == "survey" else "estimate array<double>"
    schema = f"`{ids.replace('`', '``')}` {id_type}, {report}"
    reports = chosen.mapInArrow(partial(_answered, plan.text, key, ids), schema)
    first = "menu" if plan.mechanism == "survey" else "estimate"
    return reports.withMetadata(first, {PLAN_KEY.decode(): plan.id})


@lru_cache(maxsize=8)
def _plan(text: str) -> Plan:
    return Plan.parse(text)


def _answered(text: str, key: bytes, ids: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        reports = to_reports(_plan(text), batch, key, ids)
        columns = {ids: batch.column(ids)}
        for name in reports.column_names:
            kind = pa.int64() if name != "estimate" else pa.list_(pa.float64())
            columns[name] = reports.column(name).cast(kind).combine_chunks()
        yield from pa.table(columns).combine_chunks().to_batches()


def tally(plan: Plan, reports: DataFrame) -> Tally:
    """The counts of the reports."""
    for field in reports.schema.fields:
        stated = str(field.metadata.get(PLAN_KEY.decode(), plan.id))
        if stated != plan.id:
            raise refuse("reports", f"plan {stated[:12]}..", f"reports of plan {plan.id[:12]}..")
    if plan.mechanism == "survey":
        if missing := {"menu", "answer"} - set(reports.columns):
            raise refuse("reports", f"no column {', '.join(sorted(missing))}", "columns menu and answer")
        return Tally(plan).add(reports.groupBy("menu", "answer").count().toArrow())
    if "estimate" not in reports.columns:
        raise refuse("reports", f"columns {', '.join(reports.columns)}", "a column estimate")
    parts = reports.select("estimate").mapInArrow(partial(_moments, plan.text), "tally string").toArrow()
    total = Tally(plan)
    for text in sorted(parts.column("tally").to_pylist()):  # sums of floats in one order, whatever the tasks' order
        total = total + Tally.from_dict(json.loads(text), plan)
    return total


def _moments(text: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    counted = Tally(_plan(text))
    for batch in batches:
        counted.add(batch)
    yield pa.RecordBatch.from_pydict({"tally": [json.dumps(counted.to_dict())]})


def privatize_files(plan: Plan, data: Path, output: Path, key: bytes | None, id_column: str | None) -> int:
    """How many reports were written into the folder `output`, as Parquet, in no particular order.

    Spark moves the files to their place when all of them are complete, and then writes `_SUCCESS` beside them.
    """
    if key is None or id_column is None:
        given = "no key and no id column" if key is None else "no id column"
        raise InputError(
            f"--engine spark: got {given}; accepted: a key file and an id column, because Spark may run a task twice "
            "and must repeat the same answer, not release a second one"
        )
    spark = session()
    with _told_clearly():
        reports = privatize(plan, _records(spark, data), key, id_column).drop(id_column)
        reports.write.mode("overwrite").parquet(_place(output))
        return int(spark.read.parquet(_place(output)).count())


def tally_files(plan: Plan, paths: Sequence[Path]) -> Tally:
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
    """Says in one sentence what a worker found wrong, which Spark wraps into a traceback of several."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        found = re.search(r"bcdp\.errors\.InputError: (.*)", str(error))
        raise InputError(found[1] if found else f"Spark: {str(error).splitlines()[0]}") from None
    except pa.ArrowException as error:
        raise InputError(f"reports: cannot be read ({error}); accepted: complete Parquet files") from None
