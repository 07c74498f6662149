"""`bcdp export`: the counts in a collector's store, as a tally."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from bcdp.cli.counts import counts_lines
from bcdp.cli.options import AsJson, PlanFile, StoreUrl
from bcdp.cli.output import check_output, show, show_json
from bcdp.errors import InputError


def export(
    plan: PlanFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The tally (.json) or entry (.yaml) to write.")
    ],
    store: StoreUrl = "reports.db",
    registry: Annotated[
        bool, typer.Option("--registry", metavar="", help="Write an entry for the registry of deployments instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the counts in a store to a tally, which holds no ids and no order, even while the collector runs.

    With --registry, describe the plan for the public registry of differential-privacy deployments, as YAML. What only
    you know is marked TO FILL IN.

    Example:

        bcdp export plan.json --store reports.db -o tally.json
        bcdp estimate plan.json tally.json
        bcdp export plan.json --registry -o entry.yaml
    """
    if registry:
        _write_entry(plan, output, as_json)
        return
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


def _write_entry(plan: Path, output: Path, as_json: bool) -> None:
    from bcdp.files import written_whole
    from bcdp.plan import Plan
    from bcdp.present.registry_entry import TO_FILL_IN, registry_yaml

    check_output("--output", output, plan, ending=".yaml")
    text = registry_yaml(Plan.load(plan), date.today())
    with written_whole(output) as draft:
        draft.write_text(text, encoding="utf-8")
    if as_json:
        show_json({"entry": str(output), "to_fill_in": text.count(TO_FILL_IN)})
    else:
        show(f"{output} written; change publication_date and the {text.count(TO_FILL_IN)} fields marked {TO_FILL_IN}.")
