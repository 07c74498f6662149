"""Streams from a source that delivers at least once: duplicates are dropped, what is no report is put aside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bcdp import InputError, Policy, Tally, make_plan, privatize
from bcdp.engines import spark as engine
from bcdp.engines.spark_messages import read_messages
from support.spark import spark_session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

KEY = bytes(range(32))
PLAN = make_plan(Policy(epsilon=2, features={name: {"type": "binary"} for name in "abc"}))


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    session = spark_session("local[1]", {"spark.sql.shuffle.partitions": "1"})
    yield session
    session.stop()


def record(number: int) -> dict[str, Any]:
    return {"id": number, "a": number % 2 == 0, "b": number % 3 == 0, "c": number % 5 == 0}


def expected(numbers: range) -> Tally:
    return Tally(PLAN).add(privatize(PLAN, pa.Table.from_pylist([record(number) for number in numbers]), KEY, "id"))


class Source:
    """A folder that a stream reads, as a topic would be: lines of JSON, each with the second at which it came."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self._spark, self._folder = spark, folder / "topic"
        self._folder.mkdir()
        self._parts = 0

    def write(self, lines: list[str], minute: int = 0) -> None:
        rows = [{"value": line, "timestamp": f"2026-01-01T{minute // 60:02}:{minute % 60:02}:00"} for line in lines]
        text = "\n".join(json.dumps(row) for row in rows)
        place = self._folder / f"{self._parts}.json"
        place.write_text(text + "\n")
        os.utime(place, (self._parts, self._parts))  # files are read in the order of their times
        self._parts += 1

    def stream(self) -> Any:
        reader = self._spark.readStream.schema("value string, timestamp timestamp")
        return reader.option("maxFilesPerTrigger", 1).json(str(self._folder))


def lines(*numbers: int) -> list[str]:
    return [json.dumps(record(number)) for number in numbers]


def run(query: Any) -> None:
    query.trigger(availableNow=True).start().awaitTermination()


def test_records_that_come_twice_or_malformed_do_not_stop_a_stream(spark: Any, tmp_path: Path) -> None:
    """Within a batch, over batches and after a restart each record is answered and counted once."""
    source = Source(spark, tmp_path)
    output, checkpoint, dead = tmp_path / "tally.json", tmp_path / "checkpoint", tmp_path / "dead"
    columns = "id bigint, a boolean, b boolean, c boolean"

    def queries() -> list[Any]:
        read = read_messages(PLAN, source.stream(), columns, "id")
        reports = engine.privatize(PLAN, read.records, KEY, "id", time="timestamp", within="10 minutes")
        put_aside = read.refused.writeStream.format("json").option("path", str(dead))
        return [
            engine.tally_stream(PLAN, reports, output, checkpoint),
            put_aside.option("checkpointLocation", str(tmp_path / "dead-checkpoint")),
        ]

    malformed = ["no json", '{"id": 7}', '{"id": 8, "a": "maybe", "b": true, "c": true}', '{"id": null}', "[]"]
    source.write(lines(0, 1, 1, 2, 0) + malformed[:3])
    source.write(lines(2, 3, 4))
    for query in queries():
        run(query)
    assert Tally.load(output, PLAN) == expected(range(5))
    source.write(lines(4, 5, 5, 6) + malformed[3:], minute=5)
    for query in queries():
        run(query)
    assert Tally.load(output, PLAN) == expected(range(7))
    kept = [json.loads(line) for file in dead.glob("*.json") for line in file.read_text().splitlines()]
    assert sorted(row["value"] for row in kept) == sorted(malformed)
    assert all(row["reason"] for row in kept)
    reasons = {row["value"]: row["reason"] for row in kept}
    assert reasons["no json"] == "not JSON of the columns"
    assert reasons['{"id": 7}'].startswith("column 'a': the record has no value; column 'b'")
    assert reasons['{"id": null}'] == "no id"
    assert not any("maybe" in reason for reason in reasons.values())


def test_ids_are_forgotten_after_the_watermark(spark: Any, tmp_path: Path) -> None:
    """What Spark keeps of ids is bounded: rows in its state leave once the watermark has passed them."""
    source = Source(spark, tmp_path)
    for part in range(6):
        source.write(lines(*range(part * 100, part * 100 + 100)), minute=part * 30)
    read = read_messages(PLAN, source.stream(), "id bigint, a boolean, b boolean, c boolean", "id")
    reports = engine.privatize(PLAN, read.records, KEY, "id", time="timestamp", within="10 minutes")
    query = engine.tally_stream(PLAN, reports, tmp_path / "tally.json", tmp_path / "checkpoint")
    running = query.trigger(availableNow=True).start()
    running.awaitTermination()
    operators = running.recentProgress[-1]["stateOperators"]
    (kept,) = [state["numRowsTotal"] for state in operators if state["operatorName"].startswith("dedupe")]
    assert kept <= 200
    assert Tally.load(tmp_path / "tally.json", PLAN) == expected(range(600))


def test_a_duplicate_within_a_batch_is_dropped_without_any_time(spark: Any, tmp_path: Path) -> None:
    """Also one with other values: the first record of an id is answered, and no other with the same random words."""
    folder, checkpoint, output = tmp_path / "people", tmp_path / "checkpoint", tmp_path / "tally.json"
    folder.mkdir()
    for part, numbers in enumerate(((1, 1, 2), (2, 3, 3, 1))):
        pq.write_table(pa.Table.from_pylist([record(number) for number in numbers]), folder / f"{part}.parquet")
        records = spark.readStream.schema("id bigint, a boolean, b boolean, c boolean").parquet(str(folder))
        run(engine.tally_stream(PLAN, engine.privatize(PLAN, records, KEY, "id"), output, checkpoint))
    assert Tally.load(output, PLAN) == expected(range(1, 4))


def test_what_cannot_be_read_or_deduplicated_is_refused(spark: Any) -> None:
    messages = spark.createDataFrame([("{}",)], "value string")
    with pytest.raises(InputError, match="messages: got 'the columns line'; accepted: a column value"):
        read_messages(PLAN, messages.withColumnRenamed("value", "line"), "id bigint", "id")
    with pytest.raises(InputError, match="columns: got 'no column a, b, c'"):
        read_messages(PLAN, messages, "id bigint", "id")
    columns = "id bigint, a boolean, b boolean, c boolean"
    still = spark.createDataFrame([], columns)
    with pytest.raises(InputError, match="accepted: none, as these records have all come"):
        engine.privatize(PLAN, still, KEY, "id", time="timestamp", within="1 day")
    stream = (
        spark.readStream.format("rate").load().selectExpr("value AS id", *(f"value > 0 AS {name}" for name in "abc"))
    )
    with pytest.raises(InputError, match="within: got None; accepted: a duration"):
        engine.privatize(PLAN, stream, KEY, "id", time="timestamp")
    with pytest.raises(InputError, match="time: got 'timestamp'; accepted: one of the columns id, a, b, c"):
        engine.privatize(PLAN, stream, KEY, "id", time="timestamp", within="1 day")
