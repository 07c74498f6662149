"""`bcdp report`: one page to open, for your own collection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bcdp.cli.audit import VIOLATED
from bcdp.cli.collect import count
from bcdp.cli.options import AsJson, PlanFile
from bcdp.cli.output import check_output, remark, show, show_json, working
from bcdp.errors import refuse


def report(
    plan: PlanFile,
    tally: Annotated[list[Path] | None, typer.Argument(metavar="TALLY_OR_REPORTS", help="What was collected.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")] = Path(
        "report.html"
    ),
    audit: Annotated[
        Path | None,
        typer.Option(metavar="DATA", help="Records to audit the plan on: taken as the population, as `bcdp audit`."),
    ] = None,
    users: Annotated[
        int, typer.Option(metavar="N", min=1, help="People to expect, while there are no reports.")
    ] = 10_000,
    level: Annotated[float, typer.Option(metavar="P", help="Confidence of the intervals.")] = 0.95,
    liars: Annotated[float, typer.Option(metavar="B", help="Allow for this share of fake reports.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Write a page that explains a collection: what it protects, what was learned, what that cost.

    The exit code is 1 if an audit finds that the plan's promises do not hold for the records.

    Examples:

        bcdp report plan.json -o before.html --users 50000
        bcdp report plan.json tally.json --audit people.parquet -o report.html
        bcdp report plan.json tally.json --liars 0.01
    """
    from bcdp.audit import audit_plan, population_from_file
    from bcdp.estimates import estimate
    from bcdp.files import written_whole
    from bcdp.plan import Plan
    from bcdp.present.report import write_report

    check_output("--output", output, plan, *(tally or []), audit, ending=(".html", ".htm"))
    loaded = Plan.load(plan)
    counted = count(loaded, tally) if tally else None
    if counted is not None and counted.people == 0:
        raise refuse("tally", "no reports", "at least one report")
    people = users if counted is None else counted.people
    with working("report") as tell:
        tell("auditing")
        audited = None if audit is None else audit_plan(loaded, population_from_file(loaded, audit))
        tell("writing")
        with written_whole(output) as draft:
            estimates = None if counted is None else estimate(counted, level, liars=liars)
            write_report(draft, loaded, people, estimates, audited=audited, liars=liars)
    if as_json:
        show_json({"plan": loaded.id, "report": str(output), "people": people})
    else:
        show(f"{output} written; open it in a browser")
    if audited is not None and not audited.kept:
        remark("the certificate does NOT hold for the population of --audit; the page begins with that")
        raise typer.Exit(VIOLATED)
