"""The mechanisms behind one interface: each makes plans, certifies them, releases reports and counts them.

A mechanism is asked for by its name, here and nowhere else. A new one is a folder of `mechanisms/`, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

import pyarrow as pa

from bcdp.errors import refuse
from bcdp.exact import Floats

if TYPE_CHECKING:
    from bcdp.correlation import Correlation
    from bcdp.plan.certificate import Certified
    from bcdp.plan.document import Plan
    from bcdp.plan.published_counts import CountsLevels
    from bcdp.plan.worst_prior import Within
    from bcdp.policy import Policy
    from bcdp.policy.counts import CountsDemand
    from bcdp.randomness import RecordWords
    from bcdp.statistics import Target
    from bcdp.tally import Tally

GROUP = "group"  # the column of a report that reveals the open values
MECHANISMS = {"survey": "bcdp.mechanisms.survey.interface", "cascade": "bcdp.mechanisms.cascade.interface"}


class Mechanism(Protocol):
    """The verbs of a mechanism; each is imported when it is first asked for."""

    def make_plan(
        self, policy: Policy, correlation: Correlation, progress: Callable[[str], None], seconds: float | None
    ) -> Plan:
        """The most accurate plan that keeps every demand of the policy under the given correlation.

        After about so many seconds, the best so far; its gap says how far it may be from the best.
        """

    def plan_messages(
        self, policy: Policy, demand: CountsDemand, correlation: Correlation, progress: Callable[[str], None]
    ) -> Plan | None:
        """The plan that keeps demands on counts with several messages of each person; None if there is none."""

    def check_form(self, plan: Plan) -> None:
        """Raises `InputError` for the first part of a plan that no device of this mechanism can execute."""

    def levels(self, plan: Plan, correlation: Correlation) -> list[Certified]:
        """The exact levels of each thing that a device may draw, whatever its record is: the plan's are the largest."""

    def largest_levels(self, plan: Plan, correlation: Correlation) -> Certified:
        """The largest of these levels, which are the plan's, without computing all of them."""

    def bounds(self, plan: Plan, correlation: Correlation) -> list[dict[str, Within]]:
        """For each thing that a device may draw and each feature, the bounds on which its level rests."""

    def description(self, plan: Plan) -> str:
        """Two sentences for a person: what a device does, and what leaves it."""

    def largest_errors(self, plan: Plan) -> dict[Target, float]:
        """For each feature, n times its squared error in the worst population; infinite if it is not asked."""

    def largest_shift(
        self, plan: Plan, target: Target, factors: Floats, fakes: float, span: tuple[float, float]
    ) -> float | None:
        """How far a share of fake reports shifts a linear function of a target at most; None where that is not known.

        `span` is what the function can be.
        """

    def counts_told(
        self, plan: Plan, people: int, chance: float, correlation: Correlation | None
    ) -> CountsLevels | None:
        """What the published counts of so many people reveal about one of them; None where that is not known."""

    def broken_counts_claims(self, plan: Plan) -> Iterator[tuple[str, float]]:
        """Each claim about counts that is not proved, as its path in the certificate and the claimed level."""

    def report_schema(self, plan: Plan) -> pa.Schema:
        """The columns of a report."""

    def release(self, plan: Plan, records: pa.Table, words: Callable[[slice], RecordWords]) -> list[pa.Array]:
        """The reports of some records, one array for each column: a function of plan, codes and words alone.

        `words` gives the random words of a part of the records.
        """

    def tally(self) -> type[Tally]:
        """The class that counts its reports."""


def mechanism_of(named: Plan | Policy) -> Mechanism:
    """The mechanism that a plan or a policy names."""
    return cast("Mechanism", import_module(MECHANISMS[named.mechanism]))


def report_schema(plan: Plan) -> pa.Schema:
    """The columns of a report: the mechanism's, and `group` where the policy has open features."""
    columns = mechanism_of(plan).report_schema(plan)
    return columns.append(pa.field(GROUP, pa.uint32())) if plan.policy.open else columns


def check_menus(plan: Plan, otherwise: str = "") -> None:
    """Refuses a plan whose reports are not answers to menus, which alone can be enumerated and counted one by one."""
    if not plan.menus:
        raise refuse("plan.mechanism", plan.mechanism, f"survey{otherwise}")
