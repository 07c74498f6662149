"""The load of benchmarks/speed/collector_load.py for a moment: no error, and everything acknowledged is stored."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from bcdp import Plan
from support.collector_fixtures import serving, stored
from support.paths import ROOT
from support.system import require

sys.path.insert(0, str(ROOT / "benchmarks" / "speed"))

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("reports", "connections"), [(1000, 8), (1, 32)])
def test_load_without_errors(
    collection: tuple[Plan, Path], store_url: str, tmp_path: Path, reports: int, connections: int
) -> None:
    require(shutil.which("wrk"), "wrk")
    from collector_load import load

    plan, path = collection
    with serving(tmp_path, path, store_url, "--rate", "0") as server:
        found = load(tmp_path, server.url, plan, reports, connections, seconds=1)
        assert found.errors == 0
        assert found.requests > 0
    assert len(stored(store_url).marks) >= found.requests * reports
