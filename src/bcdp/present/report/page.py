"""The page as a whole: which sections there are, and where their numbers come from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from bcdp.audit import PlanAudit
from bcdp.compare import Point
from bcdp.compare.baselines import compare
from bcdp.estimates import Estimates
from bcdp.plan import Plan
from bcdp.present.pictures import Truth
from bcdp.present.promise import promises
from bcdp.present.report import protection, results
from bcdp.present.report.footnotes import LinkedFootnotes
from bcdp.present.report.html import NOTHING, Html, PageGroup, page, paragraph


def write_report(
    path: str | Path,
    plan: Plan,
    users: int,
    estimates: Estimates | None = None,
    *,
    truth: Truth | None = None,
    audited: PlanAudit | None = None,
    simulated: Sequence[Point] = (),
    title: str | None = None,
    liars: float = 0.0,
) -> None:
    """Writes the page of a plan for so many people, with all that is known about it.

    Estimates show what was learned, the truth how far that is off, an audit what the plan reveals about one
    population, and simulated collections the errors on data. `liars` is a share of fake reports to allow for.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> write_report("report.html", plan, users=1000)
    >>> "smoker" in Path("report.html").read_text()
    True
    """
    Path(path).write_text(
        report_page(
            plan, users, estimates, truth=truth, audited=audited, simulated=simulated, title=title, liars=liars
        ),
        encoding="utf-8",
    )


def report_page(
    plan: Plan,
    users: int,
    estimates: Estimates | None = None,
    *,
    truth: Truth | None = None,
    audited: PlanAudit | None = None,
    simulated: Sequence[Point] = (),
    title: str | None = None,
    liars: float = 0.0,
    day: date | None = None,
) -> Html:
    """The text of that page; `day` is when it is made, today if left out."""
    errors, promised, notes = compare(plan, plan.correlation_model), promises(plan), LinkedFootnotes()
    accuracy = results.accuracy(plan, errors, users, simulated)
    learned = accuracy if estimates is None else results.learned(plan, estimates, truth)
    known = PageGroup("Accuracy" if estimates is None else "Results", (learned,))
    people = users if estimates is None else estimates.people
    adversary = protection.adversary(plan, promised, notes)
    promised_sections = (
        protection.summary(plan, promised, errors, notes),
        protection.batch(plan, users, notes),
        protection.promises(plan, promised, notes),
        protection.counts(plan, promised, people, notes),
        protection.assumption(plan, notes),  # after all that name a condition
        protection.audit(plan, audited) if audited is not None else NOTHING,
        *adversary,
    )
    methods = (
        protection.organiser(plan),
        accuracy if estimates else NOTHING,
        results.fakes(plan, liars),
        protection.leakage(plan),
        protection.policy(plan),
    )
    groups = (known, PageGroup("Promises", promised_sections), PageGroup("Methods", methods))
    head = "What was collected" if estimates is not None else "What is to be collected"
    survey = plan.policy.survey
    named = f"{survey.title}: {head[0].lower()}{head[1:]}" if survey else head
    above = [
        paragraph(_line(plan, users, estimates, day or date.today()), kind="quiet"),
        *([] if audited is None or audited.kept else [paragraph(protection.BROKEN, kind="alarm")]),
        *(paragraph(alarm, kind="alarm") for alarm in results.alarms(estimates)),
    ]
    return page(title or f"{named}, and what stays private", above, groups)


def _line(plan: Plan, users: int, estimates: Estimates | None, day: date) -> str:
    """Who asked whom, and when the page was made."""
    survey = plan.policy.survey
    who = f"{survey.organiser}. " if survey else ""
    answered = f"{estimates.people:,} people answered" if estimates else f"{users:,} people are expected to answer"
    return f"{who}{answered}. Made on {day.isoformat()}."
