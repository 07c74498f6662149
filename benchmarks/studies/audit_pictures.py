"""Draws the pictures of docs/guide/audit.md and prints their numbers: `python benchmarks/studies/audit_pictures.py`."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from bcdp.audit import audit_mechanism, population_of
from bcdp.compare.leak import leak
from bcdp.mechanisms.cascade import duchi
from bcdp.notions import TradeOff
from bcdp.present.pictures import draw_leak, draw_trade_off

SHARES = (0.0, 0.01, 0.02, 0.05, 0.12, 0.23, 0.34, 0.45, 0.6, 0.78, 0.9, 1.0)
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


def draw_common_practice() -> None:
    """Exact levels of the first feature, whose promise is 0.2, over the correlation of the paper's prior."""
    leaks = [leak(q) for q in SHARES]
    print("q, promised, each on its own, odds, bcdp plan")
    for found in leaks:
        factor = math.exp(found.separate)
        print(f"{found.q:g}, {found.asked:g}, {found.separate:.3f}, {factor:.1f}, {found.planned:.4f}")
    draw_leak(leaks, PICTURES / "leak.png")


def draw_refuted_claim() -> None:
    """A Duchi channel of level 1.3 that claims 1: its measured tests against the best that the claim allows."""
    rng = np.random.default_rng(1)
    population = population_of(["a", "b", "c"], np.full((2, 2, 2), 1 / 8))
    measured = audit_mechanism(lambda x: duchi(2.0 * x - 1, 1.3, math.sqrt(3), rng), population, 10**6, rng=2)
    print(measured.alarms(epsilon=1.0))
    lie = 1 / (1 + math.e)
    best = TradeOff(np.array([0, lie, 1]), np.array([1, lie, 0]), 1.0)
    draw_trade_off(best, 1.0, PICTURES / "audit.png", "the record", measured=measured.epsilon.tests)


if __name__ == "__main__":
    draw_common_practice()
    draw_refuted_claim()
