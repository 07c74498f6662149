"""The survey behind the interface of all mechanisms (`bcdp.plan.mechanism`)."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from bcdp.correlation import Correlation
from bcdp.errors import refuse
from bcdp.mechanisms.survey.answering.batches import reports
from bcdp.mechanisms.survey.design.planner import plan_survey as make_plan
from bcdp.mechanisms.survey.design.separate_messages import plan_messages
from bcdp.mechanisms.survey.estimation.decoder import largest_errors
from bcdp.mechanisms.survey.estimation.fake_reports import largest_shift
from bcdp.mechanisms.survey.estimation.tally import SurveyTally
from bcdp.plan import Certified, Plan, Within, certify_menu
from bcdp.plan.certificate import certify_menus as largest_levels
from bcdp.plan.certificate import menu_bounds
from bcdp.plan.messages import linked_menus, sends_all
from bcdp.plan.published_counts import broken_counts_claims
from bcdp.plan.published_counts import counts_levels as counts_told
from bcdp.plan.structure import check_questions
from bcdp.randomness import RecordWords

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


def check_form(plan: Plan) -> None:
    """Menus that ask questions about the plan's features, through the plan's tables."""
    if plan.channels or not plan.menus:
        raise refuse("menus", len(plan.menus), "at least one menu and no channels in a survey plan")
    check_questions(plan)


def levels(plan: Plan, correlation: Correlation) -> list[Certified]:
    """The levels of the answers to each menu."""
    return [certify_menu(plan, menu, correlation) for menu in linked_menus(plan)]


def bounds(plan: Plan, correlation: Correlation) -> list[dict[str, Within]]:
    """For each menu and feature, how far what the menu asks about the others may move with it."""
    return [menu_bounds(plan, menu, correlation) for menu in linked_menus(plan)]


def description(plan: Plan) -> str:
    """What a device does, and what leaves it."""
    if sends_all(plan):
        return (
            f"Each device answers {len(plan.menus)} menus of questions through public tables of random choices and "
            "sends each answer as a message of its own, which nothing links to the others."
        )
    return (
        f"Each device draws one of {len(plan.menus)} menus of questions by chance, answers it through a public table "
        "of random choices and sends two small numbers."
    )


def report_schema(plan: Plan) -> pa.Schema:
    """The menu that was drawn, and the answers to its questions as one number."""
    return pa.schema([("menu", pa.uint32()), ("answer", pa.uint32())])


def release(plan: Plan, records: pa.Table, words: Callable[[slice], RecordWords]) -> list[pa.Array]:
    """Which menu each record drew, and what it answered."""
    return [pa.array(column) for column in reports(plan, records, words)]


def tally() -> type[SurveyTally]:
    """The class that counts its reports."""
    return SurveyTally
