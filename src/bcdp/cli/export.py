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
    from bcdp.collector.shown_counts import tally_of
    from bcdp.collector.storage.store import StoreError, open_store
    from bcdp.files import written_whole
    from bcdp.plan import Plan
    from bcdp.present.promise import promises
    from bcdp.present.published_counts import counts_document, counts_promises, least_people

    check_output("--output", output, plan, Path(store), ending=".json")
    loaded = Plan.load(plan)
    if "://" not in store and not Path(store).exists():
        raise InputError(f"--store: there is no file {store}; accepted: a store of this plan")
    opened = open_store(store, loaded.id, read_only=True)
    try:
        tally = tally_of(loaded, opened.counts())
    except StoreError as error:
        raise InputError(f"--store: {error}; accepted: a store of this plan") from None
    finally:
        opened.close()
    with written_whole(output) as draft:
        tally.save(draft)
    counted = counts_promises(loaded, promises(loaded), least_people(loaded, tally.people))
    if as_json:
        document = {"plan": loaded.id, "tally": str(output), "people": tally.people}
        show_json(document | {"counts": counts_document(counted)})
    else:
        written = f"{output} written: {tally.people:,} reports counted for plan {loaded.id[:12]}.."
        show(written, *counts_lines(loaded, counted))
