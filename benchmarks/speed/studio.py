"""From the release of a slider to new numbers in the studio, beside `make_plan` alone, for ten features.

    python benchmarks/speed/studio.py [runs]

Prints, at the median and in processor time, which other work on the machine hardly changes: what `make_plan` takes in a
process that has everything loaded, and what the studio's new process has taken when the page gets the plan with its own
errors, and when it gets all numbers.
"""

from __future__ import annotations

import sys
import time
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

from bcdp import Policy, make_plan
from bcdp.studio.job_bodies import JOBS
from bcdp.studio.jobs import Jobs

PEOPLE = 10_000


def document(delta: float) -> dict[str, Any]:
    """Ten features of all kinds, two of them sensitive; the delta of one is what the slider moves."""
    features: dict[str, Any] = {
        "ill": {"type": "binary", "delta": delta},
        "income": {"type": "numeric", "bounds": [0, 9]},
    }
    features["income"]["delta"] = 0.3
    features |= {f"yes or no {n}": {"type": "binary"} for n in range(4)}
    features |= {f"number {n}": {"type": "numeric", "bounds": [0, 100]} for n in range(3)}
    features["region"] = {"type": "categorical", "values": ["north", "south", "east", "west"]}
    return {"epsilon": 2, "features": features, "correlation": {"odds": 3, "q": 0.2}}


def timed(given: dict[str, Any], sender: Connection) -> None:
    """Does a job of the studio, and sends its own processor time at each part instead of the part."""
    JOBS["plan"](given, lambda part: sender.send((list(part), time.process_time())))


def released(jobs: Jobs, given: dict[str, Any]) -> tuple[float, float]:
    """The seconds until the plan is there, and until all numbers are."""
    receiver, sender = jobs.context.Pipe(duplex=False)
    process = jobs.context.Process(target=timed, args=(given, sender))
    process.start()
    sender.close()
    taken = {}
    while "numbers" not in taken:
        keys, seconds = receiver.recv()
        taken |= dict.fromkeys(keys, seconds)
    process.join()
    return taken["plan"], taken["numbers"]


def main(runs: int) -> None:
    """Takes turns, so that whatever else the machine does counts for both."""
    jobs = Jobs()
    jobs.warm()
    make_plan(Policy(**document(0.2)))
    taken = []
    for run in range(runs):
        given = document(0.2 + 0.01 * run)
        began = time.process_time()
        make_plan(Policy(**given))
        taken.append((time.process_time() - began, *released(jobs, {"policy": given, "people": PEOPLE})))
    alone, plans, numbers = map(median, zip(*taken, strict=True))
    print(f"make_plan: {alone:.2f} s of processor time at the median of {runs} runs")
    print(f"the plan and its errors on the page: {plans:.2f} s, {plans / alone:.2f} times make_plan")
    print(f"all numbers: {numbers:.2f} s, {numbers / alone:.2f} times make_plan")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
