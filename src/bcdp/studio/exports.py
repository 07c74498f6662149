"""What the page hands out: the policy as a file, the report page, and the commands that do the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bcdp.errors import InputError, install
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.policy.yaml_text import write_yaml


def policy_text(document: Mapping[str, Any]) -> str:
    """A policy as the text of its file, after it was read."""
    Policy.parse(document)
    return write_yaml(dict(document))


def report_text(text: str, people: int) -> str:
    """The report page of a plan for so many people."""
    try:
        from bcdp.present.report.page import report_page
    except ModuleNotFoundError as error:
        raise InputError(f"report: this needs the package {error.name}; accepted: {install('plot')}") from None
    return report_page(Plan.parse(text), people)


def commands(people: int) -> list[str]:
    """The same in a shell, with the files that the page hands out."""
    return [
        f"bcdp plan policy.yaml -o plan.json --users {people}",
        f"bcdp report plan.json --users {people} -o report.html",
        f"bcdp serve plan.json --store reports.db --people {people}",
    ]
