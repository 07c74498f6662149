"""How many random cases a test tries: all of them in `make nightly` (SWEEP=full), a part in `make test`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

FULL = os.environ.get("SWEEP") == "full"

T = TypeVar("T")


def some(cases: int, part: int = 4) -> range:
    """The first of so many cases, one in `part` of them unless all are wanted."""
    return range(cases if FULL else -(-cases // part))


def some_of(cases: Sequence[T], part: int = 2) -> list[T]:
    """Every case, or one in `part` of them, spread over the list."""
    return list(cases if FULL else cases[::part])
