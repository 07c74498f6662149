"""The survey behind the interface of all mechanisms (`bcdp.plan.mechanism`)."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from bcdp.mechanisms.survey.bulk import reports
from bcdp.mechanisms.survey.planner import plan_survey as make_plan
from bcdp.mechanisms.survey.tally import SurveyTally
from bcdp.plan import Plan
from bcdp.randomness import RecordWords

__all__ = ["make_plan", "release", "report_schema", "tally"]


def report_schema(plan: Plan) -> pa.Schema:
    """The menu that was drawn, and the answers to its questions as one number."""
    return pa.schema([("menu", pa.uint32()), ("answer", pa.uint32())])


def release(plan: Plan, records: pa.Table, words: Callable[[slice], RecordWords]) -> list[pa.Array]:
    """Which menu each record drew, and what it answered."""
    return [pa.array(column) for column in reports(plan, records, words)]


def tally() -> type[SurveyTally]:
    """The class that counts its reports."""
    return SurveyTally
