"""Spark on two worker processes: the answers of one machine, also when tasks are killed or run twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bcdp import InputError, Plan, Policy, Tally, make_plan, privatize
from bcdp.cli import main
from bcdp.engines import spark as engine
from bcdp.engines.local import privatize_file, tally_files
from support.spark import JAVA, spark_session
from support.system import require

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

KEY = bytes(range(32))
FEATURES: dict[str, Any] = {
    "bit": {"type": "binary", "missing": 0},
    "number": {"type": "numeric", "bounds": [0, 10]},
    "kind": {"type": "categorical", "values": ["a", "b", "c"]},
}
PLAN = make_plan(Policy(epsilon=3, features=FEATURES, correlation=0.02))
TABLES = make_plan(
    Policy(
        epsilon=3,
        features=FEATURES,
        correlation=0.02,
        tasks=[
            {"table": ["bit", "kind"]},
            {"table": ["kind", "number"]},
            {"mean": ["number"], "by": "bit"},
            {"distribution": ["number"], "bins": 16},
        ],
    )
)
CASCADE = make_plan(Policy(epsilon=3, features=FEATURES, mechanism="cascade"))
SIZE = 4000
generator = np.random.default_rng(2)
PEOPLE = pa.table(
    {
        "id": generator.permutation(SIZE) - 5,
        "bit": pa.array(generator.integers(0, 2, SIZE).astype(bool), mask=generator.random(SIZE) < 0.1),
        "number": generator.uniform(-1, 11, SIZE),
        "kind": np.array(["a", "b", "c"])[generator.integers(0, 3, SIZE)],
    }
)


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    settings = {
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.task.maxFailures": "3",  # those whose records are refused fail every time
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "500ms",
    }
    session = spark_session("local-cluster[2,1,1024]", settings)
    yield session
    session.stop()


@pytest.fixture
def people(spark: Any, tmp_path: Path) -> Any:
    """The records in four partitions."""
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    return spark.read.parquet(str(tmp_path / "people.parquet")).repartition(4, "id")


def by_id(table: pa.Table) -> dict[str, list[Any]]:
    return table.sort_by("id").to_pydict()


def expected(plan: Plan) -> dict[str, list[Any]]:
    reports = privatize(plan, PEOPLE, KEY, "id")
    return by_id(reports.append_column("id", PEOPLE["id"]).select(["id", *reports.column_names]))


@pytest.mark.parametrize("plan", [PLAN, TABLES, CASCADE], ids=["survey", "tables and a distribution", "cascade"])
def test_spark_gives_the_reports_and_the_tally_of_one_machine(plan: Plan, people: Any) -> None:
    reports = engine.privatize(plan, people, KEY, "id")
    assert by_id(reports.toArrow()) == expected(plan)
    here = Tally(plan).add(privatize(plan, PEOPLE, KEY, "id"))
    there = engine.tally(plan, reports)
    if plan is not CASCADE:
        assert there.to_dict() == here.to_dict()
    else:
        assert there.people == SIZE
        np.testing.assert_allclose(there.sum, here.sum, rtol=1e-12, atol=1e-9)  # type: ignore[attr-defined]
        np.testing.assert_allclose(there.products, here.products, rtol=1e-12, atol=1e-9)  # type: ignore[attr-defined]


def test_an_id_is_the_same_as_a_number_and_as_text(people: Any) -> None:
    texts = engine.privatize(PLAN, people.withColumn("id", people["id"].cast("string")), KEY, "id")
    numbers = texts.withColumn("id", texts["id"].cast("bigint"))
    assert by_id(numbers.toArrow()) == expected(PLAN)


def watched(folder: Path, waiting: bool = False, failing: int | None = None) -> Callable[[Any], Any]:
    """Lets records pass and notes every attempt at a task with its processes once half of them are through.

    A first attempt that is `waiting` stays there until the test makes the folder `go`; at the partition `failing` it
    fails there.
    """

    def passing(batches: Any) -> Any:
        from pyspark import TaskContext

        context = TaskContext.get()
        worker, daemon = os.getpid(), os.getppid()
        executor = int(Path(f"/proc/{daemon}/stat").read_text().rsplit(")", 1)[1].split()[1])
        partition, attempt = context.partitionId(), context.attemptNumber()
        for batch in batches:
            middle = len(batch) // 2
            yield batch.slice(0, middle)
            (folder / f"{partition}-{context.taskAttemptId()}").write_text(json.dumps([worker, executor]))
            if attempt == 0:
                until = time.monotonic() + 60
                while waiting and not (folder / "go").exists() and time.monotonic() < until:
                    time.sleep(0.01)
                if partition == failing:
                    raise RuntimeError("a task that fails in the middle")
            yield batch.slice(middle)

    return passing


def attempts(folder: Path) -> dict[int, int]:
    """How many attempts there were at each partition."""
    names = [path.name.split("-")[0] for path in folder.glob("*-*")]
    return {int(name): names.count(name) for name in set(names)}


def first_process(folder: Path, which: int) -> int:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for path in folder.iterdir():
            if text := path.read_text():
                return int(json.loads(text)[which])
        time.sleep(0.01)
    raise AssertionError("no task is in the middle")


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize(("which", "name"), [(0, "python"), (1, "executor")])
def test_a_worker_killed_in_the_middle_changes_nothing(which: int, name: str, people: Any, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    slow = people.mapInArrow(watched(folder, waiting=True), people.schema)
    found: list[pa.Table] = []
    job = threading.Thread(target=lambda: found.append(engine.privatize(PLAN, slow, KEY, "id").toArrow()))
    job.start()
    victim = first_process(folder, which)
    os.kill(victim, signal.SIGKILL)
    (folder / "go").mkdir()
    job.join(120)
    assert not job.is_alive()
    assert gone(victim)
    assert by_id(found[0]) == expected(PLAN)
    assert max(attempts(folder).values()) > 1, "a task was run again"


def test_a_task_that_runs_twice_answers_once(people: Any, tmp_path: Path) -> None:
    """Half of a task's answers are made, then it fails and is run again.

    Speculation is on, but Spark gives the second copy of a slow task to another host only, and here there is one.
    """
    folder = tmp_path / "attempts"
    folder.mkdir()
    failing = people.mapInArrow(watched(folder, failing=0), people.schema)
    assert by_id(engine.privatize(PLAN, failing, KEY, "id").toArrow()) == expected(PLAN)
    assert attempts(folder)[0] == 2


def test_fresh_randomness_would_answer_twice(people: Any) -> None:
    """What the key is for: without one, two runs of a task release two different answers about the same people."""

    def keyless(batches: Any) -> Any:
        for batch in batches:
            reports = privatize(PLAN, batch)
            yield pa.RecordBatch.from_pydict(
                {"id": batch["id"], "answer": reports["answer"].cast(pa.int64()).combine_chunks()}
            )

    fresh = people.mapInArrow(keyless, "id long, answer long")
    assert by_id(fresh.toArrow()) != by_id(fresh.toArrow())
    with pytest.raises(
        InputError, match="key: got None; accepted: 32 random bytes, because Spark may run a task twice"
    ):
        engine.privatize(PLAN, people, None, "id")  # type: ignore[arg-type]


def test_the_program_does_the_same_with_either_engine(
    spark: Any, people: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    PLAN.save(tmp_path / "plan.json")
    (tmp_path / "key").write_bytes(KEY)
    people.createOrReplaceTempView("everybody")
    keyed = ["--key-file", str(tmp_path / "key"), "--id-column", "id"]
    tallies = []
    for source in (str(tmp_path / "people.parquet"), "everybody"):
        folder = tmp_path / f"reports of {len(tallies)}"
        run = ["privatize", str(tmp_path / "plan.json"), source, "-o", str(folder), *keyed]
        assert main([*run, "--engine", "spark", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["people"] == SIZE
        assert pq.read_table(folder).column_names == ["menu", "answer"]
        output = tmp_path / "tally.json"
        assert main(["tally", str(tmp_path / "plan.json"), str(folder), "-o", str(output), "--engine", "spark"]) == 0
        capsys.readouterr()
        tallies.append(json.loads(output.read_text()))
        tallies.append(tally_files(PLAN, [folder]).to_dict())
    privatize_file(PLAN, tmp_path / "people.parquet", tmp_path / "local.parquet", KEY, "id")
    tallies.append(engine.tally_files(PLAN, [tmp_path / "local.parquet"]).to_dict())
    assert tallies == [tally_files(PLAN, [tmp_path / "local.parquet"]).to_dict()] * 5
    doubled = engine.tally_files(PLAN, [tmp_path / "local.parquet", tmp_path / "tally.json"])
    assert doubled.people == 2 * SIZE
    other = make_plan(Policy(epsilon=2, features=FEATURES))
    for reports in (tmp_path / "local.parquet", folder):
        with pytest.raises(InputError, match=f"reports: got 'plan {PLAN.id[:12]}..'; accepted: reports of plan"):
            engine.tally_files(other, [reports])
        with pytest.raises(InputError, match=f"reports: got 'plan {PLAN.id[:12]}..'; accepted: reports of plan"):
            tally_files(other, [reports])


def test_mistakes_are_told_in_one_line(
    spark: Any, people: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    PLAN.save(tmp_path / "plan.json")
    (tmp_path / "key").write_bytes(KEY)
    strange = PEOPLE.set_column(3, "kind", pa.array(["z"] * SIZE))
    pq.write_table(strange, tmp_path / "strange.parquet")
    lacking = pa.array(np.where(np.arange(SIZE) % 40 == 0, np.nan, 5.0))
    pq.write_table(PEOPLE.set_column(2, "number", lacking), tmp_path / "lacking.parquet", row_group_size=1000)
    keyed = ["--key-file", str(tmp_path / "key"), "--id-column", "id"]
    for source, options, message in (
        ("lacking.parquet", keyed, "column 'number': 100 of 4,000 records have no value; accepted: complete records"),
        ("strange.parquet", keyed, "column 'kind': got a value that is not listed; accepted: 'a', 'b', 'c'"),
        ("people.parquet", [], "--engine spark: got no key and no id column; accepted: a key file and an id column"),
        ("nowhere", keyed, "there is no such file or table"),
        ("plan.json", keyed, "its ending '.json' is not known here"),
    ):
        run = ["privatize", str(tmp_path / "plan.json"), str(tmp_path / source), "-o", str(tmp_path / "out")]
        assert main([*run, *options, "--engine", "spark"]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.strip().count("\n") == 0
    for ids, message in (
        ("nobody", "ids: got 'nobody'"),
        ("kind", "ids: got 'kind'; accepted: a column that is neither"),
    ):
        with pytest.raises(InputError, match=message):
            engine.privatize(PLAN, people, KEY, ids)
    with pytest.raises(InputError, match="reports: got 'no column answer, menu'"):
        engine.tally(PLAN, people)
    some = spark.createDataFrame(PEOPLE.set_column(2, "number", lacking))
    with pytest.raises(Exception, match=r"in one of Spark's batches, column 'number': \d+ of [\d,]+ records have no"):
        engine.privatize(PLAN, some, KEY, "id").toArrow()


def test_a_missing_java_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"Spark finds no Java; accepted: .* Java 17 .*openjdk-17-jre-headless"):
        engine.session()
    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    old.chmod(0o755)
    with pytest.raises(InputError, match=r"Spark finds Java 11; accepted: .*openjdk-17-jre-headless"):
        engine.session()


def test_a_missing_spark_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(InputError, match=r"no Spark is installed; accepted: spark after pip install 'bcdp-privacy\[s"):
        engine.session()


CONNECTED = """
import sys, warnings
warnings.simplefilter("ignore")
import pyarrow.parquet as pq
from pathlib import Path
from pyspark.sql import SparkSession
from bcdp import Plan
from bcdp.engines import spark as engine
folder = Path(sys.argv[1])
plan, key = Plan.load(folder / "plan.json"), bytes(range(32))
local = SparkSession.builder.remote("local[1]").config("spark.sql.shuffle.partitions", 1)
session = local.getOrCreate()
assert "connect" in type(session).__module__
reports = engine.privatize(plan, session.read.parquet(str(folder / "people.parquet")), key, "id")
pq.write_table(reports.toArrow(), folder / "reports.parquet")
engine.tally(plan, reports).save(folder / "tally.json")
session.stop()
"""


def test_spark_connect_gives_the_same(tmp_path: Path) -> None:
    require(shutil.which("java"), "openjdk-17-jre-headless")
    PLAN.save(tmp_path / "plan.json")
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_SUBMIT_OPTS": JAVA}
    done = subprocess.run(
        [sys.executable, "-c", CONNECTED, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert by_id(pq.read_table(tmp_path / "reports.parquet")) == expected(PLAN)
    assert (
        json.loads((tmp_path / "tally.json").read_text())
        == Tally(PLAN).add(privatize(PLAN, PEOPLE, KEY, "id")).to_dict()
    )
