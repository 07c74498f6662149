"""Plans that read numbers by steps, checked on a finer grid."""

from __future__ import annotations

import pytest

from bcdp import Plan


def fine(plan: Plan) -> tuple[int, ...]:
    """Numbers are multiples of 1/8 in the enumeration: between cuts, several share a level."""
    return tuple(9 if feature.is_number else len(feature.categories) for feature in plan.policy.features.values())


@pytest.fixture
def on_eighths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("support.helpers.sizes_of", fine)
