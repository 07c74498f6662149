"""`bcdp form`: the questions of a policy as a form for another program."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bcdp.cli.options import AsJson
from bcdp.cli.output import check_output, remark, show, show_json


class FormFormat(StrEnum):
    surveyjs = "surveyjs"
    xlsform = "xlsform"


_ENDINGS = {FormFormat.surveyjs: ".json", FormFormat.xlsform: ".xlsx"}


def form(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy, a YAML file.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The form to write.")],
    to: Annotated[FormFormat, typer.Option("--to", help="The format of the form.")] = FormFormat.surveyjs,
    as_json: AsJson = False,
) -> None:
    """Write the questions of a policy as a SurveyJS form or an XLSForm.

    A form alone protects nobody: answers are protected where the device of a plan randomizes them. What the format
    cannot state is listed on stderr.

    Example:

        bcdp form policy.yaml --to xlsform -o form.xlsx
    """
    from bcdp.files import written_whole
    from bcdp.forms import format_named
    from bcdp.forms.policy_form import questionnaire_of
    from bcdp.policy import Policy

    check_output("--output", output, policy, ending=_ENDINGS[to])
    questionnaire = questionnaire_of(Policy.load(policy))
    with written_whole(output) as draft:
        format_named(to).write(questionnaire, draft)
    remark(*(f"not in the form: {part.name}: {part.reason}" for part in questionnaire.left_out))
    if as_json:
        left_out = [asdict(part) for part in questionnaire.left_out]
        show_json({"form": str(output), "questions": len(questionnaire.questions), "left_out": left_out})
    else:
        show(f"{output} written: {len(questionnaire.questions)} questions.")
