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
from bcdp.cli.verify import read_limits, read_named
from bcdp.errors import refuse

if TYPE_CHECKING:
    from bcdp.plan import Plan
    from bcdp.plan.ledger import Ledger

REFUSED = 1


class Action(StrEnum):
    """What to do with a ledger."""

    add = "add"
    show = "show"


def ledger(
    action: Annotated[Action, typer.Argument(help="add a plan, or show what was spent.")],
    file: Annotated[Path, typer.Argument(metavar="LEDGER", help="The person's ledger, a JSON file.")],
    plan: Annotated[Path | None, typer.Argument(metavar="PLAN", help="The plan to add.")] = None,
    date: Annotated[str | None, typer.Option(metavar="D", help="When it was answered; today if left out.")] = None,
    q: Annotated[
        list[str] | None,
        typer.Option(
            metavar="Q", help="Your q for all plans together: one number, or NAME=Q for each feature; kept by add."
        ),
    ] = None,
    odds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ODDS",
            help="The same for odds: by how much all else asked could move a guess; inf for no limit.",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Answered once more, on another device: it counts as another release.")
    ] = False,
    max_epsilon: MaxEpsilon = None,
    max_delta: MaxDelta = None,
    as_json: AsJson = False,
) -> None:
    """Keep account of what one person's answers to several plans reveal together.

    epsilon and c add up. The delta of a feature is the smallest of three levels, each shown with its condition: the sum
    of epsilons (nothing assumed); what one plan certifies on its own condition plus the epsilons of all others; and
    what follows from the sums if you state how far everything asked in any plan, together, depends on the feature.
    The person's limits are kept in the ledger; adding a plan that would exceed them is refused, with exit code 1.
    Adding the same plan again changes nothing, because a device repeats its answer, unless --again says otherwise.

    Examples:

        bcdp ledger add me.json plan.json --max-epsilon 4 --max-delta smoker=0.5
        bcdp ledger add me.json plan.json --again
        bcdp ledger show me.json --odds 2 --q 0.1
    """
    from bcdp.files import locked
    from bcdp.plan import Plan
    from bcdp.plan.ledger import Ledger

    if (action is Action.add) != (plan is not None):
        raise refuse("PLAN", None if plan is None else str(plan), "a plan to add, and none to show")
    if again and plan is None:
        raise refuse("--again", True, "a plan to add")
    if action is Action.show and not file.exists():
        raise refuse("LEDGER", str(file), "an existing ledger, written by bcdp ledger add")
    objections: tuple[str, ...] = ()
    if plan is None:
        spent = _stated(Ledger.load(file), max_epsilon, max_delta, q, odds)
    else:
        answered, day, folder = Plan.load(plan), _day(date), file.resolve()
        with locked(folder):
            before = _stated(Ledger.load(folder), max_epsilon, max_delta, q, odds)
            spent, objections = _added(before, answered, day, again)
            spent.save(folder)
    if as_json:
        show_json(_document(spent, objections))
    else:
        _show(spent, objections)
    if objections:
        raise typer.Exit(REFUSED)


def _stated(
    spent: Ledger,
    max_epsilon: float | None,
    max_delta: list[str] | None,
    q: list[str] | None,
    odds: list[str] | None,
) -> Ledger:
    """The ledger with the limits, the q and the odds stated now in place of those it had."""
    from bcdp.plan.ledger import Limits

    epsilon = spent.limits.epsilon if max_epsilon is None else max_epsilon
    limits = Limits(epsilon, {**spent.limits.delta, **read_limits(max_delta)})
    return replace(
        spent,
        limits=limits,
        q=spent.q if q is None else _read("--q", q, 0, 1, "a number from 0 to 1"),
        odds=spent.odds if odds is None else _limited(_read("--odds", odds, 1, math.inf, "a number of at least 1")),
    )


def _limited(stated: float | dict[str, float]) -> float | dict[str, float]:
    """Without what is infinite: that states no limit, and takes an earlier one back."""
    if isinstance(stated, dict):
        return {name: odds for name, odds in stated.items() if odds < math.inf}
    return stated if stated < math.inf else {}


def _read(option: str, stated: list[str], low: float, high: float, accepted: str) -> float | dict[str, float]:
    """One number, or a number for each feature."""
    numbers = {}
    for item in stated:
        name, numbers[name] = read_named(item)
        if not low <= numbers[name] <= high:
            raise refuse(option, item, f"{accepted}, or one for a feature, for example smoker={max(low, 0.1):g}")
    if "" in numbers and len(stated) > 1:
        raise refuse(option, stated, "one number, or a feature and a number each time")
    return numbers.get("", numbers)


def _added(spent: Ledger, plan: Plan, day: str, again: bool) -> tuple[Ledger, tuple[str, ...]]:
    """The ledger with the plan, or as it was and what speaks against the plan."""
    from bcdp.plan.ledger import release_of

    if spent.holds(plan.id) and not again:
        return spent, ()
    more = replace(spent, releases=(*spent.releases, release_of(plan, day)))
    objections = more.objections()
    return (spent if objections else more), objections


def _day(stated: str | None) -> str:
    try:
        return (calendar.today() if stated is None else calendar.fromisoformat(stated)).isoformat()
    except ValueError:
        raise refuse("--date", stated, "a date such as 2030-12-31") from None


def _document(spent: Ledger, objections: tuple[str, ...]) -> dict[str, Any]:
    limits = spent.limits
    return {
        "epsilon": {"spent": spent.epsilon, "limit": _finite(limits.epsilon)},
        "features": {
            name: {
                "c": spent.c(name),
                "q": spent.q_of(name),
                "odds": _finite(spent.odds_of(name)),
                "delta": _finite(spent.statement(name).level),
                "condition": spent.statement(name).condition,
                "limit": limits.delta.get(name),
            }
            for name in spent.features
        },
        "releases": [{"plan": r.plan, "date": r.date, "epsilon": r.epsilon} for r in spent.releases],
        "refused": list(objections),
    }


def _finite(level: float) -> float | None:
    return level if level < math.inf else None


def _show(spent: Ledger, objections: tuple[str, ...]) -> None:
    rows: list[list[Any]] = [["epsilon", "", spent.epsilon, spent.limits.epsilon, "nothing assumed"]]
    for name in spent.features:
        level, condition = spent.statement(name)
        rows.append([f"delta {name}", spent.c(name), level, spent.limits.delta.get(name, math.inf), condition])
    answered = [[release.date or "-", release.name, release.epsilon] for release in spent.releases]
    open_values = list(dict.fromkeys(name for release in spent.releases for name in release.open or ()))
    show(
        table(["date", "plan", "epsilon"], answered),
        "",
        table(["level", "c", "spent", "limit", "on condition of"], rows),
        *[f"sent unprotected, and counted nowhere: {', '.join(open_values)}"] * bool(open_values),
        *["you have stated no q or odds for everything asked (--q, --odds)"] * (not (spent.q or spent.odds)),
        *(f"REFUSED: {objection}" for objection in objections),
    )
