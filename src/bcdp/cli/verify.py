"""`bcdp verify`: what a person's own device checks before it answers."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import typer

from bcdp.cli.options import AsJson, MaxDelta, MaxEpsilon, PlanFile
from bcdp.cli.output import promise_cells, promise_columns, promise_words, show, show_json, table
from bcdp.errors import refuse

if TYPE_CHECKING:
    from bcdp.present.promise import Promise

UNACCEPTABLE = 1


def verify(plan: PlanFile, max_epsilon: MaxEpsilon = None, max_delta: MaxDelta = None, as_json: AsJson = False) -> None:
    """Check a plan against its claims and your own limits, without believing anything it says about itself.

    The levels are recomputed from the plan's integers by code that shares nothing with the planner. Only the stated
    correlation is taken as an assumption. The exit code is 1 if a claim is not true or a limit is exceeded, and 2 if no
    device could execute the plan.

    Example:

        bcdp verify plan.json --max-epsilon 2 --max-delta smoker=0.2
    """
    from bcdp.audit import verify_limits
    from bcdp.files import read_text
    from bcdp.plan import Plan
    from bcdp.present.promise import conditions, open_said, operator_says, panel_said, promise_of_all, promises

    limits = read_limits(max_delta)
    compared = max_epsilon is not None or bool(limits)
    text = read_text(plan, "a file written by `bcdp plan`")
    levels = verify_limits(text, math.inf if max_epsilon is None else max_epsilon, limits)
    claimed = Plan.build(json.loads(text))  # for its words: what it claims is not believed here either
    promised = promises(claimed)
    if as_json:
        features = {
            name: {
                "delta": delta,
                "c": levels.c[name],
                "limit": limits.get(name),
                "ranges": levels.ranges.get(name),
                "condition": promised[name].condition,
            }
            for name, delta in levels.delta.items()
        }
        epsilon = {"level": levels.epsilon, "limit": max_epsilon}
        objections = list(levels.objections)
        acceptable = levels.acceptable if compared or objections else None
        show_json({"acceptable": acceptable, "epsilon": epsilon, "features": features, "objections": objections})
    else:
        rows: list[tuple[str, float, float | None, Promise]] = [
            ("epsilon", levels.epsilon, max_epsilon, promise_of_all(claimed))
        ]
        rows += [(f"delta {name}", delta, limits.get(name), promised[name]) for name, delta in levels.delta.items()]
        show(
            table(["level", "of this plan", "your limit", *promise_columns(promised)], [_cells(*row) for row in rows]),
            "",
            "The condition of delta; epsilon has none",
            *conditions(promised),
            operator_says(claimed),
            *open_said(claimed),
            *panel_said(claimed),
            *promise_words(promised),
            "",
            *levels.objections,
        )
        show(_verdict(levels.acceptable, compared))
    if not levels.acceptable:
        raise typer.Exit(UNACCEPTABLE)


def _cells(name: str, level: float, limit: float | None, promise: Promise) -> list[object]:
    return [name, level, "-" if limit is None else limit, *promise_cells(promise)]


def _verdict(acceptable: bool, compared: bool) -> str:
    if not acceptable:
        return "NOT acceptable: do not answer"
    return (
        "acceptable"
        if compared
        else "its claims are true, compared with nothing else: state --max-epsilon or --max-delta"
    )


def read_limits(stated: list[str] | None) -> dict[str, float]:
    """Limits written as `name=number`."""
    limits = {}
    for item in stated or []:
        name, limits[name] = read_named(item)
        if not name or not limits[name] >= 0:
            raise refuse("--max-delta", item, "a feature and a number of at least 0, for example smoker=0.2")
    return limits


def read_named(item: str) -> tuple[str, float]:
    """A name, empty if there is none, and the number after it, NaN if that is none."""
    name, _, number = item.rpartition("=")
    try:
        return name, float(number)
    except ValueError:
        return name, math.nan
