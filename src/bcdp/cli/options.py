"""Options that several commands share, so that they read and behave the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")]
