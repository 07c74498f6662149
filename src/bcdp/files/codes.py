"""Files of codes, such as occupations or diagnoses: the values of a feature, and what they are called."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bcdp.errors import InputError, refuse
from bcdp.files import read_text

_ACCEPTED = "a CSV file with a line of names and then one line for each code: the code, perhaps its label"
_LABEL = "label"  # the name of a column of labels that does not say their language
_LANGUAGE = "en"


class Codes(NamedTuple):
    """The codes in their order, and their labels by language."""

    values: list[str]
    labels: dict[str, list[str]]


def read_codes(path: Path, most: int) -> Codes:
    """The codes in the first column of a CSV file; other columns are labels in the language that heads them.

    Codes are text: 0110 and 110 are two. A column headed `label` is English. Equal labels are told apart by their code.
    """
    rows = _rows(path, most)
    _, head = next(rows, (1, [""]))
    lines = dict[str, int]()
    columns: list[list[str]] = [[] for _ in head]
    for line, row in rows:
        if len(row) != len(head) or not all(row):
            raise _wrong(path, line, f"{len(row)} cells", f"{len(head)} cells in each line, none of them empty")
        if lines.setdefault(row[0], line) != line:
            raise _wrong(path, line, f"the code of line {lines[row[0]]} again", "each code once")
        for column, cell in zip(columns, row, strict=True):
            column.append(cell)
    if not columns[0]:
        raise refuse(str(path), "no code", _ACCEPTED)
    values, *labels = columns
    named = (_LANGUAGE if name.lower() == _LABEL else name for name in head[1:])
    return Codes(values, {name: _different(values, texts) for name, texts in zip(named, labels, strict=True)})


def _rows(path: Path, most: int) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not empty with their numbers, cells without spaces around them."""
    reader = csv.reader(read_text(path, _ACCEPTED).removeprefix("\ufeff").splitlines(), strict=True)
    count = -1
    try:
        for row in reader:
            if row:
                count += 1
                if count > most:
                    raise _wrong(path, reader.line_num, f"more than {most} codes", f"at most {most}")
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise _wrong(path, reader.line_num, f"what is no CSV ({error})", _ACCEPTED) from None


def _different(codes: list[str], labels: list[str]) -> list[str]:
    if len(set(labels)) == len(labels):
        return labels
    return [f"{label} ({code})" for label, code in zip(labels, codes, strict=True)]


def _wrong(path: Path, line: int, got: str, accepted: str) -> InputError:
    return InputError(f"{path}: got {got} on line {line}; accepted: {accepted}")
