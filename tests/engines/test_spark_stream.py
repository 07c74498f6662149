"""A stream of reports: counted as it comes, stopped, killed and started again, and nothing counted twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bcdp import InputError, Policy, Tally, make_plan, privatize
from bcdp.engines import spark as engine
from support.spark import spark_session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

KEY = bytes(range(32))
PLAN = make_plan(Policy(epsilon=2, features={name: {"type": "binary"} for name in "abc"}))
CASCADE = make_plan(Policy(epsilon=2, features={"a": {"type": "binary"}}, mechanism="cascade"))


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    session = spark_session("local[1]", {"spark.sql.shuffle.partitions": "1"})
    yield session
    session.stop()


def people(count: int) -> pa.Table:
    rng = np.random.default_rng(1)
    bits = {name: rng.integers(0, 2, count).astype(bool) for name in "abc"}
    return pa.table({"id": np.arange(count), **bits})


class StoppedError(Exception):
    """What a machine that fails does to a query, here after the tally was written and before Spark knew."""


def test_a_stream_is_counted_once_however_often_it_is_stopped(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, output, checkpoint = tmp_path / "people", tmp_path / "tally.json", tmp_path / "checkpoint"
    source.mkdir()
    everybody = people(3000)

    def run() -> None:
        records = spark.readStream.schema("id bigint, a boolean, b boolean, c boolean").parquet(str(source))
        reports = engine.privatize(PLAN, records, KEY, "id")
        engine.tally_stream(PLAN, reports, output, checkpoint).trigger(availableNow=True).start().awaitTermination()

    def counted() -> Any:
        return Tally.load(output, PLAN).to_dict()

    def expected(count: int) -> Any:
        return Tally(PLAN).add(privatize(PLAN, everybody.slice(0, count), KEY, "id")).to_dict()

    pq.write_table(everybody.slice(0, 1000), source / "1.parquet")
    run()
    assert counted() == expected(1000)
    pq.write_table(everybody.slice(1000, 1000), source / "2.parquet")
    replaced = engine._replaced

    def failing(*given: Any) -> None:
        replaced(*given)
        raise StoppedError

    monkeypatch.setattr(engine, "_replaced", failing)
    with pytest.raises(Exception, match="StoppedError"):
        run()
    assert counted() == expected(2000)
    monkeypatch.setattr(engine, "_replaced", replaced)
    run()  # the batch that Spark does not know of comes again
    assert counted() == expected(2000)
    pq.write_table(everybody.slice(2000), source / "3.parquet")
    run()
    assert counted() == expected(3000)


def test_a_stream_is_counted_by_open_groups(spark: Any, tmp_path: Path) -> None:
    features = {"a": {"type": "binary"}, "b": {"type": "binary"}, "region": {"type": "open", "values": ["n", "s"]}}
    plan = make_plan(Policy(epsilon=2, features=features))
    source, output, checkpoint = tmp_path / "people", tmp_path / "tally.json", tmp_path / "checkpoint"
    source.mkdir()
    everybody = people(600).append_column("region", pa.array(["n", "s", "s"] * 200))
    for part in range(2):
        pq.write_table(everybody.slice(300 * part, 300), source / f"{part}.parquet")
        records = spark.readStream.schema("id bigint, a boolean, b boolean, region string").parquet(str(source))
        reports = engine.privatize(plan, records, KEY, "id")
        engine.tally_stream(plan, reports, output, checkpoint).trigger(availableNow=True).start().awaitTermination()
        expected = Tally(plan).add(privatize(plan, everybody.slice(0, 300 * (part + 1)), KEY, "id"))
        assert Tally.load(output, plan) == expected


def test_what_cannot_be_counted_is_refused(spark: Any, tmp_path: Path) -> None:
    rate = spark.readStream.format("rate").load()
    reports = rate.selectExpr("value AS menu", "value AS answer")
    with pytest.raises(InputError, match="accepted: records that have all come, or a stream in tally_stream"):
        engine.tally(PLAN, reports)
    with pytest.raises(InputError, match="accepted: a stream"):
        engine.tally_stream(PLAN, spark.createDataFrame([(0, 0)], "menu int, answer int"), tmp_path / "t", tmp_path)
    with pytest.raises(InputError, match="no column answer"):
        engine.tally_stream(PLAN, rate.selectExpr("value AS menu"), tmp_path / "t", tmp_path)
    with pytest.raises(InputError, match="accepted: survey"):
        engine.tally_stream(CASCADE, reports, tmp_path / "t", tmp_path)


def test_two_records_of_one_id_are_found_over_all_partitions(spark: Any) -> None:
    records = spark.createDataFrame([(number,) for number in range(100)], "id bigint").repartition(4)
    engine.check_ids(records, "id")
    twice = records.union(spark.createDataFrame([(7,), (8,), (8,)], "id bigint"))
    with pytest.raises(InputError, match="2 ids that several records have"):
        engine.check_ids(twice, "id")
