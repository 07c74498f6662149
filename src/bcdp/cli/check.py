"""`bcdp check`: every problem of a file at once, before anything is made of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bcdp.cli.options import AsJson
from bcdp.cli.output import check_output, show, show_json, working
from bcdp.present.words import some

if TYPE_CHECKING:
    import pyarrow as pa

    from bcdp.policy import Policy
    from bcdp.policy.data_check import Checked

UNUSABLE = 1


def check(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy, a YAML file.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The records: Parquet, CSV or Arrow.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the records as the policy lists them, as CSV."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List every problem of a file against a policy, each with what settles it.

    Looked at are all columns: missing values and such outside the bounds, listed values in other letters or words,
    unlisted ones, and dates, identifiers and free text, which should not be collected. No value is told. With -o the
    features' columns are written with every word as the policy lists it, and unlisted ones as `other` where that is
    listed. The exit code is 1 if records of the file would be refused.

    Examples:

        bcdp check policy.yaml people.csv
        bcdp check policy.yaml people.csv -o mended.csv
    """
    from bcdp.policy import Policy
    from bcdp.policy.data_check import check_data, policy_lines

    check_output("--output", output, policy, data, ending=".csv")
    stated = Policy.load(policy)
    with working("checking"):
        found = check_data(stated, _batches(stated, data))
        lines = policy_lines(stated, found.problems)
        if output is not None:
            _write(stated, data, output)
    if as_json:
        problems = [
            {"column": p.column, "found": p.found, "settled": p.settled, "refused": p.refused, "keys": p.keys}
            for p in found.problems
        ]
        show_json({"people": found.people, "problems": problems, "uncollected": found.uncollected, "lines": lines})
    else:
        show(*_told(found), *([f"{output} written"] if output else []), *_paste(lines))
    if found.refused and output is None:
        raise typer.Exit(UNUSABLE)


def _write(policy: Policy, data: Path, output: Path) -> None:
    from pyarrow import csv

    from bcdp.files import written_whole
    from bcdp.policy.data_check import mended

    batches: Iterator[pa.RecordBatch] = (mended(policy, batch) for batch in _batches(policy, data))
    first = next(batches)
    with written_whole(output) as draft, csv.CSVWriter(draft, first.schema) as writer:
        for batch in (first, *batches):
            writer.write_batch(batch)


def _batches(policy: Policy, data: Path) -> Iterator[pa.RecordBatch]:
    """The records: the cells of a CSV as text, as they stand there; what has labels by these, unless it is a number."""
    from bcdp.files import ending, read_batches
    from bcdp.policy.encoding import arrow_types

    return read_batches(data, {} if ending(data) == ".csv" else arrow_types(policy))


def _told(found: Checked) -> Iterator[str]:
    refused = [problem.sentence for problem in found.problems if problem.refused]
    other = [problem.sentence for problem in found.problems if not problem.refused]
    if refused:
        yield f"{found.people:,} records. To be settled:"
        yield from (f"  {sentence}" for sentence in refused)
    else:
        yield f"{found.people:,} records. The file can be used as it is."
    if other:
        yield "Worth knowing:"
        yield from (f"  {sentence}" for sentence in other)
    by_kind: dict[str | None, list[str]] = {}
    for name, kind in found.uncollected.items():
        by_kind.setdefault(kind, []).append(name)
    for kind, names in by_kind.items():
        yield f"Not collected, as the policy does not name it: {some(names)}{f' ({kind}: leave it so)' * bool(kind)}"


def _paste(lines: list[str]) -> list[str]:
    return ["", "For the policy:", "", "features:", *lines] if lines else []
