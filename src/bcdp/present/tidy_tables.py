"""Estimates as one tidy table in a file: CSV or Parquet for programs, plain HTML for word processors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from bcdp.estimates import Estimates
from bcdp.estimates.by import Part
from bcdp.estimates.results import TIDY
from bcdp.files import written_whole
from bcdp.present.words import measured, number

ENDINGS = (".csv", ".parquet", ".html")
_HEADS = {"about": "About", "label": "", "value": "Estimate", "se": "Standard error", "low": "From", "high": "To"}


def tidy(estimates: Estimates | Mapping[Any, Estimates], by: str = "") -> pa.Table:
    """One line for each number; of several groups, one after the other, with the group's value in the first column.

    >>> from bcdp import Policy, Tally, estimate, make_plan, privatize
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> tidy(estimate(Tally(plan).add(privatize(plan, {"smoker": [0, 1] * 50})))).column_names[:4]
    ['about', 'name', 'label', 'value']
    """
    if isinstance(estimates, Estimates):
        return estimates.to_arrow()
    parts = [(str(value), group.to_arrow()) for value, group in estimates.items()]
    return pa.concat_tables([part.add_column(0, by, pa.array([value] * len(part))) for value, part in parts])


def tidy_parts(parts: Iterable[Part], by: str) -> pa.Table:
    """One line for each number of some of the people, or of all; whose it is stands in the first column."""
    lines = [
        {by: part, "about": section.subject, "name": row.name, "label": row.label}
        | {name: float(getattr(number, name)) for name in ("value", "se", "low", "high")}
        | {"answers": number.answers}
        for part, section, row, number in parts
    ]
    return pa.Table.from_pylist(lines, schema=TIDY.insert(0, pa.field(by, pa.string())))


def write_tidy(table: pa.Table, path: Path, confidence: float) -> None:
    """Writes the table as its name's ending says."""
    with written_whole(path) as draft:
        match path.suffix.lower():
            case ".csv":
                pyarrow.csv.write_csv(table, draft)
            case ".parquet":
                pq.write_table(table, draft)
            case _:
                draft.write_text(_html(table, confidence), encoding="utf-8")


def _html(table: pa.Table, confidence: float) -> str:
    """A page with one plain table, which word processors open and paste as a table of their own."""
    first = [name for name in table.column_names[:1] if name not in _HEADS]
    heads = [*first, *_HEADS.values(), "Answers"]
    rows = [[*(str(line[name]) for name in first), *_cells(line)] for line in table.to_pylist()]
    head = "".join(f"<th>{escape(word)}</th>" for word in heads)
    body = "\n".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    caption = f"Estimates with {100 * confidence:g}% intervals"
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{caption}</title>\n'
        f'<table border="1" cellspacing="0" cellpadding="4"><caption>{caption}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></html>\n"
    )


def _cells(line: Mapping[str, Any]) -> list[str]:
    numbers = [measured(line[part], line["se"]) for part in ("value", "low", "high")]
    answers = "" if line["answers"] is None else f"{line['answers']:,}"
    return [line["about"], line["label"], numbers[0], number(line["se"]), *numbers[1:], answers]
