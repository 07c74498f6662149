"""Reports and counts by compiled code and by NumPy, by one thread and two, and by Spark: the same, or it fails.

`python identical.py PLANS RECORDS`: random plans as the readers' tests make them, records in every form of column.
Files of reports are compared byte by byte; Spark's, which keep no order and their own types, report by report.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "mechanisms"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "speed"))

from speed import KEY, uncompiled
from test_compiled import records

from bcdp import Plan
from bcdp.engines import spark
from bcdp.engines.local import privatize_file, tally_files
from bcdp.mechanisms.survey.answering import batches as bulk
from bcdp.plan import report_schema
from support.plan_mutants import fresh_plans

ID = "id of a record"


def outcome(plan: Plan, data: Path, workers: int) -> tuple[str, object]:
    """The digest of the file of reports, and its counts."""
    output = data.with_name("reports.parquet")
    privatize_file(plan, data, output, KEY, ID, workers=workers)
    return hashlib.sha256(output.read_bytes()).hexdigest(), tally_files(plan, [output]).to_dict()


def by_spark(plan: Plan, data: Path) -> pa.Table:
    """The reports of Spark's workers, in the order of the ids; they see too few records to load numba."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # which has the package
    session = spark.session()
    reports = spark.privatize(plan, session.read.parquet(str(data)), KEY, ID).toArrow().sort_by(ID)
    return reports.select(report_schema(plan).names).cast(report_schema(plan)).combine_chunks()


def main() -> None:
    bulk.kernel_once_worth(1)  # so that compiled code is used from now on
    count, people = int(sys.argv[1]), int(sys.argv[2])
    rng = np.random.default_rng(7)
    for number, document in enumerate(fresh_plans(rng, count)[:count]):
        plan = Plan.build(document)
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "people.parquet"
            pq.write_table(records(rng, plan, people), data)
            found = [outcome(plan, data, workers) for workers in (1, 2)]
            found += [uncompiled(partial(outcome, plan, data, workers)) for workers in (1, 2)]
            written = pq.read_table(data.with_name("reports.parquet")).replace_schema_metadata(None)
            same = by_spark(plan, data).replace_schema_metadata(None).equals(written.combine_chunks())
        if not same or any(other != found[0] for other in found):
            raise SystemExit(f"plan {number} differs: {plan.text}")
        print(f"plan {number + 1} of {count}: {people:,} records, the same five times", flush=True)


if __name__ == "__main__":
    main()
