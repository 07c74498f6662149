"""What the service has done, counted over all of its worker processes; only totals, nothing about anybody.

Names follow the conventions of Prometheus: base units, `_total` for what only grows, one histogram.
"""

from __future__ import annotations

import os
import sys
from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate
from multiprocessing import get_context

import numpy as np
import numpy.typing as npt

import bcdp

_ROWS = 1024  # each worker writes to a row of its own, so that no lock is needed
ACCEPTED, DUPLICATE, COMMITS, COMMIT_MICROSECONDS, WAITING = range(5)  # columns; from 100 on, the HTTP status itself
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_FIRST_BUCKET = 10
_SUM_MICROSECONDS = _FIRST_BUCKET + len(_BUCKETS) + 1  # after the last bucket, which has no end
_WIDTH = 600
_FIRST_ERROR = 400
FAILED_COMMITS = _WIDTH - 1  # like errors, shown at once
SETTLED, WRITABLE = range(2)  # what is true of the store now, whichever worker saw it last
WELL, FAILING, DAMAGED = range(3)

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
        """Takes a row for this process; workers started together have neighbouring numbers, so different rows.

        What waited at a worker that died waits no more; those that live write theirs again with the next request.
        """
        self._start = os.getpid() % _ROWS * _WIDTH
        self._rows()[:, WAITING] = 0

    def add(self, column: int, amount: int = 1) -> None:
        """Adds to one of the columns above, or to an HTTP status."""
        self._table[self._start + column] += amount

    def wait(self, reports: int) -> None:
        """States how many reports wait for the store at this worker."""
        self._table[self._start + WAITING] = reports

    def took(self, seconds: float) -> None:
        """Counts the time after which a request with reports was answered."""
        self.add(_FIRST_BUCKET + bisect_left(_BUCKETS, seconds))
        self.add(_SUM_MICROSECONDS, round(seconds * 1e6))

    def note(self, state: int, seen: int) -> None:
        """Notes how the last attempt to settle the store, or to write to it, ended; the store is the same for all."""
        self._states[state] = seen

    def state(self, state: int) -> int:
        """How the last attempt of any worker ended."""
        return int(self._states[state])

    def text(self, refresh: int, more: list[str]) -> str:
        """The totals in the text format of Prometheus, and further lines of that format.

        What every report changes is shown anew after at least `refresh` reports more, as estimates are: otherwise the
        totals would reveal when each came. Reports that wait are counted in steps of as many. Errors are shown as they
        are.
        """
        totals = self._totals()
        waiting = int(totals[WAITING]) // refresh * refresh
        with self._one:  # all workers show the same
            shown = np.frombuffer(self._shown, dtype=np.uint64)
            if totals[ACCEPTED] >= shown[ACCEPTED] + np.uint64(refresh):
                shown[:] = totals
            totals[:_FIRST_ERROR] = shown[:_FIRST_ERROR]
        lines = build_info()
        for column, name, meaning, unit in _TOTALS:
            lines += metric(name, "counter", meaning, {"": f"{totals[column] * unit:.15g}"})
        meaning = f"Reports that wait for the store, in steps of {refresh}."
        lines += metric("bcdp_reports_waiting", "gauge", meaning, {"": str(waiting)})
        return "\n".join([*lines, *_durations(totals), *self.states(), *more, *_by_status(totals)]) + "\n"

    def states(self) -> list[str]:
        """What is true of the store now, as lines of that format."""
        return [
            line
            for state, name, meaning in _STATES
            for line in metric(name, "gauge", meaning, {"": str(int(self.state(state) == WELL))})
        ]

    def statuses(self) -> list[str]:
        """How many requests were answered with each status, as lines of that format."""
        return _by_status(self._totals())

    def _rows(self) -> npt.NDArray[np.uint64]:
        return np.frombuffer(self._table, dtype=np.uint64).reshape(_ROWS, _WIDTH)

    def _totals(self) -> npt.NDArray[np.uint64]:
        return np.asarray(self._rows().sum(axis=0), dtype=np.uint64)


def metric(name: str, kind: str, meaning: str, samples: Mapping[str, str]) -> list[str]:
    """A metric as lines of the text format; samples by what follows the name, such as labels."""
    head = [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
    return head + [f"{name}{labels} {value}" for labels, value in samples.items()]


def build_info() -> list[str]:
    """Which program runs."""
    python = ".".join(map(str, sys.version_info[:2]))
    labels = f'{{version="{bcdp.__version__}",python="{python}"}}'
    return metric("bcdp_build_info", "gauge", "The version that runs.", {labels: "1"})


def _durations(totals: npt.NDArray[np.uint64]) -> list[str]:
    ends = [*(f"{end:g}" for end in _BUCKETS), "+Inf"]
    counts = list(accumulate(int(count) for count in totals[_FIRST_BUCKET:_SUM_MICROSECONDS]))
    samples = {f'_bucket{{le="{end}"}}': str(count) for end, count in zip(ends, counts, strict=True)}
    samples |= {"_sum": f"{totals[_SUM_MICROSECONDS] * 1e-6:.15g}", "_count": str(counts[-1])}
    meaning = "Time after which requests with reports were answered."
    return metric("bcdp_report_duration_seconds", "histogram", meaning, samples)


def _by_status(totals: npt.NDArray[np.uint64]) -> list[str]:
    samples = {
        f'{{status="{status}"}}': str(totals[status]) for status in range(100, FAILED_COMMITS) if totals[status] > 0
    }
    return metric("bcdp_requests_total", "counter", "Requests answered, by HTTP status.", samples)
