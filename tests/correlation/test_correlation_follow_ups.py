"""Correlation measured where questions have follow-ups: about everything outside a block, and nothing inside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bcdp import Policy, make_plan
from bcdp.audit import verify_limits
from bcdp.correlation import estimate_correlation
from bcdp.correlation.pilot import odds_guide
from bcdp.correlation.stated import holding_numbers

FEATURES: dict[str, Any] = {
    "drugs": {"type": "binary", "values": ["no", "yes"], "delta": 0.5},
    "often": {"type": "ordinal", "values": ["monthly", "weekly"], "asked_if": {"drugs": "yes"}, "missing": "monthly"},
    "spent": {"type": "numeric", "bounds": [0, 100], "asked_if": {"drugs": "yes"}, "missing": "own"},
    "sex": {"type": "binary"},
    "town": {"type": "binary"},
}
POLICY = Policy(epsilon=2, features=FEATURES)


def sample(people: int = 40_000) -> dict[str, Any]:
    """Of those not asked 80% have sex 1, of those who give no answer 20%, of all others 50%; spent is 100 then."""
    kind = np.arange(people) % 4  # not asked, no answer, monthly, weekly
    share = np.array([0.8, 0.2, 0.5, 0.5])[kind]
    sex = (np.arange(people) // 4 % 10 < 10 * share).astype(int)
    return {
        "drugs": np.where(kind == 0, "no", "yes"),
        "often": np.array([None, None, "monthly", "weekly"])[kind],
        "spent": np.where(kind < 2, np.nan, 100.0),
        "sex": sex,
        "town": np.arange(people) // 40 % 2,
    }


def test_not_asked_and_no_answer_are_values_of_their_own() -> None:
    found = estimate_correlation(POLICY, sample())
    assert found.observed["spent", "sex"] == pytest.approx(0.6)  # 0.8 where it is not asked, 0.2 where it is missing
    assert found.observed["often", "sex"] == pytest.approx(0.6)
    assert found.observed["drugs", "sex"] == pytest.approx(0.4)
    # of those with sex 1 40% are not asked and 10% give no answer; of the others 10 and 40%
    assert found.observed["sex", "spent"] == pytest.approx(0.3)
    assert found.q("sex", {"drugs", "often", "spent"}) >= 0.3
    assert not any(pair in found.observed for pair in (("drugs", "often"), ("often", "spent"), ("spent", "drugs")))
    assert found.q("drugs", {"often"}) == 1.0


def test_a_plan_by_a_sample_keeps_every_demand() -> None:
    plan = make_plan(POLICY, estimate_correlation(POLICY, sample()))
    assert not verify_limits(plan.text).objections
    bounds = [(row[0], set(row[1])) for row in plan.correlation["bounds"]]
    assert all(not others & {"drugs", "often", "spent"} for name, others in bounds if name == "drugs")


def test_numbers_to_state_are_about_what_is_outside() -> None:
    numbers = holding_numbers(POLICY, sample(), estimate_correlation(POLICY, sample()))
    assert 0.4 <= numbers["drugs"]["q"] < 0.45
    assert 0.6 <= numbers["often"]["q"] < 0.65
    assert odds_guide(POLICY, sample())["drugs"] < 10  # its follow-ups would say everything
