"""A day with 10^9 reports through several collectors, a log and Spark, simulated second by second.

    python benchmarks/sweeps/internet_scale.py [REPORTS [COLLECTORS]]

Two simulations. The first moves rates: reports arrive over a day with a peak, collectors take what they were measured
to take, hold what waits, refuse the rest, which is sent again, and fail for ten minutes each; a log takes what is
acknowledged, and a stream counts it every minute. The second moves single reports, of which some acknowledgements get
lost, and counts how many reports are counted twice or not at all under three ways to recognise what is sent again.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

DAY = 86_400
COLLECTOR_RATE = 10_000.0  # single reports a second of one worker, SQLite, as docs/guide/deploy.md measures them
WAITING = 200_000  # reports that a worker holds (settings.Quotas)
STREAM_RATE = 80_000.0  # reports a second that one core of Spark drops duplicates of and counts, ids in memory
STREAM_CORES = 1
OUTAGE_SECONDS = 600
RETRY_SECONDS = 5


@dataclass(frozen=True)
class Flow:
    """What became of a day's reports, and the worst moments of it."""

    sent: float
    acknowledged: float
    counted: float
    peak: float  # reports a second that people send
    refused: float  # requests that were refused for now
    longest_wait: float  # seconds until a report is acknowledged
    longest_lag: float  # seconds between acknowledged and counted


def arrivals(reports: float) -> np.ndarray:
    """Reports in each second: twice the mean in the evening, a tenth at night."""
    hours = np.arange(DAY) / 3600
    shape = 1 + 0.9 * np.cos((hours - 20) / 24 * 2 * np.pi) + 0.1 * np.cos((hours - 12) / 12 * 2 * np.pi)
    return np.asarray(shape / shape.sum() * reports)


def simulate_flow(reports: float, collectors: int, seed: int = 1) -> Flow:
    """The day in rates; every collector fails once, at a time of its own, and what it acknowledged is on its disk."""
    rng = np.random.default_rng(seed)
    fails = rng.integers(0, DAY - OUTAGE_SECONDS, collectors)
    coming, waiting, again = arrivals(reports), 0.0, np.zeros(DAY + 3600)
    acknowledged = refused = logged = counted = longest_wait = longest_lag = 0.0
    for second in range(DAY + 3600):
        up = collectors - int(np.count_nonzero((fails <= second) & (second < fails + OUTAGE_SECONDS)))
        waiting += (coming[second] if second < DAY else 0.0) + again[second]
        done = min(waiting, up * COLLECTOR_RATE)
        waiting, acknowledged, logged = waiting - done, acknowledged + done, logged + done
        if waiting > up * WAITING and second + RETRY_SECONDS < len(again):
            again[second + RETRY_SECONDS] += waiting - up * WAITING
            refused, waiting = refused + waiting - up * WAITING, up * WAITING
        longest_wait = max(longest_wait, waiting / (up * COLLECTOR_RATE))
        if second % 60 == 59:  # a batch of the stream
            batch = min(logged, 60 * STREAM_CORES * STREAM_RATE)
            logged, counted = logged - batch, counted + batch
            longest_lag = max(longest_lag, 60 + logged / (STREAM_CORES * STREAM_RATE))
    return Flow(reports, acknowledged, counted + logged, float(coming.max()), refused, longest_wait, longest_lag)


def simulate_repeats(reports: int, collectors: int, lost: float, way: str, seed: int = 1) -> tuple[int, int]:
    """How many reports are counted twice, and not at all; `lost` is the share of acknowledgements that get lost.

    `own store`: each collector knows the ids that it stored itself, and a device tries any of them. `by id`: a device
    tries the collector that its id names. `stream`: any collector, and the stream drops ids that it has seen.
    """
    rng = np.random.default_rng(seed)
    stored = np.zeros((reports, collectors), dtype=bool)
    waiting = np.arange(reports)
    while len(waiting):
        at = waiting % collectors if way == "by id" else rng.integers(0, collectors, len(waiting))
        stored[waiting, at] = True
        waiting = waiting[rng.random(len(waiting)) < lost]
    times = np.minimum(stored.sum(axis=1), 1) if way == "stream" else stored.sum(axis=1)
    return int(np.maximum(times - 1, 0).sum()), int((times == 0).sum())


def main(reports: float = 1e9, collectors: int = 4) -> None:
    """Prints both."""
    for up in (2, 3, collectors, 2 * collectors):
        flow = simulate_flow(reports, up)
        assert max(abs(flow.acknowledged - flow.sent), abs(flow.counted - flow.sent)) < 1
        print(
            f"{up} collectors: peak {flow.peak:,.0f}/s of {up * COLLECTOR_RATE:,.0f}/s, {flow.refused:,.0f} refused"
            f" for now, longest wait {flow.longest_wait:,.0f} s, longest lag of the counts {flow.longest_lag:,.0f} s"
        )
    for way in ("own store", "by id", "stream"):
        doubled, lost = simulate_repeats(1_000_000, collectors, 0.001, way)
        print(f"{way}: of 1,000,000 reports, 0.1% of acknowledgements lost: {doubled} counted twice, {lost} lost")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(*([float(given[0])] if given else []), *([int(given[1])] if len(given) > 1 else []))
