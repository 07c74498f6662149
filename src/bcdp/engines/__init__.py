"""The same privatize and tally, from files to files, on one machine or on many.

An engine is a file here with the functions of `Engine`, and its line in `ENGINES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from bcdp.plan import Plan
from bcdp.tally import Tally

ENGINES = {"local": "bcdp.engines.local", "spark": "bcdp.engines.spark"}


class Engine(Protocol):
    """What an engine does. `advance` is called with the number of rows done, where the engine knows it."""

    WRITES_FOLDER: bool  # of reports, rather than one file

    def row_count(self, path: Path) -> int | None:
        """How many rows a file has, if that is known before reading it."""

    def privatize_file(
        self,
        plan: Plan,
        data: Path,
        output: Path,
        key: bytes | None = None,
        id_column: str | None = None,
        *,
        advance: Callable[[float], None],
        watch: Callable[[Counter[tuple[str, str]]], object],
    ) -> int:
        """How many reports were written; `watch` is given how many values were missing or outside the bounds."""

    def tally_files(self, plan: Plan, paths: Sequence[Path], advance: Callable[[float], None]) -> Tally:
        """The counts of all the files together: reports, rows of counts, and tallies (.json)."""


def engine_named(name: str) -> Engine:
    """The engine of this name, imported on first use."""
    return cast("Engine", import_module(ENGINES[name]))
