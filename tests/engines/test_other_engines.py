"""The functions for Ray and Dask that the documents show: reports as on one machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bcdp import Policy, Tally, make_plan, privatize
from support.documents import ROOT, blocks

pytestmark = pytest.mark.slow

KEY = bytes(range(32))
PLAN = make_plan(Policy(epsilon=2, features={name: {"type": "binary"} for name in "abc"}))
RNG = np.random.default_rng(1)
PEOPLE = pa.table({"id": np.arange(3000), **{name: RNG.integers(0, 2, 3000).astype(bool) for name in "abc"}})
EXPECTED = Tally(PLAN).add(privatize(PLAN, PEOPLE, KEY, "id"))


def documented(name: str) -> Any:
    page = (ROOT / "docs" / "guide" / "scale.md").read_text("utf-8")
    (block,) = [block for block in blocks(page) if block.language == "python" and f"def {name}(" in block.text]
    names: dict[str, Any] = {}
    exec(block.text, names)
    return names[name]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning")
def test_ray() -> None:
    import ray
    from ray import data

    ray.init(num_cpus=1, include_dashboard=False, logging_level="ERROR")
    try:
        reports = documented("with_ray")(PLAN, KEY, data.from_arrow(PEOPLE).repartition(3))
        counted = Tally(PLAN)
        for batch in reports.iter_batches(batch_format="pyarrow"):
            counted.add(batch)
    finally:
        ray.shutdown()
    assert counted == EXPECTED


def test_dask() -> None:
    from dask import dataframe

    reports = documented("with_dask")(PLAN, KEY, dataframe.from_pandas(PEOPLE.to_pandas(), npartitions=3))
    assert reports.npartitions == 3
    assert Tally(PLAN).add(reports.compute()) == EXPECTED
