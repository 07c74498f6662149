"""`bcdp check`: every problem of a file at once, before anything is made of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bcdp.cli.options import AsJson
from bcdp.cli.output import check_output, show, show_json, working
from bcdp.cli.records import contradiction_lines
from bcdp.present.words import some

if TYPE_CHECKING:
    import pyarrow as pa

    from bcdp.correlation.contradictions import Contradiction
    from bcdp.policy import Policy
    from bcdp.records.data_check import Checked

UNUSABLE = 1
_MOST_COMPARED = 200_000  # records, with the stated correlation


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

    All columns are checked: missing and out-of-range values, listed values in other letters or words, unlisted ones,
    and dates, identifiers and free text, which should not be collected; and whether the records contradict the q and
    odds that the policy states, at a confidence of 99.9%. Values are never printed. With -o the columns that the policy
    names are written as `privatize` accepts them, and the changes are listed: words as the policy lists them, numbers
    without separators and currency, words for no value as empty cells where `missing` is stated, unlisted values as
    `other` where that is listed. If anything else remains, no file is written. The exit code is 1 if records would be
    refused, those of the file or with -o those that were to be written, or if they contradict the policy.

    Examples:

        bcdp check policy.yaml people.csv
        bcdp check policy.yaml people.csv -o mended.csv
    """
    from bcdp.files import ending
    from bcdp.policy import Policy
    from bcdp.policy.document import read_document
    from bcdp.records.data_check import check_data, policy_lines

    check_output("--output", output, policy, data, ending=".csv")
    stated = Policy.load(policy)
    document = read_document(policy, [])
    assert isinstance(document, dict)
    with working("checking"):
        checked = check_data(stated, _batches(stated, data), typed=ending(data) != ".csv")
        lines = policy_lines(document, checked.problems)
        if written := output is not None and not checked.blocked:
            _write(stated, data, output)
        readable = output if written else None if checked.refused else data
        contradicted = [] if readable is None else _contradicted(stated, readable)
    changed = [f"{problem.column}: {problem.mended}" for problem in checked.problems if written and problem.mended]
    if as_json:
        problems = [
            {"column": p.column, "found": p.found, "settled": p.settled, "refused": p.refused, "keys": p.keys}
            for p in checked.problems
        ]
        document = {"people": checked.people, "problems": problems, "uncollected": checked.uncollected, "lines": lines}
        document["contradictions"] = [asdict(contradiction) for contradiction in contradicted]
        show_json({**document, "written": str(output) if written else None, "changed": changed})
    else:
        show(
            *_told(checked, bool(contradicted)),
            *contradiction_lines(contradicted),
            *_written(output, written, changed),
            *_paste(lines),
        )
    if contradicted or (checked.refused and not written):
        raise typer.Exit(UNUSABLE)


def _written(output: Path | None, written: bool, changed: list[str]) -> list[str]:
    if output is None:
        return []
    if not written:
        return [f"{output} not written: it would still hold records that are refused"]
    return [
        f"{output} written" + (", changed:" if changed else ", nothing changed"),
        *(f"  {change}" for change in changed),
    ]


def _write(policy: Policy, data: Path, output: Path) -> None:
    from bcdp.files import written_whole
    from bcdp.records.data_check import mended_csv

    with written_whole(output) as draft, draft.open("wb") as file:
        for number, batch in enumerate(_batches(policy, data)):
            written = mended_csv(policy, batch)
            file.write(written[written.index(b"\n") + 1 :] if number else written)


def _batches(policy: Policy, data: Path) -> Iterator[pa.RecordBatch]:
    """The records: the cells of a CSV as text, as they stand there; what has labels by these, unless it is a number."""
    from bcdp.files import ending, read_batches
    from bcdp.records.encoding import arrow_types

    return read_batches(data, {} if ending(data) == ".csv" else arrow_types(policy))


def _contradicted(policy: Policy, data: Path) -> list[Contradiction]:
    """What the first records say against the correlation that the policy states."""
    import pyarrow as pa

    from bcdp.correlation.contradictions import contradictions
    from bcdp.files import read_batches
    from bcdp.records.encoding import arrow_types

    batches, people = [], 0
    for batch in read_batches(data, arrow_types(policy)):
        batches.append(batch)
        people += len(batch)
        if people >= _MOST_COMPARED:
            break
    return contradictions(policy, pa.Table.from_batches(batches))


def _told(checked: Checked, contradicted: bool) -> Iterator[str]:
    refused = [problem.sentence for problem in checked.problems if problem.refused]
    other = [problem.sentence for problem in checked.problems if not problem.refused]
    if refused:
        yield f"{checked.people:,} records. To be settled:"
        yield from (f"  {sentence}" for sentence in refused)
    else:
        usable = "Every record can be read" if contradicted else "The file can be used as it is"
        yield f"{checked.people:,} records. {usable}."
    if other:
        yield "Worth knowing:"
        yield from (f"  {sentence}" for sentence in other)
    by_kind: dict[str | None, list[str]] = {}
    for name, kind in checked.uncollected.items():
        by_kind.setdefault(kind, []).append(name)
    for kind, names in by_kind.items():
        yield f"Not collected, as the policy does not name it: {some(names)}{f' ({kind}: leave it so)' * bool(kind)}"


def _paste(lines: list[str]) -> list[str]:
    return ["", "For the policy:", "", "features:", *lines] if lines else []
