"""What the service has done, counted over all of its worker processes; only totals, nothing about anybody."""

from __future__ import annotations

import os
from multiprocessing import get_context

import numpy as np
import numpy.typing as npt

_ROWS = 1024  # each worker writes to a row of its own, so that no lock is needed
ACCEPTED, DUPLICATE, COMMITS, COMMIT_MICROSECONDS = range(4)  # columns; from 100 on, the HTTP status itself
_WIDTH = 600
FAILED_COMMITS = _WIDTH - 1  # like errors, shown at once
SETTLED, WRITABLE = range(2)  # what is true of the store now, whichever worker saw it last
WELL, FAILING, DAMAGED = range(3)
_FIRST_ERROR = 400

_TOTALS = (
    (ACCEPTED, "bcdp_reports_accepted_total", "Reports stored for the first time.", 1.0),
    (DUPLICATE, "bcdp_reports_duplicate_total", "Reports that had been stored before.", 1.0),
    (COMMITS, "bcdp_commits_total", "Transactions, each of one or more requests.", 1.0),
    (COMMIT_MICROSECONDS, "bcdp_commit_seconds_total", "Time spent in these transactions.", 1e-6),
    (FAILED_COMMITS, "bcdp_commits_failed_total", "Transactions that failed; nothing of them was acknowledged.", 1.0),
)
_STATES = (
    (SETTLED, "bcdp_store_settled", "Whether the last attempt to settle the store succeeded."),
    (WRITABLE, "bcdp_store_writable", "Whether the last attempt to write to the store succeeded."),
)


class Counters:
    """A table in memory that all workers share; a worker that dies leaves its counts behind."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self._table, self._shown = context.RawArray("Q", _ROWS * _WIDTH), context.RawArray("Q", _WIDTH)
        self._states = context.RawArray("B", len(_STATES))
        self._one = context.Lock()
        self._start = 0

    def claim(self) -> None:
        """Takes a row for this process; workers started together have neighbouring numbers, so different rows."""
        self._start = os.getpid() % _ROWS * _WIDTH

    def add(self, column: int, amount: int = 1) -> None:
        """Adds to one of the columns above, or to an HTTP status."""
        self._table[self._start + column] += amount

    def note(self, state: int, seen: int) -> None:
        """Notes how the last attempt to settle the store, or to write to it, ended; the store is the same for all."""
        self._states[state] = seen

    def state(self, state: int) -> int:
        """How the last attempt of any worker ended."""
        return int(self._states[state])

    def text(self, refresh: int) -> str:
        """The totals in the text format of Prometheus.

        What every report changes is shown anew after at least `refresh` reports more, as estimates are: otherwise the
        totals would reveal when each came. Errors are shown as they are.
        """
        totals = self._totals()
        with self._one:  # all workers show the same
            shown = np.frombuffer(self._shown, dtype=np.uint64)
            if totals[ACCEPTED] >= shown[ACCEPTED] + np.uint64(refresh):
                shown[:] = totals
            totals[:_FIRST_ERROR] = shown[:_FIRST_ERROR]
        lines = []
        for column, name, meaning, unit in _TOTALS:
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} counter", f"{name} {totals[column] * unit:.15g}"]
        return "\n".join([*lines, *self.states(), *_by_status(totals)]) + "\n"

    def states(self) -> list[str]:
        """What is true of the store now, as lines of that format."""
        lines = []
        for state, name, meaning in _STATES:
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge", f"{name} {int(self.state(state) == WELL)}"]
        return lines

    def statuses(self) -> list[str]:
        """How many requests were answered with each status, as lines of that format."""
        return _by_status(self._totals())

    def _totals(self) -> npt.NDArray[np.uint64]:
        table = np.frombuffer(self._table, dtype=np.uint64).reshape(_ROWS, _WIDTH)
        return np.asarray(table.sum(axis=0), dtype=np.uint64)


def _by_status(totals: npt.NDArray[np.uint64]) -> list[str]:
    name = "bcdp_requests_total"
    lines = [f"# HELP {name} Requests answered, by HTTP status.", f"# TYPE {name} counter"]
    return lines + [
        f'{name}{{status="{status}"}} {totals[status]}' for status in range(100, FAILED_COMMITS) if totals[status] > 0
    ]
