"""Tables that are designed for what is wanted, next to the optimum of a semidefinite program of another code."""

from __future__ import annotations

import numpy as np
import pytest

from support.helpers import loaded
from support.paths import ROOT

pytest.importorskip("clarabel")


designs = loaded(ROOT / "benchmarks" / "studies" / "block_designs.py")


@pytest.mark.parametrize("budget", [0.5, 3.0])
def test_the_tables_of_a_scale_are_the_best(budget: float) -> None:
    alone, together = designs.scale_gaps(budget)
    for ours, best in alone.values():
        assert 0.999 < ours / best < 1.02
    assert 0.999 < together < 1.03


@pytest.mark.parametrize(("items", "most"), [(3, 2), (4, 4)])
def test_a_list_with_a_strict_item_has_nearly_the_best_table(items: int, most: int) -> None:
    ours, best, *_ = designs.list_gap(items, most)
    assert 0.999 < ours / best < 1.03


def test_the_program_finds_what_is_known() -> None:
    """Two values at budget 1: randomized response, whose second moments are known; a worse budget is seen."""
    columns = designs.two_valued(2, 1.0)
    assert designs.least_criterion(np.eye(2), columns) == pytest.approx((1 + 1 / np.tanh(0.5) ** 2) / 2, rel=1e-6)
    assert designs.least_criterion(np.eye(2), designs.two_valued(2, 0.9)) > 3
