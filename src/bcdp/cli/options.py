"""Options that several commands share, so that they read and behave the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON document on stdout, and no tables.")]
PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, written by bcdp plan.")]
Users = Annotated[int, typer.Option("--users", metavar="N", min=1, help="People to expect, for the standard errors.")]
StoreUrl = Annotated[
    str, typer.Option("--store", metavar="URL", help="An SQLite file, or postgresql://user@host/database.")
]
MaxEpsilon = Annotated[
    float | None, typer.Option(metavar="E", min=0.0, help="The largest epsilon to accept for the whole record.")
]
MaxDelta = Annotated[
    list[str] | None, typer.Option(metavar="NAME=D", help="The largest delta to accept for a feature; may be repeated.")
]
