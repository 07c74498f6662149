"""The data dictionary of a REDCap project: a CSV file with one row for each field."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bcdp.errors import refuse
from bcdp.forms.conditions import conditions_of
from bcdp.forms.questionnaire import (
    FormQuestion,
    LeftOut,
    NotExpressibleError,
    Questionnaire,
    Text,
    assembled,
    dated,
    listed,
    number_of,
    text_of,
    ticked,
)

_NAME, _TYPE, _LABEL = "variable / field name", "field type", "field label"
_CHOICES, _VALIDATION = "choices, calculations, or slider labels", "text validation type or show slider number"
_LOW, _HIGH, _IDENTIFIER = "text validation min", "text validation max", "identifier?"
_CONDITION, _REQUIRED = "branching logic (show field only if...)", "required field?"
_NOTE, _ANNOTATION = "field note", "field annotation"
_MATRIX, _RANKING = "matrix group name", "matrix ranking?"

_YES_NO = [("0", {"en": "No"}), ("1", {"en": "Yes"})]
_TRUE_FALSE = [("0", {"en": "False"}), ("1", {"en": "True"})]
_SLIDER = (0.0, 100.0)
_IDENTIFIES = "marked as an identifier: delete it, unless it is needed and has a small delta"
_REASONS = {
    "notes": "free text, which no table of answers protects",
    "calc": "computed from other answers",
    "file": "a file",
    "descriptive": "a text, not a question",
    "sql": "its choices come from a query",
}
_MOST_TICKS = re.compile(r"@MAXCHECKED\s*=\s*'?\"?(\d+)")


def reads(path: Path) -> bool:
    """Whether a CSV file is a data dictionary, by its header."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        header = [title.strip().lower() for title in next(csv.reader(file), [])]
    return _NAME in header and _TYPE in header


def read(path: Path) -> Questionnaire:
    """The questionnaire of a data dictionary."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [
                {(key or "").strip().lower(): (cell or "").strip() for key, cell in row.items() if key}
                for row in csv.DictReader(file)
            ]
    except (UnicodeDecodeError, csv.Error):
        raise refuse("form", str(path), "a REDCap data dictionary, a CSV file in UTF-8") from None
    questions, left_out = list[FormQuestion](), list[LeftOut]()
    values: dict[str, tuple[str, ...]] = {}
    for row in rows:
        name = row.get(_NAME, "")
        try:
            question = _question(name, row)
            conditions = conditions_of(row[_CONDITION], values) if row.get(_CONDITION) else {}
        except NotExpressibleError as reason:
            left_out.append(LeftOut(name, str(reason)))
            continue
        values[name] = () if question.type == "multiple" else question.values
        required = row.get(_REQUIRED, "").lower() in ("y", "yes")
        remarks = question.remarks + ((_IDENTIFIES,) if row.get(_IDENTIFIER, "").lower() in ("y", "yes") else ())
        helps = {"": text_of(row.get(_NOTE, ""))}
        questions.append(replace(question, helps=helps, required=required, asked_if=conditions, remarks=remarks))
    return assembled({}, questions, left_out)


def _question(name: str, row: Mapping[str, str]) -> FormQuestion:
    field_type, labels = row.get(_TYPE, "").lower(), {"": text_of(row.get(_LABEL, ""))}
    annotation = row.get(_ANNOTATION, "")
    if re.search(r"@HIDDEN\b(?!-)", annotation):
        raise NotExpressibleError("hidden from the person who answers")
    if row.get(_RANKING, "").lower() in ("y", "yes"):
        raise NotExpressibleError("a ranking; ask for the first choice instead")
    if field_type == "text":
        return _number(name, labels, row)
    if field_type == "slider":
        low, high = number_of(row.get(_LOW)), number_of(row.get(_HIGH))
        return FormQuestion(name, "numeric", labels, bounds=_SLIDER if low is None or high is None else (low, high))
    if field_type in ("yesno", "truefalse"):
        return listed(name, labels, _YES_NO if field_type == "yesno" else _TRUE_FALSE)
    if field_type in ("radio", "dropdown"):
        return listed(name, labels, _choices(row), ordered=bool(row.get(_MATRIX)))
    if field_type == "checkbox":
        limit = _MOST_TICKS.search(annotation)
        return ticked(name, labels, _choices(row), int(limit[1]) if limit else None)
    raise NotExpressibleError(_REASONS.get(field_type, f"of the type {field_type}, which a policy does not have"))


def _number(name: str, labels: Text, row: Mapping[str, str]) -> FormQuestion:
    validation = row.get(_VALIDATION, "").lower()
    if validation.startswith(("integer", "number")):
        return FormQuestion(name, "numeric", labels, bounds=(number_of(row.get(_LOW)), number_of(row.get(_HIGH))))
    if validation.startswith("date_"):  # its limits are written as 1940-01-01, whatever people type
        return dated(name, labels, (row.get(_LOW), row.get(_HIGH)))
    if validation.startswith(("date", "time")):
        raise NotExpressibleError("a time of day; ask for the date alone, or for a number")
    if validation:
        raise NotExpressibleError(f"text of the form {validation}, which can identify people")
    raise NotExpressibleError("free text, which no table of answers protects")


def _choices(row: Mapping[str, str]) -> list[tuple[str, Text]]:
    """The choices of `1, Never | 2, Sometimes`."""
    pairs = [part.split(",", 1) for part in row.get(_CHOICES, "").split("|") if part.strip()]
    return [(pair[0].strip(), {"": text_of(pair[-1])}) for pair in pairs]
