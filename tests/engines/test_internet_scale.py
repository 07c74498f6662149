"""The simulation behind the page on internet scale: it loses nothing, and tells ways to recognise repeats apart."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest

from support.paths import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def simulation() -> Any:
    place = ROOT / "benchmarks" / "sweeps" / "internet_scale.py"
    spec = importlib.util.spec_from_file_location("internet_scale", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["internet_scale"] = module
    spec.loader.exec_module(module)
    return module


def test_every_report_of_the_day_is_acknowledged_and_counted(simulation: Any) -> None:
    for collectors in (3, 4):
        flow = simulation.simulate_flow(1e9, collectors)
        assert flow.acknowledged == pytest.approx(1e9)
        assert flow.counted == pytest.approx(1e9)
        assert flow.longest_wait < 60
    assert simulation.arrivals(1e9).sum() == pytest.approx(1e9)


def test_only_stores_of_their_own_count_twice(simulation: Any) -> None:
    doubled = {way: simulation.simulate_repeats(50_000, 4, 0.01, way) for way in ("own store", "by id", "stream")}
    assert doubled["by id"] == doubled["stream"] == (0, 0)
    assert 200 < doubled["own store"][0] < 600  # 50,000 * 0.01 * 3/4, in 9 standard deviations
    assert doubled["own store"][1] == 0
