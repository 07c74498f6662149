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
from bcdp.present.report.html import Html, page, paragraph


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
    errors, promised = compare(plan, plan.correlation_model), promises(plan)
    parts = [
        protection.organiser(plan),
        protection.summary(plan, promised, errors, users, estimates, kept=audited is None or audited.kept),
        protection.batch(plan, users),
        protection.promises(plan, promised),
        protection.counts(plan, promised, users if estimates is None else estimates.people),
        protection.assumption(plan),
        results.learned(plan, estimates, truth) if estimates is not None else Html(),
        results.fakes(plan, liars),
        results.accuracy(plan, errors, users, simulated),
        protection.leakage(plan),
        protection.audit(plan, audited) if audited is not None else Html(),
        protection.adversary(plan, promised),
        protection.policy(plan),
    ]
    footer = f"Made on {(day or date.today()).isoformat()}."
    survey = plan.policy.survey
    parts.insert(0, paragraph(f"{survey.organiser}. {footer}" if survey else footer, kind="quiet"))
    head = "What was collected" if estimates is not None else "What is to be collected"
    named = f"{survey.title}: {head[0].lower()}{head[1:]}" if survey else head
    return page(title or f"{named}, and what stays private", parts)
