"""`bcdp ledger`: what one person has spent over several plans."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date as calendar
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bcdp.cli.options import AsJson, MaxDelta, MaxEpsilon
from bcdp.cli.output import show, show_json, table
from bcdp.cli.verify import read_limits
from bcdp.errors import refuse

if TYPE_CHECKING:
    from bcdp.ledger import Ledger
    from bcdp.plan import Plan

REFUSED = 1


class Action(StrEnum):
    """What to do with a ledger."""

    add = "add"
    show = "show"


def ledger(
    action: Annotated[Action, typer.Argument(help="add a plan, or show what was spent.")],
    file: Annotated[Path, typer.Argument(metavar="LEDGER", help="The person's ledger, a JSON file.")],
    plan: Annotated[Path | None, typer.Argument(metavar="[PLAN]", help="The plan to add.")] = None,
    date: Annotated[str | None, typer.Option(metavar="D", help="When it was answered; today if left out.")] = None,
    q: Annotated[
        float | None,
        typer.Option(metavar="Q", min=0.0, max=1.0, help="Bounds how everything asked depends on a feature."),
    ] = None,
    max_epsilon: MaxEpsilon = None,
    max_delta: MaxDelta = None,
    as_json: AsJson = False,
) -> None:
    """Keep account of what one person has told: epsilon and c add up over plans, delta follows from the sums.

    The person's limits are kept in the ledger; adding a plan that would exceed them is refused, with exit code 1.
    Answering the same plan again adds nothing, because a device repeats its answer.

    Examples:

        bcdp ledger add me.json plan.json --max-epsilon 4 --max-delta smoker=0.5
        bcdp ledger show me.json --q 0.1
    """
    from bcdp.files import locked
    from bcdp.ledger import Ledger
    from bcdp.plan import Plan

    if (action is Action.add) != (plan is not None):
        raise refuse("PLAN", None if plan is None else str(plan), "a plan to add, and none to show")
    if action is Action.show and not file.exists():
        raise refuse("LEDGER", str(file), "an existing ledger, made by bcdp ledger add")
    objections: tuple[str, ...] = ()
    if plan is None:
        spent = _limited(Ledger.load(file), max_epsilon, max_delta)
    else:
        answered, day, place = Plan.load(plan), _day(date), file.resolve()
        with locked(place):
            spent, objections = _added(_limited(Ledger.load(place), max_epsilon, max_delta), answered, day)
            spent.save(place)
    if as_json:
        show_json(_document(spent, q, objections))
    else:
        _show(spent, q, objections)
    if objections:
        raise typer.Exit(REFUSED)


def _limited(spent: Ledger, max_epsilon: float | None, max_delta: list[str] | None) -> Ledger:
    """The ledger with the limits stated now in place of those it had."""
    from bcdp.ledger import Limits

    epsilon = spent.limits.epsilon if max_epsilon is None else max_epsilon
    return replace(spent, limits=Limits(epsilon, {**spent.limits.delta, **read_limits(max_delta)}))


def _added(spent: Ledger, plan: Plan, day: str) -> tuple[Ledger, tuple[str, ...]]:
    """The ledger with the plan, or as it was and what speaks against the plan."""
    from bcdp.ledger import release_of

    if spent.holds(plan.id):
        return spent, ()
    more = replace(spent, releases=(*spent.releases, release_of(plan, day)))
    objections = more.objections()
    return (spent if objections else more), objections


def _day(stated: str | None) -> str:
    try:
        return (calendar.today() if stated is None else calendar.fromisoformat(stated)).isoformat()
    except ValueError:
        raise refuse("--date", stated, "a date such as 2030-12-31") from None


def _document(spent: Ledger, q: float | None, objections: tuple[str, ...]) -> dict[str, Any]:
    limits = spent.limits
    return {
        "epsilon": {"spent": spent.epsilon, "limit": limits.epsilon if limits.epsilon < math.inf else None},
        "features": {
            name: {
                "c": spent.c(name),
                "q": spent.q(name) if q is None else q,
                "delta": spent.delta(name, q),
                "limit": limits.delta.get(name),
            }
            for name in spent.features
        },
        "releases": [{"plan": r.plan, "date": r.date, "epsilon": r.epsilon} for r in spent.releases],
        "refused": list(objections),
    }


def _show(spent: Ledger, q: float | None, objections: tuple[str, ...]) -> None:
    document = _document(spent, q, objections)
    rows = [["epsilon", "", "", spent.epsilon, spent.limits.epsilon]]
    rows += [[f"delta {n}", f["c"], f["q"], f["delta"], spent.limits.delta.get(n, math.inf)]
             for n, f in document["features"].items()]  # fmt: skip
    answered = [[release.date or "-", release.name, release.epsilon] for release in spent.releases]
    show(
        table(["date", "plan", "epsilon"], answered),
        "",
        table(["level", "c", "q", "spent", "limit"], rows),
        *(f"REFUSED: {objection}" for objection in objections),
    )
