"""`bcdp export`: the counts in a collector's store, as a tally."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bcdp.cli.counts import counts_lines
from bcdp.cli.options import AsJson, PlanFile, StoreUrl
from bcdp.cli.output import check_output, show, show_json
from bcdp.errors import InputError


def export(
    plan: PlanFile,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The tally to write, as JSON.")],
    store: StoreUrl = "reports.db",
    as_json: AsJson = False,
) -> None:
    """Write the counts in a store to a tally, which holds no ids and no order, even while the collector runs.

    Example:

        bcdp export plan.json --store reports.db -o tally.json
        bcdp estimate plan.json tally.json
    """
    from bcdp.collector.operator import tally_of
    from bcdp.collector.store import StoreError, open_store
    from bcdp.files import written_whole
    from bcdp.plan import Plan
    from bcdp.present.counts import counts_document, counts_promises, least_people
    from bcdp.present.promise import promises

    check_output("--output", output, plan, Path(store), ending=".json")
    made = Plan.load(plan)
    if "://" not in store and not Path(store).exists():
        raise InputError(f"--store: there is no file {store}; accepted: a store of this plan")
    opened = open_store(store, made.id)
    try:
        tally = tally_of(made, opened)
    except StoreError as error:
        raise InputError(f"--store: {error}; accepted: a store of this plan") from None
    finally:
        opened.close()
    with written_whole(output) as draft:
        tally.save(draft)
    counted = counts_promises(made, promises(made), least_people(made, tally.people))
    if as_json:
        document = {"plan": made.id, "tally": str(output), "people": tally.people}
        show_json(document | {"counts": counts_document(counted)})
    else:
        written = f"{output} written: {tally.people:,} reports counted for plan {made.id[:12]}.."
        show(written, *counts_lines(made, counted))
