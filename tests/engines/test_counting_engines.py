"""DuckDB and Polars count report files in one line each, as the local engine does."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from bcdp import Policy, Tally, make_plan, privatize
from bcdp.engines.local import tally_files

pytestmark = pytest.mark.slow

PLAN = make_plan(
    Policy(epsilon=2, features={"a": {"type": "binary"}, "b": {"type": "categorical", "values": [1, 2, 3]}})
)


def test_one_line_each(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for part in range(2):
        records = {"a": rng.integers(0, 2, 500), "b": rng.integers(1, 4, 500)}
        pq.write_table(privatize(PLAN, records), tmp_path / f"{part}.parquet")
    files = str(tmp_path / "*.parquet")
    by_duckdb = duckdb.sql(f"SELECT menu, answer, count(*) AS count FROM '{files}' GROUP BY ALL").to_arrow_table()
    by_polars = pl.scan_parquet(files).group_by("menu", "answer").len("count").collect(engine="streaming")
    expected = tally_files(PLAN, sorted(tmp_path.glob("*.parquet"))).to_dict()
    assert Tally(PLAN).add(by_duckdb).to_dict() == Tally(PLAN).add(by_polars).to_dict() == expected
