"""A file that was given in place of another: what it seems to be, and which command goes on from there."""

from __future__ import annotations

import json
import re
from pathlib import Path

from bcdp.errors import InputError
from bcdp.files import Source, path_of
from bcdp.files.statistical_packages import ENDINGS as SURVEY_ENDINGS

_RECORDS = {".csv", ".parquet", ".arrow", ".feather", *SURVEY_ENDINGS}
_ADVICE = {  # by what is wanted and what was given
    ("a policy", "a data file"): "a policy; `bcdp policy FILE -o policy.yaml` drafts one from a data file",
    ("a policy", "a tally"): "a policy",
    ("a plan", "a data file"): "a plan; it comes before records and reports",
    ("a plan", "a policy"): "a plan; `bcdp plan POLICY -o plan.json` makes it from a policy",
    ("a plan", "a tally"): "a plan; it comes before the tally",
    ("a tally", "a data file"): "a tally; `bcdp tally PLAN REPORTS -o tally.json` counts reports",
    ("a tally", "a policy"): "a tally; it comes after the plan",
    ("a tally", "a plan"): "a tally; it comes after the plan",
}


def refuse_mistaken(source: Source, wanted: str) -> None:
    """Raises `InputError` if the file is recognizably another one than wanted; nothing of its content is quoted."""
    path = path_of(source)
    given = _kind(path)
    if (wanted, given) in _ADVICE:
        raise InputError(f"{path}: seems to be {given}; accepted: {_ADVICE[wanted, given]}")


def _kind(path: Path) -> str:
    """A data file by the ending of its name, documents by their outermost keys."""
    if path.suffix.lower() in _RECORDS:
        return "a data file"
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    if not text.lstrip().startswith("{"):
        return "a policy" if re.search(r"^epsilon\s*:", text, re.M) and re.search(r"^features\s*:", text, re.M) else ""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if {"bcdp", "certificate"} <= document.keys():
        return "a plan"
    if {"epsilon", "features"} <= document.keys():
        return "a policy"
    return "a tally" if isinstance(document.get("plan"), str) and "format" in document else ""
