"""The waves of a panel at the collector: which are open, and what the operator sees of each."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from typing import Any

from bcdp.collector.rounding import rounded, rounded_count
from bcdp.estimates.panel import estimate_panel
from bcdp.estimates.waves import Trend
from bcdp.plan import Plan
from bcdp.plan.panel import calendar_of, wave_shares
from bcdp.tally import Tally


def today() -> date:
    """The day, in UTC, as devices count it."""
    return datetime.now(UTC).date()


def open_waves(plan: Plan, day: date, late_days: int) -> Collection[int]:
    """The waves whose reports are accepted on a day: the one that it is in, and those that ended a few days before.

    >>> from bcdp import Policy, make_plan
    >>> policy = Policy(epsilon=1, features={"smoker": {"type": "binary"}}, panel={"waves": 4, "every": "week",
    ...     "start": "2027-01-04"})
    >>> open_waves(make_plan(policy), date(2027, 1, 12), 3)
    [1, 2]
    """
    calendar = calendar_of(plan)
    first = calendar.wave_on(day - timedelta(late_days))
    return [wave for wave in range(max(first, 1), calendar.wave_on(day) + 1) if wave <= calendar.waves]


def waves_document(tally: Tally, planned: int | None, day: date, late_days: int) -> dict[str, Any]:
    """Each wave with its days, its reports and who did not answer, and the trends, as plain JSON; of no panel nothing.

    Nonresponse is stated of waves that have ended, if it is known how many people take part.
    """
    plan = tally.plan
    if plan.policy.panel is None:
        return {}
    calendar, shares, parts = calendar_of(plan), wave_shares(plan), tally.waves()
    accepted = open_waves(plan, day, late_days)
    waves = []
    for wave, share in shares.items():
        people = rounded_count(parts[wave].people if wave in parts else 0)[0]
        expected = None if planned is None else planned * share
        over = wave < calendar.wave_on(day) and wave not in accepted
        missing = round(max(0.0, 1 - people / expected), 3) if over and expected else None
        state = "open" if wave in accepted else "over" if over else "later"
        days = {"first": calendar.first_day(wave).isoformat(), "last": calendar.last_day(wave).isoformat()}
        counted = {"people": people, "expected": expected, "nonresponse": missing}
        waves.append({"wave": wave, **days, "state": state, **counted})
    answered = sum(part.people > 1 for part in parts.values())
    trends = list(estimate_panel(tally).trends) if answered > 1 else []
    return {"waves": waves, "trends": [rounded(_trend_document(trend)) for trend in trends]}


def _trend_document(trend: Trend) -> dict[str, Any]:
    waves = [{"wave": int(wave), **number.to_dict()} for wave, number in trend.waves.items()]
    return {"about": trend.section.subject, "label": trend.row.label, "waves": waves, "slope": trend.slope.to_dict()}


def expected_shares(tally: Tally) -> list[float]:
    """The share of the reports that each menu should have: in a panel, of those of its wave."""
    plan = tally.plan
    weights = [menu.weight for menu in plan.menus]
    if plan.policy.panel is None or not tally.people:
        return [weight / sum(weights) for weight in weights]
    shares, parts = wave_shares(plan), tally.waves()
    return [
        menu.weight / sum(weights) / shares[menu.wave or 0] * parts[menu.wave or 0].people / tally.people
        for menu in plan.menus
    ]
