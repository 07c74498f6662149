"""`bcdp simulate`: the error to expect on one's own data, against uniform LDP and the paper's mechanism."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bcdp.cli.expected import data_expectations, expected_lines
from bcdp.cli.options import AsJson
from bcdp.cli.output import check_output, make_folder, progress, remark, show, show_json, table
from bcdp.cli.records import contradiction_lines, unusual_lines
from bcdp.errors import InputError


def simulate(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy, a YAML file.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Records to draw people from: Parquet, CSV or Arrow.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the results.")],
    users: Annotated[int, typer.Option(metavar="N", help="The most people in a trial.")] = 100_000,
    trials: Annotated[int, typer.Option(metavar="T", help="Trials for each number of people.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Simulate a collection on data that you have: the error of every task, in own units.

    In each trial people are drawn from the data with replacement and answer by the survey, by the paper's mechanism and
    by uniform LDP at the smallest delta (asked for the least total error, or everything equally often: the better is
    shown for each task), all under the same guarantee. Shown are medians over the trials; DIR gets simulation.csv
    with quartiles and simulation.png. Estimates are moved into the possible range, so compare their errors with the
    last column: answering without data, with the best of 0, the middle and the bounds. Nothing here protects the data:
    keep the results as you keep them. Of a panel, the data are one wave, and nobody changes.

    Example:

        bcdp simulate policy.yaml people.csv --users 50000 -o simulation
    """
    import pyarrow as pa

    from bcdp.compare import write_csv
    from bcdp.compare.simulation import CURVES
    from bcdp.compare.simulation import simulate as run
    from bcdp.correlation.contradictions import contradictions
    from bcdp.files import naming_file, read_batches
    from bcdp.mechanisms.planning import make_plan
    from bcdp.policy import Policy
    from bcdp.present.pictures import draw_simulation
    from bcdp.records.encoding import arrow_types, unusual

    stated = Policy.load(policy)
    batches = list(read_batches(data, arrow_types(stated)))
    if not batches:
        raise InputError(f"{data}: has no rows; accepted: at least one record")
    people = pa.Table.from_batches(batches)
    make_folder("--output", output)
    table_file, picture_file = output / "simulation.csv", output / "simulation.png"
    check_output("--output", table_file, policy, data)  # reported before the work, not after it
    check_output("--output", picture_file, policy, data)
    started = time.monotonic()
    with progress("simulate", total=1.0) as advance, naming_file(data):
        plan = make_plan(stated.model_copy(update={"mechanism": "survey"}))
        rows = run(stated, people, users, trials, workers=os.cpu_count() or 1, advance=advance, plan=plan)
    contradicted = contradictions(stated, people)
    remark(*unusual_lines(stated, unusual(stated, people), len(people)), *contradiction_lines(contradicted))
    write_csv(rows, table_file)
    draw_simulation(rows, picture_file)
    expected = data_expectations(plan, people, users)
    seconds = round(time.monotonic() - started, 1)
    if as_json:
        files = {"table": str(table_file), "picture": str(picture_file)}
        show_json(
            {"users": users, "trials": trials, **files, "seconds": seconds, "rows": [asdict(row) for row in rows]}
            | {"contradictions": [asdict(item) for item in contradicted]}
            | ({"expected": [item.document for item in expected]} if expected else {})
        )
        return
    median = {(row.panel, row.n, row.curve): row.median for row in rows}
    lines = [
        [panel, f"{n:,}", *(median.get((panel, n, curve), "") for curve in CURVES)]
        for panel, n in dict.fromkeys((row.panel, row.n) for row in rows)
    ]
    show(
        f"Median error over {trials:,} trial{'s' * (trials > 1)}, in own units",
        table(["task", "people", *CURVES], lines),
        "",
        *expected_lines(expected),
        f"{table_file} and {picture_file} written in {seconds} s",
    )
