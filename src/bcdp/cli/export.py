"""`bcdp export`: the reports in a collector's store, as a file for tally and Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bcdp.cli.options import AsJson, PlanFile, StoreUrl
from bcdp.cli.output import check_output, progress, show, show_json
from bcdp.errors import InputError


def export(
    plan: PlanFile,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The reports to write, as Parquet.")],
    store: StoreUrl = "reports.db",
    as_json: AsJson = False,
) -> None:
    """Write the reports in a store to a Parquet file, ids left out; the collector may run meanwhile.

    Example:

        bcdp export plan.json --store reports.db -o reports.parquet
        bcdp estimate plan.json reports.parquet
    """
    from bcdp.collector.export import export_reports
    from bcdp.collector.store import StoreError, open_store
    from bcdp.files import written_whole
    from bcdp.plan import Plan

    check_output("--output", output, plan, Path(store), ending=".parquet")
    made = Plan.load(plan)
    if "://" not in store and not Path(store).exists():
        raise InputError(f"--store: there is no file {store}; accepted: a store of this plan")
    opened = open_store(store, made.id)
    try:
        with written_whole(output) as draft, progress("export", total=None) as advance:
            people = export_reports(made, opened, draft, advance)
    except StoreError as error:
        raise InputError(f"--store: {error}; accepted: a store of this plan") from None
    finally:
        opened.close()
    if as_json:
        show_json({"plan": made.id, "reports": str(output), "people": people})
    else:
        show(f"{output} written: {people:,} reports for plan {made.id[:12]}..")
