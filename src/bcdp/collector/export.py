"""Reports from a store to a Parquet file, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bcdp.collector.store import Store
from bcdp.device import PLAN_KEY
from bcdp.plan import Plan

_ROWS = 2**16


def export_reports(plan: Plan, store: Store, path: Path, advance: Callable[[float], None]) -> int:
    """How many reports were written to the file, in memory for one batch; `advance` is told the size of each."""
    fields = [pa.field("menu", pa.uint32(), nullable=False), pa.field("answer", pa.uint32(), nullable=False)]
    schema = pa.schema(fields, metadata={PLAN_KEY: plan.id.encode()})
    people = 0
    with pq.ParquetWriter(path, schema) as writer:
        for batch in store.batches(_ROWS):
            columns = np.array(batch, dtype=np.uint32).T
            writer.write_batch(pa.record_batch([pa.array(column) for column in columns], schema=schema))
            people += len(batch)
            advance(len(batch))
    return people
