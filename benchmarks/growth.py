"""How time and memory grow: with people, features and categories; each point is measured in a process of its own."""

from __future__ import annotations

import json
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
    """Seconds from file to file and from reports to counts, of all cores together, and by the clock."""
    plan = make_plan(Policy(epsilon=1, features={f"x{i}": {"type": "binary"} for i in range(10)}))
    with tempfile.TemporaryDirectory() as name:
        data, reports = Path(name) / "people.parquet", Path(name) / "reports.parquet"
        subprocess.run([sys.executable, __file__, "write", str(people), str(data)], check=True)
        begun, clock = time.process_time(), time.perf_counter()
        privatize_file(plan, data, reports, KEY, "id")
        middle, elapsed = time.process_time(), time.perf_counter() - clock
        tally_files(plan, [reports])
        return {"privatize": middle - begun, "tally": time.process_time() - middle, "privatize, elapsed": elapsed}


def with_features(features: int) -> dict[str, float]:
    """Seconds to plan, and to privatize 100,000 records."""
    begun = time.process_time()
    plan = make_plan(Policy(epsilon=1, features={f"x{i}": {"type": "binary"} for i in range(features)}))
    planned = time.process_time() - begun
    generator = np.random.default_rng(1)
    table = pa.table({f"x{i}": generator.integers(0, 2, 100_000).astype(bool) for i in range(features)})
    begun = time.process_time()
    privatize(plan, table)
    return {"plan": planned, "privatize": time.process_time() - begun}


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


CURVES = {"people": with_people, "features": with_features, "categories": with_categories}


def measured(curve: str, size: int) -> dict[str, float]:
    """One point of a curve, with the peak of its process's memory in MB."""
    done = subprocess.run([sys.executable, __file__, curve, str(size)], stdout=subprocess.PIPE, text=True, check=True)
    return {"size": size, **json.loads(done.stdout)}


def _peak_memory() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    if sys.argv[1] == "write":
        _write(Path(sys.argv[3]), int(sys.argv[2]))
    else:
        print(json.dumps({**CURVES[sys.argv[1]](int(sys.argv[2])), "memory": _peak_memory()}))
