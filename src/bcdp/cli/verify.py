"""`bcdp verify`: what a person's own device checks before it answers."""

from __future__ import annotations

import math

import typer

from bcdp.cli.options import AsJson, MaxDelta, MaxEpsilon, PlanFile
from bcdp.cli.output import show, show_json, table
from bcdp.errors import refuse

UNACCEPTABLE = 1


def verify(plan: PlanFile, max_epsilon: MaxEpsilon = None, max_delta: MaxDelta = None, as_json: AsJson = False) -> None:
    """Check a plan against your own limits, without believing anything it says about itself.

    The levels are recomputed from the plan's integers by code that shares nothing with the planner. Only the stated
    correlation is taken as an assumption. The exit code is 1 if a limit is exceeded. Without
    limits nothing is compared.

    Example:

        bcdp verify plan.json --max-epsilon 2 --max-delta smoker=0.2
    """
    from bcdp.audit import verify_limits
    from bcdp.files import read_text

    limits = read_limits(max_delta)
    compared = max_epsilon is not None or bool(limits)
    found = verify_limits(
        read_text(plan, "a file written by `bcdp plan`"), math.inf if max_epsilon is None else max_epsilon, limits
    )
    if as_json:
        features = {
            name: {"delta": delta, "c": found.c[name], "limit": limits.get(name)} for name, delta in found.delta.items()
        }
        epsilon = {"level": found.epsilon, "limit": max_epsilon}
        objections = list(found.objections)
        acceptable = found.acceptable if compared else None
        show_json({"acceptable": acceptable, "epsilon": epsilon, "features": features, "objections": objections})
    else:
        rows = [["epsilon", found.epsilon, "-" if max_epsilon is None else max_epsilon]]
        rows += [[f"delta {name}", delta, limits.get(name, "-")] for name, delta in found.delta.items()]
        show(table(["level", "of this plan", "your limit"], rows), "", *found.objections)
        show(_verdict(found.acceptable, compared))
    if not found.acceptable:
        raise typer.Exit(UNACCEPTABLE)


def _verdict(acceptable: bool, compared: bool) -> str:
    if not acceptable:
        return "NOT acceptable: do not answer"
    return "acceptable" if compared else "recomputed, compared with nothing: state --max-epsilon or --max-delta"


def read_limits(stated: list[str] | None) -> dict[str, float]:
    """Limits written as `name=number`."""
    limits = {}
    for item in stated or []:
        name, _, number = item.rpartition("=")
        try:
            limits[name] = float(number)
        except ValueError:
            limits[name] = math.nan
        if not name or not limits[name] >= 0:
            raise refuse("--max-delta", item, "a feature and a number of at least 0, for example smoker=0.2")
    return limits
