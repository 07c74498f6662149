"""The cascade behind the interface of all mechanisms (`bcdp.plan.mechanism`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bcdp.correlation import Correlation
from bcdp.exact import Floats
from bcdp.mechanisms.cascade.certificate import bounds, check_form, levels
from bcdp.mechanisms.cascade.decoding import channel_errors
from bcdp.mechanisms.cascade.plans import make_plan, plan_channels, release, report_schema
from bcdp.mechanisms.cascade.tally import CascadeTally
from bcdp.plan import Certified, Plan
from bcdp.policy import Policy
from bcdp.policy.counts import CountsDemand
from bcdp.statistics import Single, Target

__all__ = [
    "bounds",
    "broken_counts_claims",
    "check_form",
    "counts_told",
    "description",
    "largest_errors",
    "largest_levels",
    "largest_shift",
    "levels",
    "make_plan",
    "plan_messages",
    "release",
    "report_schema",
    "tally",
]


def plan_messages(
    policy: Policy, demand: CountsDemand, correlation: Correlation, progress: Callable[[str], None]
) -> None:
    """A cascade sends one message."""


def counts_told(plan: Plan, people: int, chance: float, correlation: Correlation | None) -> None:
    """What sums of its reports reveal is not known."""


def broken_counts_claims(plan: Plan) -> Iterator[tuple[str, float]]:
    """All of them: what its counts reveal is not known."""
    return iter([("epsilon", plan.certificate.counts.epsilon)] if plan.certificate.counts else [])


def largest_shift(plan: Plan, target: Target, factors: Floats, fakes: float, span: tuple[float, float]) -> None:
    """How far fake reports shift its estimates is not known."""


def description(plan: Plan) -> str:
    """What a device does, and what leaves it."""
    return "Each device sends its record with noise of its own, one number for each feature."


def largest_levels(plan: Plan, correlation: Correlation) -> Certified:
    """The levels of the one thing that a device does."""
    (only,) = levels(plan, correlation)
    return only


def largest_errors(plan: Plan) -> dict[Target, float]:
    """For each feature, n times its squared error in the worst population."""
    return {Single(name): error for name, error in channel_errors(plan.policy, plan_channels(plan)).items()}


def tally() -> type[CascadeTally]:
    """The class that counts its reports."""
    return CascadeTally
