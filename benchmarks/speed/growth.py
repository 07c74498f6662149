"""How time and memory grow: with people, features and categories; each point is measured in a process of its own."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bcdp import Policy, make_plan, privatize
from bcdp.engines.local import privatize_file, tally_files
from bcdp.plan import PLAN_KEY
from bcdp_device.verify import verify_limits

KEY = bytes(range(32))
STEP = 2**20


def _write(path: Path, people: int) -> None:
    generator = np.random.default_rng(1)
    writer = None
    for start in range(0, people, STEP):
        count = min(STEP, people - start)
        bits = np.frombuffer(generator.bytes(10 * count), dtype=np.uint8).reshape(10, count) & 1
        columns = {f"x{i}": bits[i].astype(bool) for i in range(10)}
        table = pa.table({"id": np.arange(start, start + count), **columns})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def with_people(people: int) -> dict[str, float]:
    """Seconds from file to file and from reports to counts, of all cores together."""
    plan = make_plan(Policy(epsilon=1, features={f"x{i}": {"type": "binary"} for i in range(10)}))
    with tempfile.TemporaryDirectory() as name:
        data, reports = Path(name) / "people.parquet", Path(name) / "reports.parquet"
        subprocess.run([sys.executable, __file__, "write", str(people), str(data)], check=True)
        begun = time.process_time()
        privatize_file(plan, data, reports, KEY, "id")
        middle = time.process_time()
        tally_files(plan, [reports])
        return {"privatize": middle - begun, "tally": time.process_time() - middle}


def with_reports(reports: int) -> dict[str, float]:
    """Seconds to count a file of reports, beyond ten million as often as needed."""
    plan = make_plan(Policy(epsilon=1, features={f"x{i}": {"type": "binary"} for i in range(10)}))
    rng = np.random.default_rng(1)
    size = min(reports, 10**7)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "reports.parquet"
        columns = {"menu": rng.integers(0, 10, size, dtype=np.uint32), "answer": rng.integers(0, 2, size, np.uint32)}
        pq.write_table(pa.table(columns).replace_schema_metadata({PLAN_KEY: plan.id}), path, compression="none")
        del columns
        begun = time.process_time()
        tally_files(plan, [path] * (reports // size))
        return {"tally": time.process_time() - begun}


def with_features(features: int) -> dict[str, float]:
    """Seconds to plan for three demands with q and odds, to verify the plan, and to privatize 100,000 records."""
    chosen = {f"x{i}": {"type": "binary", "delta": (0.2, 0.5, 1)[i % 3]} for i in range(features)}
    begun = time.process_time()
    plan = make_plan(Policy(epsilon=1, correlation={"odds": 3, "q": 0.2}, features=chosen))
    planned = time.process_time() - begun
    begun = time.process_time()
    verify_limits(plan.text)
    verified = time.process_time() - begun
    generator = np.random.default_rng(1)
    table = pa.table({f"x{i}": generator.integers(0, 2, 100_000).astype(bool) for i in range(features)})
    begun = time.process_time()
    privatize(plan, table)
    return {"plan": planned, "verify": verified, "privatize": time.process_time() - begun}


def with_categories(categories: int) -> dict[str, float]:
    """Seconds to plan, and to privatize 1,000,000 records of one feature."""
    begun = time.process_time()
    policy = Policy(epsilon=1, features={"x": {"type": "categorical", "values": list(range(categories))}})
    plan = make_plan(policy)
    planned = time.process_time() - begun
    table = pa.table({"x": np.random.default_rng(1).integers(0, categories, 1_000_000)})
    begun = time.process_time()
    privatize(plan, table)
    return {"plan": planned, "privatize": time.process_time() - begun}


CURVES = {"people": with_people, "reports": with_reports, "features": with_features, "categories": with_categories}


def measured(curve: str, size: int) -> dict[str, float]:
    """One point of a curve, with the peak of its process's memory in MB."""
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads that wait for work count as work
    command = [sys.executable, __file__, curve, str(size)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=alone)
    return {"size": size, **json.loads(done.stdout)}


def exponent(points: list[dict[str, float]], name: str) -> float:
    """How a time grows with the size, between the last tenth of it and all of it: 1 if twice as much takes twice."""
    last = points[-1]
    tenth = min(points, key=lambda point: abs(math.log(10 * point["size"] / last["size"])))
    return math.log(last[name] / tenth[name]) / math.log(last["size"] / tenth["size"])


def _peak_memory() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    if sys.argv[1] == "write":
        _write(Path(sys.argv[3]), int(sys.argv[2]))
    else:
        print(json.dumps({**CURVES[sys.argv[1]](int(sys.argv[2])), "memory": _peak_memory()}))
