"""What Spark takes to privatize a file, beside a job that hands the same columns through Python and changes nothing.

`python benchmarks/speed/spark_rate.py RECORDS`: both jobs in turn, in one session; the quickest of each counts.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from growth import KEY, _write
from speed import bits_plan

from bcdp.engines import spark


def unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # which has the package
    people, plan = int(sys.argv[1]), bits_plan()
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "people.parquet"
        _write(data, people)
        records = spark.session().read.parquet(str(data))
        jobs = {
            "identity": records.mapInArrow(unchanged, records.schema),
            "privatize": spark.privatize(plan, records, KEY, "id"),
        }
        times: dict[str, list[float]] = {job: [] for job in jobs}
        for _ in range(4):
            for job, frame in jobs.items():
                target = str(Path(name) / job)
                times[job].append(seconds(lambda f=frame, t=target: f.write.mode("overwrite").parquet(t)))
    best = {job: min(taken) for job, taken in times.items()}
    ratio = best["privatize"] / best["identity"]
    print(f"{people:,} records: {best}, {people / best['privatize']:,.0f} reports a second, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
