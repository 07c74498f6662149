"""What a collection is expected to tell beyond standard errors, before anybody is asked: for `plan` and `simulate`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bcdp.plan import Plan
    from bcdp.statistics import Expected, Means


def expectations(made: Plan, people: int, data: Means | None = None) -> list[Expected]:
    """What every task of a survey will be able to tell from so many people; in the population of the data, if given."""
    from bcdp.mechanisms.survey import information

    errors = {target: 1 / told if told > 0 else math.inf for target, told in information(made).items()}
    return [one for task in made.policy.tasks for one in task.expected(made.policy, errors, people, data)]


def data_expectations(made: Plan, table: Any, people: int) -> list[Expected]:
    """What a survey of so many people drawn from the table will be able to tell."""
    from bcdp.policy.encoding import encode

    policy = made.policy
    codes = encode(policy, table)
    targets = {target for task in policy.tasks for target, _ in task.targets(policy)}
    return expectations(made, people, {target: target.of(policy, codes).mean(axis=0) for target in targets})


def expected_lines(expected: Sequence[Expected]) -> list[str]:
    """The expectations as lines, each subject with an empty line after it."""
    return [line for one in expected for line in (f"What to expect: {one.subject}", *one.lines, "")]
