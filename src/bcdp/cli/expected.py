"""What a collection is expected to show beyond standard errors, before anybody is asked: for `plan` and `simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bcdp.plan import Plan
    from bcdp.statistics import Expected


def data_expectations(plan: Plan, table: Any, people: int) -> list[Expected]:
    """What a survey of so many people drawn from the table will be able to show."""
    from bcdp.present.plan_summary import expectations
    from bcdp.records.encoding import encode

    return expectations(plan, people, encode(plan.policy, table))


def expected_lines(expected: Sequence[Expected]) -> list[str]:
    """The expectations as lines, each subject with an empty line after it."""
    return [
        line for expectation in expected for line in (f"What to expect: {expectation.subject}", *expectation.lines, "")
    ]
