"""Reports and counts by the compiled kernel and by NumPy, by one thread and two: the same, bit by bit, or it fails.

`python identical.py PLANS RECORDS`: random plans as the readers' tests make them, records in every form of column.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from speed import KEY, uncompiled

from bcdp import Plan
from bcdp.engines.local import privatize_file, tally_files
from mutants import fresh_plans
from test_fast import records


def outcome(plan: Plan, data: Path, workers: int) -> tuple[str, object]:
    """The digest of the file of reports, and its counts."""
    output = data.with_name("reports.parquet")
    privatize_file(plan, data, output, KEY, "id of a record", workers=workers)
    return hashlib.sha256(output.read_bytes()).hexdigest(), tally_files(plan, [output]).to_dict()


def main() -> None:
    count, people = int(sys.argv[1]), int(sys.argv[2])
    rng = np.random.default_rng(7)
    for number, document in enumerate(fresh_plans(rng, count)[:count]):
        plan = Plan.build(document)
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "people.parquet"
            pq.write_table(records(rng, plan, people), data)
            found = [outcome(plan, data, workers) for workers in (1, 2)]
            found += [uncompiled(partial(outcome, plan, data, workers)) for workers in (1, 2)]
        if any(other != found[0] for other in found):
            raise SystemExit(f"plan {number} differs: {plan.text}")
        print(f"plan {number + 1} of {count}: {people:,} records, the same four times", flush=True)


if __name__ == "__main__":
    main()
