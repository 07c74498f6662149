"""`bcdp verify`: what a person's own device checks before it answers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from bcdp.cli.collect import PlanFile
from bcdp.cli.options import AsJson
from bcdp.cli.output import show, show_json, table
from bcdp.errors import InputError, refuse

UNACCEPTABLE = 1

MaxEpsilon = Annotated[float | None, typer.Option(metavar="E", min=0.0, help="The most for the whole record.")]
MaxDelta = Annotated[
    list[str] | None, typer.Option(metavar="NAME=D", help="The most for one feature; may be repeated.")
]


def verify(plan: PlanFile, max_epsilon: MaxEpsilon = None, max_delta: MaxDelta = None, as_json: AsJson = False) -> None:
    """Check a plan against your own limits, without believing anything it says about itself.

    The levels are recomputed from the plan's integers by code that shares nothing with the planner. Only the stated
    correlation is taken as an assumption. The exit code is 1 if a limit is exceeded.

    Example:

        bcdp verify plan.json --max-epsilon 2 --max-delta smoker=0.2
    """
    from bcdp.audit import verify_limits

    limits = read_limits(max_delta)
    found = verify_limits(_text(plan), math.inf if max_epsilon is None else max_epsilon, limits)
    if as_json:
        features = {
            name: {"delta": delta, "c": found.c[name], "limit": limits.get(name)} for name, delta in found.delta.items()
        }
        epsilon = {"level": found.epsilon, "limit": max_epsilon}
        objections = list(found.objections)
        show_json({"acceptable": found.acceptable, "epsilon": epsilon, "features": features, "objections": objections})
    else:
        rows = [["epsilon", found.epsilon, "-" if max_epsilon is None else max_epsilon]]
        rows += [[f"delta {name}", delta, limits.get(name, "-")] for name, delta in found.delta.items()]
        show(table(["level", "of this plan", "your limit"], rows), "", *found.objections)
        show("acceptable" if found.acceptable else "NOT acceptable: do not answer")
    if not found.acceptable:
        raise typer.Exit(UNACCEPTABLE)


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


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"plan: {path} cannot be read ({error}); accepted: a file of `bcdp plan`") from None
