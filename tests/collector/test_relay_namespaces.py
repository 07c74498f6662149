"""Relay and collector in network namespaces of their own: devices reach the relay alone, and it the collector."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.helpers import loaded
from support.paths import ROOT

pytestmark = pytest.mark.slow

DRILL = loaded(ROOT / "benchmarks" / "sweeps" / "relay_namespaces.py")


def test_devices_relay_and_collector_in_three_networks(tmp_path: Path) -> None:
    if (why := DRILL.impossible()) is not None:
        pytest.skip(why)
    outcome = DRILL.drill(tmp_path, people=8)
    assert outcome == {"statuses": "{202}", "collector": "no way", "people": 8, "devices logged": False}
