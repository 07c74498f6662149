"""What the service has done, counted over all of its worker processes; only totals, nothing about anybody."""

from __future__ import annotations

import os
from multiprocessing import get_context

import numpy as np

_ROWS = 1024  # each worker writes to a row of its own, so that no lock is needed
ACCEPTED, DUPLICATE, COMMITS, COMMIT_MICROSECONDS = range(4)  # columns; from 100 on, the HTTP status itself
_WIDTH = 600

_TOTALS = (
    (ACCEPTED, "bcdp_reports_accepted_total", "Reports stored for the first time.", 1.0),
    (DUPLICATE, "bcdp_reports_duplicate_total", "Reports that had been stored before.", 1.0),
    (COMMITS, "bcdp_commits_total", "Transactions, each of one or more requests.", 1.0),
    (COMMIT_MICROSECONDS, "bcdp_commit_seconds_total", "Time spent in these transactions.", 1e-6),
)


class Counters:
    """A table in memory that all workers share; a worker that dies leaves its counts behind."""

    def __init__(self) -> None:
        self._table = get_context("spawn").RawArray("Q", _ROWS * _WIDTH)
        self._start = 0

    def claim(self) -> None:
        """Takes a row for this process; workers started together have neighbouring numbers, so different rows."""
        self._start = os.getpid() % _ROWS * _WIDTH

    def add(self, column: int, amount: int = 1) -> None:
        """Adds to one of the columns above, or to an HTTP status."""
        self._table[self._start + column] += amount

    def text(self) -> str:
        """The totals in the text format of Prometheus."""
        table = np.frombuffer(self._table, dtype=np.uint64).reshape(_ROWS, _WIDTH)
        totals = table.sum(axis=0)
        lines = []
        for column, name, meaning, unit in _TOTALS:
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} counter", f"{name} {totals[column] * unit:.15g}"]
        name = "bcdp_requests_total"
        lines += [f"# HELP {name} Requests answered, by HTTP status.", f"# TYPE {name} counter"]
        lines += [
            f'{name}{{status="{status}"}} {totals[status]}' for status in range(100, _WIDTH) if totals[status] > 0
        ]
        return "\n".join(lines) + "\n"
