"""`bcdp synthesize`: records that agree with the published estimates, for teaching and for testing programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bcdp.cli.options import AsJson, PlanFile
from bcdp.cli.output import check_output, progress, show, show_json

_ENDINGS = (".csv", ".parquet")
_NOTE = "Synthetic records: for teaching, testing programs and a first look. Inference uses the estimates."


def synthesize(
    plan: PlanFile,
    tally: Annotated[Path, typer.Argument(metavar="TALLY", help="The counts, written by bcdp tally or export.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The records: .csv or .parquet.")],
    people: Annotated[int, typer.Option("--number", "-n", metavar="N", help="How many records.")] = 10_000,
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed gives the same records.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Write synthetic records that agree with every published mean, share and table within its error.

    They follow from the estimates alone, so they cost nobody any privacy, and they show nothing that the estimates do
    not. FILE.json, next to the records, lists what they agree with and what is left out.

    Example:

        bcdp synthesize plan.json tally.json -n 10000 -o synthetic.csv
    """
    import pyarrow.csv
    import pyarrow.parquet as pq

    from bcdp.estimates import estimate
    from bcdp.estimates.synthesis import synthesize as synthesized
    from bcdp.files import written_whole
    from bcdp.plan import Plan
    from bcdp.tally import Tally

    check_output("--output", output, plan, tally, ending=_ENDINGS)
    estimates = estimate(Tally.load(tally, Plan.load(plan)))
    with progress("synthesize", total=1.0) as advance:
        synthesis = synthesized(estimates, people, seed, advance)
    with written_whole(output) as draft:
        write = pyarrow.csv.write_csv if output.suffix.lower() == ".csv" else pq.write_table
        write(synthesis.records, draft)
    document = {
        "note": _NOTE,
        "records": people,
        "seed": seed,
        "agreements": [asdict(each) for each in synthesis.agreements],
        "left_out": list(synthesis.left_out),
    }
    with written_whole(output.with_name(f"{output.name}.json")) as draft:
        draft.write_text(f"{json.dumps(document, indent=1)}\n", encoding="utf-8")
    if as_json:
        show_json(document)
        return
    count, outside = len(synthesis.agreements), synthesis.outside
    show(
        f"{output} written: {people:,} synthetic records.",
        f"They lie within the intervals of {count - len(outside)} of {count} published estimates.",
        *(f"outside: {each.name}: {each.synthetic:.4g}, published {each.published:.4g}" for each in outside),
        *(f"left out: {reason}" for reason in synthesis.left_out),
        _NOTE,
    )
