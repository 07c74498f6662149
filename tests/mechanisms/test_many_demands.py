"""More demands than all groups can be tried of: the search loses little by what it leaves out."""

from __future__ import annotations

import numpy as np

from bcdp import Policy, make_plan

FULL_SEARCH = 1855.4  # n x error, from every group grown by every feature: benchmarks/sweeps/many_demands.py


def test_a_narrow_search_finds_what_a_full_one_finds() -> None:
    """Groups of at most five, or grown from the dearest features only, are 2% worse and more."""
    deltas = np.linspace(0.2, 1.5, 16).round(4).tolist()
    features = {f"x{number}": {"type": "binary", "delta": delta} for number, delta in enumerate(deltas)}
    objective = make_plan(Policy(epsilon=2, features=features, correlation=0.1)).certificate.objective
    assert objective is not None
    assert objective <= 1.003 * FULL_SEARCH
