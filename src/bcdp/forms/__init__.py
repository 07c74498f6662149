"""Questionnaires of other programs: a form becomes the draft of a policy, a policy a form.

A format is a file here with the functions of `Format`, and its line in `FORMATS`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from bcdp.forms.questionnaire import Questionnaire

FORMATS = {
    "xlsform": "bcdp.forms.xlsform",
    "redcap": "bcdp.forms.redcap",
    "surveyjs": "bcdp.forms.surveyjs",
    "limesurvey": "bcdp.forms.limesurvey",
}


class Format(Protocol):
    def reads(self, path: Path) -> bool:
        """Whether a file looks like a form of this format."""

    def read(self, path: Path) -> Questionnaire:
        """The form's questionnaire."""


class WritableFormat(Format, Protocol):
    def write(self, questionnaire: Questionnaire, path: Path) -> None:
        """Writes a form with these questions."""


def format_named(name: str) -> WritableFormat:
    """The format of this name, imported on first use."""
    return cast("WritableFormat", import_module(FORMATS[name]))


def read_form(path: Path) -> Questionnaire | None:
    """The questionnaire of a form; None for any other file."""
    formats = map(format_named, FORMATS)
    return next((form.read(path) for form in formats if form.reads(path)), None)
